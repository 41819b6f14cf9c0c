//! Configurations, good and bad.

use std::fmt::Write as _;

use expect_test::expect;
use sabir_host::McpConfig;

#[test]
fn complaints_name_the_key_and_what_to_type() {
    let cases = [
        "mcp = 1",
        "[mcp]\nfiles = 1",
        "[mcp.a__b]\ncommand = [\"x\"]",
        "[mcp.\"a b\"]\ncommand = [\"x\"]",
        "[mcp.files]",
        "[mcp.files]\ncomand = [\"x\"]",
        "[mcp.files]\ncolour = \"red\"",
        "[mcp.files]\ncommand = \"x\"",
        "[mcp.files]\ncommand = []",
        "[mcp.files]\ncommand = [\"x\"]\nurl = \"http://localhost/\"",
        "[mcp.files]\ncommand = [\"x\"]\nheaders = { A = \"b\" }",
        "[mcp.files]\nurl = \"http://localhost/\"\ncwd = \"/\"",
        "[mcp.files]\ncommand = [\"x\"]\nenv = { A = 1 }",
        "[mcp.files]\ncommand = [\"x\"]\nstartup_timeout_ms = 0",
        "[mcp.files]\ncommand = [\"x\"]\ncall_timeout_ms = -5",
        "[mcp.files]\ncommand = [\"x\"]\ntrusted = \"yes\"",
        "[mcp.files]\ncommand = [\"x\"]\npass_env = [\"sk-hunter2hunter2\"]",
        "[mcp.web]\nurl = \"hunter2hunter2\"",
        "[mcp.web]\nurl = \"ftp://hunter2hunter2/\"",
        "[mcp.web]\nurl = \"https://me:hunter2hunter2@host/\"",
        "[mcp.web]\nurl = \"https://host/\"\nheaders = { Authorization = \"hunter2hunter2\" }",
        "[mcp.web]\nurl = \"https://host/\"\nheaders = { X-Api-Key = \"hunter2hunter2\" }",
        "[mcp.web]\nurl = \"https://host/\"\nheaders = { \"a b\" = \"c\" }",
        "[mcp.web]\nurl = \"https://host/\"\nenv_headers = { Authorization = \"Bearer hunter2hunter2\" }",
        "[mcp.web]\nurl = \"http://host/\"\nenv_headers = { Authorization = \"TOKEN\" }",
        "[mcp.web]\nurl = \"https://host/?key=hunter2hunter2\" oops",
    ];
    let mut shown = String::new();
    for case in cases {
        let error = McpConfig::parse(case).unwrap_err();
        assert!(!format!("{error:?} {error} {}", error.help()).contains("hunter2"), "{case}");
        writeln!(shown, "{error}\n    {}", error.help()).unwrap();
    }
    expect![[r#"
        `mcp` is not a section
            write `[mcp.NAME]` on a line of its own, keys below it
        `mcp.files` is not a section
            write `[mcp.NAME]` on a line of its own, keys below it
        `a__b` cannot be the name of an MCP server
            use letters, digits, `-` and single `_` inside, at most 24 characters
        `a b` cannot be the name of an MCP server
            use letters, digits, `-` and single `_` inside, at most 24 characters
        `[mcp.files]` has neither `command` nor `url`
            write `command = ["prog", "arg"]` or `url = "https://host/mcp"`
        unknown key `comand` in `[mcp.files]`
            write `command`
        unknown key `colour` in `[mcp.files]`
            the keys are command, env, pass_env, cwd, url, headers, env_headers, startup_timeout_ms, call_timeout_ms, trusted, enabled_tools, disabled_tools
        `command` in `[mcp.files]` has a value that does not fit
            write `command = ["text", "text"]`
        `command` in `[mcp.files]` has a value that does not fit
            write `command = ["prog", "arg"]`
        `[mcp.files]` has `url` beside `command`
            remove `url` or `command`: a server is a command or an address
        `[mcp.files]` has `headers` beside `command`
            remove `headers` or `command`: a server is a command or an address
        `[mcp.files]` has `cwd` beside `url`
            remove `cwd` or `url`: a server is a command or an address
        `env` in `[mcp.files]` has a value that does not fit
            write `env = { NAME = "text" }`
        `startup_timeout_ms` in `[mcp.files]` has a value that does not fit
            write `startup_timeout_ms = 10000`
        `call_timeout_ms` in `[mcp.files]` has a value that does not fit
            write `call_timeout_ms = 10000`
        `trusted` in `[mcp.files]` has a value that does not fit
            write `trusted = true`
        `[mcp.files]` has something else where a name of a variable belongs
            write the name of a variable, not its value
        `url` in `[mcp.web]` is not an address
            write `url = "https://host/mcp"`
        `url` in `[mcp.web]` is neither http nor https
            write `url = "https://host/mcp"`
        `url` in `[mcp.web]` holds a name or a password
            write `url = "https://host/mcp"`
        header `Authorization` in `[mcp.web]` is a secret, which comes from the environment only
            write `env_headers = { Authorization = "NAME_OF_A_VARIABLE" }`
        header `X-Api-Key` in `[mcp.web]` is a secret, which comes from the environment only
            write `env_headers = { X-Api-Key = "NAME_OF_A_VARIABLE" }`
        header `a b` in `[mcp.web]` is no name of a header
            write `env_headers = { a b = "NAME_OF_A_VARIABLE" }`
        `[mcp.web]` has something else where a name of a variable belongs
            write the name of a variable, not its value
        `url` in `[mcp.web]` would send secrets unencrypted over the network
            write `url = "https://host/mcp"`
        line 2: unexpected key or value, expected newline, `#`
            check the quotes and brackets of that line
    "#]].assert_eq(&shown);
}

#[test]
fn other_sections_belong_to_others() {
    let config = McpConfig::parse("[models]\nx = 1\n[mcp.b]\ncommand = [\"x\"]\n[mcp.a]\nurl = \"http://[::1]:1/\"\nenv_headers = { X = \"Y\" }").unwrap();
    assert_eq!(config.names().collect::<Vec<_>>(), ["a", "b"]);
    assert!(McpConfig::parse("").unwrap().is_empty());
}

#[test]
fn a_printed_configuration_holds_no_secret() {
    let text = "[mcp.a]\ncommand = [\"x\", \"--key=hunter2\"]\nenv = { K = \"hunter2\" }\n\
                [mcp.b]\nurl = \"https://host/mcp?key=hunter2\"\nheaders = { X-Plain = \"hunter2\" }";
    let shown = format!("{:?}", McpConfig::parse(text).unwrap());
    assert!(!shown.contains("hunter2"), "{shown}");
    assert!(shown.contains("https://host/mcp") && shown.contains("X-Plain"), "{shown}");
}

#[test]
fn the_example_of_the_page_is_right() {
    let page = include_str!("../../../../../docs/mcp-tools.md");
    let examples: Vec<&str> =
        page.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    assert!(!examples.is_empty());
    for example in examples {
        let config = McpConfig::parse(example).unwrap();
        assert!(!config.is_empty(), "{example}");
    }
}
