//! Finding lines in a file, without looking at the whole file for every chunk.
//!
//! At each level of likeness, lines that are alike share a number, and each number knows its places.
//! A chunk is looked for at the places of its rarest line. What is left of bad luck (or bad will)
//! is bounded by a [`Budget`].

use std::borrow::Cow;
use std::collections::HashMap;

use super::error::PlanErrorKind;
use super::text::FileText;

/// How like two lines must be, from strict to lenient.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Likeness {
    Exact,
    TrailingSpace,
    Trimmed,
    Unicode,
}

pub(super) const LIKENESSES: [Likeness; 4] =
    [Likeness::Exact, Likeness::TrailingSpace, Likeness::Trimmed, Likeness::Unicode];

impl Likeness {
    fn normal(self, line: &str) -> Cow<'_, str> {
        match self {
            Self::Exact => Cow::Borrowed(line),
            Self::TrailingSpace => Cow::Borrowed(line.trim_end()),
            Self::Trimmed => Cow::Borrowed(line.trim()),
            Self::Unicode => plain(line.trim()),
        }
    }
}

/// Typographic characters as a keyboard has them.
fn plain(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(
        text.chars()
            .map(|c| match c {
                '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
                '\u{2018}'..='\u{201B}' => '\'',
                '\u{201C}'..='\u{201F}' => '"',
                '\u{00A0}' | '\u{2002}'..='\u{200A}' | '\u{202F}' | '\u{205F}' | '\u{3000}' => ' ',
                other => other,
            })
            .collect(),
    )
}

/// What planning one patch may cost, counted in bytes read and lines compared.
#[derive(Debug)]
pub(super) struct Budget {
    left: u64,
}

impl Budget {
    pub(super) fn new() -> Self {
        Self { left: WORK }
    }

    pub(super) fn spend(&mut self, work: usize) -> Result<(), PlanErrorKind> {
        self.left = self.left.checked_sub(work as u64).ok_or(PlanErrorKind::TooMuchWork)?;
        Ok(())
    }
}

/// Where the lines of one file are.
#[derive(Debug)]
pub(super) struct Index<'a, 't> {
    file: &'a FileText<'t>,
    levels: [Option<Level<'t>>; LIKENESSES.len()],
}

#[derive(Debug)]
struct Level<'t> {
    numbers: HashMap<Cow<'t, str>, u32>,
    /// The number of each line.
    lines: Vec<u32>,
    /// The lines of each number, in order.
    places: Vec<Vec<u32>>,
}

impl<'t> Level<'t> {
    fn new(file: &FileText<'t>, likeness: Likeness) -> Self {
        let mut level = Self {
            numbers: HashMap::new(),
            lines: Vec::with_capacity(file.len()),
            places: Vec::new(),
        };
        for at in 0..file.len() {
            let next = level.places.len() as u32;
            let number = *level.numbers.entry(likeness.normal(file.line(at))).or_insert(next);
            if number == next {
                level.places.push(Vec::new());
            }
            level.places[number as usize].push(at as u32);
            level.lines.push(number);
        }
        level
    }
}

impl<'a, 't> Index<'a, 't> {
    pub(super) fn new(file: &'a FileText<'t>) -> Self {
        Self { file, levels: [const { None }; LIKENESSES.len()] }
    }

    /// The first place at or after `from` where these lines stand, in the strictest likeness in
    /// which they stand anywhere there.
    pub(super) fn find(
        &mut self,
        lines: &[&str],
        from: usize,
        budget: &mut Budget,
    ) -> Result<Option<usize>, PlanErrorKind> {
        for likeness in LIKENESSES {
            let wanted = self.numbers(lines, likeness, budget)?;
            if let Some(wanted) = wanted
                && let Some(at) = self.level(likeness, budget)?.first(&wanted, from, budget)?
            {
                return Ok(Some(at));
            }
        }
        Ok(None)
    }

    /// Whether these lines are the last of the file, in any likeness, and where they start.
    pub(super) fn find_at_end(
        &mut self,
        lines: &[&str],
        from: usize,
        budget: &mut Budget,
    ) -> Result<Option<usize>, PlanErrorKind> {
        let Some(at) = self.file.len().checked_sub(lines.len()).filter(|&at| at >= from) else {
            return Ok(None);
        };
        for likeness in LIKENESSES {
            let Some(wanted) = self.numbers(lines, likeness, budget)? else { continue };
            let level = self.level(likeness, budget)?;
            budget.spend(wanted.len())?;
            if level.lines[at..] == wanted {
                return Ok(Some(at));
            }
        }
        Ok(None)
    }

    /// The numbers of the lines, or `None` when one of them is nowhere in the file.
    fn numbers(
        &mut self,
        lines: &[&str],
        likeness: Likeness,
        budget: &mut Budget,
    ) -> Result<Option<Vec<u32>>, PlanErrorKind> {
        budget.spend(lines.iter().map(|line| line.len() + 1).sum())?;
        let level = self.level(likeness, budget)?;
        let number = |line: &&str| level.numbers.get(likeness.normal(line).as_ref()).copied();
        Ok(lines.iter().map(number).collect())
    }

    fn level(
        &mut self,
        likeness: Likeness,
        budget: &mut Budget,
    ) -> Result<&Level<'t>, PlanErrorKind> {
        let slot = &mut self.levels[likeness as usize];
        if slot.is_none() {
            budget.spend(self.file.byte_len() + LINE * self.file.len())?;
        }
        Ok(slot.get_or_insert_with(|| Level::new(self.file, likeness)))
    }
}

impl Level<'_> {
    fn first(
        &self,
        wanted: &[u32],
        from: usize,
        budget: &mut Budget,
    ) -> Result<Option<usize>, PlanErrorKind> {
        let rarest = wanted
            .iter()
            .enumerate()
            .min_by_key(|&(_, &number)| self.places[number as usize].len());
        let Some((offset, &number)) = rarest else { return Ok(Some(from)) };
        let places = &self.places[number as usize];
        let skipped = places.partition_point(|&place| (place as usize) < from + offset);
        for &place in &places[skipped..] {
            let start = place as usize - offset;
            let Some(there) = self.lines.get(start..start + wanted.len()) else {
                return Ok(None);
            };
            let alike = there.iter().zip(wanted).take_while(|(one, other)| one == other).count();
            budget.spend(alike + 1)?;
            if alike == wanted.len() {
                return Ok(Some(start));
            }
        }
        Ok(None)
    }
}

/// A line that is put in its place costs as much as this many bytes that are read.
pub(super) const LINE: usize = 16;

/// About a second or two of work. A patch that fits its file spends little more than the sizes of
/// both; one that reads a file of four megabytes a hundred times stays below.
const WORK: u64 = 512 * 1024 * 1024;
