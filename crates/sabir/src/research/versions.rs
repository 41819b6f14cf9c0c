//! `sabir collection show --source`: what a source said, and when.

use std::io::Write as _;

use anyhow::{Context, bail};
use sabir_base::text::{one_line, with_hidden_shown};
use sabir_host::{count_changes, show_changes, written};
use sabir_store::library::{Collection, Library, SourceId, Version};
use serde_json::json;

use crate::exit::Exit;
use crate::output::Output;

/// How it is shown.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wants {
    pub(super) json: bool,
    pub(super) diff: bool,
}

pub(super) fn show_source(
    library: &Library,
    collection: &Collection,
    source: &str,
    wants: Wants,
    output: &mut Output,
) -> anyhow::Result<Exit> {
    let id = SourceId::parse(source)
        .with_context(|| format!("{source:?} is no source: its id begins with src_"))?;
    let source = library.source(&id)?;
    if source.collection_id != collection.id {
        bail!("{id} is not in {:?}", collection.title);
    }
    let versions = all_versions(library, &id)?;
    let diff = match &versions[..] {
        [.., before, last] if wants.diff => Some(difference(library, before, last)?),
        _ => None,
    };
    if wants.json {
        let listed: Vec<_> = versions
            .iter()
            .map(|version| {
                json!({
                    "id": version.id, "number": version.number, "hash": version.hash.to_string(),
                    "title": version.title, "chars": version.chars, "words": version.words,
                    "captured_at": written(version.captured_at_ms),
                    "is_current": source.current_version.as_ref() == Some(&version.id),
                })
            })
            .collect();
        let object = json!({
            "id": source.id, "title": source.title, "status": source.status,
            "kind": source.origin.kind, "url": source.origin.address, "error": source.fault,
            "checked_at": source.checked_at_ms.map(written), "versions": listed, "diff": diff,
        });
        writeln!(output, "{object}")?;
        return Ok(Exit::Done);
    }
    writeln!(output, "{}  {}", source.id, one_line(&source.title, 200))?;
    if let Some(fault) = &source.fault {
        writeln!(output, "the last attempt failed: {}", one_line(&fault.text, 200))?;
    }
    let mut before: Option<&Version> = None;
    for version in &versions {
        let at = written(version.captured_at_ms);
        write!(output, "{:>4}  {}  {at}  {} words", version.number, version.id, version.words)?;
        if let Some(before) = before {
            let text = |id| library.version_text(id).map(|it| it.markdown);
            let change = count_changes(&text(&before.id)?, &text(&version.id)?);
            write!(output, "  +{} −{} lines", change.added, change.removed)?;
        }
        writeln!(output)?;
        before = Some(version);
    }
    if let Some(diff) = diff {
        write!(output, "{}", with_hidden_shown(&diff))?;
    } else if wants.diff {
        writeln!(output, "there is one version only")?;
    }
    Ok(Exit::Done)
}

fn difference(library: &Library, old: &Version, new: &Version) -> anyhow::Result<String> {
    let text = |id| library.version_text(id).map(|it| it.markdown);
    let (before, after) = (text(&old.id)?, text(&new.id)?);
    Ok(show_changes((old.id.as_str(), &before), (new.id.as_str(), &after)))
}

fn all_versions(library: &Library, id: &SourceId) -> anyhow::Result<Vec<Version>> {
    let (mut versions, mut after) = (Vec::new(), 0);
    loop {
        let some = library.versions(id, after, PAGE)?;
        let Some(last) = some.last() else { return Ok(versions) };
        after = last.number;
        versions.extend(some);
    }
}

const PAGE: usize = 500;
