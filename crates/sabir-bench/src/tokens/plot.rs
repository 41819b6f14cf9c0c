//! The plot: a strip of dots for each notation, one dot a vocabulary.
//!
//! A picture in a page is shown on white or on black, so it takes its colours from what the reader
//! prefers and paints no background.

use std::fmt::Write as _;

use sabir_lingua::tokens::Tokenizer;

use crate::tokens::encode::Notation;
use crate::tokens::measure::Counts;
use crate::tokens::report::BASE;

const WIDTH: f64 = 760.0;
/// Room for the names on the left and the ranges on the right of the plane.
const LEFT: f64 = 140.0;
const RIGHT: f64 = 128.0;
const TOP: f64 = 64.0;
const ROW: f64 = 32.0;
/// Percent of the baseline between two lines of the grid.
const STEP: usize = 20;

const STYLE: &str = "\
text{font:13px system-ui,sans-serif;fill:#24292f}\
.title{font-size:15px;font-weight:600}\
.small{font-size:12px;fill:#57606a}\
.grid{stroke:#d0d7de}\
.base{stroke:#57606a;stroke-dasharray:4 3}\
.span{stroke:#afb8c1;stroke-width:3;stroke-linecap:round}\
.dot{fill:#6e7781;fill-opacity:.75}\
.ours{fill:#0969da}\
@media(prefers-color-scheme:dark){\
text{fill:#e6edf3}.small{fill:#9198a1}.grid{stroke:#30363d}.base{stroke:#9198a1}\
.span{stroke:#484f58}.dot{fill:#8b949e}.ours{fill:#58a6ff}}";

pub(crate) fn svg(counts: &Counts) -> String {
    let mut notations: Vec<(Notation, f64, f64)> = Notation::ALL
        .iter()
        .map(|notation| {
            let (low, high) = counts.ratios(*notation, BASE);
            (*notation, low * 100.0, high * 100.0)
        })
        .collect();
    notations.sort_by(|a, b| (a.1 + a.2).total_cmp(&(b.1 + b.2)));
    let least = notations.iter().map(|it| it.1).fold(f64::INFINITY, f64::min);
    let greatest = notations.iter().map(|it| it.2).fold(0.0, f64::max);
    let from = (least / STEP as f64).floor() as usize * STEP;
    let to = (greatest / STEP as f64).ceil() as usize * STEP;
    let plane = WIDTH - LEFT - RIGHT;
    let x = |percent: f64| LEFT + (percent - from as f64) / (to - from) as f64 * plane;
    let bottom = TOP + ROW * notations.len() as f64;
    let height = bottom + 52.0;

    let mut out = String::new();
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" role=\"img\" aria-label=\"Tokens of each notation as a percentage of compact JSON\">"
    );
    let _ = writeln!(out, "<style>{STYLE}</style>");
    let _ = writeln!(
        out,
        "<text class=\"title\" x=\"12\" y=\"24\">Tokens for the same {} messages, compact JSON = 100%</text>",
        counts.messages()
    );
    let _ = writeln!(
        out,
        "<text class=\"small\" x=\"12\" y=\"44\">Each dot is one of {} vocabularies; further left is cheaper.</text>",
        Tokenizer::ALL.len()
    );
    for percent in (from..=to).step_by(STEP) {
        let class = if percent == 100 { "base" } else { "grid" };
        let at = x(percent as f64);
        let _ = writeln!(
            out,
            "<line class=\"{class}\" x1=\"{at:.1}\" y1=\"{TOP}\" x2=\"{at:.1}\" y2=\"{bottom}\"/>\
             <text class=\"small\" text-anchor=\"middle\" x=\"{at:.1}\" y=\"{:.1}\">{percent}%</text>",
            bottom + 18.0
        );
    }
    for (index, (notation, low, high)) in notations.iter().enumerate() {
        let middle = TOP + ROW * (index as f64 + 0.5);
        let baseline = middle + 4.5;
        let _ = writeln!(
            out,
            "<text text-anchor=\"end\" x=\"{:.1}\" y=\"{baseline:.1}\">{}</text>",
            LEFT - 14.0,
            notation.title()
        );
        let _ = writeln!(
            out,
            "<line class=\"span\" x1=\"{:.1}\" y1=\"{middle:.1}\" x2=\"{:.1}\" y2=\"{middle:.1}\"/>",
            x(*low),
            x(*high)
        );
        let class = match notation {
            Notation::AxonWire | Notation::AxonPretty => "dot ours",
            _ => "dot",
        };
        for tokenizer in Tokenizer::ALL {
            let percent = counts.ratio(*tokenizer, *notation, BASE) * 100.0;
            let _ = writeln!(
                out,
                "<circle class=\"{class}\" cx=\"{:.1}\" cy=\"{middle:.1}\" r=\"4.5\"><title>{}: {percent:.1}%</title></circle>",
                x(percent),
                tokenizer.name()
            );
        }
        let range = match (low.round() as u64, high.round() as u64) {
            (low, high) if low == high => format!("{low}%"),
            (low, high) => format!("{low}% to {high}%"),
        };
        let _ = writeln!(
            out,
            "<text x=\"{:.1}\" y=\"{baseline:.1}\">{range}</text>",
            WIDTH - RIGHT + 14.0
        );
    }
    let _ = writeln!(
        out,
        "<text class=\"small\" text-anchor=\"middle\" x=\"{:.1}\" y=\"{:.1}\">tokens, as a percentage of compact JSON</text>",
        LEFT + plane / 2.0,
        bottom + 40.0
    );
    out.push_str("</svg>\n");
    out
}
