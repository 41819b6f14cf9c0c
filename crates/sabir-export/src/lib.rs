//! A document as a file to hand on: Markdown, text, JSON, CSV, PDF. It knows no folder.
