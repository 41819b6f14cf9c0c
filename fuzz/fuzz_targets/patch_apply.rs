//! Any text is read as a patch or refused; a patch is planned against any files or refused; no path
//! leaves the folder, and what is planned is what is shown.

#![no_main]

use libfuzzer_sys::fuzz_target;
use sabir_engine::patch::{MemoryFiles, PatchPath, intercept, parse, plan};

fuzz_target!(|text: &str| {
    // The first part is a file, the second a patch: the fuzzer finds out what fits.
    let (file, patch_text) = match text.find(BEGIN) {
        Some(at) => text.split_at(at),
        None => ("", text),
    };
    let _ = intercept(&["bash", "-lc", text]);
    let patch = match parse(patch_text) {
        Ok(patch) => patch,
        Err(error) => {
            assert!(patch_text.get(error.span.range()).is_some(), "{error:?} points outside");
            assert!(!error.help().is_empty());
            return;
        }
    };
    let mut files = MemoryFiles::default();
    for (name, bytes) in [("x", file.as_bytes()), ("a/b", b"a\nb\r\nc".as_slice()), ("y", b"\0")] {
        files.0.extend(PatchPath::new(name).map(|path| (path, bytes.to_vec())));
    }
    match plan(&patch, &files) {
        Ok(plan) => {
            for file in plan.files() {
                assert!(is_beneath(&file.path) && is_beneath(&file.origin), "{file:?}");
                let before = file.before.as_ref().map(|text| text.as_bytes());
                assert_eq!(before, files.0.get(&file.path).map(Vec::as_slice));
            }
            let changed = plan.files().iter().any(|file| file.before != file.after);
            assert_eq!(changed, !plan.changes().is_empty());
            assert_eq!(changed, !plan.unified_diff().is_empty());
            assert!(plan.summary().lines().count() > 1);
        }
        Err(error) => {
            assert!(patch_text.get(error.span.range()).is_some(), "{error:?} points outside");
            assert!(!error.help().is_empty());
        }
    }
});

fn is_beneath(path: &PatchPath) -> bool {
    let text = path.as_str();
    !text.starts_with('/')
        && !text.contains(['\\', '\0', '\n'])
        && text.split('/').all(|name| !matches!(name, "" | "." | ".."))
}

const BEGIN: &str = "*** Begin Patch";
