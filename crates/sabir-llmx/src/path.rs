//! Paths inside strings: `p:src/api.ts#L10-25`, and whether one stays under the root.
//!
//! A path is relative to a root that somebody else gives. Whatever could leave it is refused, and
//! so is whatever another reader could take for something that leaves it: the message says where
//! it goes, and every reader must agree.

mod check;
mod disguise;
mod error;
mod resolve;

use std::fmt;

pub(crate) use check::check_block;
pub use check::{PathPlace, check_path, check_paths, paths};
pub use error::PathError;
pub(crate) use error::quoted;
pub use resolve::{Link, Links, MAX_LINKS, ResolvedPath, resolve};

/// A path as it was written, in parts. Reading it does not ask whether it leaves the root; see
/// [`PathRef::names`] and [`escape`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathRef<'t> {
    /// It starts with `p:`.
    pub has_prefix: bool,
    /// How many parents it climbs before it names anything: `^/^/x` climbs two.
    pub ups: usize,
    /// What follows. The first of them is a name.
    pub components: Vec<Component<'t>>,
    /// It ends in a slash, so it names a folder.
    pub is_directory: bool,
    pub lines: Option<LineRange>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Component<'t> {
    Name(&'t str),
    /// `..`, or one `^`.
    Up,
}

/// Lines of a file, counted from one; `end` belongs to the range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineRange {
    pub start: u32,
    pub end: u32,
}

impl<'t> PathRef<'t> {
    pub fn parse(text: &'t str) -> Result<Self, PathError> {
        let (has_prefix, body) = match text.strip_prefix("p:") {
            Some(body) => (true, body),
            None => (false, text),
        };
        let (path, lines) = split_lines(body)?;
        if path.is_empty() {
            return Err(PathError::Empty);
        }
        let Steps { ups, components } = Steps::read(path)?;
        let last = path.rsplit('/').next().unwrap_or(path);
        let is_directory = matches!(last, "" | ".") && (ups > 0 || !components.is_empty());
        Ok(Self { has_prefix, ups, components, is_directory, lines })
    }

    /// The names that lead from the root to the target when no link is in the way; `None` when the
    /// path leaves the root, even if it comes back.
    pub fn names(&self) -> Option<Vec<&'t str>> {
        names(self.ups, &self.components)
    }

    /// The path without prefix and lines, in its canonical form.
    fn bare(&self) -> String {
        let ups = std::iter::repeat_n("^", self.ups);
        let components = self.components.iter().map(|component| match component {
            Component::Name(name) => name,
            Component::Up => "..",
        });
        let mut out = ups.chain(components).collect::<Vec<_>>().join("/");
        if out.is_empty() {
            out.push('.');
        }
        if self.is_directory {
            out.push('/');
        }
        out
    }
}

/// The canonical form: no `.`, no doubled slash, leading parents as `^`, others as `..`.
impl fmt::Display for PathRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.has_prefix {
            f.write_str("p:")?;
        }
        f.write_str(&self.bare())?;
        match self.lines {
            Some(LineRange { start, end }) if start == end => write!(f, "#L{start}"),
            Some(LineRange { start, end }) => write!(f, "#L{start}-{end}"),
            None => Ok(()),
        }
    }
}

/// Why `text` is no path, or may leave the root; `None` when it stays inside for every reader.
pub fn escape(text: &str) -> Option<PathError> {
    let path = match PathRef::parse(text) {
        Ok(path) => path,
        Err(error) => return Some(error),
    };
    if path.names().is_none() {
        return Some(PathError::LeavesRoot);
    }
    disguised(&path.bare()).then_some(PathError::Disguised)
}

/// Whether somebody who decodes or folds characters sees another path in `bare`, one that climbs.
fn disguised(bare: &str) -> bool {
    let Some(folded) = disguise::fold(bare) else { return false };
    let (Ok(plain), Ok(seen)) = (Steps::read(bare), Steps::read(&folded)) else { return true };
    let slashes = |text: &str| text.bytes().filter(|&byte| byte == b'/').count();
    // Components of dots alone or of nothing.
    let hollow =
        |text: &str| text.split('/').filter(|name| name.bytes().all(|byte| byte == b'.')).count();
    // A reader may decode once or until nothing changes, and strip something in between. With a
    // hidden parent or a name that dissolves, or with hidden separators beside open parents, some
    // of these readers climb higher than others.
    seen.parents() > plain.parents()
        || hollow(&folded) > hollow(bare)
        || seen.parents() > 0 && slashes(bare) != slashes(&folded)
        || names(seen.ups, &seen.components).is_none()
}

fn names<'t>(ups: usize, components: &[Component<'t>]) -> Option<Vec<&'t str>> {
    let mut names = Vec::with_capacity(components.len());
    if ups > 0 {
        return None;
    }
    for component in components {
        match component {
            Component::Name(name) => names.push(*name),
            Component::Up => {
                names.pop()?;
            }
        }
    }
    Some(names)
}

/// The way that a path describes.
struct Steps<'t> {
    ups: usize,
    components: Vec<Component<'t>>,
}

impl<'t> Steps<'t> {
    fn read(path: &'t str) -> Result<Self, PathError> {
        if let Some(control) = path.chars().find(|&it| is_control(it)) {
            return Err(PathError::Control(control));
        }
        if path.contains('\\') {
            return Err(PathError::Backslash);
        }
        if path.starts_with('/') {
            return Err(PathError::Absolute);
        }
        if path.contains("${") || path.contains("$(") || path.contains('`') {
            return Err(PathError::Variable);
        }
        let mut steps = Self { ups: 0, components: Vec::new() };
        let mut rest = Some(path);
        while let Some(path) = rest {
            let (part, after) = match path.split_once('/') {
                Some((part, after)) => (part, Some(after)),
                None => (path, None),
            };
            rest = after;
            match part {
                "" | "." => {}
                ".." => steps.climb(1),
                carets if carets.bytes().all(|byte| byte == b'^') => steps.climb(carets.len()),
                // A caret climbs; what it means in front of a name, no two readers agree on.
                name if name.starts_with('^') => return Err(PathError::LookAlike),
                name => {
                    if steps.ups == 0 && steps.components.is_empty() {
                        refuse_opening(name.trim(), after.is_some())?;
                    }
                    refuse_name(name)?;
                    steps.components.push(Component::Name(name));
                }
            }
        }
        Ok(steps)
    }

    fn climb(&mut self, parents: usize) {
        if self.components.is_empty() {
            self.ups += parents;
        } else {
            self.components.extend(std::iter::repeat_n(Component::Up, parents));
        }
    }

    fn parents(&self) -> usize {
        self.ups + self.components.iter().filter(|it| **it == Component::Up).count()
    }
}

/// Refuses what makes a path absolute when it stands at the front.
fn refuse_opening(name: &str, goes_on: bool) -> Result<(), PathError> {
    if name.starts_with('~') {
        return Err(PathError::Home);
    }
    let variable = name.strip_prefix('$').is_some_and(is_variable)
        || name.strip_prefix('%').and_then(|it| it.split_once('%')).is_some_and(|(name, _)| {
            // `%20%41` and `%e3%83` are encoded characters, not variables.
            let encoded = name.starts_with(|it: char| it.is_ascii_digit())
                || name.len() == 2 && name.bytes().all(|it| it.is_ascii_hexdigit());
            is_variable(name) && !encoded
        });
    if variable {
        return Err(PathError::Variable);
    }
    if let Some((scheme, after)) = name.split_once(':') {
        let is_scheme = scheme.len() > 1
            && scheme.starts_with(|it: char| it.is_ascii_alphabetic())
            && scheme.bytes().all(|it| it.is_ascii_alphanumeric() || b"+-.".contains(&it));
        let opens = after.is_empty() && goes_on || scheme.eq_ignore_ascii_case("file");
        if is_scheme && opens {
            return Err(PathError::Url);
        }
    }
    Ok(())
}

fn is_variable(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_')
}

/// Refuses what some systems take for a parent, a drive or nothing, wherever it stands.
fn refuse_name(name: &str) -> Result<(), PathError> {
    if let [letter, b':', ..] = name.trim().as_bytes()
        && letter.is_ascii_alphabetic()
    {
        return Err(PathError::Drive);
    }
    // `..;x`, `..:x`, `..?x` and `..#x` are `..` to those who cut parameters, streams, queries and
    // fragments off; only parameters are cut off in the middle of a path, where `;x` leaves nothing.
    let stem = name.split([';', ':', '?', '#']).next().unwrap_or(name);
    let is_cut = stem.len() < name.len() && !name[stem.len()..].starts_with(';');
    let mut dots = 0usize;
    let mut spaces = 0usize;
    for it in stem.chars() {
        match it {
            '.' => dots += 1,
            _ if it.is_whitespace() || disguise::is_invisible(it) => spaces += 1,
            _ => return Ok(()),
        }
    }
    // What is left is dots and space. Three dots alone are an ordinary name; more are what remains
    // of `../` after a filter.
    let whole = stem.len() == name.len();
    let plain = spaces == 0 && (whole && dots == 3 || is_cut && dots < 2);
    if plain { Ok(()) } else { Err(PathError::LookAlike) }
}

fn is_control(it: char) -> bool {
    it.is_control() || matches!(it, '\u{2028}' | '\u{2029}')
}

/// Cuts the lines off the last component: `a#L1` and `a#L1-2`, but not `a#Later`.
fn split_lines(body: &str) -> Result<(&str, Option<LineRange>), PathError> {
    let last = body.rfind('/').map_or(0, |slash| slash + 1);
    let Some(at) = body[last..].rfind("#L").map(|at| last + at) else { return Ok((body, None)) };
    let lines = &body[at + "#L".len()..];
    if !lines.is_empty() && !lines.starts_with(|it: char| it.is_ascii_digit() || it == '-') {
        return Ok((body, None));
    }
    let range = LineRange::parse(lines).ok_or(PathError::Lines)?;
    Ok((&body[..at], Some(range)))
}

impl LineRange {
    fn parse(text: &str) -> Option<Self> {
        let number = |text: &str| {
            // `parse` would take a sign.
            let digits = text.bytes().all(|it| it.is_ascii_digit());
            text.parse::<u32>().ok().filter(|&line| digits && line > 0)
        };
        let (start, end) = match text.split_once('-') {
            Some((start, end)) => (start, end.strip_prefix('L').unwrap_or(end)),
            None => (text, text),
        };
        let range = Self { start: number(start)?, end: number(end)? };
        (range.start <= range.end).then_some(range)
    }
}
