//! The tools as clients see them: names, what they are for, and what goes in and comes out.

use rmcp::model::{Tool, ToolAnnotations};

use super::{language, library, tasks};

/// The tools there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Name {
    Delegate,
    RunTask,
    Ask,
    Capture,
    AxonCheck,
    AxonRepair,
    Convert,
}

impl Name {
    pub(super) const ALL: [Self; 7] = [
        Self::Delegate,
        Self::RunTask,
        Self::Ask,
        Self::Capture,
        Self::AxonCheck,
        Self::AxonRepair,
        Self::Convert,
    ];

    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Delegate => "delegate",
            Self::RunTask => "run_task",
            Self::Ask => "ask",
            Self::Capture => "capture",
            Self::AxonCheck => "axon_check",
            Self::AxonRepair => "axon_repair",
            Self::Convert => "convert",
        }
    }

    pub(super) fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|name| name.word() == word)
    }
}

pub(super) fn all() -> Vec<Tool> {
    Name::ALL.map(tool).into()
}

pub(super) fn tool(name: Name) -> Tool {
    let reads = |title: &str| ToolAnnotations::with_title(title).read_only(true).open_world(false);
    let acts = |title: &str| {
        ToolAnnotations::with_title(title)
            .read_only(false)
            .destructive(false)
            .idempotent(false)
            .open_world(true)
    };
    let tool =
        |description: &'static str| Tool::new(name.word(), description, serde_json::Map::new());
    match name {
        Name::Delegate => tool(
            "Hand a task to another agent. The agents that are known are ranked by measured \
             quality, cost and latency; the best is given the task, and the next one if it fails. \
             Returns what came of it with who did it, at what cost, and with which provenance. If \
             the task takes longer than wait_secs, the state is `running`: ask again with \
             run_task and the id.",
        )
        .with_input_schema::<tasks::DelegateInput>()
        .with_output_schema::<tasks::TaskOutput>()
        .with_annotations(acts("Hand a task to an agent")),
        Name::RunTask => tool(
            "Have one of this node's own agents do a task (`task`), or wait for a task that was \
             handed in before (`id`). The skill can be left out where only one is offered.",
        )
        .with_input_schema::<tasks::RunInput>()
        .with_output_schema::<tasks::TaskOutput>()
        .with_annotations(acts("Run a task on this node")),
        Name::Ask => tool(
            "Ask a question about a collection of captured pages. The answer stands on the \
             captured sources alone; each citation was looked up in the source that it names, and \
             its status says whether the words are there.",
        )
        .with_input_schema::<library::AskInput>()
        .with_output_schema::<library::AskOutput>()
        // What was asked and answered is kept in the collection.
        .with_annotations(
            ToolAnnotations::with_title("Ask about a collection")
                .read_only(false)
                .destructive(false)
                .open_world(false),
        ),
        Name::Capture => tool(
            "Fetch pages of the web into a collection, as Markdown and with their versions. \
             Private, loopback and metadata addresses are refused. The collection is made when it \
             is new.",
        )
        .with_input_schema::<library::CaptureInput>()
        .with_output_schema::<library::CaptureOutput>()
        .with_annotations(acts("Capture pages").idempotent(true)),
        Name::AxonCheck => tool(
            "Check whether a text is valid AXON. Each finding has a code, a place and often a \
             help that says what to write instead.",
        )
        .with_input_schema::<language::CheckInput>()
        .with_output_schema::<language::CheckOutput>()
        .with_annotations(reads("Check AXON")),
        Name::AxonRepair => tool(
            "Turn what a model wrote into valid AXON, and say what was changed. Nothing is \
             invented and nothing is dropped.",
        )
        .with_input_schema::<language::RepairInput>()
        .with_output_schema::<language::RepairOutput>()
        .with_annotations(reads("Repair AXON")),
        Name::Convert => tool(
            "Translate a document between AXON, LLMX, their JSON and LDP semantic frames, without \
             loss: translating back gives an equal document.",
        )
        .with_input_schema::<language::ConvertInput>()
        .with_output_schema::<language::ConvertOutput>()
        .with_annotations(reads("Translate")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// BR-M1: what a policy file can name is what is served.
    #[test]
    fn every_tool_has_schemas_and_a_name_for_policies() {
        for name in Name::ALL {
            assert_eq!(Name::parse(name.word()), Some(name));
            let served = format!("serve.{}", name.word());
            assert!(sabir_policy::SERVED_TOOLS.contains(&served.as_str()), "{served}");
            let tool = tool(name);
            assert_eq!(tool.input_schema["type"], "object", "{name:?}");
            assert_eq!(tool.input_schema["additionalProperties"], false, "{name:?}");
            let output = tool.output_schema.unwrap();
            assert_eq!(output["type"], "object", "{name:?}");
        }
        assert_eq!(Name::parse("shell"), None);
    }
}
