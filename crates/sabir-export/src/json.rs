//! An artifact as a JSON object for programs. `docs/protocol/export.md` promises its shape.

use serde_json::json;

use crate::Artifact;

pub(crate) fn write(artifact: &Artifact) -> String {
    let document = artifact.document.normalised();
    let references: Vec<_> = artifact
        .references
        .iter()
        .map(|reference| {
            json!({
                "number": reference.number,
                "quote": reference.quote,
                "status": reference.status,
                "title": reference.title,
                "url": reference.shown_url(),
            })
        })
        .collect();
    let object = json!({
        "format": "sabir.artifact",
        "version": 1,
        "id": artifact.id,
        "title": artifact.title,
        "made_at": artifact.made_at,
        "markdown": document.to_markdown(),
        "document": document.to_json(),
        "references": references,
    });
    format!("{object:#}\n")
}
