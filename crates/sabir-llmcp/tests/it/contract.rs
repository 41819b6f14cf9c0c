//! What a model is told, as it is told.

use expect_test::expect_file;
use sabir_lingua::tokens::Tokenizer;
use sabir_llmcp::{Contract, OutputFormat, TaskName, ToolName};

fn check(name: &str, contract: Contract<'_>) -> String {
    let prompt = contract.system_prompt();
    let tokens = Tokenizer::O200k.count(&prompt);
    let path = format!("{}/tests/data/contract/{name}.out", env!("CARGO_MANIFEST_DIR"));
    expect_file![path].assert_eq(&format!("{prompt}\n=== {tokens} tokens of o200k\n"));
    prompt
}

/// LC-K1, LC-K2, LC-K3, LC-K4
#[test]
fn json_with_tools() {
    let tools =
        [ToolName::Navigate, ToolName::Search, ToolName::Calculate, ToolName::ListTransforms];
    let contract = Contract {
        format: OutputFormat::Json,
        task: TaskName::Answer,
        tools: &tools,
        max_tool_calls: 1,
    };
    let prompt = check("json_with_tools", contract);
    for tool in ToolName::ALL {
        let named = prompt.contains(&format!("- {tool}: "));
        assert_eq!(named, tools.contains(tool), "{tool}");
    }
    assert!(prompt.contains("At most one call"));
    assert!(prompt.contains(r#""tool_calls":{"type":"array","maxItems":1,"#));
}

/// LC-K2
#[test]
fn json_without_tools() {
    let contract = Contract {
        format: OutputFormat::Json,
        task: TaskName::Extract,
        tools: &[],
        max_tool_calls: 8,
    };
    let prompt = check("json_extract", contract);
    assert!(!prompt.contains("# Tools"));
    assert!(prompt.contains(r#""tool_calls":{"type":"array","maxItems":0}"#));
    assert!(prompt.contains("`assistant.data`"));
}

/// LC-K5
#[test]
fn markdown() {
    let contract = Contract {
        format: OutputFormat::Markdown,
        task: TaskName::Summarize,
        tools: ToolName::ALL,
        max_tool_calls: 8,
    };
    let prompt = check("markdown", contract);
    assert!(prompt.contains("---CITATIONS---\n"));
    assert!(!prompt.contains("# Tools") && !prompt.contains("tool_calls"));
}

/// LC-K3: never more than the strict reader takes.
#[test]
fn calls_are_capped() {
    let contract = Contract {
        format: OutputFormat::Json,
        task: TaskName::Answer,
        tools: ToolName::ALL,
        max_tool_calls: 1000,
    };
    assert!(contract.system_prompt().contains("At most 8 calls"));
    let none = Contract { max_tool_calls: 0, ..contract };
    assert!(!none.system_prompt().contains("# Tools"));
}
