//! Standard output for machines, standard error for people.

use std::ffi::OsStr;
use std::io::{self, BufWriter, IsTerminal, Stderr, StdoutLock, Write};

use sabir_base::text::with_hidden_shown;

/// Standard output, buffered.
///
/// A reader that closes the pipe has seen enough: what follows is dropped, and the exit code still
/// says what was found.
#[derive(Debug)]
pub(crate) struct Output {
    inner: BufWriter<StdoutLock<'static>>,
    closed: bool,
}

impl Output {
    pub(crate) fn stdout() -> Self {
        Self { inner: BufWriter::new(io::stdout().lock()), closed: false }
    }

    /// Whether nobody reads any more.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed
    }

    fn unless_closed<T>(&mut self, result: io::Result<T>, dropped: T) -> io::Result<T> {
        match result {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.closed = true;
                Ok(dropped)
            }
            result => result,
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.closed {
            return Ok(bytes.len());
        }
        let written = self.inner.write(bytes);
        self.unless_closed(written, bytes.len())
    }

    /// As `write` in a loop would, but a serializer's many small pieces go straight into the buffer.
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.closed {
            return Ok(());
        }
        let written = self.inner.write_all(bytes);
        self.unless_closed(written, ())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.closed {
            return Ok(());
        }
        let flushed = self.inner.flush();
        self.unless_closed(flushed, ())
    }
}

/// Standard error, a line at a time: others write there meanwhile, such as whoever asks a question.
/// When it cannot be written to there is nobody left to tell, so failures to write are ignored.
#[derive(Debug)]
pub(crate) struct Notes {
    inner: Stderr,
    pub(crate) colour: Colour,
}

impl Notes {
    pub(crate) fn stderr() -> Self {
        let inner = io::stderr();
        let colour = Colour::choose(
            inner.is_terminal(),
            std::env::var_os("NO_COLOR").as_deref(),
            std::env::var_os("TERM").as_deref(),
        );
        Self { inner, colour }
    }

    /// An error with its causes, on one line.
    pub(crate) fn error(&mut self, error: impl Into<anyhow::Error>) {
        // It may quote what was typed, or what a file or a stranger says.
        let error = format!("{:#}", error.into());
        self.line(format_args!("error: {}", with_hidden_shown(&error)));
    }

    pub(crate) fn line(&mut self, text: impl std::fmt::Display) {
        let _ = self.inner.write_all(format!("{text}\n").as_bytes());
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Colour {
    Styled,
    Plain,
}

impl Colour {
    /// Colour only where a person looks and has not said no (<https://no-color.org>).
    fn choose(is_terminal: bool, no_color: Option<&OsStr>, term: Option<&OsStr>) -> Self {
        let refused = no_color.is_some_and(|value| !value.is_empty());
        let dumb = term.is_some_and(|term| term == "dumb");
        if is_terminal && !refused && !dumb { Self::Styled } else { Self::Plain }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colour_needs_a_terminal_and_consent() {
        let some = |text: &'static str| Some(OsStr::new(text));
        assert_eq!(Colour::choose(true, None, some("xterm")), Colour::Styled);
        assert_eq!(Colour::choose(true, some(""), None), Colour::Styled);
        assert_eq!(Colour::choose(true, some("1"), None), Colour::Plain);
        assert_eq!(Colour::choose(true, None, some("dumb")), Colour::Plain);
        assert_eq!(Colour::choose(false, None, None), Colour::Plain);
    }
}
