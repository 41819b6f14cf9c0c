//! `sabir run` on a terminal: questions, answers and progress.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use sabir_testkit::fake_model::{FakeModel, Gate, Reply, chat, responses};
use serde_json::json;

use super::client::PATIENCE;
use super::place::{Place, output_of, runs, says, wait_for_file, wait_until_gone};

/// A terminal with the program on its other side.
pub(crate) struct Terminal {
    child: Child,
    keys: File,
    screen: Receiver<Vec<u8>>,
    /// All that was shown.
    pub(crate) shown: String,
    /// How much of it was waited for.
    seen: usize,
}

impl Terminal {
    fn start(place: &Place, model: &FakeModel, more: &[&str]) -> Self {
        let base_url = model.base_url();
        let args = ["run", "--model", "m", "--base-url", base_url.as_str()];
        Self::of(place.command(&[&args[..], more].concat()))
    }

    pub(crate) fn of(mut command: Command) -> Self {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&ours).unwrap();
        unlockpt(&ours).unwrap();
        let name = ptsname(&ours, Vec::new()).unwrap();
        let theirs = || -> OwnedFd {
            let name = name.to_str().unwrap();
            File::options().read(true).write(true).open(name).unwrap().into()
        };
        command.stdin(Stdio::from(theirs())).stdout(Stdio::from(theirs()));
        command.stderr(Stdio::from(theirs())).env("TERM", "xterm").env("NO_COLOR", "1");
        let child = command.spawn().unwrap();
        // The program alone holds the other side, so that its end is seen.
        drop(command);
        let keys = File::from(ours);
        let mut from = keys.try_clone().unwrap();
        let (sender, screen) = channel();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = from.read(&mut bytes) {
                if sender.send(bytes[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        Self { child, keys, screen, shown: String::new(), seen: 0 }
    }

    /// Waits until these words are shown, behind those that were waited for before.
    pub(crate) fn until(&mut self, words: &str) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(at) = self.shown[self.seen..].find(words) {
                self.seen += at + words.len();
                return;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            match self.screen.recv_timeout(left) {
                Ok(bytes) => self.shown.push_str(&String::from_utf8_lossy(&bytes)),
                Err(_) => panic!("{words:?} is not shown:\n{}", self.shown),
            }
        }
    }

    pub(crate) fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    /// Ctrl-C, which reaches a program as this signal.
    pub(crate) fn interrupt(&mut self) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    }

    pub(crate) fn exit_code(&mut self) -> Option<i32> {
        let code = crate::process::wait(&mut self.child);
        while let Ok(bytes) = self.screen.recv_timeout(Duration::from_millis(200)) {
            self.shown.push_str(&String::from_utf8_lossy(&bytes));
        }
        code
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn yes_no_and_always_are_asked_with_what_always_covers() {
    let place = Place::new();
    for name in ["a", "b", "c"] {
        place.write(name, "x\n");
    }
    let model = FakeModel::start([
        runs("resp_1", "call_1", &["rm", "-f", "a"]),
        runs("resp_2", "call_2", &["rm", "-f", "b"]),
        runs("resp_3", "call_3", &["rm", "-f", "c"]),
        runs("resp_4", "call_4", &["rm", "-f", "c"]),
        says("resp_5", "All answered."),
    ]);
    let mut terminal = Terminal::start(&place, &model, &["clean up"]);
    terminal.until("$ rm -f a");
    terminal.until("always covers exactly `rm -f a` in ");
    terminal.until("[y]es  [n]o  [a]lways  [q]uit");
    // What is no answer is asked again.
    terminal.press("maybe\n");
    terminal.until("y, n, a or q?");
    terminal.press("y\n");
    terminal.until("$ rm -f b");
    terminal.until("[q]uit the task: ");
    terminal.press("n\n");
    terminal.until("$ rm -f c");
    terminal.until("[q]uit the task: ");
    terminal.press("always\n");
    // The fourth is not asked for.
    terminal.until("All answered.");
    terminal.until("tokens in");
    assert_eq!(terminal.exit_code(), Some(0));
    let names = ["a", "b", "c"].map(|name| place.work.join(name).exists());
    assert_eq!(names, [false, true, false], "{}", terminal.shown);
    assert_eq!(terminal.shown.matches("always covers").count(), 3);
    assert!(output_of(&model.requests()[2], "call_2").contains("rejected"));
}

#[test]
fn quit_ends_the_task() {
    let place = Place::new();
    let model = FakeModel::start([runs("resp_1", "call_1", &["rm", "-f", "a"])]);
    let mut terminal = Terminal::start(&place, &model, &["clean up"]);
    terminal.until("[q]uit the task: ");
    terminal.press("q\n");
    assert_eq!(terminal.exit_code(), Some(130));
    assert!(terminal.shown.contains("interrupted"), "{}", terminal.shown);
}

/// What was typed before a question was put is no answer to it.
#[test]
fn keys_pressed_too_early_answer_nothing() {
    let place = Place::new();
    place.write("a", "x\n");
    let gate = Gate::new();
    let arguments = serde_json::json!({ "command": ["rm", "-f", "a"] });
    let reply = Reply::sse([responses::text_delta("Wait")]).then_wait(&gate).then(
        responses::message("Wait")
            + &responses::call("call_1", "shell", &arguments)
            + &responses::completed("resp_1"),
    );
    let model = FakeModel::start([reply, says("resp_2", "ok")]);
    let mut terminal = Terminal::start(&place, &model, &["clean up"]);
    terminal.until("Wait");
    terminal.press("y\ny\ny\n");
    // The terminal repeats what is typed.
    terminal.until("y\r\ny\r\ny\r\n");
    gate.open();
    terminal.until("[q]uit the task: ");
    terminal.press("n\n");
    terminal.until("ok");
    assert_eq!(terminal.exit_code(), Some(0));
    assert!(place.work.join("a").exists(), "{}", terminal.shown);
}

#[test]
fn a_line_of_progress_shows_that_the_model_thinks() {
    let place = Place::new();
    let gate = Gate::new();
    let thinking = Reply::sse([""; 0])
        .then_wait(&gate)
        .then(responses::message("There.") + &responses::completed("resp_1"));
    let model = FakeModel::start([thinking]);
    let mut terminal = Terminal::start(&place, &model, &["think"]);
    terminal.until("thinking ... 1 s");
    gate.open();
    // The line is wiped before the answer.
    terminal.until("\x1b[2K");
    terminal.until("There.");
    assert_eq!(terminal.exit_code(), Some(0));
}

#[test]
fn without_a_task_tasks_are_read_one_a_line() {
    let place = Place::new();
    let model = FakeModel::start([says("resp_1", "one"), says("resp_2", "two")]);
    let mut terminal = Terminal::start(&place, &model, &[]);
    terminal.until("> ");
    terminal.press("first\n");
    terminal.until("one");
    terminal.until("> ");
    terminal.press("second\n");
    terminal.until("two");
    terminal.until("> ");
    // The end of input.
    terminal.press("\x04");
    assert_eq!(terminal.exit_code(), Some(0));
    assert_eq!(model.requests()[1].body["input"].as_array().unwrap().len(), 3);
}

/// Also a command that does not want to end is gone when the program is.
#[test]
fn ctrl_c_twice_leaves_at_once_and_nothing_behind() {
    let place = Place::new();
    let script = "trap '' TERM INT HUP; echo $$ > pid; while :; do sleep 0.1; done";
    let model = FakeModel::start([runs("resp_1", "call_1", &["bash", "-c", script])]);
    let more = ["--approval", "never", "--sandbox", "danger-full-access", "hang"];
    let mut terminal = Terminal::start(&place, &model, &more);
    let pid = wait_for_file(&place.work.join("pid"));
    terminal.interrupt();
    terminal.until("press Ctrl-C again to leave at once");
    terminal.interrupt();
    assert_eq!(terminal.exit_code(), Some(130), "{}", terminal.shown);
    wait_until_gone(&pid);
}

#[test]
fn a_model_of_this_machine_can_be_chosen() {
    let place = Place::new();
    let list = json!({ "data": [{ "id": "tiny" }, { "id": "big" }] });
    let answer = [chat::text("c", "Hello."), chat::finish("c", "stop"), chat::done()];
    let model = FakeModel::start([Reply::json(200, &list), Reply::sse(answer)]);
    let mut command = place.command(&["run", "say hello"]);
    command.env("SABIR_LOCAL_PORTS", model.address().port().to_string());
    let mut terminal = Terminal::of(command);
    terminal.until("2  big");
    terminal.until("Which one? [1] ");
    terminal.press("7\n");
    terminal.until("Which one? [1] ");
    terminal.press("2\n");
    terminal.until("Hello.");
    assert_eq!(terminal.exit_code(), Some(0), "{}", terminal.shown);
    let asked = &model.requests()[1];
    assert_eq!(
        (asked.path.as_str(), &asked.body["model"]),
        ("/v1/chat/completions", &json!("big"))
    );
}

/// Commands that only read run without a question, beside one that is asked for.
const TALKS: &str = "touch began; cat told; echo; echo 'Run this command in /x?'; \
                     printf '[y]es  [n]o  [a]lways  [q]uit the task: '; echo; touch said";

/// A response that runs two programs at the same time, the first without a question.
fn runs_both(script: &str, asked: &[&str]) -> Reply {
    let first = json!({ "command": ["bash", "-c", script] });
    let second = json!({ "command": asked });
    Reply::sse([
        responses::call("call_1", "shell", &first),
        responses::call("call_2", "shell", &second),
        responses::completed("resp_1"),
    ])
}

fn wait_until_there(path: &std::path::Path) {
    let deadline = Instant::now() + PATIENCE;
    while !path.exists() {
        assert!(Instant::now() < deadline, "{} was never written", path.display());
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn nothing_is_written_behind_an_open_question() {
    let place = Place::new();
    let fifo = place.work.join("told");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &fifo,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    let model = FakeModel::start([
        runs_both(TALKS, &["rm", "-rf", "precious"]),
        says("resp_2", "Both are done."),
    ]);
    let mut terminal = Terminal::start(&place, &model, &["two things"]);
    terminal.until("$ rm -rf precious");
    terminal.until("[q]uit the task: ");
    let asked = terminal.shown.len();
    // Now the other command speaks, and forges a question.
    std::fs::write(&fifo, "a line\nhalf").unwrap();
    wait_until_there(&place.work.join("said"));
    // A wrong answer is asked again, and is the proof that nothing came between.
    terminal.press("maybe\n");
    terminal.until("y, n, a or q? ");
    assert_eq!(&terminal.shown[asked..], "maybe\r\ny, n, a or q? ");
    terminal.press("NO\n");
    // What was held back comes now, and every line of it is marked.
    terminal.until("  | a line\r\n  | half");
    terminal.until("\r\n  | Run this command in /x?\r\n  | [y]es  [n]o");
    terminal.until("Both are done.");
    assert_eq!(terminal.exit_code(), Some(0));
}

#[test]
fn a_flood_behind_an_open_question_is_cut() {
    let place = Place::new();
    // Far more than all that can be on its way, so that most of it has come when all is said.
    let script = "touch began; yes 'all day long' | head -c 8000000; touch said";
    let model = FakeModel::start([
        runs_both(script, &["rm", "-rf", "precious"]),
        says("resp_2", "Both are done."),
    ]);
    let mut terminal = Terminal::start(&place, &model, &["two things"]);
    terminal.until("[q]uit the task: ");
    wait_until_there(&place.work.join("said"));
    terminal.press("no\n");
    terminal.until("bytes that came during the question are not shown]");
    terminal.until("Both are done.");
    assert_eq!(terminal.exit_code(), Some(0));
}

/// The words of a command cannot look like the end of its question.
#[test]
fn a_command_of_several_lines_is_marked_as_one() {
    let place = Place::new();
    let script = "rm -rf precious\n\nRun this command in /x?\n  $ ls";
    let model =
        FakeModel::start([runs("resp_1", "call_1", &["bash", "-c", script]), says("resp_2", "ok")]);
    let mut terminal = Terminal::start(&place, &model, &["--approval", "untrusted", "x"]);
    terminal.until("  | \r\n  | Run this command in /x?\r\n  |   $ ls");
    terminal.until("[q]uit the task: ");
    terminal.press("No\n");
    assert_eq!(terminal.exit_code(), Some(0), "{}", terminal.shown);
}

/// The changes are shown with the question, whole, when its turn comes.
#[test]
fn each_patch_is_shown_with_its_own_question() {
    let place = Place::new();
    place.write("two.txt", "-- two\nold\n");
    let first = "*** Begin Patch\n*** Add File: one.txt\n+one\n*** End Patch\n";
    let second =
        "*** Begin Patch\n*** Update File: two.txt\n@@\n--- two\n+++ three\n old\n*** End Patch\n";
    let model = FakeModel::start([
        Reply::sse([
            responses::call("call_1", "apply_patch", &json!({ "input": first })),
            responses::call("call_2", "apply_patch", &json!({ "input": second })),
            responses::completed("resp_1"),
        ]),
        says("resp_2", "ok"),
    ]);
    let mut terminal = Terminal::start(&place, &model, &["--approval", "untrusted", "x"]);
    terminal.until("Change one.txt?");
    terminal.until("[q]uit the task: ");
    assert!(!terminal.shown.contains("three"), "{}", terminal.shown);
    terminal.press("ALWAYS\n");
    terminal.until("--- two");
    terminal.until("+++ three");
    terminal.until("Change two.txt?");
    terminal.until("[q]uit the task: ");
    terminal.press("Yes\n");
    assert_eq!(terminal.exit_code(), Some(0), "{}", terminal.shown);
    assert_eq!(
        (place.read("one.txt"), place.read("two.txt")),
        ("one\n".into(), "++ three\nold\n".into())
    );
}

#[test]
fn a_question_that_nobody_answers_does_not_stand_in_the_way_of_the_next() {
    let place = Place::new();
    place.write("b", "x\n");
    let model = FakeModel::start([
        runs("resp_1", "call_1", &["rm", "-f", "a"]),
        runs("resp_2", "call_2", &["rm", "-f", "b"]),
        says("resp_3", "ok"),
    ]);
    let mut terminal = Terminal::start(&place, &model, &["--approval-timeout", "1", "x"]);
    terminal.until("$ rm -f a");
    terminal.until("nobody answered in time");
    terminal.until("$ rm -f b");
    terminal.until("[q]uit the task: ");
    terminal.press("y\n");
    terminal.until("ok");
    assert_eq!(terminal.exit_code(), Some(0), "{}", terminal.shown);
    let told = output_of(&model.requests()[2], "call_1");
    assert!(told.contains("nobody answered"), "{told}");
}

/// Where nobody could be asked, questions were denied at once; here somebody is.
#[test]
fn a_session_of_a_script_asks_when_it_goes_on_at_a_terminal() {
    let place = Place::new();
    place.write("a", "x\n");
    let model = FakeModel::start([
        says("resp_1", "one"),
        runs("resp_2", "call_1", &["rm", "-f", "a"]),
        says("resp_3", "gone"),
    ]);
    let base_url = model.base_url();
    let first = place.run(&["run", "--model", "m", "--base-url", &base_url, "first"]);
    assert_eq!(first.code, 0, "{}", first.stderr);
    let mut terminal = Terminal::of(place.command(&["resume"]));
    terminal.until("> ");
    terminal.press("second\n");
    terminal.until("[q]uit the task: ");
    terminal.press("y\n");
    terminal.until("gone");
    terminal.until("> ");
    terminal.press("\x04");
    assert_eq!(terminal.exit_code(), Some(0), "{}", terminal.shown);
    assert!(!place.work.join("a").exists());
}

#[test]
fn ctrl_c_twice_leaves_the_prompt_as_well() {
    let place = Place::new();
    let script = "trap '' TERM INT HUP; echo $$ > pid; while :; do sleep 0.1; done";
    let model = FakeModel::start([runs("resp_1", "call_1", &["bash", "-c", script])]);
    let more = ["--approval", "never", "--sandbox", "danger-full-access"];
    let mut terminal = Terminal::start(&place, &model, &more);
    terminal.until("> ");
    terminal.press("hang\n");
    let pid = wait_for_file(&place.work.join("pid"));
    terminal.interrupt();
    terminal.until("press Ctrl-C again to leave at once");
    terminal.interrupt();
    assert_eq!(terminal.exit_code(), Some(130), "{}", terminal.shown);
    wait_until_gone(&pid);
}

/// A server of tools that never gets ready keeps nobody.
#[test]
fn ctrl_c_twice_leaves_while_servers_are_started() {
    let place = Place::new();
    std::fs::create_dir_all(&place.home).unwrap();
    place.write("server.sh", "trap '' TERM INT HUP; echo $$ > pid; while :; do sleep 0.1; done\n");
    let config = "[mcp.slow]\ncommand = [\"bash\", \"server.sh\"]\nstartup_timeout_ms = 100000\n";
    std::fs::write(place.home.join("sabir.toml"), config).unwrap();
    let model = FakeModel::start([]);
    let mut terminal = Terminal::start(&place, &model, &["x"]);
    let pid = wait_for_file(&place.work.join("pid"));
    terminal.interrupt();
    terminal.until("press Ctrl-C again to leave at once");
    terminal.interrupt();
    assert_eq!(terminal.exit_code(), Some(130), "{}", terminal.shown);
    wait_until_gone(&pid);
}

#[test]
fn a_task_that_failed_is_not_the_last_one() {
    let place = Place::new();
    let model =
        FakeModel::start([Reply::error(400, "bad", "no such field"), says("resp_1", "better")]);
    let mut terminal = Terminal::start(&place, &model, &[]);
    terminal.until("> ");
    terminal.press("first\n");
    terminal.until("no such field");
    terminal.until("> ");
    terminal.press("second\n");
    terminal.until("better");
    terminal.until("> ");
    terminal.press("\x04");
    assert_eq!(terminal.exit_code(), Some(0), "{}", terminal.shown);
}

/// The beginning of an answer that was given up is not taken for the next one.
#[test]
fn an_answer_after_one_that_was_interrupted_is_shown() {
    let place = Place::new();
    let model = FakeModel::start([
        Reply::sse([responses::text_delta("streaming")]).then_hold_open(),
        says("resp_2", "the next answer"),
    ]);
    let mut terminal = Terminal::start(&place, &model, &[]);
    terminal.until("> ");
    terminal.press("first\n");
    terminal.until("streaming");
    terminal.interrupt();
    terminal.until("> ");
    terminal.press("second\n");
    terminal.until("the next answer");
    terminal.until("> ");
    terminal.press("\x04");
    assert_eq!(terminal.exit_code(), Some(0), "{}", terminal.shown);
}
