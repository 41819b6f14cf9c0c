//! What comes back from a command.

use std::time::Duration;

use sabir_host::process::{ExecError, OutputChunk, OutputStream, TIMED_OUT};
use sabir_host::sandbox::{Confinement, LayerChoice};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::{block_on, in_each_layer, run, runner, shell};

#[test]
fn exit_codes_are_those_of_a_shell() {
    in_each_layer(|place| {
        std::fs::write(place.root.join("plain"), "text").unwrap();
        for confinement in [place.exec("").confinement, Confinement::FullAccess] {
            let code = |argv: &[&str]| {
                let mut exec = shell("", &place.root, confinement.clone());
                exec.argv = argv.iter().map(|word| (*word).to_owned()).collect();
                let finished = run(&place.runner, exec).unwrap();
                (finished.exit_code, finished.stderr)
            };
            assert_eq!(code(&["true"]), (0, String::new()));
            assert_eq!(code(&["sh", "-c", "exit 7"]).0, 7);
            assert_eq!(code(&["sh", "-c", "kill -15 $$"]).0, 128 + 15);
            assert_eq!(code(&["sh", "-c", "kill -9 $$"]).0, 128 + 9);
            let (missing, says) = code(&["no-such-program-here"]);
            assert_eq!(
                (missing, says.as_str()),
                (127, "no-such-program-here: command not found\n")
            );
            assert_eq!(code(&["./gone"]), (127, "./gone: no such file\n".to_owned()));
            assert_eq!(code(&["./plain"]), (126, "./plain: permission denied\n".to_owned()));
            let mut exec = shell("true", &place.base.join("gone"), confinement.clone());
            let finished = run(&place.runner, exec.clone()).unwrap();
            assert_eq!(finished.exit_code, 126);
            assert!(finished.stderr.starts_with("cannot enter "), "{}", finished.stderr);
            exec.argv.clear();
            assert!(matches!(run(&place.runner, exec), Err(ExecError::EmptyCommand)));
        }
    });
}

#[test]
fn both_streams_come_in_order_and_characters_stay_whole() {
    in_each_layer(|place| {
        let script =
            r"printf '\342\202'; sleep 0.05; printf '\254 \377\n'; sleep 0.05; echo err >&2";
        let finished = place.run(script);
        assert_eq!(finished.stdout, "€ \u{FFFD}\n");
        assert_eq!(finished.stderr, "err\n");
        assert_eq!(finished.aggregated, "€ \u{FFFD}\nerr\n");
    });
}

#[test]
fn a_flood_is_kept_in_part_and_sent_in_pieces() {
    in_each_layer(|place| {
        let exec = place.exec("echo first; head -c 50000000 /dev/zero | tr '\\0' x; echo last");
        let (finished, pieces, bytes) = block_on(async {
            let (output, mut chunks) = mpsc::channel::<OutputChunk>(4);
            let reading = async {
                let (mut pieces, mut bytes) = (0, 0);
                while let Some(chunk) = chunks.recv().await {
                    assert_eq!(chunk.stream, OutputStream::Stdout);
                    assert!(chunk.text.len() <= 4 * 1024 + 8);
                    pieces += 1;
                    bytes += chunk.text.len() as u64;
                }
                (pieces, bytes)
            };
            let running = place.runner.run(exec, output, CancellationToken::new());
            let (finished, (pieces, bytes)) = tokio::join!(running, reading);
            (finished.unwrap(), pieces, bytes)
        });
        assert_eq!(finished.exit_code, 0);
        assert!(finished.stdout.len() <= 1 << 20);
        assert!(
            finished.stdout.starts_with("first\nxxx") && finished.stdout.ends_with("x\nlast\n")
                || finished.stdout.ends_with("xlast\n")
        );
        let mark = format!("\n[... {} bytes omitted ...]\n", finished.omitted_bytes);
        assert!(finished.aggregated.contains(&mark));
        let whole = 50_000_000 + "first\nlast\n".len() as u64;
        let kept = (finished.aggregated.len() - mark.len()) as u64;
        assert_eq!(kept + finished.omitted_bytes, whole);
        assert!(pieces <= 10_000);
        assert!(finished.dropped_chunks > 0 || bytes == whole);
    });
}

#[test]
fn a_reader_that_stopped_holds_up_no_timeout() {
    in_each_layer(|place| {
        let mut exec = place.exec("while :; do echo xxxxxxxxxxxxxxxxxxxxxxxx; done");
        exec.timeout = Duration::from_millis(500);
        let (output, chunks) = mpsc::channel::<OutputChunk>(1);
        let finished = block_on(place.runner.run(exec, output, CancellationToken::new())).unwrap();
        assert!(finished.timed_out);
        assert_eq!(finished.exit_code, TIMED_OUT);
        drop(chunks);
    });
}

#[test]
fn a_reader_that_left_loses_only_what_is_sent() {
    let runner = runner(LayerChoice::None);
    let exec = shell("echo kept", "/".as_ref(), Confinement::FullAccess);
    let (output, chunks) = mpsc::channel::<OutputChunk>(1);
    drop(chunks);
    let finished = block_on(runner.run(exec, output, CancellationToken::new())).unwrap();
    assert_eq!((finished.stdout.as_str(), finished.dropped_chunks), ("kept\n", 1));
}
