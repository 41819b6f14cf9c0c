//! Pictures of this machine, put into the message itself: a model cannot open files.

use std::path::Path;

use sabir_engine::InputItem;

use crate::reading;

/// What providers take at most, and more than a screen needs.
const MOST_BYTES: u64 = 8 * 1024 * 1024;

/// Of all pictures of a message, as they are sent.
const MOST_TOGETHER: usize = 32 * 1024 * 1024;

pub(super) async fn embed(items: Vec<InputItem>) -> Result<Vec<InputItem>, String> {
    let mut embedded = Vec::with_capacity(items.len());
    let mut together = 0;
    for item in items {
        embedded.push(match item {
            InputItem::LocalImage { path } => {
                let named = path.clone();
                let read = tokio::task::spawn_blocking(move || read(&path)).await;
                let image_url = read.map_err(|error| error.to_string())?;
                InputItem::Image {
                    image_url: image_url
                        .map_err(|words| format!("the picture {named:?} {words}"))?,
                }
            }
            other => other,
        });
        if let Some(InputItem::Image { image_url }) = embedded.last() {
            together += image_url.len();
        }
        // A message is recorded in one piece.
        if together > MOST_TOGETHER {
            let limit = MOST_TOGETHER / (1024 * 1024);
            return Err(format!(
                "the pictures have more than {limit} MiB together: send fewer at a time"
            ));
        }
    }
    Ok(embedded)
}

fn read(path: &str) -> Result<String, String> {
    let (file, facts) =
        reading::open(Path::new(path)).map_err(|error| format!("cannot be opened: {error}"))?;
    if !facts.is_file() {
        return Err("is not a file".to_owned());
    }
    // Its length is only what was true a moment ago.
    let bytes = reading::read_at_most(&file, MOST_BYTES);
    let bytes = bytes.map_err(|error| format!("cannot be read: {error}"))?;
    let bytes =
        bytes.ok_or_else(|| format!("is larger than {} MiB", MOST_BYTES / (1024 * 1024)))?;
    let kind = match bytes.as_slice() {
        [0x89, b'P', b'N', b'G', ..] => "png",
        [0xff, 0xd8, 0xff, ..] => "jpeg",
        [b'G', b'I', b'F', b'8', ..] => "gif",
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => "webp",
        _ => return Err("is neither PNG, JPEG, GIF nor WebP".to_owned()),
    };
    Ok(format!("data:image/{kind};base64,{}", base64(&bytes)))
}

/// The standard alphabet with padding. Ten lines are less than another crate.
fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let word = group.iter().fold(0u32, |word, byte| word << 8 | u32::from(*byte))
            << (8 * (3 - group.len()));
        for place in 0..4 {
            match place <= group.len() {
                true => text.push(char::from(ALPHABET[(word >> (18 - 6 * place) & 63) as usize])),
                false => text.push('='),
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever length it said it had.
    #[test]
    fn no_more_is_read_than_fits() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("large.png");
        std::fs::File::create(&path).unwrap().set_len(MOST_BYTES + 1).unwrap();
        assert_eq!(read(path.to_str().unwrap()).unwrap_err(), "is larger than 8 MiB");
        // Files of the kernel say that they are empty.
        let said = read("/proc/self/maps").unwrap_err();
        assert_eq!(said, "is neither PNG, JPEG, GIF nor WebP");
    }

    /// A pipe that nobody writes into.
    #[test]
    fn a_pipe_is_no_picture() {
        use rustix::fs::{CWD, FileType, Mode, mknodat};
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        mknodat(CWD, &pipe, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
        assert_eq!(read(pipe.to_str().unwrap()).unwrap_err(), "is not a file");
    }

    #[tokio::test]
    async fn pictures_that_are_too_much_together_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("large.png");
        let mut bytes = vec![0; MOST_BYTES as usize];
        bytes[..4].copy_from_slice(b"\x89PNG");
        std::fs::write(&path, bytes).unwrap();
        let path = path.to_str().unwrap().to_owned();
        let pictures = |count| vec![InputItem::LocalImage { path: path.clone() }; count];
        assert_eq!(embed(pictures(2)).await.unwrap().len(), 2);
        let refused = embed(pictures(7)).await.unwrap_err();
        assert_eq!(refused, "the pictures have more than 32 MiB together: send fewer at a time");
    }

    #[test]
    fn base64_is_that_of_the_rfc() {
        for (plain, coded) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(base64(plain.as_bytes()), coded);
        }
    }
}
