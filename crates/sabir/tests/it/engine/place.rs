//! Where a session runs: a home, a folder to work in, and what a model may say there.

use std::path::{Path, PathBuf};

use sabir_testkit::fake_model::{FakeModel, Reply, Request, responses};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::process::sabir;

/// A home and a folder to work in, gone with the test.
pub(crate) struct Place {
    _folder: TempDir,
    pub(crate) home: PathBuf,
    pub(crate) work: PathBuf,
}

impl Place {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        let (home, work) = (base.join("home"), base.join("work"));
        std::fs::create_dir(&work).unwrap();
        Self { _folder: folder, home, work }
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.work.join(name)).unwrap_or_default()
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.work.join(name), text).unwrap();
    }

    /// The program, in the folder to work in, without what the tester's own environment says.
    pub(crate) fn command(&self, args: &[&str]) -> std::process::Command {
        let mut command = sabir();
        command.current_dir(&self.work).args(args).arg("--home").arg(&self.home);
        for name in ["SABIR_HOME", "SABIR_API_KEY", "XDG_DATA_HOME"] {
            command.env_remove(name);
        }
        // No model server of the tester's.
        command.env("SABIR_LOCAL_PORTS", "");
        command
    }

    /// Runs it to its end, with no input.
    pub(crate) fn run(&self, args: &[&str]) -> crate::process::Outcome {
        crate::process::finish(&mut self.command(args), args, "")
    }

    /// Every byte of every file below the home.
    pub(crate) fn home_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut folders = vec![self.home.clone()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                match path.is_dir() {
                    true => folders.push(path),
                    false => bytes.extend(std::fs::read(path).unwrap()),
                }
            }
        }
        bytes
    }
}

/// A response that says something.
pub(crate) fn says(response_id: &str, text: &str) -> Reply {
    Reply::sse([responses::message(text), responses::completed(response_id)])
}

/// A response that calls a tool.
pub(super) fn calls(response_id: &str, call_id: &str, name: &str, arguments: &Value) -> Reply {
    Reply::sse([responses::call(call_id, name, arguments), responses::completed(response_id)])
}

/// A response that runs a program.
pub(super) fn runs(response_id: &str, call_id: &str, command: &[&str]) -> Reply {
    calls(response_id, call_id, "shell", &json!({ "command": command }))
}

/// A command that writes a line to a file, and then does something else.
pub(super) fn once(file: &str, then: &str) -> Vec<String> {
    ["bash", "-c", &format!("echo ran >> {file}; {then}")].map(str::to_owned).to_vec()
}

/// Waits until a file holds something.
pub(super) fn wait_for_file(path: &Path) -> String {
    for _ in 0..super::client::PATIENCE.as_millis() / 10 {
        match std::fs::read_to_string(path) {
            Ok(text) if text.ends_with('\n') => return text,
            _ => std::thread::sleep(std::time::Duration::from_millis(10)),
        }
    }
    panic!("{} was never written", path.display());
}

/// Waits until a process is gone.
pub(super) fn wait_until_gone(pid: &str) {
    let status = PathBuf::from(format!("/proc/{}/stat", pid.trim()));
    for _ in 0..super::client::PATIENCE.as_millis() / 10 {
        match std::fs::read_to_string(&status) {
            // Dead, and only not yet collected.
            Ok(text) if text.contains(") Z ") => return,
            Ok(_) => std::thread::sleep(std::time::Duration::from_millis(10)),
            Err(_) => return,
        }
    }
    panic!("process {pid} lives on");
}

/// The items of a request, in a form that fits into one line each.
pub(super) fn items(request: &Request) -> Vec<String> {
    let input = request.body["input"].as_array().unwrap();
    input.iter().map(in_short).collect()
}

pub(super) fn in_short(item: &Value) -> String {
    let text = |item: &Value| item.as_str().unwrap_or_default().to_owned();
    match item["type"].as_str().unwrap() {
        "message" => {
            let parts = item["content"].as_array().unwrap().iter();
            let parts: Vec<String> = parts.map(|part| text(&part["text"])).collect();
            format!("{}: {}", text(&item["role"]), parts.concat())
        }
        "function_call" => format!("call {}", text(&item["call_id"])),
        "function_call_output" => {
            format!("output {}: {}", text(&item["call_id"]), text(&item["output"]))
        }
        other => other.to_owned(),
    }
}

/// What a model was told of a call.
pub(super) fn output_of(request: &Request, call_id: &str) -> String {
    let input = request.body["input"].as_array().unwrap();
    let found = input
        .iter()
        .find(|item| item["type"] == "function_call_output" && item["call_id"] == call_id);
    let found = found.unwrap_or_else(|| panic!("{call_id} has no output in {:#}", request.body));
    found["output"].as_str().unwrap().to_owned()
}

/// In every request each call has one output, behind it, and the model knows its tools.
pub(super) fn check_requests(model: &FakeModel) {
    for request in model.requests() {
        let input = request.body["input"].as_array().unwrap();
        let mut open = Vec::new();
        for item in input {
            match item["type"].as_str().unwrap() {
                "function_call" => open.push(item["call_id"].clone()),
                "function_call_output" => {
                    let at = open.iter().position(|id| *id == item["call_id"]);
                    open.remove(at.unwrap_or_else(|| panic!("an output of nothing: {item}")));
                }
                _ => {}
            }
        }
        assert!(open.is_empty(), "calls without output: {open:?}");
        assert!(!request.body["instructions"].as_str().unwrap().is_empty());
        let tools = request.body["tools"].as_array().unwrap();
        let names: Vec<&str> = tools.iter().filter_map(|tool| tool["name"].as_str()).collect();
        for name in [
            "shell",
            "apply_patch",
            "read_file",
            "search",
            "list_dir",
            "update_plan",
            "spawn_agent",
        ] {
            assert!(names.contains(&name), "{name} is not offered: {names:?}");
        }
    }
}
