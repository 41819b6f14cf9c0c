//! What a call can do at worst, as five labels: one table for the tools of LLMCP, and a translation
//! for everything else that the gate decides about. It knows names and what they can reach; who
//! calls, and with what in mind, it does not.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::command::Verdict;
use crate::gate::{Action, ToolEffects};

/// What a call can do at worst.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Labels {
    /// It can read what is the user's own: collections, artifacts, pages in a browser where somebody
    /// may have signed in.
    pub reads_private: bool,
    /// It changes something on this machine.
    pub writes_local: bool,
    /// Something that the caller chose leaves this machine.
    pub egress: bool,
    /// What it does cannot be taken back.
    pub destructive: bool,
    /// It deals with the world outside: what comes back is a stranger's.
    pub open_world: bool,
}

impl Labels {
    pub const NONE: Self = Self {
        reads_private: false,
        writes_local: false,
        egress: false,
        destructive: false,
        open_world: false,
    };

    /// For what nobody described: it can do everything.
    pub const ALL: Self = Self {
        reads_private: true,
        writes_local: true,
        egress: true,
        destructive: true,
        open_world: true,
    };

    /// Whether anything is different after the call, here or elsewhere.
    pub fn has_side_effect(self) -> bool {
        self.writes_local || self.destructive
    }

    /// Of a tool of LLMCP with these arguments. A tool that is not in the table can do everything.
    pub fn of_tool(tool: &str, arguments: &Map<String, Value>) -> Self {
        let variant = VARIANTS
            .iter()
            .find(|variant| variant.tool == tool && (variant.applies)(arguments))
            .map(|variant| variant.labels);
        variant.or_else(|| Self::of_name(tool)).unwrap_or(Self::ALL)
    }

    /// Of a tool of LLMCP, whatever its arguments are.
    pub fn of_name(tool: &str) -> Option<Self> {
        TOOLS.iter().find(|(name, _)| *name == tool).map(|(_, labels)| *labels)
    }

    /// Of any action, so that every row of the audit says what was at stake.
    pub fn of_action(action: &Action) -> Self {
        match action {
            Action::Command { assessment: Verdict::Safe, .. } | Action::Read => READS,
            Action::Command { assessment: Verdict::Ordinary, escalated: false } => {
                Self { writes_local: true, ..READS }
            }
            Action::Command { assessment: Verdict::Dangerous, escalated: false } => {
                Self { writes_local: true, destructive: true, ..READS }
            }
            // Outside of the sandbox there is the network too.
            Action::Command { .. } | Action::RetryOutsideSandbox => Self::ALL,
            Action::Patch { .. } => Self { writes_local: true, ..Self::NONE },
            Action::Tool { effects } => Self::of_effects(*effects),
            // What the other agent does passes the gate by itself.
            Action::Spawn => Self::NONE,
            Action::Call(facts) => facts.labels,
        }
    }

    /// Of a tool of another program, as far as its server is believed.
    pub fn of_effects(effects: ToolEffects) -> Self {
        match effects {
            ToolEffects::ReadOnly => Self { open_world: true, ..READS },
            ToolEffects::Unknown | ToolEffects::Destructive => Self::ALL,
        }
    }

    /// The names of those that are set, in the order of the fields.
    pub fn names(self) -> Vec<&'static str> {
        let all = [
            (self.reads_private, "reads_private"),
            (self.writes_local, "writes_local"),
            (self.egress, "egress"),
            (self.destructive, "destructive"),
            (self.open_world, "open_world"),
        ];
        all.into_iter().filter_map(|(is_set, name)| is_set.then_some(name)).collect()
    }
}

/// The tools of LLMCP by name.
pub fn tool_names() -> impl Iterator<Item = &'static str> {
    TOOLS.iter().map(|(name, _)| *name)
}

/// What programs of others can ask this one for, by the names that policy files have for it.
pub const SERVED_TOOLS: [&str; 8] = [
    "serve.delegate",
    "serve.run_task",
    "serve.ask",
    "serve.capture",
    "serve.axon_check",
    "serve.axon_repair",
    "serve.convert",
    // A message of another agent, which becomes a task.
    "serve.message",
];

/// What certain arguments make of a tool.
struct Variant {
    tool: &'static str,
    applies: fn(&Map<String, Value>) -> bool,
    labels: Labels,
}

const READS: Labels = Labels { reads_private: true, ..Labels::NONE };
const WRITES: Labels = Labels { writes_local: true, ..Labels::NONE };
const LOOKS: Labels = Labels { reads_private: true, open_world: true, ..Labels::NONE };
/// A page sees what is done to it, to the number that it is scrolled by, and can pass it on.
const ACTS_OUTSIDE: Labels = Labels { egress: true, open_world: true, ..Labels::NONE };
const FETCHES: Labels =
    Labels { writes_local: true, egress: true, open_world: true, ..Labels::NONE };

/// Every tool of LLMCP.
const TOOLS: [(&str, Labels); 24] = [
    ("browser.observe_dom", LOOKS),
    ("browser.get_selection_links", LOOKS),
    // Nobody knows what a button does.
    ("browser.click", Labels { destructive: true, ..ACTS_OUTSIDE }),
    ("browser.type", ACTS_OUTSIDE),
    ("browser.select", ACTS_OUTSIDE),
    ("browser.scroll", ACTS_OUTSIDE),
    ("browser.open_tab", ACTS_OUTSIDE),
    ("browser.navigate", ACTS_OUTSIDE),
    ("browser.back", ACTS_OUTSIDE),
    ("browser.forward", ACTS_OUTSIDE),
    ("browser.refresh", ACTS_OUTSIDE),
    ("search", ACTS_OUTSIDE),
    ("artifact.save", WRITES),
    ("artifact.share", Labels { reads_private: true, ..WRITES }),
    ("artifact.open", READS),
    ("integration.invoke", Labels { writes_local: false, ..Labels::ALL }),
    ("app.calculate", Labels::NONE),
    ("collection.create", WRITES),
    ("collection.add_sources", WRITES),
    ("collection.list_sources", READS),
    ("source.capture", FETCHES),
    ("source.refresh", FETCHES),
    ("transform.list_types", Labels::NONE),
    ("transform.run", Labels { reads_private: true, ..WRITES }),
];

const VARIANTS: [Variant; 3] = [
    // Another program gets it, and what that does with it is its own affair.
    Variant {
        tool: "artifact.share",
        applies: |arguments| is(arguments, "target", "share_sheet"),
        labels: Labels { destructive: false, ..Labels::ALL },
    },
    // A browser follows what a text links to.
    Variant {
        tool: "artifact.open",
        applies: |arguments| is(arguments, "target", "browser"),
        labels: Labels { reads_private: true, ..ACTS_OUTSIDE },
    },
    // A source that is an address is fetched.
    Variant {
        tool: "collection.add_sources",
        applies: |arguments| {
            let sources = arguments.get("sources").and_then(Value::as_array);
            // Anything that is not plainly a note may be fetched.
            !sources.is_some_and(|all| all.iter().all(|it| it["type"] == "note"))
        },
        labels: FETCHES,
    },
];

fn is(arguments: &Map<String, Value>, key: &str, value: &str) -> bool {
    arguments.get(key).and_then(Value::as_str) == Some(value)
}
