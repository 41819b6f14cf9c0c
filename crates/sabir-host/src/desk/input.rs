//! What a person points at, a page of the web, a file or standard input, becomes a page that was
//! read. It stores nothing.

use std::ffi::OsStr;
use std::fmt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use reqwest::Url;
use sabir_capture::{
    Conditional, FetchError, FetchLimits, Fetched, Fetcher, Guard, Media, Page, PageError,
    PdfLimits, PdfReader, ReadOptions, Redirects, read_bytes,
};
use sabir_store::library::SourceId;

use crate::reading;

/// Where something to read is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    Web(Url),
    /// A page of the web that the asker gave a title.
    Titled {
        url: Url,
        title: String,
    },
    /// Absolute.
    File(PathBuf),
    /// A source of the library, to be fetched again.
    Kept(SourceId),
    /// What was read already, from standard input for instance.
    Bytes(Vec<u8>),
}

/// What was read, and what is known of where it came from.
#[derive(Debug, Clone)]
pub struct Reading {
    pub page: Page,
    pub media_type: String,
    /// Where a page of the web was in the end.
    pub final_url: Option<Url>,
    pub etag: Option<String>,
    pub last_modified: Option<String>,
}

/// Reads pages, and keeps nothing.
#[derive(Debug, Clone)]
pub struct InputReader {
    fetcher: Fetcher,
    pdf: PdfReader,
}

/// What reading a page of the web again led to.
pub(super) enum Again {
    Read(Box<Reading>),
    NotModified,
}

#[derive(Debug)]
pub enum InputError {
    Fetch(FetchError),
    Page(PageError),
    /// The address is none.
    Address {
        text: String,
        reason: String,
    },
    File {
        path: PathBuf,
        error: std::io::Error,
    },
    TooLarge {
        most: u64,
    },
    /// Reading it took longer than any page is worth.
    TooSlow,
    /// It is a folder, a device, a pipe.
    NoFile {
        path: PathBuf,
    },
    /// Reading the file took too long.
    TimedOut {
        path: PathBuf,
    },
    /// Sources of the library are fetched by a capture.
    NotHere,
}

impl Input {
    /// An address where the word begins with a scheme, a file otherwise.
    pub fn parse(word: &OsStr) -> Result<Self, InputError> {
        let text = word.to_str().unwrap_or_default();
        match text.split_once("://") {
            Some((scheme, _)) if is_scheme(scheme) => match Url::parse(text) {
                Ok(url) => Ok(Self::Web(url)),
                // It may hold a password, and nobody can tell where.
                Err(error) => Err(InputError::Address {
                    text: format!("{scheme}://…"),
                    reason: error.to_string(),
                }),
            },
            _ => std::path::absolute(word)
                .map(|path| Self::File(without_detours(path)))
                .map_err(|error| InputError::File { path: PathBuf::from(word), error }),
        }
    }
}

/// Without `..`, so that one file has one name. What `..` leads back to, only the disk knows.
fn without_detours(path: PathBuf) -> PathBuf {
    if !path.components().any(|part| part == Component::ParentDir) {
        return path;
    }
    let folder = path.parent().and_then(|folder| folder.canonicalize().ok());
    match (folder, path.file_name()) {
        (Some(folder), Some(name)) => folder.join(name),
        _ => path,
    }
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
}

impl InputReader {
    /// `program` is this one, which reads PDF files in a process of its own.
    pub fn new(guard: Guard, program: PathBuf) -> Self {
        let pdf = PdfReader::new(program, [PDF_ARGUMENT], PdfLimits::default());
        Self { fetcher: Fetcher::new(guard, FetchLimits::default()), pdf }
    }

    /// The same, where another guard and other rules for redirects hold.
    pub(super) fn held_to(&self, guard: Guard, redirects: Arc<dyn Redirects>) -> Self {
        let fetcher = Fetcher::new(guard, FetchLimits::default()).led_by(redirects);
        Self { fetcher, pdf: self.pdf.clone() }
    }

    pub async fn read(&self, input: &Input, options: &ReadOptions) -> Result<Reading, InputError> {
        match input {
            Input::Web(url) | Input::Titled { url, .. } => {
                match self.read_again(url, &Conditional::default(), options).await? {
                    Again::Read(reading) => Ok(*reading),
                    // Only who asked for it may be told that nothing changed.
                    Again::NotModified => {
                        Err(FetchError::Status { status: 304, retry_after: None }.into())
                    }
                }
            }
            Input::File(path) => {
                let named = path.clone();
                let read = tokio::task::spawn_blocking(move || read_file(&named));
                // A disk behind a network may be gone.
                let read = tokio::time::timeout(MOST_TIME, read).await;
                let read = read.map_err(|_| InputError::TimedOut { path: path.clone() })?;
                let (bytes, url) = read.map_err(|error| InputError::File {
                    path: path.clone(),
                    error: std::io::Error::other(error),
                })??;
                self.understand(bytes, None, &url, options).await
            }
            Input::Kept(_) => Err(InputError::NotHere),
            Input::Bytes(bytes) => {
                let url = nowhere("input")?;
                self.understand(bytes.clone(), None, &url, options).await
            }
        }
    }

    /// A page of the web, unless it is still as it was.
    pub(super) async fn read_again(
        &self,
        url: &Url,
        known: &Conditional,
        options: &ReadOptions,
    ) -> Result<Again, InputError> {
        let fetched = self.fetcher.fetch(url, known).await?;
        if fetched.is_unchanged() {
            return Ok(Again::NotModified);
        }
        let Fetched { url, content_type, bytes, etag, last_modified, .. } = fetched;
        let reading = self.understand(bytes, content_type, &url, options).await?;
        let reading = Reading { final_url: Some(url), etag, last_modified, ..reading };
        Ok(Again::Read(Box::new(reading)))
    }

    async fn understand(
        &self,
        bytes: Vec<u8>,
        content_type: Option<String>,
        url: &Url,
        options: &ReadOptions,
    ) -> Result<Reading, InputError> {
        let media_type = match Media::of(&bytes, content_type.as_deref(), url)? {
            Media::Html => "text/html",
            Media::Markdown => "text/markdown",
            Media::Text => "text/plain",
            Media::Json => "application/json",
            Media::Pdf => "application/pdf",
        };
        let (url, options, pdf) = (url.clone(), *options, self.pdf.clone());
        // A large page keeps a thread busy, which must not be one that others wait for.
        let runtime = tokio::runtime::Handle::current();
        let reading = tokio::task::spawn_blocking(move || {
            runtime.block_on(read_bytes(&bytes, content_type.as_deref(), &url, &options, &pdf))
        });
        let page = match tokio::time::timeout(LONGEST_READING, reading).await {
            Ok(Ok(page)) => page?,
            Ok(Err(_)) | Err(_) => return Err(InputError::TooSlow),
        };
        Ok(Reading {
            page,
            media_type: media_type.to_owned(),
            final_url: None,
            etag: None,
            last_modified: None,
        })
    }
}

fn read_file(path: &Path) -> Result<(Vec<u8>, Url), InputError> {
    let wrong = |error| InputError::File { path: path.to_owned(), error };
    // Before, because opening a device may do something; after, because it may be another by then.
    let is_file = std::fs::metadata(path).map_err(wrong)?.is_file();
    if !is_file {
        return Err(InputError::NoFile { path: path.to_owned() });
    }
    let (file, facts) = reading::open(path).map_err(wrong)?;
    if !facts.is_file() {
        return Err(InputError::NoFile { path: path.to_owned() });
    }
    let bytes = reading::read_at_most(&file, MAX_FILE).map_err(wrong)?;
    let bytes = bytes.ok_or(InputError::TooLarge { most: MAX_FILE })?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    Ok((bytes, nowhere(&name)?))
}

/// The address of something that has none: its relative links lead nowhere, and its name says what
/// kind of file it is.
fn nowhere(name: &str) -> Result<Url, InputError> {
    let wrong = |error: &dyn fmt::Display| InputError::Address {
        text: name.to_owned(),
        reason: error.to_string(),
    };
    let mut url = Url::parse("file:///").map_err(|error| wrong(&error))?;
    url.set_path(name);
    Ok(url)
}

impl InputError {
    /// Stable, for scripts and stored jobs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Fetch(error) => error.code(),
            Self::Page(PageError::Unsupported { .. }) => "unsupported",
            Self::Page(PageError::Pdf(_)) => "pdf",
            Self::Address { .. } => "bad_address",
            Self::File { .. } => "file",
            Self::TooLarge { .. } => "too_large",
            Self::TooSlow => "too_slow",
            Self::NoFile { .. } => "no_file",
            Self::TimedOut { .. } => "timed_out",
            Self::NotHere => "not_here",
        }
    }

    /// How long to wait before another attempt; nothing where it would fail again.
    pub(super) fn retry_after(&self, attempt: u64) -> Option<Duration> {
        let Self::Fetch(error) = self else { return None };
        if !error.is_retryable() {
            return None;
        }
        let asked = match error {
            FetchError::Status { retry_after, .. } => *retry_after,
            _ => None,
        };
        let usual =
            FIRST_WAIT * 4_u32.saturating_pow(u32::try_from(attempt).unwrap_or(1).min(8) - 1);
        // A server that names a time is not asked before it; it names a day at most.
        Some(asked.unwrap_or(usual.min(LONGEST_WAIT)))
    }
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fetch(error) => write!(f, "{error}"),
            Self::Page(error) => {
                write!(f, "{error}")?;
                match std::error::Error::source(error) {
                    Some(cause) => write!(f, ": {cause}"),
                    None => Ok(()),
                }
            }
            Self::Address { text, reason } => {
                let text = sabir_base::text::one_line(text, 200);
                write!(f, "{text} is no address: {reason}")
            }
            Self::File { path, error } => {
                write!(f, "{}: {error}", path.display())?;
                match error.kind() {
                    std::io::ErrorKind::NotFound => {
                        f.write_str(" (an address begins with https://)")
                    }
                    _ => Ok(()),
                }
            }
            Self::TooLarge { most } => write!(f, "the file has more than {most} bytes"),
            Self::TooSlow => f.write_str("it cannot be read in the time there is"),
            Self::NoFile { path } => write!(
                f,
                "{} is no file; only files can be read (- means standard input)",
                path.display()
            ),
            Self::TimedOut { path } => write!(f, "{}: reading it took too long", path.display()),
            Self::NotHere => f.write_str("a source of the library is fetched by a capture"),
        }
    }
}

impl std::error::Error for InputError {}

impl From<FetchError> for InputError {
    fn from(error: FetchError) -> Self {
        Self::Fetch(error)
    }
}

impl From<PageError> for InputError {
    fn from(error: PageError) -> Self {
        Self::Page(error)
    }
}

/// The argument by which this program becomes the one that reads PDF files.
pub const PDF_ARGUMENT: &str = "__pdf";

/// As large as a page of the web may be.
const MAX_FILE: u64 = 32 * 1024 * 1024;
/// PDF files have a shorter limit of their own.
const LONGEST_READING: Duration = Duration::from_secs(120);
const FIRST_WAIT: Duration = Duration::from_secs(1);
/// Between attempts that nobody asked us to wait for.
const LONGEST_WAIT: Duration = Duration::from_secs(60);
/// For one file.
const MOST_TIME: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_one_name() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().canonicalize().unwrap();
        std::fs::create_dir(folder.join("w")).unwrap();
        let plain = Input::parse(folder.join("x.md").as_os_str()).unwrap();
        for way in ["w/../x.md", "./x.md", "w/.././w/../x.md", "w//../x.md"] {
            let other = Input::parse(folder.join(way).as_os_str()).unwrap();
            assert_eq!(other, plain, "{way}");
        }
        let lost = Input::parse(folder.join("none/../x.md").as_os_str()).unwrap();
        assert_ne!(lost, plain);
    }
}
