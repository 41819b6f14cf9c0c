//! What the process does that reads a PDF file: it limits itself, reads, writes and ends.

use std::io::{Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use pdf_extract::{Document, Error, PlainTextOutput, output_doc_page};
use rustix::process::{Resource, Rlimit, setrlimit};

/// Reads a PDF file from `input` and writes its title and its pages to `output`, each
/// followed by a form feed. Takes away this process's right to much memory and time, so that it is for a process
/// that does nothing else.
pub fn run_pdf_child(mut input: impl Read, mut output: impl Write) -> ExitCode {
    for (resource, limit) in [
        (Resource::As, MOST_MEMORY),
        (Resource::Cpu, MOST_SECONDS),
        // Nobody reads what a broken file left behind.
        (Resource::Core, 0),
    ] {
        let limit = Rlimit { current: Some(limit), maximum: Some(limit) };
        if setrlimit(resource, limit).is_err() {
            return ExitCode::from(BROKEN);
        }
    }
    let mut bytes = Vec::new();
    if input.read_to_end(&mut bytes).is_err() {
        return ExitCode::from(BROKEN);
    }
    let code = match write_text(&bytes, &mut output) {
        Ok(()) => return ExitCode::SUCCESS,
        Err(code) => code,
    };
    ExitCode::from(code)
}

/// Writes the title and then every page. A page that cannot be read is an empty one.
fn write_text(bytes: &[u8], output: &mut impl Write) -> Result<(), u8> {
    let mut document = Document::load_mem(bytes).map_err(|error| match error {
        Error::Decryption(_) | Error::InvalidPassword | Error::UnsupportedSecurityHandler(_) => {
            ENCRYPTED
        }
        _ => BROKEN,
    })?;
    // Many files are encrypted with an empty password.
    let is_locked = document.is_encrypted() && document.decrypt("").is_err();
    let has_lock = document.trailer.get(b"Encrypt").is_ok();
    if is_locked || (has_lock && document.get_pages().is_empty()) {
        return Err(ENCRYPTED);
    }
    let title = title(&document).unwrap_or_default();
    write_part(&title, output)?;
    for number in document.get_pages().into_keys() {
        let mut text = String::new();
        let read = catch_unwind(AssertUnwindSafe(|| {
            output_doc_page(&document, &mut PlainTextOutput::new(&mut text), number)
        }));
        match read {
            Ok(Ok(())) => write_part(&text, output)?,
            Ok(Err(_)) | Err(_) => write_part("", output)?,
        }
    }
    output.flush().map_err(|_| BROKEN)
}

fn write_part(text: &str, output: &mut impl Write) -> Result<(), u8> {
    let text = text.replace(PART_END, " ");
    write!(output, "{text}{PART_END}").map_err(|_| BROKEN)
}

fn title(document: &Document) -> Option<String> {
    let info = document.trailer.get(b"Info").ok()?;
    let (_, info) = document.dereference(info).ok()?;
    let title = info.as_dict().ok()?.get(b"Title").ok()?;
    pdf_extract::decode_text_string(title).ok()
}

/// A form feed.
pub(super) const PART_END: char = '\u{c}';

/// The exit code for a file that needs a password.
pub(super) const ENCRYPTED: u8 = 3;

const BROKEN: u8 = 4;

const MOST_MEMORY: u64 = 1 << 30;

const MOST_SECONDS: u64 = 30;
