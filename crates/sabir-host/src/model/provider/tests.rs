//! Files, settings and the environment become a provider, or an error that helps.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use expect_test::{Expect, expect};

use super::*;

const KEY: &str = "sk-0123456789-secret";

fn environment(variable: &str) -> Option<String> {
    match variable {
        "SABIR_API_KEY" => Some("common-key".to_owned()),
        "MY_KEY" => Some(format!("  {KEY}\n")),
        "EMPTY" => Some(" ".to_owned()),
        _ => None,
    }
}

fn resolve(text: &str, settings: &ProviderSettings) -> Result<Provider, ProviderError> {
    Providers::parse(text, "providers.toml")?.resolve(&[settings], &environment)
}

fn at(base_url: &str) -> ProviderSettings {
    ProviderSettings { base_url: Some(base_url.to_owned()), ..ProviderSettings::default() }
}

fn named(name: &str) -> ProviderSettings {
    ProviderSettings { name: Some(name.to_owned()), ..ProviderSettings::default() }
}

fn key_of(provider: &Provider) -> Option<&str> {
    provider.key.as_ref().map(|key| std::str::from_utf8(key.expose()).unwrap())
}

#[track_caller]
fn check_error(text: &str, settings: &ProviderSettings, expected: Expect) {
    let error = resolve(text, settings).unwrap_err();
    expected.assert_eq(&error.to_string());
    for shown in [error.to_string(), format!("{error:?}")] {
        assert!(!shown.contains(KEY), "{shown}");
    }
}

#[test]
fn the_example_is_read() {
    let text = std::fs::read_to_string("../../examples/sabir.toml").unwrap();
    let is_code = |line: &str| line.starts_with('[') || line.contains(" = ");
    let line = |line: &str| match line.strip_prefix("# ") {
        Some(code) if is_code(code) => format!("{code}\n"),
        _ => format!("{line}\n"),
    };
    let text: String = text.lines().map(line).collect();
    let providers = Providers::parse(&text, "sabir.toml").unwrap();
    assert_eq!(providers.names().collect::<Vec<_>>(), ["local", "work"]);
    let provider = providers.resolve(&[], &|_| None).unwrap();
    assert_eq!(provider.base_url, "http://127.0.0.1:11434/v1");
    assert_eq!(provider.wire_api, WireApi::Chat);
    assert_eq!(provider.model.as_deref(), Some("qwen3-coder"));
    assert_eq!(key_of(&provider), None);

    let work = providers
        .resolve(&[&named("work")], &|variable| Some(format!("{variable}-value")))
        .unwrap();
    assert_eq!(work.name, "The gateway at work");
    assert_eq!(key_of(&work), Some("WORK_MODEL_KEY-value"));
    assert_eq!((work.request_max_retries, work.stream_max_retries), (4, 5));
    assert_eq!(
        work.url().unwrap().as_str(),
        "https://models.example.org/v1/responses?api-version=2026-01-01"
    );
    let headers: Vec<_> = work.headers.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(headers, ["x-team", "x-project-token"]);
}

#[test]
fn an_address_is_enough() {
    let provider = resolve("", &at("http://127.0.0.1:1234/v1/")).unwrap();
    assert_eq!(provider.url().unwrap().as_str(), "http://127.0.0.1:1234/v1/responses");
    assert_eq!(key_of(&provider), Some("common-key"));
    assert_eq!(provider.stream_idle_timeout, Duration::from_secs(300));
}

#[test]
fn later_layers_win() {
    let text = "[providers.a]\nbase_url = 'https://a.example/v1'\nstream_max_retries = 1\n\
                request_max_retries = 1\nstream_idle_timeout_ms = 1";
    let session = ProviderSettings {
        name: Some("a".to_owned()),
        wire_api: Some(WireApi::Responses),
        stream_max_retries: Some(2),
        request_max_retries: Some(2),
        ..ProviderSettings::default()
    };
    let command_line = ProviderSettings {
        wire_api: Some(WireApi::Chat),
        request_max_retries: Some(1000),
        ..ProviderSettings::default()
    };
    let providers = Providers::parse(text, "x").unwrap();
    let provider = providers.resolve(&[&session, &command_line], &environment).unwrap();
    assert_eq!(provider.wire_api, WireApi::Chat);
    assert_eq!((provider.request_max_retries, provider.stream_max_retries), (100, 2));
    assert_eq!(provider.stream_idle_timeout, Duration::from_millis(1));
    assert_eq!(provider.url().unwrap().as_str(), "https://a.example/v1/chat/completions");
}

#[test]
fn a_key_does_not_follow_another_address() {
    let text = "[providers.a]\nbase_url = 'https://a.example/v1'\nenv_key = 'MY_KEY'\n\
                headers = { x = 'y' }\nquery = { k = 'v' }";
    assert_eq!(key_of(&resolve(text, &named("a")).unwrap()), Some(KEY));
    let same = ProviderSettings { name: named("a").name, ..at("https://a.example/v2") };
    assert_eq!(key_of(&resolve(text, &same).unwrap()), Some(KEY));
    let other = ProviderSettings { name: named("a").name, ..at("https://b.example/v1") };
    let provider = resolve(text, &other).unwrap();
    assert_eq!(key_of(&provider), Some("common-key"));
    assert!(provider.headers.is_empty() && provider.query_params.is_empty());
    let own = ProviderSettings { env_key: Some("MY_KEY".to_owned()), ..other };
    assert_eq!(key_of(&resolve(text, &own).unwrap()), Some(KEY));
}

#[test]
fn errors_help() {
    let none = ProviderSettings::default();
    check_error(
        "",
        &none,
        expect![
            "no model provider: pass --base-url, or write a section [providers.NAME] with a base_url into sabir.toml"
        ],
    );
    check_error(
        "[providers.a]\n[providers.b]",
        &none,
        expect![[
            r#"several providers and none chosen: write `default_provider = "NAME"` with one of: a, b"#
        ]],
    );
    check_error("[providers.a]", &none, expect!["the provider `a` has no base_url"]);
    check_error("[providers.a]", &named("b"), expect!["no provider `b`; there are: a"]);
    check_error("", &named("b"), expect!["no provider `b`: write a section [providers.b]"]);
    check_error(
        "default_provider = 'x'\n[providers.a]",
        &none,
        expect!["no provider `x`; there are: a"],
    );
    check_error(
        "default_providr = 'x'",
        &none,
        expect![
            "providers.toml: unknown key `default_providr` in the file; did you mean `default_provider`?"
        ],
    );
    check_error(
        "providers = 3",
        &none,
        expect!["providers.toml: providers must be sections [providers.NAME]"],
    );
    check_error(
        &format!("[providers.a]\nx = '{KEY}"),
        &none,
        expect!["providers.toml:2: invalid literal string, expected `'`"],
    );
    check_error(
        &format!("[providers.a]\napi_key = '{KEY}'"),
        &none,
        expect![
            "providers.toml: a key cannot stand in [providers.a]; name the variable that holds it with `env_key`, or the file with `key_file`"
        ],
    );
    check_error(
        "[providers.a]\nbaseurl = 'x'",
        &none,
        expect!["providers.toml: unknown key `baseurl` in [providers.a]; did you mean `base_url`?"],
    );
    check_error(
        "[providers.a]\nwire = 'x'",
        &none,
        expect!["providers.toml: unknown key `wire` in [providers.a]; did you mean `wire_api`?"],
    );
    check_error(
        "[providers.a]\nidle_timeout = 1",
        &none,
        expect![
            "providers.toml: unknown key `idle_timeout` in [providers.a]; did you mean `stream_idle_timeout_ms`?"
        ],
    );
    check_error(
        "[providers.a]\ncolour = 1",
        &none,
        expect!["providers.toml: unknown key `colour` in [providers.a]"],
    );
    check_error(
        "[providers.a]\nwire_api = 'grpc'",
        &none,
        expect![
            "providers.toml: `wire_api` in [providers.a]: unknown variant `grpc`, expected `responses` or `chat`"
        ],
    );
    check_error(
        "[providers.a]\nrequest_max_retries = 'many'",
        &none,
        expect![[
            r#"providers.toml: `request_max_retries` in [providers.a]: invalid type: string "…", expected u32"#
        ]],
    );
    check_error(
        &format!("[providers.a]\nheaders = '{KEY}'"),
        &none,
        expect!["providers.toml: `headers` in [providers.a] must be a table of strings"],
    );
    check_error(
        "[providers.a]\nbase_url = 'https://a/v1'\nenv_key = 'NOT_SET'",
        &none,
        expect!["the environment variable NOT_SET is not set: export NOT_SET=…"],
    );
    check_error(
        "[providers.a]\nbase_url = 'https://a/v1'\nenv_key = 'EMPTY'",
        &none,
        expect!["the environment variable EMPTY is not set: export EMPTY=…"],
    );
    check_error(
        "[providers.a]\nbase_url = 'https://a/v1'\nenv_headers = { x = 'NOT_SET' }",
        &none,
        expect!["the environment variable NOT_SET is not set: export NOT_SET=…"],
    );
    check_error(
        "",
        &at("models.example.org"),
        expect!["bad base_url models.example.org: relative URL without a base"],
    );
    check_error(
        "",
        &at("ftp://models.example.org"),
        expect!["bad base_url ftp://models.example.org: it must begin with http:// or https://"],
    );
    check_error(
        "",
        &at(&format!("https://me:{KEY}@models.example.org/v1")),
        expect![
            "bad base_url (not shown): a user or password cannot stand in it; use env_key or key_file"
        ],
    );
    check_error(
        "",
        &at("https://models.example.org/v1/chat/completions/"),
        expect![
            "bad base_url https://models.example.org/v1/chat/completions/: leave `/chat/completions` out, it is added to it"
        ],
    );
    check_error(
        "",
        &at("http://models.example.org/v1"),
        expect![
            "the key would travel unencrypted to http://models.example.org/v1; use https, or write `allow_plain_http = true` for this provider"
        ],
    );
}

#[test]
fn plain_http_is_for_this_machine_for_no_key_or_by_consent() {
    let no_key = |url: &str| Providers::none().resolve(&[&at(url)], &|_| None);
    assert!(no_key("http://models.example.org/v1").is_ok());
    for url in [
        "http://127.0.0.1/v1",
        "http://127.8.9.1:80/v1",
        "http://localhost:1/v1",
        "http://models.localhost/v1",
        "http://[::1]:8080/v1",
        "https://models.example.org/v1",
    ] {
        assert!(resolve("", &at(url)).is_ok(), "{url}");
    }
    for url in ["http://10.0.0.1/v1", "http://localhost.example.org/v1", "http://[::2]/v1"] {
        let error = resolve("", &at(url)).unwrap_err();
        assert!(matches!(error, ProviderError::PlainHttp { .. }), "{url}: {error}");
    }
    let text = "[providers.a]\nbase_url = 'http://a/v1'\nallow_plain_http = true";
    assert!(resolve(text, &named("a")).is_ok());
}

fn with_key_file(mode: u32, content: &[u8]) -> Result<Provider, ProviderError> {
    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("a.key");
    std::fs::write(&key, content).unwrap();
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(mode)).unwrap();
    let file = folder.path().join("providers.toml");
    std::fs::write(&file, "[providers.a]\nbase_url = 'https://a/v1'\nkey_file = 'a.key'").unwrap();
    Providers::load(&file)?.resolve(&[], &environment)
}

#[test]
fn key_files_must_be_private() {
    for mode in [0o600, 0o400] {
        let provider = with_key_file(mode, format!("{KEY}\n").as_bytes()).unwrap();
        assert_eq!(key_of(&provider), Some(KEY));
    }
    for mode in [0o644, 0o640, 0o660, 0o604, 0o700] {
        let error = with_key_file(mode, KEY.as_bytes()).unwrap_err().to_string();
        assert!(error.contains("chmod 600") && !error.contains(KEY), "{error}");
    }
    for (content, words) in [
        (&b" \n"[..], "it is empty"),
        (b"one two", "more than one key"),
        (b"\xFF", "it is not text"),
        (&[b'x'; 100_000], "it is larger than 65536 bytes"),
    ] {
        let error = with_key_file(0o600, content).unwrap_err().to_string();
        assert!(error.ends_with(words) || error.contains(words), "{error}");
    }
}

#[test]
fn files_that_are_missing_or_strange() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(Providers::load(&folder.path().join("none.toml")).unwrap().names().count(), 0);
    let error = Providers::load(folder.path()).unwrap_err();
    assert!(matches!(error, ProviderError::Unreadable { .. }), "{error}");
    let entry = Entry { key_file: Some(folder.path().to_owned()), ..Entry::default() };
    let error = key::find(None, &entry, &environment).unwrap_err().to_string();
    assert!(error.ends_with("it is not a file"), "{error}");
    let entry = Entry { key_file: Some(Path::new("no/such.key").to_owned()), ..Entry::default() };
    let error = key::find(None, &entry, &environment).unwrap_err().to_string();
    assert!(error.ends_with("there is no such file"), "{error}");
}

/// Nobody writes into it, and nobody waits for that.
#[test]
fn a_key_file_that_is_a_pipe_is_refused() {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    mknodat(CWD, &pipe, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    let entry = Entry { key_file: Some(pipe), ..Entry::default() };
    let error = key::find(None, &entry, &environment).unwrap_err().to_string();
    assert!(error.ends_with("it is not a file"), "{error}");
}

#[test]
fn nothing_shows_a_key() {
    let text = format!(
        "[providers.a]\nbase_url = 'https://a/v1'\nenv_key = 'MY_KEY'\nheaders = {{ x = '{KEY}' }}\n\
         query = {{ k = '{KEY}' }}\nenv_headers = {{ y = 'MY_KEY' }}"
    );
    let providers = Providers::parse(&text, "x").unwrap();
    let provider = providers.resolve(&[], &environment).unwrap();
    let client = crate::ModelClient::new(provider.clone()).unwrap();
    for shown in [format!("{providers:?}"), format!("{provider:#?}"), format!("{client:#?}")] {
        assert!(!shown.contains(KEY), "{shown}");
    }
}
