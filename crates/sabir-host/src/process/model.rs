//! What a model is told about a command.

use serde::Serialize;

use super::Finished;

/// How much of the output goes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    pub bytes: usize,
    pub lines: usize,
}

impl Default for Bound {
    fn default() -> Self {
        Self { bytes: 10 * 1024, lines: 256 }
    }
}

/// No bound is larger, whatever the caller says, and neither is the whole answer.
const MOST: usize = 256 * 1024;

#[derive(Serialize)]
struct Answer<'a> {
    output: &'a str,
    metadata: Metadata,
}

#[derive(Serialize)]
struct Metadata {
    exit_code: i32,
    duration_seconds: f64,
}

/// One JSON object, with the head and the tail of the output.
pub fn for_model(finished: &Finished, bound: Bound) -> String {
    let millis = finished.timeout.as_millis();
    let text = if finished.timed_out {
        format!("command timed out after {millis} milliseconds\n{}", finished.aggregated)
    } else {
        finished.aggregated.clone()
    };
    let tenths = finished.duration.as_millis().div_euclid(100);
    let seconds = f64::from(u32::try_from(tenths).unwrap_or(u32::MAX)) / 10.0;
    let mut bytes = bound.bytes.min(MOST / 2);
    loop {
        let output = shorten(&text, Bound { bytes, ..bound });
        let metadata = Metadata { exit_code: finished.exit_code, duration_seconds: seconds };
        // It holds text and two numbers, which can always be written.
        let answer =
            serde_json::to_string(&Answer { output: &output, metadata }).unwrap_or_default();
        // Escapes make some texts six times as long.
        if answer.len() <= MOST || bytes == 0 {
            return answer;
        }
        bytes /= 2;
    }
}

/// The first and the last lines, and of those the first and the last bytes.
pub(crate) fn shorten(text: &str, bound: Bound) -> String {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    if lines.len() <= bound.lines && text.len() <= bound.bytes {
        return text.to_owned();
    }
    let half_lines = bound.lines / 2;
    let half_bytes = bound.bytes / 2;
    let (mut head, mut head_lines) = (0, 0);
    for line in lines.iter().take(bound.lines - half_lines) {
        if head + line.len() > half_bytes {
            break;
        }
        head += line.len();
        head_lines += 1;
    }
    let (mut tail, mut tail_lines) = (0, 0);
    for line in lines[head_lines..].iter().rev().take(half_lines) {
        if tail + line.len() > half_bytes {
            break;
        }
        tail += line.len();
        tail_lines += 1;
    }
    // A line that is too long for its half is cut rather than left out.
    if head_lines == 0 {
        head = text.floor_char_boundary(half_bytes);
    }
    if tail_lines == 0 {
        tail = text.len() - text.ceil_char_boundary(text.len() - half_bytes.min(text.len()));
    }
    tail = tail.min(text.len() - head);
    let omitted = lines.len() - head_lines - tail_lines;
    let mark = format!("[... omitted {omitted} of {} lines ...]", lines.len());
    let (head, tail) = (&text[..head], &text[text.len() - tail..]);
    let gap = if head.is_empty() || head.ends_with('\n') { "" } else { "\n" };
    format!("{head}{gap}{mark}\n{tail}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::time::Duration;

    fn finished(aggregated: &str) -> Finished {
        Finished {
            exit_code: 3,
            stdout: String::new(),
            stderr: String::new(),
            aggregated: aggregated.to_owned(),
            omitted_bytes: 0,
            dropped_chunks: 0,
            duration: Duration::from_millis(1278),
            timeout: Duration::from_secs(2),
            timed_out: false,
            cancelled: false,
            sandbox_denied: false,
            layer: None,
            warnings: Vec::new(),
            survivors: Vec::new(),
        }
    }

    #[test]
    fn a_short_answer_is_whole() {
        assert_eq!(
            for_model(&finished("a\nb\n"), Bound::default()),
            r#"{"output":"a\nb\n","metadata":{"exit_code":3,"duration_seconds":1.2}}"#
        );
        let timed_out = Finished { timed_out: true, ..finished("a") };
        let text = for_model(&timed_out, Bound::default());
        assert!(text.contains(r#""command timed out after 2000 milliseconds\na""#), "{text}");
    }

    #[test]
    fn lines_are_left_out_of_the_middle() {
        let text: String = (1..=10).map(|line| format!("{line}\n")).collect();
        let bound = Bound { bytes: 1000, lines: 4 };
        assert_eq!(shorten(&text, bound), "1\n2\n[... omitted 6 of 10 lines ...]\n9\n10\n");
        let one = "x".repeat(100);
        let bound = Bound { bytes: 10, lines: 4 };
        assert_eq!(shorten(&one, bound), "xxxxx\n[... omitted 1 of 1 lines ...]\nxxxxx");
    }

    #[test]
    fn nothing_makes_the_answer_too_long() {
        let text = "\u{1}".repeat(1 << 20);
        let answer = for_model(&finished(&text), Bound { bytes: usize::MAX, lines: usize::MAX });
        assert!(answer.len() <= MOST, "{}", answer.len());
        assert!(answer.len() > MOST / 8);
    }

    proptest! {
        #[test]
        fn the_bound_holds(text in "[a-ü\n]{0,300}", bytes in 0usize..100, lines in 0usize..20) {
            let short = shorten(&text, Bound { bytes, lines });
            prop_assert!(short.len() <= bytes.max(text.len().min(bytes)) + 60, "{}", short);
        }
    }
}
