//! How far many sources are: one line that changes where a person looks, one line for each source
//! otherwise.

use std::io::{IsTerminal as _, Write as _};

use sabir_base::text::one_line;
use sabir_host::{CaptureNews, written};

use super::collection::now_ms;

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
                let what = match (kept.is_new, kept.change) {
                    (false, _) => "unchanged",
                    (true, Some(_)) => "changed ",
                    (true, None) => "captured",
                };
                let change = kept.change.map_or_else(String::new, |it| {
                    format!(" (+{} −{} lines)", it.added, it.removed)
                });
                let title = if kept.title.is_empty() { &kept.address } else { &kept.title };
                let signals = match kept.signals.is_empty() {
                    true => String::new(),
                    false => format!(" ({})", kept.signals.join(", ")),
                };
                let title = one_line(title, 70);
                Some(format!("{what}  {}  {title}{change}{signals}", kept.source_id))
            }
            CaptureNews::Present { source_id, address } => {
                Some(format!("present   {source_id}  {}", one_line(address, 70)))
            }
            CaptureNews::Same { source_id, address } => {
                Some(format!("same      {source_id}  {}", one_line(address, 70)))
            }
            CaptureNews::Failed { address, fault, again_at_ms, .. } => {
                // A file is named by its fault already.
                let text = fault.text.strip_prefix(&format!("{address}: ")).unwrap_or(&fault.text);
                let (address, text) = (one_line(address, 70), one_line(text, 200));
                Some(match again_at_ms {
                    Some(at) => {
                        let seconds = at.saturating_sub(now_ms()).div_ceil(1000);
                        format!("again in {seconds} s  {address}: {text}")
                    }
                    None => {
                        self.done += 1;
                        format!("failed    {address}: {text}")
                    }
                })
            }
            CaptureNews::Waits { address, until_ms, .. } => {
                self.done += 1;
                let until = clock(*until_ms);
                Some(format!("waits     {}: not before {until}", one_line(address, 70)))
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

/// A time of day, and the day where it is not today.
pub(super) fn clock(ms: u64) -> String {
    let (then, now) = (written(ms), written(now_ms()));
    let (day, time) = (&then[..10], &then[11..16]);
    match now.starts_with(day) {
        true => format!("{time} UTC"),
        false => format!("{day} {time} UTC"),
    }
}

fn write_error(text: &str) {
    let mut screen = std::io::stderr().lock();
    // Nobody is left to tell when it cannot be written.
    let _ = screen.write_all(text.as_bytes()).and_then(|()| screen.flush());
}

const WIDTH: usize = 30;
