//! Embeds the pages of `docs/diagnostics`, so that `sabir explain` works wherever the program is.
#![expect(clippy::disallowed_methods, reason = "a build script reads the pages it embeds")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

const PAGES: &str = "../../docs/diagnostics";

fn main() -> io::Result<()> {
    // Programs of cargo's run in the folder of their crate.
    let pages = Path::new(PAGES);
    println!("cargo::rerun-if-changed={PAGES}");
    let mut paths: Vec<PathBuf> = match fs::read_dir(pages) {
        Ok(entries) => entries.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(error),
    };
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    paths.sort();
    let mut table = String::from("&[\n");
    for path in paths {
        let code = path.file_stem().unwrap_or_default().to_string_lossy();
        // A checkout may be moved while what was built for it stays: the compiler knows where it is. A
        // string's debug form is a string literal.
        let path = format!("concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/{PAGES}/{code}.md\")");
        let _ = writeln!(table, "    ({code:?}, include_str!({path})),");
    }
    table.push_str("]\n");
    let out = env::var_os("OUT_DIR").ok_or(io::ErrorKind::NotFound)?;
    fs::write(Path::new(&out).join("pages.rs"), table)
}
