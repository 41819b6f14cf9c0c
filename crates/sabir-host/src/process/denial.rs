//! Whether the sandbox was why a command failed. A guess: programs report it in their own words.

/// From the exit code and the output of a confined command.
pub(super) fn is_likely(exit_code: i32, output: &str) -> bool {
    if exit_code == 0 {
        return false;
    }
    let output = output.to_lowercase();
    if SIGNS.iter().any(|sign| output.contains(sign)) {
        return true;
    }
    exit_code == KILLED_BY_FILTER
}

const SIGNS: [&str; 7] = [
    "operation not permitted",
    "permission denied",
    "read-only file system",
    "seccomp",
    "sandbox",
    "landlock",
    "failed to write file",
];

/// 128 and SIGSYS.
const KILLED_BY_FILTER: i32 = 128 + 31;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guesses() {
        for (exit_code, output, denied) in [
            (0, "Permission denied", false),
            (1, "touch: cannot touch '/x': Read-only file system", true),
            (2, "sh: 1: cannot create /x: Permission denied", true),
            (1, "assertion failed", false),
            (127, "nope: command not found", false),
            (126, "nope: exec format error", false),
            (159, "", true),
            (137, "", false),
        ] {
            assert_eq!(is_likely(exit_code, output), denied, "{exit_code} {output}");
        }
    }
}
