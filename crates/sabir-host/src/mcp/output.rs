//! The answer of a tool as one text for a model. What is no text is described in words.

use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use sabir_base::text::{one_line, without_hidden};
use serde_json::Value;

/// What a tool answered.
#[derive(Debug, Clone, PartialEq)]
pub struct McpOutput {
    /// All content as text, of at most 256 KiB.
    pub text: String,
    /// Whether the tool says that it failed.
    pub is_error: bool,
    /// The answer as data, if the tool gave it and it is not too large.
    pub structured: Option<Value>,
}

impl McpOutput {
    pub(super) fn from_result(result: CallToolResult) -> Self {
        let parts = result.content.iter().map(describe).collect();
        Self::assemble(parts, result.is_error.unwrap_or(false), result.structured_content)
    }

    /// Reads a result with content of kinds that we do not know: the rest of it still counts.
    pub(super) fn from_unknown(mut result: Value) -> Option<Self> {
        let parts = result.get("content")?.as_array()?.iter().map(describe_unknown).collect();
        let is_error = result.get("isError").and_then(Value::as_bool).unwrap_or(false);
        let structured = result.get_mut("structuredContent").map(Value::take);
        Some(Self::assemble(parts, is_error, structured))
    }

    fn assemble(parts: Vec<String>, is_error: bool, structured: Option<Value>) -> Self {
        let mut text = parts.join("\n");
        let rendered = structured.as_ref().map(Value::to_string);
        let too_large = rendered.as_ref().is_some_and(|rendered| rendered.len() > MAX_OUTPUT);
        if text.is_empty()
            && let Some(rendered) = rendered
        {
            text = rendered;
        }
        Self { text: bound(&text), is_error, structured: structured.filter(|_| !too_large) }
    }
}

fn describe(block: &ContentBlock) -> String {
    match block {
        ContentBlock::Text(text) => text.text.clone(),
        ContentBlock::Image(image) => binary("image", &image.mime_type, &image.data),
        ContentBlock::Audio(audio) => binary("audio", &audio.mime_type, &audio.data),
        ContentBlock::Resource(embedded) => match &embedded.resource {
            ResourceContents::TextResourceContents { uri, text, .. } => {
                format!("[resource {}]\n{text}", short(uri))
            }
            ResourceContents::BlobResourceContents { uri, mime_type, blob, .. } => {
                let kind = mime_type.as_deref().unwrap_or("unknown type");
                binary(&format!("resource {}", short(uri)), kind, blob)
            }
            _ => "[a resource of an unknown kind]".to_owned(),
        },
        ContentBlock::ResourceLink(link) => {
            let kind = link.mime_type.as_deref().unwrap_or("unknown type");
            let size = link.size.map_or("unknown size".to_owned(), |size| format!("{size} bytes"));
            format!(
                "[link to {}: {}, {}, {size}]",
                short(&link.name),
                short(&link.uri),
                short(kind)
            )
        }
        _ => "[content of an unknown kind]".to_owned(),
    }
}

fn describe_unknown(block: &Value) -> String {
    if let Ok(block) = serde_json::from_value::<ContentBlock>(block.clone()) {
        return describe(&block);
    }
    let kind = block.get("type").and_then(Value::as_str).unwrap_or("nameless");
    format!("[content of the unknown kind `{}`, {} bytes]", short(kind), block.to_string().len())
}

fn binary(what: &str, kind: &str, base64: &str) -> String {
    let padding = base64.bytes().rev().take_while(|byte| *byte == b'=').count();
    let bytes = (base64.len() - padding) * 3 / 4;
    format!("[{what}, {}, {bytes} bytes, not shown]", short(kind))
}

fn short(word: &str) -> String {
    one_line(word, 200)
}

fn bound(text: &str) -> String {
    let text = without_hidden(text);
    if text.len() <= MAX_OUTPUT {
        return text.into_owned();
    }
    let note = format!("\n[cut: this answer had {} bytes]", text.len());
    let end = text.floor_char_boundary(MAX_OUTPUT - note.len());
    format!("{}{note}", &text[..end])
}

/// More than any model should read at once.
const MAX_OUTPUT: usize = 256 * 1024;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_kind_of_content_has_words() {
        let result = json!({
            "content": [
                { "type": "text", "text": "one\u{1b}[0m" },
                { "type": "image", "data": "AAAA", "mimeType": "image/png" },
                { "type": "audio", "data": "AAA=", "mimeType": "audio/wav" },
                { "type": "resource", "resource": { "uri": "file:///a", "text": "two" } },
                { "type": "resource", "resource": { "uri": "file:///b", "blob": "AA==" } },
                { "type": "resource_link", "uri": "file:///c", "name": "c", "size": 7 },
                { "type": "smell", "of": "roses" },
            ],
            "isError": true,
        });
        let output = McpOutput::from_unknown(result).unwrap();
        assert!(output.is_error);
        expect_test::expect![[r#"
            one[0m
            [image, image/png, 3 bytes, not shown]
            [audio, audio/wav, 2 bytes, not shown]
            [resource file:///a]
            two
            [resource file:///b, unknown type, 1 bytes, not shown]
            [link to c: file:///c, unknown type, 7 bytes]
            [content of the unknown kind `smell`, 29 bytes]"#]]
        .assert_eq(&output.text);
    }

    #[test]
    fn data_without_words_becomes_words() {
        let output = McpOutput::assemble(vec![], false, Some(json!({ "answer": 42 })));
        assert_eq!(output.text, r#"{"answer":42}"#);
        let huge = McpOutput::assemble(vec![], false, Some(json!("x".repeat(MAX_OUTPUT))));
        assert_eq!((huge.structured, huge.text.len()), (None, MAX_OUTPUT));
    }

    #[test]
    fn long_answers_end_on_a_character() {
        let text = bound(&"é".repeat(MAX_OUTPUT));
        assert!(text.len() <= MAX_OUTPUT && text.len() > MAX_OUTPUT - 4);
        assert!(text.ends_with("é\n[cut: this answer had 524288 bytes]"));
    }
}
