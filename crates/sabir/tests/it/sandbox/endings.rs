//! Nothing outlives its command: not after its end, a timeout, a cancel, nor the end of the program.

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::time::Duration;

use sabir_host::process::{CANCELLED, Exec, OutputChunk, Runner, TIMED_OUT};
use sabir_host::sandbox::{Confinement, LayerChoice, Limits};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::{Place, block_on, in_each_layer, run};

/// A number of seconds that no other process sleeps.
pub(super) fn mark() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("{}.{}", 70_000 + std::process::id() % 10_000, NEXT.fetch_add(1, Ordering::Relaxed) + 1)
}

/// Processes with the mark among their arguments.
pub(super) fn marked(mark: &str) -> usize {
    let commands = std::fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| {
        entry.file_name().to_str()?.parse::<u32>().ok()?;
        std::fs::read(entry.path().join("cmdline")).ok()
    });
    let holds = |words: &Vec<u8>| {
        words.split(|byte| *byte == 0).any(|word| String::from_utf8_lossy(word).contains(mark))
    };
    commands.filter(holds).count()
}

/// Every way that a process has to get away: another session, another parent, deaf to signals.
fn escape(mark: &str) -> String {
    format!(
        "setsid sleep {mark} & \
         (setsid nohup sleep {mark} >/dev/null 2>&1 & ) & \
         sh -c 'trap \"\" TERM HUP INT; setsid sh -c \"trap : TERM; sleep {mark}; :\" & sleep {mark}' & \
         while test $(cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' ' | grep -o 'sleep {mark}' \
         | wc -l) -lt 4; do :; done; echo ready;"
    )
}

/// Runs until the command says that it is ready, and then does `then`.
fn run_until_ready(
    runner: &Runner,
    exec: Exec,
    then: impl FnOnce(&CancellationToken),
) -> sabir_host::process::Finished {
    block_on(async {
        let (output, mut chunks) = mpsc::channel::<OutputChunk>(16);
        let cancel = CancellationToken::new();
        let reading = async {
            let chunk = chunks.recv().await.unwrap();
            assert_eq!(chunk.text, "ready\n");
            then(&cancel);
            while chunks.recv().await.is_some() {}
        };
        tokio::join!(runner.run(exec, output, cancel.clone()), reading).0.unwrap()
    })
}

fn each_way(test: impl Fn(&Place, Confinement)) {
    in_each_layer(|place| {
        test(place, Confinement::Confined(place.confined()));
        test(place, Confinement::FullAccess);
    });
}

#[test]
fn nothing_outlives_the_first_process() {
    each_way(|place, confinement| {
        let mark = mark();
        let exec = Exec { confinement, ..place.exec(&format!("{} exit 5", escape(&mark))) };
        let finished = run(&place.runner, exec).unwrap();
        assert_eq!((finished.exit_code, finished.stdout.as_str()), (5, "ready\n"), "{finished:?}");
        assert_eq!(marked(&mark), 0);
        assert!(finished.survivors.is_empty());
    });
}

#[test]
fn nothing_outlives_a_timeout() {
    each_way(|place, confinement| {
        let mark = mark();
        let exec = Exec {
            confinement,
            timeout: Duration::from_secs(2),
            ..place.exec(&format!("{} wait", escape(&mark)))
        };
        let finished = run(&place.runner, exec).unwrap();
        assert_eq!(finished.exit_code, TIMED_OUT);
        assert!(finished.timed_out && !finished.cancelled && !finished.sandbox_denied);
        assert_eq!(marked(&mark), 0);
    });
}

#[test]
fn nothing_outlives_a_cancel() {
    each_way(|place, confinement| {
        let mark = mark();
        let exec = Exec { confinement, ..place.exec(&format!("{} wait", escape(&mark))) };
        let finished = run_until_ready(&place.runner, exec, CancellationToken::cancel);
        assert_eq!(finished.exit_code, CANCELLED);
        assert!(finished.cancelled && !finished.timed_out);
        assert_eq!(marked(&mark), 0);
    });
}

#[test]
fn a_command_may_clean_up_when_it_is_cancelled() {
    each_way(|place, confinement| {
        let done = place.root.join("cleaned");
        let _ = std::fs::remove_file(&done);
        let script = "trap 'touch cleaned; exit' TERM; echo ready; sleep 1000 & wait";
        let exec = Exec { confinement, ..place.exec(script) };
        run_until_ready(&place.runner, exec, CancellationToken::cancel);
        assert!(done.exists());
    });
}

#[test]
fn nothing_outlives_a_dropped_future() {
    each_way(|place, confinement| {
        let mark = mark();
        let exec = Exec { confinement, ..place.exec(&format!("{} wait", escape(&mark))) };
        block_on(async {
            let (output, mut chunks) = mpsc::channel::<OutputChunk>(16);
            let running = place.runner.run(exec, output, CancellationToken::new());
            tokio::select! {
                finished = running => panic!("{finished:?}"),
                chunk = chunks.recv() => assert_eq!(chunk.unwrap().text, "ready\n"),
            }
        });
        wait_for_none(&mark);
    });
}

#[test]
fn nothing_outlives_a_killed_program() {
    in_each_layer(|place| {
        for mode in ["workspace-write", "danger-full-access"] {
            let mark = mark();
            let mut child = crate::process::sabir()
                .args(["sandbox", "--mode", mode, "--layer", place.layer.name(), "--", "sh", "-c"])
                .arg(format!("{} wait", escape(&mark)))
                .current_dir(&place.root)
                .stdin(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            let mut line = String::new();
            BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
            assert_eq!(line, "ready\n");
            assert!(marked(&mark) >= 4);
            child.kill().unwrap();
            child.wait().unwrap();
            wait_for_none(&mark);
            // The supervisor ends last, and takes its traces with it.
            wait_for(|| !place.root.join(".git").exists());
        }
    });
}

/// A fork bomb fills what it is given, and ends with its time.
#[test]
fn a_fork_bomb_is_bounded() {
    in_each_layer(|place| {
        let mark = mark();
        let bomb = format!(": {mark}; bomb() {{ bomb | bomb & }}; bomb; sleep {mark}");
        let exec = Exec {
            timeout: Duration::from_secs(2),
            limits: Limits { processes: 100, ..Limits::default() },
            ..place.exec(&bomb)
        };
        let (over, most) = (AtomicBool::new(false), AtomicUsize::new(0));
        let finished = std::thread::scope(|scope| {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    most.fetch_max(marked(&mark), Ordering::Relaxed);
                    std::thread::sleep(Duration::from_millis(50));
                }
            });
            let finished = run(&place.runner, exec);
            over.store(true, Ordering::Relaxed);
            finished.unwrap()
        });
        assert_eq!(marked(&mark), 0);
        // A bomb stays at the limit until its time is over or its first process cannot start another
        // one. Root is bound by the numbers of processes, of which the kernel keeps 300 for itself,
        // and by the supervisor.
        let is_noticed = finished.stderr.ends_with("it started more than 100 processes\n");
        let is_held = finished.stderr.to_lowercase().contains("fork");
        assert!(finished.timed_out || is_noticed || is_held, "{finished:?}");
        let most = most.into_inner();
        assert!(most < 1_000, "{most} processes");
    });
}

/// Under full access only the supervisor counts, so that this bomb is a slow one.
#[test]
fn too_many_processes_end_a_command_with_full_access() {
    let mark = mark();
    let script =
        format!("n=0; while test $n -lt 200; do sleep {mark} & n=$((n+1)); done; sleep {mark}");
    let exec = Exec {
        limits: Limits { processes: 50, ..Limits::default() },
        ..super::shell(&script, "/".as_ref(), Confinement::FullAccess)
    };
    let finished = run(&super::runner(LayerChoice::None), exec).unwrap();
    assert_eq!(finished.exit_code, 128 + 9);
    assert_eq!(finished.stderr, "ended: it started more than 50 processes\n");
    assert_eq!(marked(&mark), 0);
}

pub(super) fn wait_for_none(mark: &str) {
    wait_for(|| marked(mark) == 0);
}

fn wait_for(condition: impl Fn() -> bool) {
    for _ in 0..6_000 {
        if condition() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("it does not come to an end");
}
