//! What a person wrote in an editor, as the engine takes it.

use agent_client_protocol::v1::schema::{
    BlobResourceContents, ContentBlock, EmbeddedResourceResource, ImageContent, ResourceLink,
};
use sabir_engine::InputItem;

/// The parts of a prompt. What was not offered to the editor is refused with words.
pub(super) fn items(prompt: Vec<ContentBlock>) -> Result<Vec<InputItem>, String> {
    let items: Vec<InputItem> = prompt.into_iter().map(item).collect::<Result<_, _>>()?;
    let says_something = |item: &InputItem| match item {
        InputItem::Text { text } => !text.trim().is_empty(),
        InputItem::Image { .. } | InputItem::LocalImage { .. } => true,
    };
    match items.iter().any(says_something) {
        true => Ok(items),
        false => Err("the prompt says nothing".to_owned()),
    }
}

fn item(block: ContentBlock) -> Result<InputItem, String> {
    Ok(match block {
        ContentBlock::Text(text) => InputItem::Text { text: text.text },
        ContentBlock::Image(ImageContent { data, mime_type, uri, .. }) => {
            match (data.is_empty(), uri) {
                (true, Some(uri)) if uri.starts_with("https:") => {
                    InputItem::Image { image_url: uri }
                }
                (true, _) => return Err("an image of the prompt is empty".to_owned()),
                (false, _) => image(&data, &mime_type)?,
            }
        }
        ContentBlock::ResourceLink(ResourceLink { name, uri, description, .. }) => {
            let place = path_of(&uri).unwrap_or(uri);
            let description = description.map(|it| format!(": {it}")).unwrap_or_default();
            InputItem::Text { text: format!("[the user points to {name} ({place}){description}]") }
        }
        ContentBlock::Resource(embedded) => match embedded.resource {
            EmbeddedResourceResource::TextResourceContents(resource) => {
                let place = path_of(&resource.uri).unwrap_or(resource.uri);
                let fence = fence_for(&resource.text);
                let text = format!("{place}:\n{fence}\n{}\n{fence}", resource.text);
                InputItem::Text { text }
            }
            EmbeddedResourceResource::BlobResourceContents(blob) => blob_item(blob)?,
            _ => return Err("a resource of the prompt is neither text nor bytes".to_owned()),
        },
        ContentBlock::Audio(_) => {
            return Err("audio is not taken: prompts are text, images and resources".to_owned());
        }
        _ => return Err("a part of the prompt is of a kind that is not known here".to_owned()),
    })
}

fn blob_item(blob: BlobResourceContents) -> Result<InputItem, String> {
    match blob.mime_type {
        Some(kind) if kind.starts_with("image/") => image(&blob.blob, &kind),
        kind => {
            let place = path_of(&blob.uri).unwrap_or(blob.uri);
            let kind = kind.map(|it| format!(" of the type {it}")).unwrap_or_default();
            let text = format!("[the user attached {place}{kind}; its bytes are not shown here]");
            Ok(InputItem::Text { text })
        }
    }
}

fn image(data: &str, mime_type: &str) -> Result<InputItem, String> {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "+-.".contains(it);
    match mime_type.strip_prefix("image/") {
        Some(kind) if !kind.is_empty() && kind.chars().all(is_plain) => {}
        _ => return Err(format!("an image of the prompt has the type {mime_type:?}")),
    }
    let is_base64 = |it: u8| it.is_ascii_alphanumeric() || b"+/=".contains(&it);
    match data.bytes().all(is_base64) {
        true => Ok(InputItem::Image { image_url: format!("data:{mime_type};base64,{data}") }),
        false => Err("an image of the prompt is not base64".to_owned()),
    }
}

/// The path of a `file:` address, as tools take it.
fn path_of(uri: &str) -> Option<String> {
    let rest = uri.strip_prefix("file://")?;
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'%' => {
                let digits = [rest.next()?, rest.next()?];
                let digits = std::str::from_utf8(&digits).ok()?;
                bytes.push(u8::from_str_radix(digits, 16).ok()?);
            }
            byte => bytes.push(byte),
        }
    }
    String::from_utf8(bytes).ok().filter(|path| path.starts_with('/'))
}

/// More backticks than the text has in a row, so that it cannot end its own fence.
pub(super) fn fence_for(text: &str) -> String {
    let (mut longest, mut run) = (0usize, 0usize);
    for it in text.chars() {
        run = if it == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    "`".repeat((longest + 1).max(3))
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_client_protocol::v1::schema::{
        AudioContent, EmbeddedResource, TextContent, TextResourceContents,
    };
    use expect_test::{Expect, expect};

    fn check(block: impl Into<ContentBlock>, expect: Expect) {
        expect.assert_eq(&match items(vec![block.into()]) {
            Ok(items) => format!("{items:?}"),
            Err(words) => format!("refused: {words}"),
        });
    }

    fn text(text: &str, uri: &str) -> ContentBlock {
        let resource = TextResourceContents::new(text, uri);
        let resource = EmbeddedResourceResource::TextResourceContents(resource);
        ContentBlock::Resource(EmbeddedResource::new(resource))
    }

    #[test]
    fn every_kind_becomes_an_item_or_words() {
        check(ContentBlock::Text(TextContent::new("hi")), expect![[r#"[Text { text: "hi" }]"#]]);
        check(
            ContentBlock::Image(ImageContent::new("aGk=", "image/png")),
            expect![[r#"[Image { image_url: "data:image/png;base64,aGk=" }]"#]],
        );
        check(
            ContentBlock::Image(ImageContent::new("aGk=", "text/html")),
            expect![[r#"refused: an image of the prompt has the type "text/html""#]],
        );
        check(
            ContentBlock::Image(ImageContent::new("a\"b", "image/png")),
            expect!["refused: an image of the prompt is not base64"],
        );
        check(
            ContentBlock::ResourceLink(ResourceLink::new("a b.rs", "file:///w/a%20b.rs")),
            expect![[r#"[Text { text: "[the user points to a b.rs (/w/a b.rs)]" }]"#]],
        );
        check(
            text("let x = `1`;", "file:///w/x.rs"),
            expect![[r#"[Text { text: "/w/x.rs:\n```\nlet x = `1`;\n```" }]"#]],
        );
        check(
            text("````", "zed:///thread/1"),
            expect![[r#"[Text { text: "zed:///thread/1:\n`````\n````\n`````" }]"#]],
        );
        check(
            ContentBlock::Audio(AudioContent::new("aGk=", "audio/wav")),
            expect!["refused: audio is not taken: prompts are text, images and resources"],
        );
    }

    #[test]
    fn addresses_that_are_no_paths_stay_as_they_are() {
        for uri in ["file://host/x", "file:///%zz", "file:///%", "https://x/y"] {
            assert_eq!(path_of(uri), None, "{uri}");
        }
    }
}
