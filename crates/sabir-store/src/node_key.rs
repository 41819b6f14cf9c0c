//! The secret key of this node: a file that only its owner can read, made once. What is done with the
//! key, and where randomness comes from, is not known here.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read as _, Write as _};
use std::path::Path;

use zeroize::Zeroizing;

use crate::error::StoreError;
use crate::home;

/// The seed of the node's key. The first call makes it of what `draw` gives, which must come from the
/// system's random source; when several come first at once, all get the same one.
///
/// # Errors
///
/// [`StoreError::KeyExposed`] when others than its owner can use the file; when it holds no key, and
/// when the disk does not let us.
pub fn node_key(
    home: &Path,
    draw: impl FnOnce() -> std::io::Result<[u8; 32]>,
) -> Result<Zeroizing<[u8; 32]>, StoreError> {
    let path = home.join(FILE);
    let io = |error: std::io::Error| StoreError::io(&path, &error);
    home::make_folder(home).map_err(io)?;
    // A lock, because a file that is there but not yet filled is no key.
    let turn = home::open_private(&home.join("node.lock")).map_err(io)?;
    turn.lock().map_err(io)?;
    match File::open(&path) {
        Ok(file) => read(&path, file),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let seed = Zeroizing::new(draw().map_err(io)?);
            make(home, &path, &seed).map_err(io)?;
            Ok(seed)
        }
        Err(error) => Err(io(error)),
    }
}

/// Whether there is a key in a home.
pub fn has_node_key(home: &Path) -> bool {
    home.join(FILE).exists()
}

fn make(home: &Path, path: &Path, seed: &[u8; 32]) -> std::io::Result<()> {
    let draft = home.join("node.key.new");
    // What a process left that died in between.
    match std::fs::remove_file(&draft) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(&draft)?;
    let mut text = Zeroizing::new(String::with_capacity(2 * seed.len() + 1));
    for byte in seed {
        for half in [byte >> 4, byte & 0xf] {
            text.push(char::from(HEX[usize::from(half)]));
        }
    }
    text.push('\n');
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    // A link, and not a new name for the draft: it never takes the place of a key that is there.
    std::fs::hard_link(&draft, path)?;
    std::fs::remove_file(&draft)?;
    File::open(home)?.sync_all()
}

fn read(path: &Path, mut file: File) -> Result<Zeroizing<[u8; 32]>, StoreError> {
    let io = |error: std::io::Error| StoreError::io(path, &error);
    refuse_exposed(path, &file)?;
    let mut text = Zeroizing::new(String::with_capacity(MAX_TEXT));
    (&mut file).take(MAX_TEXT as u64).read_to_string(&mut text).map_err(io)?;
    let seed = decode(text.trim_end());
    seed.ok_or_else(|| StoreError::Io { path: path.to_owned(), why: NO_KEY.to_owned() })
}

fn decode(text: &str) -> Option<Zeroizing<[u8; 32]>> {
    let digit = |byte: u8| HEX.iter().position(|it| *it == byte);
    let (pairs, []) = text.as_bytes().as_chunks::<2>() else { return None };
    let mut seed = Zeroizing::new([0; 32]);
    if pairs.len() != seed.len() {
        return None;
    }
    for (byte, [high, low]) in seed.iter_mut().zip(pairs) {
        *byte = u8::try_from(digit(*high)? << 4 | digit(*low)?).ok()?;
    }
    Some(seed)
}

#[cfg(unix)]
fn refuse_exposed(path: &Path, file: &File) -> Result<(), StoreError> {
    use std::os::unix::fs::MetadataExt as _;
    let mode = file.metadata().map_err(|error| StoreError::io(path, &error))?.mode() & 0o777;
    match mode & 0o077 {
        0 => Ok(()),
        _ => Err(StoreError::KeyExposed { path: path.to_owned(), mode }),
    }
}

#[cfg(not(unix))]
fn refuse_exposed(_: &Path, _: &File) -> Result<(), StoreError> {
    Ok(())
}

/// In the home.
const FILE: &str = "node.key";
const HEX: &[u8; 16] = b"0123456789abcdef";
/// More than a key has, so that a longer file is no key.
const MAX_TEXT: usize = 128;
const NO_KEY: &str = "it does not hold the key of a node, which is 64 hexadecimal digits; restore it \
    from a copy, or move it away to get a new one, which peers that pinned the old one refuse";
