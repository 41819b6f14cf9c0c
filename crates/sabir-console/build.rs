//! Lists the files of `assets`, so that all of them are part of the program, whatever they are.

#![expect(clippy::disallowed_methods, reason = "a build script reads the folder of its crate")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=assets");
    let variable = |name: &str| env::var_os(name).map(PathBuf::from).ok_or(io::ErrorKind::NotFound);
    let folder = variable("CARGO_MANIFEST_DIR")?.join("assets");
    let mut files = Vec::new();
    if folder.is_dir() {
        collect(&folder, &mut files)?;
    }
    files.sort();
    let mut table = String::from("&[\n");
    for file in &files {
        let name = file.strip_prefix(&folder).map_err(io::Error::other)?;
        let name = name.to_str().ok_or_else(|| io::Error::other("a name is not UTF-8"))?;
        // A checkout may be moved while what was built for it stays: the compiler knows where it is.
        let path = format!("concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/assets/\", {name:?})");
        let _ = writeln!(table, "    ({name:?}, include_bytes!({path})),");
    }
    table.push_str("]\n");
    fs::write(variable("OUT_DIR")?.join("assets.rs"), table)
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        match path.is_dir() {
            true => collect(&path, files)?,
            false => files.push(path),
        }
    }
    Ok(())
}
