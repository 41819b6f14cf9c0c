//! The text of PDF files, read in a process of its own: a file may make the reader panic, run for
//! ever or take all memory, and then only that process ends. It knows no pages of the web.

mod child;
mod lines;

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use sabir_base::text::one_line;
use sabir_document::Block;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};

pub use self::child::run_pdf_child;
use crate::html::invisible::visible_text;

/// Starts the program that reads PDF files, once for each file.
#[derive(Clone, Debug)]
pub struct PdfReader {
    program: PathBuf,
    arguments: Vec<OsString>,
    limits: PdfLimits,
}

/// What one file may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PdfLimits {
    pub max_input: usize,
    /// How much of the text is taken.
    pub max_output: usize,
    pub time: Duration,
}

impl Default for PdfLimits {
    fn default() -> Self {
        Self {
            max_input: 50 * 1024 * 1024,
            max_output: 4 * 1024 * 1024,
            // The child stops by itself after as many seconds of work.
            time: Duration::from_secs(40),
        }
    }
}

/// The text of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PdfText {
    pub title: Option<String>,
    pub pages: usize,
    pub blocks: Vec<Block>,
    /// Whether there was more text than is taken.
    pub truncated: bool,
}

/// Why a file could not be read.
#[derive(Debug)]
pub enum PdfError {
    TooLarge {
        bytes: usize,
        limit: usize,
    },
    /// A password is needed.
    Encrypted,
    /// Not a PDF file, or one that cannot be understood, or that takes too much memory.
    Broken,
    TookTooLong,
    /// Pictures of pages, for example.
    NoText,
    /// The program could not be started or spoken to.
    Program(std::io::Error),
}

impl fmt::Display for PdfError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge { bytes, limit } => {
                write!(f, "it has {bytes} bytes, and {limit} is the limit")
            }
            Self::Encrypted => f.write_str("a password is needed for it"),
            Self::Broken => f.write_str("it is broken, or takes too much memory"),
            Self::TookTooLong => f.write_str("it takes too long"),
            Self::NoText => f.write_str("there is no text in it"),
            Self::Program(_) => f.write_str("the program that reads it did not run"),
        }
    }
}

impl std::error::Error for PdfError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Program(error) => Some(error),
            _ => None,
        }
    }
}

impl PdfReader {
    /// `program`, called with `arguments`, has to do [`run_pdf_child`] and nothing else.
    pub fn new(
        program: impl Into<PathBuf>,
        arguments: impl IntoIterator<Item = impl Into<OsString>>,
        limits: PdfLimits,
    ) -> Self {
        Self {
            program: program.into(),
            arguments: arguments.into_iter().map(Into::into).collect(),
            limits,
        }
    }

    /// Reads one file. The process has ended when this returns; dropped, it is killed.
    pub async fn read(&self, bytes: &[u8]) -> Result<PdfText, PdfError> {
        if bytes.len() > self.limits.max_input {
            return Err(PdfError::TooLarge { bytes: bytes.len(), limit: self.limits.max_input });
        }
        let mut child = Command::new(&self.program)
            .args(&self.arguments)
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .map_err(PdfError::Program)?;
        let work = tokio::time::timeout(self.limits.time, self.talk(&mut child, bytes)).await;
        let outcome = match work {
            Ok(outcome) => outcome,
            Err(_) => Err(PdfError::TookTooLong),
        };
        if outcome.is_err() {
            // It may have ended by itself.
            let _ = child.kill().await;
        }
        outcome
    }

    async fn talk(&self, child: &mut Child, bytes: &[u8]) -> Result<PdfText, PdfError> {
        let (Some(mut stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(PdfError::Broken);
        };
        let write = async move {
            // It may end before it has read everything; its exit code tells why.
            let _ = stdin.write_all(bytes).await;
        };
        let mut output = Vec::new();
        let mut stdout = stdout.take(self.limits.max_output as u64 + 1);
        let (_, read) = tokio::join!(write, stdout.read_to_end(&mut output));
        read.map_err(PdfError::Program)?;
        let truncated = output.len() > self.limits.max_output;
        if truncated {
            child.kill().await.map_err(PdfError::Program)?;
            output.truncate(self.limits.max_output);
        } else {
            let status = child.wait().await.map_err(PdfError::Program)?;
            match status.code() {
                Some(0) => {}
                Some(code) if code == i32::from(child::ENCRYPTED) => {
                    return Err(PdfError::Encrypted);
                }
                _ => return Err(PdfError::Broken),
            }
        }
        let text = String::from_utf8_lossy(&output);
        let mut parts = text.split_terminator(child::PART_END);
        let title = parts.next().map(|title| one_line(&visible_text(title), MOST_TITLE));
        let pages: Vec<&str> = parts.collect();
        let blocks = lines::blocks(&pages);
        if blocks.is_empty() {
            return Err(PdfError::NoText);
        }
        let title = title.filter(|title| !title.is_empty());
        Ok(PdfText { title, pages: pages.len(), blocks, truncated })
    }
}

const MOST_TITLE: usize = 300;
