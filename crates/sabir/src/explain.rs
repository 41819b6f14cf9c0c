//! `sabir explain`: what a diagnostic code means, at length.

use std::io::Write;

use sabir_base::CodeInfo;

use crate::exit::Exit;
use crate::notation::Notation;
use crate::output::{Notes, Output};

/// The pages of `docs/diagnostics`, by code.
const PAGES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/pages.rs"));

/// Prints the page of `code`, which may also be a name such as `glued-record`; without a code,
/// lists them all.
pub(crate) fn explain(
    code: Option<&str>,
    output: &mut Output,
    notes: &mut Notes,
) -> anyhow::Result<Exit> {
    let Some(wanted) = code else {
        for info in codes() {
            writeln!(output, "{}  {:28} {}", info.code, info.name, info.summary)?;
        }
        return Ok(Exit::Done);
    };
    let Some(info) = find(wanted) else {
        notes.line(format_args!(
            "error: there is no code `{}`; `sabir explain` lists them",
            crate::render::printable(wanted)
        ));
        return Ok(Exit::Unusable);
    };
    match page(info) {
        Some(page) => output.write_all(page.as_bytes())?,
        None => writeln!(output, "# {}: {}\n\n{}", info.code, info.name, info.summary)?,
    }
    Ok(Exit::Done)
}

/// Those of every notation, and of packets.
fn codes() -> impl Iterator<Item = &'static CodeInfo> {
    Notation::ALL.into_iter().flat_map(Notation::codes).chain(sabir_llmcp::codes::ALL)
}

fn find(wanted: &str) -> Option<&'static CodeInfo> {
    codes().find(|info| {
        info.code.as_str().eq_ignore_ascii_case(wanted) || info.name.eq_ignore_ascii_case(wanted)
    })
}

fn page(info: &CodeInfo) -> Option<&'static str> {
    PAGES.iter().find(|(code, _)| *code == info.code.as_str()).map(|(_, page)| *page)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn codes_are_found_by_code_and_by_name() {
        assert_eq!(find("ax112").map(|info| info.name), Some("glued-record"));
        let code = |wanted| find(wanted).map(|info| info.code);
        assert_eq!(code("glued-record"), Some(sabir_axon::codes::GLUED_RECORD));
        assert_eq!(code("missing-header"), Some(sabir_llmx::codes::MISSING_HEADER));
        assert_eq!(code("lc601"), Some(sabir_llmcp::codes::UNKNOWN_TOOL));
        assert!(find("AX1").is_none());
    }

    #[test]
    fn a_name_means_one_code_whatever_the_notation() {
        let names: BTreeSet<&str> = codes().map(|info| info.name).collect();
        assert_eq!(names.len(), codes().count());
    }
}
