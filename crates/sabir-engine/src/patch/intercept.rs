//! Commands that are patches: models that know `apply_patch` as a program call it through a shell.
//!
//! Only the plainest forms are recognised. Everything else stays a command and is judged as one.

use super::parse::delimiter;

/// A patch that came as a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Intercepted {
    /// The folder into which the command goes first.
    pub workdir: Option<String>,
    pub patch_text: String,
}

/// Recognises `apply_patch PATCH` and `bash -lc "[cd DIR && ]apply_patch <<'EOF' …"`.
pub fn intercept(argv: &[impl AsRef<str>]) -> Option<Intercepted> {
    let argv: Vec<&str> = argv.iter().map(AsRef::as_ref).collect();
    match argv[..] {
        [name, patch] if is_apply_patch(name) => {
            Some(Intercepted { workdir: None, patch_text: patch.to_owned() })
        }
        [shell, "-lc" | "-c", script] if SHELLS.contains(&shell) => script_patch(script),
        _ => None,
    }
}

fn script_patch(script: &str) -> Option<Intercepted> {
    let (head, rest) = script.trim_start().split_once('\n')?;
    let (workdir, command) = match head.trim_start().strip_prefix("cd ") {
        Some(rest) => {
            let (folder, command) = rest.split_once("&&")?;
            (Some(literal_word(folder.trim())?), command)
        }
        None => (None, head),
    };
    let (name, word) = command.split_once("<<")?;
    if !is_apply_patch(name.trim()) {
        return None;
    }
    let end = delimiter(word.trim())?;
    // The document ends at the first line that is the word; a script that goes on is not ours.
    let mut patch_text = String::new();
    let mut lines = rest.split_inclusive('\n');
    loop {
        let line = lines.next()?;
        if line.trim_end_matches(['\n', '\r']) == end {
            break;
        }
        patch_text.push_str(line);
    }
    lines.all(|line| line.trim().is_empty()).then_some(Intercepted { workdir, patch_text })
}

fn is_apply_patch(name: &str) -> bool {
    matches!(name, "apply_patch" | "applypatch")
}

/// A word of the shell that means itself.
fn literal_word(text: &str) -> Option<String> {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+@%,:=".contains(c);
    let quoted = ['\'', '"'].into_iter().find_map(|quote| {
        let inner = text.strip_prefix(quote)?.strip_suffix(quote)?;
        // In double quotes a few characters still mean something else.
        let special = if quote == '"' { "\"$`\\!" } else { "'" };
        (!inner.contains(|c| special.contains(c) || c == '\n')).then_some(inner)
    });
    let word = quoted.or_else(|| text.chars().all(is_plain).then_some(text))?;
    // `cd -` goes somewhere else.
    (!word.is_empty() && !word.starts_with('-')).then(|| word.to_owned())
}

const SHELLS: [&str; 7] =
    ["bash", "sh", "zsh", "/bin/bash", "/bin/sh", "/usr/bin/bash", "/usr/bin/sh"];
