//! The person at this terminal, who decides what waits in the inbox, beside whoever else looks into
//! it. It shows all of what is decided about, in a form that what is shown cannot forge.

use std::collections::BTreeSet;
use std::io::{IsTerminal as _, Write};

use sabir_base::text::{one_line, with_hidden_shown};
use sabir_host::{Asker, Decision, Inbox, Matter, MatterKind};
use sabir_net::{Entry, Mount};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// Who can be asked beside the person at the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Others {
    Nobody,
    /// Whoever signs in to the console, now or later.
    AtConsole,
}

impl Others {
    /// Who lets people in has a place for them.
    pub(super) fn behind(mounts: &[Mount]) -> Self {
        let is_console = |mount: &Mount| mount.entry == Entry::Own && mount.under == "/";
        let has_console = mounts.iter().any(is_console);
        if has_console { Self::AtConsole } else { Self::Nobody }
    }
}

/// Asks the person at this terminal about what waits. Where nobody can answer, and where there is
/// more than a person reads, nothing is allowed; but if others can be asked, it waits for them.
pub(super) async fn ask_operator(inbox: Inbox, others: Others, stop: CancellationToken) {
    let can_answer = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    let mut terminal = can_answer.then(Terminal::of_this_program);
    let asking = attend(&inbox, others, &mut terminal);
    stop.run_until_cancelled(asking).await;
}

async fn attend(inbox: &Inbox, others: Others, terminal: &mut Option<Terminal>) {
    let mut changes = inbox.watch();
    // What only others can decide.
    let mut left = BTreeSet::new();
    loop {
        changes.mark_unchanged();
        let waiting = inbox.list();
        left.retain(|id| waiting.iter().any(|matter| matter.id == *id));
        let Some(matter) = waiting.into_iter().find(|matter| !left.contains(&matter.id)) else {
            if changes.changed().await.is_err() {
                return;
            }
            continue;
        };
        match consider(&matter, inbox, others, terminal).await {
            Outcome::Decided(decision) => {
                // Who is over meanwhile does not wait for it any more.
                let _ = inbox.decide(matter.id, decision);
            }
            Outcome::LeftToOthers => {
                left.insert(matter.id);
            }
            Outcome::DecidedElsewhere => {}
        }
    }
}

/// What came of a matter at this terminal.
#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    Decided(Decision),
    LeftToOthers,
    /// Somebody else was first, or nobody wants to know any more.
    DecidedElsewhere,
}

async fn consider(
    matter: &Matter,
    inbox: &Inbox,
    others: Others,
    terminal: &mut Option<Terminal>,
) -> Outcome {
    let why_not = match terminal {
        None => "nobody is there to ask".to_owned(),
        Some(_) if matter.what.len() > MOST_SHOWN => {
            format!("{} bytes are more than can be shown", matter.what.len())
        }
        Some(asked) => match asked.ask(matter, inbox).await {
            Reply::Said(decision) => return Outcome::Decided(decision),
            Reply::Elsewhere => return Outcome::DecidedElsewhere,
            Reply::Gone => {
                *terminal = None;
                "nobody is there any more".to_owned()
            }
        },
    };
    if others == Others::AtConsole {
        return Outcome::LeftToOthers;
    }
    let what = one_line(&matter.what, 300);
    let _ = writeln!(std::io::stderr(), "denied, because {why_not}: {what}");
    Outcome::Decided(Decision::Deny)
}

/// Somebody who can answer. Lines are read when a question is put and not before: a program in the
/// background that reads from its terminal is stopped.
struct Terminal {
    wanted: std::sync::mpsc::Sender<()>,
    /// The end of input is the end of this.
    lines: mpsc::UnboundedReceiver<String>,
    is_reading: bool,
    screen: Box<dyn Write + Send>,
}

#[derive(Debug, PartialEq, Eq)]
enum Reply {
    Said(Decision),
    Elsewhere,
    /// The input has ended.
    Gone,
}

impl Terminal {
    fn of_this_program() -> Self {
        let (wanted, wants) = std::sync::mpsc::channel();
        let (send, lines) = mpsc::unbounded_channel();
        // A thread of its own: reading a line cannot be given up.
        std::thread::spawn(move || {
            while let Ok(()) = wants.recv() {
                let mut line = String::new();
                let read = std::io::stdin().read_line(&mut line);
                if !matches!(read, Ok(1..)) || send.send(line).is_err() {
                    return;
                }
            }
        });
        Self { wanted, lines, is_reading: false, screen: Box::new(std::io::stderr()) }
    }

    async fn ask(&mut self, matter: &Matter, inbox: &Inbox) -> Reply {
        // What was typed before the question was put is no answer to it.
        while self.lines.try_recv().is_ok() {
            self.is_reading = false;
        }
        let _ = rustix::termios::tcflush(std::io::stdin(), rustix::termios::QueueSelector::IFlush);
        self.show(&question(matter));
        let mut changes = inbox.watch();
        let elsewhere =
            async { while inbox.is_waiting(matter.id) && changes.changed().await.is_ok() {} };
        let line = tokio::select! {
            biased;
            () = elsewhere => None,
            line = self.line() => Some(line),
        };
        let Some(line) = line else {
            self.show("\n(this was decided elsewhere, or is over)\n");
            return Reply::Elsewhere;
        };
        let Some(line) = line else { return Reply::Gone };
        let decision = match line.trim().to_ascii_lowercase().as_str() {
            "y" | "yes" => Decision::Approve,
            "s" | "session" => Decision::ApproveForSession,
            _ => Decision::Deny,
        };
        Reply::Said(if matter.choices.contains(&decision) { decision } else { Decision::Deny })
    }

    async fn line(&mut self) -> Option<String> {
        if !self.is_reading {
            self.wanted.send(()).ok()?;
            self.is_reading = true;
        }
        let line = self.lines.recv().await;
        self.is_reading = false;
        line
    }

    fn show(&mut self, text: &str) {
        // Nobody is left to tell when it cannot be written.
        let _ = self.screen.write_all(text.as_bytes()).and_then(|()| self.screen.flush());
    }
}

/// The words of the node start lines; what is decided about never does.
fn question(matter: &Matter) -> String {
    let mut question = match &matter.asker {
        Asker::Task { key, skill, delegate } => {
            let by = match delegate.as_str() {
                "" => String::new(),
                name => format!(" of the {}", one_line(name, 60)),
            };
            let id = one_line(key.id.as_str(), 60);
            let owner = one_line(key.owner.as_str(), 80);
            format!("task {id} of {owner}, skill {}{by}:\n", one_line(skill.as_str(), 60))
        }
        Asker::Session { id } => format!("conversation {}:\n", one_line(id, 80)),
        Asker::Desk { collection: Some(name) } => {
            format!("the desk, for {}:\n", one_line(name, 80))
        }
        Asker::Desk { collection: None } => "the desk:\n".to_owned(),
        Asker::Order { id } => format!("order {}:\n", one_line(id, 80)),
    };
    for line in matter.what.split('\n') {
        let mut mark = "  | ";
        for piece in pieces(&with_hidden_shown(line)) {
            question.push_str(mark);
            question.push_str(&piece);
            question.push('\n');
            mark = "  : ";
        }
    }
    question.push_str(match matter.kind {
        MatterKind::Approval => "Allow it?",
        MatterKind::Question => "Is it as it should be?",
        MatterKind::Blocker => "Go on?",
    });
    let also = matter.choices.contains(&Decision::ApproveForSession);
    question.push_str(if also { " [y]es [s]ession [n]o: " } else { " [y]es [n]o: " });
    question
}

/// A line in pieces that a terminal does not break anew: what it broke would start a line. There is at
/// least one.
fn pieces(line: &str) -> Vec<String> {
    let (mut pieces, mut room) = (vec![String::new()], COLUMNS);
    for letter in line.chars() {
        // A tab takes up to eight columns, and what is not ASCII often two.
        let width = match letter {
            '\t' => 8,
            letter if letter.is_ascii() => 1,
            _ => 2,
        };
        if width > room {
            pieces.push(String::new());
            room = COLUMNS;
        }
        room -= width;
        if let Some(last) = pieces.last_mut() {
            last.push(letter);
        }
    }
    pieces
}

/// What fits beside the mark on the narrowest of usual terminals.
const COLUMNS: usize = 74;
/// More than anybody reads before saying yes.
const MOST_SHOWN: usize = 64 << 10;

#[cfg(test)]
mod tests {
    use super::*;
    use sabir_ldp::{DelegateId, SkillName, TaskId, TaskKey};
    use std::sync::{Arc, Mutex};

    fn approval(what: &str) -> Matter {
        let (owner, id) = ("ldp:delegate:asker", "t-1");
        let key = TaskKey { owner: DelegateId::new(owner).unwrap(), id: TaskId::new(id).unwrap() };
        let skill = SkillName::new("fix").unwrap();
        let asker = Asker::Task { key, skill, delegate: String::new() };
        Matter::new(asker, MatterKind::Approval, what.to_owned())
    }

    /// What is shown at a terminal that is none.
    #[derive(Debug, Clone, Default)]
    struct Screen(Arc<Mutex<Vec<u8>>>);

    impl Screen {
        fn text(&self) -> String {
            String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
        }
    }

    impl Write for Screen {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    struct Keyboard {
        wants: std::sync::mpsc::Receiver<()>,
        lines: mpsc::UnboundedSender<String>,
        screen: Screen,
    }

    fn terminal() -> (Terminal, Keyboard) {
        let (wanted, wants) = std::sync::mpsc::channel();
        let (send, lines) = mpsc::unbounded_channel();
        let screen = Screen::default();
        let shown = Box::new(screen.clone());
        let terminal = Terminal { wanted, lines, is_reading: false, screen: shown };
        (terminal, Keyboard { wants, lines: send, screen })
    }

    #[test]
    fn all_of_it_is_shown_and_none_of_it_looks_like_a_question() {
        let long = "z".repeat(3000);
        let hidden = "run `true\u{1b}[2K\r\nAllow it? [y]es [n]o: \u{202e}tac` in /";
        let what = format!("{hidden}\n{long}\n\tthe end");
        let question = question(&approval(&what));
        let (body, last) = question.rsplit_once('\n').unwrap();
        assert_eq!(last, "Allow it? [y]es [n]o: ");
        let mut lines = body.lines();
        assert_eq!(lines.next(), Some("task t-1 of ldp:delegate:asker, skill fix:"));
        for line in lines.clone() {
            assert!(line.starts_with("  | ") || line.starts_with("  : "), "{line}");
            assert!(line.len() < 80, "{line}");
        }
        for shown in ["u{1b}[2K", "u{202e}tac", "\tthe end"] {
            assert!(body.contains(shown), "{shown}: {body}");
        }
        assert_eq!(body.matches('z').count(), 3000);
        assert!(!question.contains(['\u{1b}', '\r', '\u{202e}']), "{question}");
    }

    #[tokio::test]
    async fn where_nobody_can_answer_it_is_denied_or_left_to_others() {
        let inbox = Inbox::default();
        let large = approval(&"x\n".repeat(MOST_SHOWN));
        for (matter, with_terminal) in [(large, true), (approval("run `true`"), false)] {
            for (others, outcome) in [
                (Others::Nobody, Outcome::Decided(Decision::Deny)),
                (Others::AtConsole, Outcome::LeftToOthers),
            ] {
                let (there, _keyboard) = terminal();
                let mut terminal = with_terminal.then_some(there);
                assert_eq!(consider(&matter, &inbox, others, &mut terminal).await, outcome);
            }
        }
    }

    #[tokio::test]
    async fn without_a_terminal_the_console_is_waited_for() {
        let inbox = Inbox::default();
        let mut asked = inbox.ask(approval("run `true`"));
        let id = asked.id();
        let mut nobody = None;
        let decided = tokio::select! {
            biased;
            () = attend(&inbox, Others::AtConsole, &mut nobody) => unreachable!(),
            decided = async {
                // It was looked at, and left.
                tokio::task::yield_now().await;
                inbox.decide(id, Decision::Approve).unwrap();
                asked.decided().await
            } => decided,
        };
        assert_eq!(decided, Decision::Approve);
        let mut asked = inbox.ask(approval("run `true`"));
        let decided = tokio::select! {
            () = attend(&inbox, Others::Nobody, &mut nobody) => unreachable!(),
            decided = asked.decided() => decided,
        };
        assert_eq!(decided, Decision::Deny);
    }

    #[tokio::test]
    async fn who_decides_first_has_decided() {
        let inbox = Inbox::default();
        let mut first = inbox.ask(approval("run `one`"));
        let mut second = inbox.ask(approval("run `two`").or_for_session());
        let (one, two) = (first.id(), second.id());
        let (there, keyboard) = terminal();
        let mut terminal = Some(there);
        let deciding = async {
            // The console is first with one; what is typed for it is too late, and answers nothing.
            while !keyboard.screen.text().contains("run `one`") {
                tokio::task::yield_now().await;
            }
            inbox.decide(one, Decision::Deny).unwrap();
            keyboard.lines.send("yes\n".to_owned()).unwrap();
            assert_eq!(first.decided().await, Decision::Deny);
            while !keyboard.screen.text().contains("run `two`") {
                tokio::task::yield_now().await;
            }
            assert!(keyboard.screen.text().contains("decided elsewhere"));
            assert!(inbox.is_waiting(two));
            keyboard.lines.send("s\n".to_owned()).unwrap();
            second.decided().await
        };
        let decided = tokio::select! {
            () = attend(&inbox, Others::AtConsole, &mut terminal) => unreachable!(),
            decided = deciding => decided,
        };
        assert_eq!(decided, Decision::ApproveForSession);
        assert!(keyboard.screen.text().ends_with("Allow it? [y]es [s]ession [n]o: "));
        assert_eq!(keyboard.wants.try_iter().count(), 2, "each line was asked for");
    }

    #[tokio::test]
    async fn what_was_no_choice_is_a_no_and_the_end_of_input_is_nobody() {
        let inbox = Inbox::default();
        let (mut there, keyboard) = terminal();
        let mut asked = inbox.ask(approval("run `one`"));
        let matter = inbox.list().remove(0);
        let typing = async { keyboard.lines.send("session\n".to_owned()).unwrap() };
        let (reply, ()) = tokio::join!(biased; there.ask(&matter, &inbox), typing);
        assert_eq!(reply, Reply::Said(Decision::Deny));
        drop(keyboard);
        assert_eq!(there.ask(&matter, &inbox).await, Reply::Gone);
        inbox.decide(asked.id(), Decision::Approve).unwrap();
        assert_eq!(asked.decided().await, Decision::Approve);
    }
}
