//! Ctrl-C: everything ends, and every action is observed.

use std::io::Read as _;

use super::Place;
use crate::process::{sabir, wait};

#[test]
fn an_interrupt_stops_everything_and_says_so() {
    let place = Place::new();
    let message = "HEADER:{f:a,t:b,s:1,b:B}\n\
                   ACT:{i:A1,op:shell,tgt:\"echo begun > begun.txt; sleep 600\",args:{timeout_ms:600000}}\n\
                   ACT:{i:A2,op:write,tgt:\"later.txt\",args:{text:\"x\"}}\n\
                   HEADER:{f:a,t:b,s:2}\nACT:{i:A3,op:shell,tgt:\"touch never.txt\"}\n";
    let file = place.folder.path().join("message.llmx");
    std::fs::write(&file, message).unwrap();
    let mut child = sabir()
        .current_dir(place.root())
        .args(["llmx", "run", "--home"])
        .arg(place.folder.path().join("home"))
        .arg(&file)
        .spawn()
        .unwrap();
    let begun = place.root().join("begun.txt");
    for _ in 0..6000 {
        if begun.exists() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    assert!(begun.exists(), "the command never began");
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    assert_eq!(wait(&mut child), Some(1));
    let mut reply = String::new();
    child.stdout.take().unwrap().read_to_string(&mut reply).unwrap();
    assert_eq!(reply.matches("s:ERR,e:\"aborted\"").count(), 3, "{reply}");
    assert!(reply.contains("HEADER:{f:b,t:a,s:2,x_re:2}"), "{reply}");
    assert!(!place.root().join("later.txt").exists());
    assert!(!place.root().join("never.txt").exists());
    super::is_strict(&reply);
}
