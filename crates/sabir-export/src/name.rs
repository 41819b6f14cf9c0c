//! Names for files, made of titles that strangers chose.

use crate::Format;

/// A name that is safe on any system: letters, digits, `-`, `_` and one dot.
pub fn file_name(title: &str, format: Format) -> String {
    let extension = format.extension();
    let title = title.strip_suffix(&format!(".{extension}")).unwrap_or(title);
    let mut name = String::new();
    for c in title.chars() {
        match c.is_alphanumeric() || c == '_' {
            true => name.extend(c.to_lowercase()),
            false if !name.ends_with('-') && !name.is_empty() => name.push('-'),
            false => {}
        }
        if name.len() >= LONGEST {
            break;
        }
    }
    let name = name.trim_end_matches('-');
    let is_reserved = RESERVED.contains(&name)
        || ["com", "lpt"]
            .iter()
            .any(|device| name.strip_prefix(device).is_some_and(|rest| PORTS.contains(&rest)));
    match name.is_empty() || is_reserved {
        true => format!("artifact-{name}.{extension}").replace("-.", "."),
        false => format!("{name}.{extension}"),
    }
}

/// Every file system takes names of 255 bytes; a number and an extension have to fit, too.
const LONGEST: usize = 120;
/// Devices of one system that are no files anywhere in it.
const RESERVED: [&str; 4] = ["con", "prn", "aux", "nul"];
/// What follows `com` and `lpt` there; the raised digits are the same ports.
const PORTS: [&str; 12] = ["1", "2", "3", "4", "5", "6", "7", "8", "9", "¹", "²", "³"];
