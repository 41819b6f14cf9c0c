//! Why a text is no path under the root.

use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathError {
    /// There is no path.
    Empty,
    /// `#L` is not followed by a line or a range of lines.
    Lines,
    /// A control character or a line break.
    Control(char),
    /// It starts at the top of the file system.
    Absolute,
    /// It starts in somebody's home folder.
    Home,
    /// It names a drive.
    Drive,
    /// `\` separates folders on some systems and is a character on others.
    Backslash,
    /// It is an address.
    Url,
    /// A shell would put something else in its place.
    Variable,
    /// A component that some systems read as `..`, or as nothing.
    LookAlike,
    /// It is another path once it is decoded, and that one leaves.
    Disguised,
    /// It climbs above the root.
    LeavesRoot,
    /// A link on its way leads out.
    LinkLeavesRoot { link: String, target: String },
    /// Links lead to links without end.
    LinkLoop { link: String },
    /// Whether this is a link cannot be told.
    LinkUnreadable { link: String },
    /// The root is not an absolute path.
    RelativeRoot,
}

impl PathError {
    /// What to write instead.
    pub fn help(&self) -> &'static str {
        match self {
            Self::Empty => "name a file or a folder; `.` is the root",
            Self::Lines => "write `#L42` or `#L10-25`",
            Self::Control(_) => "leave the character out",
            Self::Absolute | Self::Home | Self::Drive | Self::Url | Self::LeavesRoot => {
                "write the path from the root of the project: `p:src/main.rs`"
            }
            Self::Backslash => "write `/` between folders",
            Self::Variable => "write the path out; nobody expands it",
            Self::LookAlike | Self::Disguised => "write the path with plain characters",
            Self::LinkLeavesRoot { .. } | Self::LinkLoop { .. } | Self::LinkUnreadable { .. } => {
                "name a file that lies under the root"
            }
            Self::RelativeRoot => "give the root as an absolute path",
        }
    }
}

impl fmt::Display for PathError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("it names nothing"),
            Self::Lines => {
                f.write_str("`#L` needs a line counted from one, or a first and a last one")
            }
            Self::Control(it) => write!(f, "it holds the control character U+{:04X}", *it as u32),
            Self::Absolute => f.write_str("it is absolute"),
            Self::Home => f.write_str("`~` is a home folder"),
            Self::Drive => f.write_str("it names a drive"),
            Self::Backslash => f.write_str("`\\` separates folders on some systems only"),
            Self::Url => f.write_str("it is an address, not a path"),
            Self::Variable => f.write_str("a shell would replace a part of it"),
            Self::LookAlike => f.write_str("some systems read a part of it as `..` or as nothing"),
            Self::Disguised => f.write_str("decoded, it is a path that leaves the root"),
            Self::LeavesRoot => f.write_str("it climbs above the root"),
            Self::LinkLeavesRoot { link, target } => {
                write!(f, "the link {} leads out, to {}", quoted(link), quoted(target))
            }
            Self::LinkLoop { link } => {
                write!(f, "the links at {} lead nowhere", quoted(link))
            }
            Self::LinkUnreadable { link } => {
                write!(f, "it cannot be told where {} leads", quoted(link))
            }
            Self::RelativeRoot => f.write_str("the root is not absolute"),
        }
    }
}

impl std::error::Error for PathError {}

/// A path as a message shows it: on one line, and not longer than a person reads.
pub(crate) fn quoted(path: &str) -> String {
    const LONGEST: usize = 80;
    let mut out = String::from("`");
    let mut chars = path.chars();
    for it in chars.by_ref().take(LONGEST) {
        // Characters that cannot be seen would let a message lie about the path.
        if it.is_control() || it.is_whitespace() && it != ' ' || super::disguise::is_invisible(it) {
            out.extend(it.escape_unicode());
        } else {
            out.push(it);
        }
    }
    out.push_str(if chars.next().is_some() { "…`" } else { "`" });
    out
}
