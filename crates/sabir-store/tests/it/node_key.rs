//! The file of the node's key.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::thread;

use sabir_store::{StoreError, node_key};

use crate::sample::home;

fn never() -> std::io::Result<[u8; 32]> {
    panic!("there is a key already")
}

fn mode(file: &Path) -> u32 {
    std::fs::metadata(file).unwrap().permissions().mode() & 0o777
}

/// QP-N6
#[test]
fn a_key_is_made_once_and_for_its_owner() {
    let home = home();
    let folder = home.path().join("new");
    let mut seed = [7; 32];
    seed[0] = 0xab;
    assert_eq!(*node_key(&folder, || Ok(seed)).unwrap(), seed);
    assert_eq!(*node_key(&folder, never).unwrap(), seed);
    assert_eq!(mode(&folder.join("node.key")), 0o600);
    let text = std::fs::read_to_string(folder.join("node.key")).unwrap();
    assert!(text.starts_with("ab07") && text.len() == 65, "{text}");
    assert!(!folder.join("node.key.new").exists());
}

/// QP-N6
#[test]
fn those_who_come_first_at_once_get_the_same() {
    let home = home();
    let path = home.path();
    let seeds: Vec<[u8; 32]> = thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|number| scope.spawn(move || *node_key(path, || Ok([number; 32])).unwrap()))
            .collect();
        threads.into_iter().map(|it| it.join().unwrap()).collect()
    });
    assert!(seeds.iter().all(|seed| *seed == seeds[0]), "{seeds:?}");
}

/// QP-N6
#[test]
fn what_others_can_read_is_no_secret() {
    let home = home();
    node_key(home.path(), || Ok([1; 32])).unwrap();
    let file = home.path().join("node.key");
    for exposed in [0o640, 0o604, 0o620, 0o660] {
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(exposed)).unwrap();
        let error = node_key(home.path(), never).unwrap_err();
        assert_eq!(error, StoreError::KeyExposed { path: file.clone(), mode: exposed });
        assert!(error.to_string().contains("chmod 600"), "{error}");
    }
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!(*node_key(home.path(), never).unwrap(), [1; 32]);
}

/// QP-N6: what is there is never replaced, whatever it is.
#[test]
fn a_file_without_a_key_is_an_error() {
    for text in ["", "0123", &"zz".repeat(32), &"00".repeat(33), &"0".repeat(1000)] {
        let home = home();
        let file = home.path().join("node.key");
        std::fs::write(&file, text).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
        let error = node_key(home.path(), never).unwrap_err();
        assert!(error.to_string().contains("64 hexadecimal digits"), "{error}");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
    }
}
