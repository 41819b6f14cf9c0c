//! The tools that a model may propose to use, each with its arguments. One table names them; reader,
//! JSON Schema and the list for the prompt follow from it. It does not know what they do, nor who
//! may.

mod artifact;
mod browser;
mod collection;

use sabir_base::json::{JsonKind, JsonValue};
use serde_json::{Value, json};

use crate::codes;
use crate::context::Trust;
use crate::problem::Problems;
use crate::value::CallId;
use crate::wire::{FieldReader, FieldWriter, Record, Wire, choice, expect, read_choice};

pub use artifact::{
    Calculate, InvokeIntegration, OpenArtifact, OpenTarget, Redaction, SaveArtifact, ShareArtifact,
    ShareFormat, ShareTarget,
};
pub use browser::{
    Back, Click, Forward, GetSelectionLinks, Navigate, ObserveDom, OpenTab, Refresh, Scroll,
    Search, Select, Type,
};
pub use collection::{
    AddSources, CaptureMode, CaptureSource, CreateCollection, ListSources, ListTransforms,
    NewSource, NoteSource, RefreshSource, RunTransform, UrlSource,
};

/// The version of the tools below. It grows when a tool is added or changes its arguments.
pub const TOOLS_SCHEMA_VERSION: u32 = 1;

/// Proposals beyond this are not a step but a plan, which nobody could approve with open eyes.
pub const MAX_TOOL_CALLS: usize = 8;

/// A call that a model proposes. Nothing runs because it stands here.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCall {
    pub id: Option<CallId>,
    pub call: Tool,
}

/// What a prompt says about a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolInfo {
    pub name: ToolName,
    /// One line.
    pub purpose: String,
    /// The JSON Schema of its arguments.
    pub arguments: Value,
}

macro_rules! tools {
    ($($variant:ident $text:literal,)+) => {
        choice! {
            /// The name of a tool.
            pub enum ToolName { $($variant $text,)+ }
        }

        /// A tool with its arguments.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Tool { $($variant($variant),)+ }

        impl Tool {
            pub fn name(&self) -> ToolName {
                match self { $( Self::$variant(_) => ToolName::$variant, )+ }
            }

            /// The arguments as JSON.
            pub fn arguments(&self) -> Value {
                match self { $( Self::$variant(arguments) => arguments.write(), )+ }
            }

            fn read(name: ToolName, value: JsonValue<'_>, problems: &mut Problems) -> Option<Self> {
                match name {
                    $( ToolName::$variant => $variant::read(value, problems).map(Self::$variant), )+
                }
            }
        }

        impl ToolName {
            /// What a prompt says about it.
            pub fn describe(self) -> ToolInfo {
                let (purpose, arguments) = match self {
                    $( Self::$variant => ($variant::about(), $variant::schema()), )+
                };
                ToolInfo { name: self, purpose, arguments }
            }
        }
    };
}

tools! {
    ObserveDom "browser.observe_dom",
    GetSelectionLinks "browser.get_selection_links",
    Click "browser.click",
    Type "browser.type",
    Select "browser.select",
    Scroll "browser.scroll",
    OpenTab "browser.open_tab",
    Navigate "browser.navigate",
    Back "browser.back",
    Forward "browser.forward",
    Refresh "browser.refresh",
    Search "search",
    SaveArtifact "artifact.save",
    ShareArtifact "artifact.share",
    OpenArtifact "artifact.open",
    InvokeIntegration "integration.invoke",
    Calculate "app.calculate",
    CreateCollection "collection.create",
    AddSources "collection.add_sources",
    ListSources "collection.list_sources",
    CaptureSource "source.capture",
    RefreshSource "source.refresh",
    ListTransforms "transform.list_types",
    RunTransform "transform.run",
}

impl ToolName {
    /// The most that a result of this tool may be trusted: only results that are made here, of
    /// nothing that others wrote. A list of sources has the titles that pages gave themselves, and
    /// what is made or saved under a title that a model gave answers with its id alone.
    pub fn result_trust(self) -> Trust {
        match self {
            Self::Calculate
            | Self::CreateCollection
            | Self::SaveArtifact
            | Self::ListTransforms => Trust::Trusted,
            Self::ObserveDom
            | Self::GetSelectionLinks
            | Self::Click
            | Self::Type
            | Self::Select
            | Self::Scroll
            | Self::OpenTab
            | Self::Navigate
            | Self::Back
            | Self::Forward
            | Self::Refresh
            | Self::Search
            | Self::ShareArtifact
            | Self::OpenArtifact
            | Self::InvokeIntegration
            | Self::AddSources
            | Self::ListSources
            | Self::CaptureSource
            | Self::RefreshSource
            | Self::RunTransform => Trust::Untrusted,
        }
    }
}

impl Wire for ToolCall {
    fn read(value: JsonValue<'_>, problems: &mut Problems) -> Option<Self> {
        let fields = FieldReader::open(value, &["id", "name", "arguments"], None, problems)?;
        let id = fields.optional("id", problems);
        let Some(name) = value.get("name") else {
            problems.error(value, codes::MISSING_KEY, "the key \"name\" is missing");
            return None;
        };
        let names: Vec<_> = ToolName::ALL.iter().map(|name| (name.as_str(), *name)).collect();
        let name = read_choice(name, &names, codes::UNKNOWN_TOOL, problems)?;
        let Some(arguments) = value.get("arguments") else {
            let message = "the key \"arguments\" is missing";
            let help = "write \"arguments\": {} for a tool that takes none";
            problems.error_with_help(value, codes::MISSING_KEY, message, help);
            return None;
        };
        expect(arguments, JsonKind::Object, problems)?;
        let call = Tool::read(name, arguments, problems)?;
        Some(Self { id: id?, call })
    }

    fn write(&self) -> Value {
        let mut out = FieldWriter::default();
        out.optional("id", &self.id);
        out.needed("name", &self.call.name());
        out.needed("arguments", &self.call.arguments());
        Value::Object(out.0)
    }

    fn schema() -> Value {
        call_schema(ToolName::ALL)
    }
}

/// Of a call of one of these tools.
pub(crate) fn call_schema(tools: &[ToolName]) -> Value {
    let call = |name: &ToolName| {
        let ToolInfo { name, purpose, arguments } = name.describe();
        json!({
            "type": "object",
            "description": purpose,
            "properties": {
                "id": CallId::schema(),
                "name": { "const": name.as_str() },
                "arguments": arguments,
            },
            "required": ["name", "arguments"],
            "additionalProperties": false,
        })
    };
    json!({ "oneOf": tools.iter().map(call).collect::<Vec<_>>() })
}
