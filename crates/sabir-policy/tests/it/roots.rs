//! Writable folders and where a patch reaches.

use sabir_policy::{
    PatchReach, Root, SandboxMode, SandboxPolicy, left_out, reach, usable_folder, writable_roots,
};

fn own() -> Vec<String> {
    vec!["/srv/me/.sabir".to_owned()]
}

#[track_caller]
fn check(policy: &SandboxPolicy, cwd: &str, tmpdir: Option<&str>, expected: &[(&str, &[&str])]) {
    let found = writable_roots(policy, cwd, tmpdir, &own());
    let expected: Vec<Root> = expected
        .iter()
        .map(|(path, read_only)| Root {
            path: (*path).to_owned(),
            read_only_under: read_only.iter().map(|it| (*it).to_owned()).collect(),
        })
        .collect();
    assert_eq!(found, expected);
}

/// QP-A27: the folders of each mode.
#[test]
fn the_roots_of_each_mode() {
    check(&SandboxPolicy::of(SandboxMode::ReadOnly), "/w", Some("/t"), &[]);
    let mut policy = SandboxPolicy::of(SandboxMode::WorkspaceWrite);
    check(
        &policy,
        "/w/",
        Some("/t"),
        &[("/w", &["/w/.git"]), ("/tmp", &["/tmp/.git"]), ("/t", &["/t/.git"])],
    );
    policy.writable_roots = vec!["/w".to_owned(), "/x/./y".to_owned(), "relative".to_owned()];
    policy.exclude_slash_tmp = true;
    policy.exclude_tmpdir_env_var = true;
    check(&policy, "/w", Some("/t"), &[("/w", &["/w/.git"]), ("/x/y", &["/x/y/.git"])]);
    check(
        &SandboxPolicy::of(SandboxMode::DangerFullAccess),
        "/w",
        None,
        &[("/", &["/.git", "/w/.git", "/srv/me/.sabir"])],
    );
}

/// QP-A27: what is left out, and why.
#[test]
fn folders_that_are_left_out_are_named() {
    let mut policy = SandboxPolicy::of(SandboxMode::WorkspaceWrite);
    policy.exclude_slash_tmp = true;
    policy.writable_roots =
        ["/x/sub/..", "/x", "..", "y", "/z/../..", "/a..b", "/n\0"].map(str::to_owned).to_vec();
    let expected: &[(&str, &[&str])] =
        &[("/w", &["/w/.git"]), ("/x", &["/x/.git"]), ("/a..b", &["/a..b/.git"])];
    check(&policy, "/w", Some("/t/.."), expected);
    let found: Vec<(String, &str)> =
        left_out(&policy).into_iter().map(|it| (it.path, it.why)).collect();
    let paths: Vec<&str> = found.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(paths, ["/x/sub/..", "..", "y", "/z/../..", "/n\0"]);
    assert!(found[0].1.contains("`..`") && found[2].1.contains("not absolute"), "{found:?}");
    assert!(usable_folder("/x/y").is_ok());
}

/// QP-A28: `.git` and the agent's own state stay read-only, also when they are asked for.
#[test]
fn own_state_and_git_stay_read_only() {
    let mut policy = SandboxPolicy::of(SandboxMode::WorkspaceWrite);
    policy.exclude_slash_tmp = true;
    check(&policy, "/srv/me", None, &[("/srv/me", &["/srv/me/.git", "/srv/me/.sabir"])]);
    check(
        &policy,
        "/srv/me/.sabir/x",
        None,
        &[("/srv/me/.sabir/x", &["/srv/me/.sabir/x/.git", "/srv/me/.sabir/x"])],
    );
    check(&policy, "/w/.git", None, &[("/w/.git", &["/w/.git"])]);
    check(&policy, "not/absolute", None, &[]);
    check(&policy, "/w/../x", None, &[]);
}

/// QP-A29, QP-A30: where a path is, and what cannot be told.
#[test]
fn the_reach_of_paths() {
    let policy = SandboxPolicy::of(SandboxMode::WorkspaceWrite);
    let roots = writable_roots(&policy, "/srv/me", None, &own());
    for (path, expected) in [
        ("/srv/me/a.txt", PatchReach::Inside),
        ("/srv/me/./b//c", PatchReach::Inside),
        ("/srv/me/.gitignore", PatchReach::Inside),
        ("/srv/me/.github/x", PatchReach::Inside),
        ("/tmp/x", PatchReach::Inside),
        ("/srv/me", PatchReach::Outside),
        ("/srv/mexico", PatchReach::Outside),
        ("/etc/passwd", PatchReach::Outside),
        ("a.txt", PatchReach::Outside),
        ("", PatchReach::Outside),
        ("/srv/me/link/../x", PatchReach::Outside),
        ("/srv/me/../you/x", PatchReach::Outside),
        ("/srv/me/a\0b", PatchReach::Outside),
        ("/srv/me/.git", PatchReach::Protected),
        ("/srv/me/.git/config", PatchReach::Protected),
        ("/srv/me/.GIT/hooks/x", PatchReach::Protected),
        ("/srv/me/sub/.git/config", PatchReach::Protected),
        ("/srv/me/x/../.git/config", PatchReach::Protected),
        ("/etc/.git/config", PatchReach::Protected),
        (".git/config", PatchReach::Protected),
        ("/srv/me/.sabir/config.toml", PatchReach::Protected),
        ("/srv/me/x/../.sabir/config.toml", PatchReach::Protected),
        ("/srv/me/.sabir", PatchReach::Protected),
    ] {
        assert_eq!(reach(&[path], &roots), expected, "{path}");
        assert_eq!(reach(&["/srv/me/ok", path], &roots), expected, "{path}");
    }
    assert_eq!(reach::<&str>(&[], &roots), PatchReach::Outside);
    assert_eq!(reach(&["/srv/me/a.txt"], &[]), PatchReach::Outside);
    let everywhere = SandboxPolicy::of(SandboxMode::DangerFullAccess);
    let everywhere = writable_roots(&everywhere, "/w", None, &own());
    assert_eq!(reach(&["/etc/passwd"], &everywhere), PatchReach::Inside);
    assert_eq!(reach(&["/srv/me/.sabir/x"], &everywhere), PatchReach::Protected);
}
