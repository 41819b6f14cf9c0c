//! What a model does, in the words and kinds of the protocol.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use agent_client_protocol::v1::schema::{
    Content, ContentBlock, TextContent, ToolCallContent, ToolCallId, ToolCallLocation, ToolKind,
};
use sabir_base::text::clip;
use sabir_policy::as_typed;
use serde_json::Value;

use super::input::fence_for;

/// The calls of a turn, and the names of all that were shown. Models give the same id twice in
/// different turns; an editor would take the second for the first.
#[derive(Debug, Default)]
pub(super) struct Calls {
    open: BTreeMap<String, Call>,
    shown: HashSet<String>,
}

/// A call of this turn.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) id: ToolCallId,
    pub(super) has_ended: bool,
    pub(super) output: Tail,
    /// There is output that the editor has not seen.
    pub(super) is_behind: bool,
}

/// Whether the editor knows of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Known {
    Yes,
    No,
}

impl Calls {
    /// The call of this turn, and whether it has been shown before.
    pub(super) fn begin(&mut self, call_id: &str) -> (ToolCallId, Known) {
        if let Some(call) = self.open.get_mut(call_id) {
            call.has_ended = false;
            return (call.id.clone(), Known::Yes);
        }
        let id = self.name(call_id);
        let call =
            Call { id: id.clone(), has_ended: false, output: Tail::default(), is_behind: false };
        self.open.insert(call_id.to_owned(), call);
        (id, Known::No)
    }

    /// A name that no other call of the session has.
    pub(super) fn name(&mut self, call_id: &str) -> ToolCallId {
        let mut name = call_id.to_owned();
        let mut number = 2;
        while !self.shown.insert(name.clone()) {
            name = format!("{call_id}-{number}");
            number += 1;
        }
        ToolCallId::new(name)
    }

    pub(super) fn find(&mut self, call_id: &str) -> Option<&mut Call> {
        self.open.get_mut(call_id)
    }

    /// Those with output that the editor has not seen.
    pub(super) fn behind(&mut self) -> impl Iterator<Item = &mut Call> {
        self.open.values_mut().filter(|call| call.is_behind)
    }

    /// Ends the turn. Returns the calls that nobody has ended.
    pub(super) fn close(&mut self) -> Vec<ToolCallId> {
        let open = std::mem::take(&mut self.open);
        open.into_values().filter(|call| !call.has_ended).map(|call| call.id).collect()
    }
}

/// The end of a text that may be long. An update carries all that is shown of a call, so that long
/// output would be sent over and over.
#[derive(Debug, Default)]
pub(super) struct Tail {
    text: String,
    is_cut: bool,
}

const SHOWN_BYTES: usize = 16 * 1024;

impl Tail {
    pub(super) fn push(&mut self, chunk: &str) {
        self.text.push_str(chunk);
        // Cut now and then, and not with every chunk.
        if self.text.len() > 2 * SHOWN_BYTES {
            self.cut();
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    pub(super) fn show(&mut self) -> String {
        self.cut();
        match self.is_cut {
            true => format!("[earlier output is left out]\n{}", self.text),
            false => self.text.clone(),
        }
    }

    fn cut(&mut self) {
        if self.text.len() > SHOWN_BYTES {
            let start = self.text.ceil_char_boundary(self.text.len() - SHOWN_BYTES);
            self.text.drain(..start);
            self.is_cut = true;
        }
    }
}

/// The kind of one of the engine's tools.
pub(super) fn kind_of(tool: &str) -> ToolKind {
    match tool {
        "shell" => ToolKind::Execute,
        "apply_patch" => ToolKind::Edit,
        "read_file" => ToolKind::Read,
        "search" | "list_dir" => ToolKind::Search,
        "spawn_agent" | "update_plan" => ToolKind::Think,
        _ => ToolKind::Other,
    }
}

/// A call in a line.
pub(super) fn title_of(tool: &str, arguments: &Value) -> String {
    let said = |name: &str| arguments[name].as_str();
    let title = match tool {
        "shell" => command_of(arguments).map(|command| title_of_command(&command)),
        "read_file" => said("path").map(|path| format!("Read {path}")),
        "list_dir" => Some(format!("List {}", said("path").unwrap_or("."))),
        "search" => said("pattern").map(|pattern| match said("path") {
            Some(path) => format!("Search {path} for {pattern}"),
            None => format!("Search for {pattern}"),
        }),
        "spawn_agent" => said("task").map(|task| format!("Give to another agent: {task}")),
        _ => None,
    };
    shorten(title.unwrap_or_else(|| tool.to_owned()))
}

/// The words of a shell call, in either of the forms that models use.
pub(super) fn command_of(arguments: &Value) -> Option<Vec<String>> {
    match &arguments["command"] {
        Value::Array(words) => words.iter().map(|word| word.as_str().map(str::to_owned)).collect(),
        Value::String(script) => Some(vec!["sh".to_owned(), "-c".to_owned(), script.clone()]),
        _ => None,
    }
}

/// A command as a person would type it.
pub(super) fn title_of_command(command: &[String]) -> String {
    shorten(match command {
        [shell, flag, script] if is_shell(shell) && matches!(flag.as_str(), "-c" | "-lc") => {
            script.clone()
        }
        words => as_typed(words),
    })
}

fn is_shell(word: &str) -> bool {
    matches!(word.rsplit('/').next(), Some("sh" | "bash" | "zsh" | "dash"))
}

/// More than fits on a line; less than would be a nuisance in a list. What is asked about is shown
/// in full elsewhere.
const TITLE_BYTES: usize = 500;

fn shorten(title: String) -> String {
    clip(&title, TITLE_BYTES).into_owned()
}

/// Where a call looks.
pub(super) fn places_of(tool: &str, arguments: &Value, cwd: &Path) -> Vec<ToolCallLocation> {
    match (tool, arguments["path"].as_str()) {
        ("read_file", Some(path)) => {
            let line = arguments["offset"].as_u64().and_then(|line| u32::try_from(line).ok());
            vec![ToolCallLocation::new(cwd.join(path)).line(line)]
        }
        ("search" | "list_dir", Some(path)) => vec![ToolCallLocation::new(cwd.join(path))],
        _ => Vec::new(),
    }
}

pub(super) fn text(text: impl Into<String>) -> ToolCallContent {
    ToolCallContent::Content(Content::new(ContentBlock::Text(TextContent::new(text))))
}

/// What a command or a tool wrote, kept from being read as Markdown.
pub(super) fn output(written: &str) -> Vec<ToolCallContent> {
    let written = written.trim_end_matches('\n');
    if written.is_empty() {
        return Vec::new();
    }
    let fence = fence_for(written);
    vec![text(format!("{fence}\n{written}\n{fence}"))]
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn titles_read_like_what_a_person_would_type() {
        let command = |words: &[&str]| {
            title_of_command(&words.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>())
        };
        assert_eq!(command(&["bash", "-lc", "ls | wc"]), "ls | wc");
        assert_eq!(command(&["/bin/sh", "-c", "ls"]), "ls");
        assert_eq!(command(&["echo", "a b", "it's"]), r"echo 'a b' 'it'\''s'");
        assert_eq!(command(&["x", ""]), "x ''");
        assert_eq!(title_of("read_file", &json!({ "path": "a.rs" })), "Read a.rs");
        assert_eq!(title_of("search", &json!({ "pattern": "fn" })), "Search for fn");
        assert_eq!(title_of("search", &json!("broken")), "search");
        assert_eq!(title_of("list_dir", &json!({})), "List .");
        assert_eq!(title_of("shell", &json!({ "command": "ls" })), "ls");
        assert_eq!(title_of("x__y", &json!({ "path": "a" })), "x__y");
        assert_eq!(command(&[&"é".repeat(400)]).len(), TITLE_BYTES - 1);
    }

    #[test]
    fn names_are_given_once() {
        let mut calls = Calls::default();
        let (first, known) = calls.begin("c");
        assert_eq!((first.to_string().as_str(), known), ("c", Known::No));
        assert_eq!(calls.begin("c").1, Known::Yes);
        assert_eq!(calls.close(), [first]);
        let (second, known) = calls.begin("c");
        assert_eq!((second.to_string().as_str(), known), ("c-2", Known::No));
        calls.find("c").unwrap().has_ended = true;
        assert!(calls.close().is_empty());
    }

    #[test]
    fn the_end_of_long_output_is_kept() {
        let mut tail = Tail::default();
        tail.push("début");
        assert_eq!(tail.show(), "début");
        for _ in 0..100_000 {
            tail.push("é");
        }
        let shown = tail.show();
        assert!(shown.starts_with("[earlier output is left out]\né"), "{}", &shown[..40]);
        assert!(shown.len() <= SHOWN_BYTES + 40, "{}", shown.len());
    }

    #[test]
    fn output_cannot_leave_its_fence() {
        assert_eq!(output("a\n```\nb\n"), [text("````\na\n```\nb\n````")]);
        assert!(output("\n").is_empty());
    }
}
