//! Every command of the README's tour, run as a reader would run it, gives what the README shows.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Commands start with `$ `; what they print follows. `UPDATE_EXPECT=1` writes it anew.
#[test]
fn the_tour_shows_what_the_commands_print() {
    let root = workspace_root();
    let path = root.join("README.md");
    let readme = std::fs::read_to_string(&path).unwrap();
    let mut written = String::new();
    let mut in_console = false;
    let mut commands = 0;
    for line in readme.lines() {
        let fence = line.starts_with("```");
        if fence {
            in_console = line == "```console";
        }
        let command = line.strip_prefix("$ ").filter(|_| in_console);
        // What stood behind a command is replaced by what it prints now.
        if !in_console || fence || command.is_some() {
            written.push_str(line);
            written.push('\n');
        }
        if let Some(command) = command {
            written.push_str(&run(command, &root));
            commands += 1;
        }
    }
    assert!(commands >= 7, "the tour has shrunk to {commands} commands");
    if readme == written {
        return;
    }
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&path, written).unwrap();
        return;
    }
    panic!("README.md shows other output; UPDATE_EXPECT=1 writes:\n{written}");
}

fn run(command: &str, root: &Path) -> String {
    let binary = Path::new(env!("CARGO_BIN_EXE_sabir"));
    let folder = binary.parent().unwrap().display().to_string();
    let path = std::env::var("PATH").unwrap_or_default();
    let home = tempfile::tempdir().unwrap();
    let output = Command::new("sh")
        .args(["-c", &format!("{{ {command}; }} 2>&1")])
        .current_dir(root)
        .env("PATH", format!("{folder}:{path}"))
        .env("SABIR_HOME", home.path())
        .env_remove("FORCE_COLOR")
        .output()
        .unwrap();
    let mut text = String::from_utf8(output.stdout).unwrap();
    // Blank lines at the end would be invisible in the page.
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}

fn workspace_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}
