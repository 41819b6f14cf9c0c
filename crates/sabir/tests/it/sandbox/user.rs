//! The same as somebody who is not root. Tests that run as root become somebody else for it; others
//! are somebody else already.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::Command;

use super::endings::{mark, marked};
use super::in_each_layer;

const NOBODY: &str = "65534";

#[test]
fn an_ordinary_user_is_confined_too() {
    in_each_layer(|place| {
        // Where the program was built, others may not be able to look.
        let folder = tempfile::tempdir_in("/tmp").unwrap();
        let allow = |path: &Path, mode| {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        };
        allow(folder.path(), 0o777);
        let program = folder.path().join("sabir");
        fs::copy(env!("CARGO_BIN_EXE_sabir"), &program).unwrap();
        allow(&program, 0o755);
        let root = folder.path().join("root");
        fs::create_dir(&root).unwrap();
        allow(&root, 0o777);

        let mark = mark();
        let script = format!(
            "id -u; touch in && echo in; touch .git/x || echo git; touch /var/tmp/x || echo out; \
             unshare -U true || echo unshare; setsid sleep {mark} & \
             bomb() {{ bomb | bomb & }}; bomb; sleep 1; exit 3"
        );
        let is_root = fs::metadata("/proc/self").unwrap().uid() == 0;
        let mut command = if is_root {
            let mut command = Command::new("setpriv");
            command.args(["--reuid", NOBODY, "--regid", NOBODY, "--clear-groups", "--"]);
            command.arg(&program);
            command
        } else {
            Command::new(&program)
        };
        command
            .args(["sandbox", "--layer", place.layer.name(), "--processes", "64", "--"])
            .args(["sh", "-c", &script])
            .current_dir(&root);
        let output = command.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        let said: Vec<&str> = text.lines().skip(1).collect();
        assert_eq!(said, ["in", "git", "out", "unshare"], "{output:?}");
        if is_root {
            assert_eq!(text.lines().next(), Some(NOBODY));
        }
        assert_eq!(marked(&mark), 0);
        assert!(!root.join(".git").exists());
    });
}
