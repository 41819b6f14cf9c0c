//! How far many sources are: one line that changes where a person looks, one line for each source
//! otherwise.

use std::io::{IsTerminal as _, Write as _};

use sabir_base::text::one_line;
use sabir_host::CaptureNews;

pub(super) struct Progress {
    is_terminal: bool,
    total: usize,
    done: usize,
    /// What is on the line now, so that it can be wiped.
    shown: usize,
}

impl Progress {
    pub(super) fn new() -> Self {
        Self { is_terminal: std::io::stderr().is_terminal(), total: 0, done: 0, shown: 0 }
    }

    pub(super) fn hear(&mut self, news: &CaptureNews) {
        let line = match news {
            CaptureNews::Waiting { sources } => {
                self.total = *sources;
                None
            }
            CaptureNews::Kept(kept) => {
                self.done += 1;
                let what = if kept.is_new { "captured" } else { "unchanged" };
                let title = if kept.title.is_empty() { &kept.address } else { &kept.title };
                let signals = match kept.signals.is_empty() {
                    true => String::new(),
                    false => format!(" ({})", kept.signals.join(", ")),
                };
                Some(format!("{what}  {}  {}{signals}", kept.source_id, one_line(title, 70)))
            }
            CaptureNews::Present { source_id, address } => {
                Some(format!("present   {source_id}  {}", one_line(address, 70)))
            }
            CaptureNews::Failed { address, fault, will_retry, .. } => {
                if !will_retry {
                    self.done += 1;
                }
                let what = if *will_retry { "again   " } else { "failed  " };
                let (address, text) = (one_line(address, 70), one_line(&fault.text, 200));
                Some(format!("{what}  {address}: {text}"))
            }
        };
        if let Some(line) = line {
            self.wipe();
            write_error(&format!("{line}\n"));
        }
        self.show();
    }

    /// Takes the bar away.
    pub(super) fn end(&mut self) {
        self.wipe();
    }

    fn show(&mut self) {
        if !self.is_terminal || self.total < 2 || self.done >= self.total {
            return;
        }
        let filled = WIDTH * self.done / self.total;
        let bar = format!("{}{}", "#".repeat(filled), "-".repeat(WIDTH - filled));
        let text = format!("[{bar}] {}/{}", self.done, self.total);
        self.shown = text.len();
        write_error(&text);
    }

    fn wipe(&mut self) {
        if self.shown > 0 {
            write_error(&format!("\r{}\r", " ".repeat(self.shown)));
            self.shown = 0;
        }
    }
}

fn write_error(text: &str) {
    let mut screen = std::io::stderr().lock();
    // Nobody is left to tell when it cannot be written.
    let _ = screen.write_all(text.as_bytes()).and_then(|()| screen.flush());
}

const WIDTH: usize = 30;
