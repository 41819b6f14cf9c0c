//! Fills a shape from labelled values, tables, lists and, last, sentences. What it cannot fill it
//! leaves out.

use std::cell::Cell;
use std::collections::{BTreeSet, HashMap};

use serde_json::{Map, Value};

use super::shape::{Field, Form, Shape};
use super::value;
use crate::draft::Passage;
use crate::labels::{Pair, pairs};
use crate::select::sentences;
use crate::source::Page;
use crate::text::{Grid, Kind};
use crate::word;

/// What was found, and where.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Filled {
    pub(super) value: Value,
    /// Where the value stands; for a list, where each item stands.
    pub(super) passages: Vec<Passage>,
    /// The names of fields that were not found, as paths.
    pub(super) missing: Vec<String>,
    /// For an object: what was found for each field, in order.
    pub(super) parts: Vec<(String, Filled)>,
}

impl Filled {
    fn leaf(value: Value, passage: Passage) -> Self {
        Self { value, passages: vec![passage], missing: Vec::new(), parts: Vec::new() }
    }
}

/// The pages with indexes by word, so that many fields do not read them many times.
#[derive(Debug)]
pub(super) struct Filler<'p, 's> {
    pages: &'p [Page<'s>],
    pairs: Vec<Pair>,
    /// From a word of a label to the labels that have it.
    pairs_by_word: HashMap<String, Vec<usize>>,
    /// From the last word of a field's name to the sentences that have it.
    sentences_by_word: HashMap<String, Vec<Passage>>,
    /// Sentences that may hold an address.
    with_address: Vec<Passage>,
    /// How many bytes of data may still be told.
    room: Cell<usize>,
}

impl<'p, 's> Filler<'p, 's> {
    pub(super) fn new(pages: &'p [Page<'s>], shape: &Shape) -> Self {
        let pairs = pairs(pages);
        let mut pairs_by_word: HashMap<String, Vec<usize>> = HashMap::new();
        for (number, pair) in pairs.iter().enumerate() {
            for word in &pair.label {
                let places = pairs_by_word.entry(word.clone()).or_default();
                if places.len() < PLACES {
                    places.push(number);
                }
            }
        }
        let mut sentences_by_word: HashMap<String, Vec<Passage>> =
            shape.key_words().into_iter().map(|word| (word, Vec::new())).collect();
        let mut with_address = Vec::new();
        for (passage, _, sentence) in sentences(pages) {
            if with_address.len() < PLACES && (sentence.contains('@') || sentence.contains("://")) {
                with_address.push(passage.clone());
            }
            word::for_each_term(sentence, |term, _| {
                if let Some(places) = sentences_by_word.get_mut(term)
                    && places.len() < PLACES
                    && places.last() != Some(&passage)
                {
                    places.push(passage.clone());
                }
            });
        }
        let room = Cell::new(DATA_BYTES);
        Self { pages, pairs, pairs_by_word, sentences_by_word, with_address, room }
    }

    /// The fields of an object. Parts that were found are kept even when the whole does not conform,
    /// so that they can be shown.
    pub(super) fn object(&self, fields: &[Field], path: &str) -> (Option<Value>, Filled) {
        let mut object = Map::new();
        let mut filled = Filled {
            value: Value::Null,
            passages: Vec::new(),
            missing: Vec::new(),
            parts: Vec::new(),
        };
        let mut complete = true;
        for field in fields {
            let name =
                if path.is_empty() { field.name.clone() } else { format!("{path}.{}", field.name) };
            let (value, part) = match &field.shape {
                Shape::Object(inner) => {
                    let (value, part) = self.object(inner, &name);
                    // An object of which nothing was found is not there.
                    (value.filter(|_| !part.parts.is_empty()), Some(part))
                }
                shape => match self.field(field, shape) {
                    Some(part) => (Some(part.value.clone()), Some(part)),
                    None => (None, None),
                },
            };
            match value {
                Some(value) => {
                    object.insert(field.name.clone(), value);
                }
                None if field.nullable => {
                    object.insert(field.name.clone(), Value::Null);
                }
                None => complete &= !field.required,
            }
            match part {
                Some(part) => {
                    filled.missing.extend(part.missing.iter().cloned());
                    if !part.passages.is_empty() || !part.parts.is_empty() {
                        filled.parts.push((field.name.clone(), part));
                    }
                }
                None => filled.missing.push(name),
            }
        }
        filled.value = Value::Object(object);
        let whole = complete.then(|| filled.value.clone());
        (whole, filled)
    }

    /// A list that stands alone: rows of a table, or the items of the longest list.
    pub(super) fn list(&self, shape: &Shape, labels: Option<&Field>) -> Option<Filled> {
        let Shape::List { of, least, most, distinct } = shape else { return None };
        let mut items = match of.as_ref() {
            Shape::Object(fields) => self.rows(fields),
            Shape::List { .. } | Shape::Unknown => return None,
            scalar => self.scalars(scalar, labels),
        };
        if *distinct {
            let mut seen = BTreeSet::new();
            items.retain(|(value, _)| seen.insert(value.to_string()));
        }
        items.truncate(*most);
        let fitting = items.iter().take_while(|(value, _)| self.takes_room(value)).count();
        items.truncate(fitting);
        if items.is_empty() || items.len() < *least {
            return None;
        }
        let (values, passages) = items.into_iter().unzip();
        Some(Filled {
            value: Value::Array(values),
            passages,
            missing: Vec::new(),
            parts: Vec::new(),
        })
    }

    fn field(&self, field: &Field, shape: &Shape) -> Option<Filled> {
        match shape {
            Shape::Unknown | Shape::Object(_) => None,
            Shape::List { .. } => self.list(shape, Some(field)),
            Shape::Text { .. } | Shape::Number { .. } | Shape::Boolean | Shape::Choice(_) => self
                .labelled(field)
                .or_else(|| self.called(field))
                .or_else(|| self.addressed(field))
                .or_else(|| self.told(field))
                .filter(|filled| self.takes_room(&filled.value)),
        }
    }

    /// Whether the value still fits into the answer.
    fn takes_room(&self, value: &Value) -> bool {
        let left = self.room.get().checked_sub(value.to_string().len());
        self.room.set(left.unwrap_or(0));
        left.is_some()
    }

    /// The value with the label that is most like the field's name; of equals, the first.
    fn labelled(&self, field: &Field) -> Option<Filled> {
        let words = field.labels.iter().flatten().chain(&field.described);
        let places: BTreeSet<usize> =
            words.filter_map(|word| self.pairs_by_word.get(word)).flatten().copied().collect();
        let mut best: Option<(f64, Filled)> = None;
        for pair in places.into_iter().map(|place| &self.pairs[place]) {
            let likeness = likeness(field, &pair.label);
            if likeness < ALIKE || best.as_ref().is_some_and(|(most, _)| *most >= likeness) {
                continue;
            }
            if let Some(value) = value::read(&pair.value, &field.shape) {
                best = Some((likeness, Filled::leaf(value, pair.passage.clone())));
            }
        }
        best.map(|(_, filled)| filled)
    }

    /// What a page is called is its first heading.
    fn called(&self, field: &Field) -> Option<Filled> {
        let wants_title = field
            .labels
            .iter()
            .any(|label| matches!(label.as_slice(), [only] if TITLES.contains(&only.as_str())));
        if !wants_title {
            return None;
        }
        self.pages.iter().enumerate().find_map(|(page, read)| {
            let unit = read.text.units.iter().position(|unit| unit.level() == Some(1))?;
            let value = value::read(&read.text.units[unit].text, &field.shape)?;
            Some(Filled::leaf(value, Passage::unit(self.pages, page, unit)))
        })
    }

    /// An address stands out wherever it is.
    fn addressed(&self, field: &Field) -> Option<Filled> {
        let Shape::Text { form: Form::Email | Form::Uri, .. } = field.shape else { return None };
        self.with_address.iter().find_map(|passage| {
            let value = value::read(passage.text(self.pages), &field.shape)?;
            Some(Filled::leaf(value, passage.clone()))
        })
    }

    /// A sentence that has the words of the label and a value of the form that is wanted.
    fn told(&self, field: &Field) -> Option<Filled> {
        field.labels.iter().find_map(|label| {
            let places = self.sentences_by_word.get(label.last()?)?;
            places.iter().find_map(|passage| {
                let sentence = passage.text(self.pages);
                let value = value::read_within(sentence, holds(sentence, label)?, &field.shape)?;
                Some(Filled::leaf(value, passage.clone()))
            })
        })
    }

    /// The rows of the tables whose columns are the fields.
    fn rows(&self, fields: &[Field]) -> Vec<(Value, Passage)> {
        let mut rows = Vec::new();
        for (page, read) in self.pages.iter().enumerate() {
            let columns: Vec<Option<Vec<Option<usize>>>> =
                read.text.tables.iter().map(|grid| columns(grid, fields)).collect();
            for (number, unit) in read.text.units.iter().enumerate() {
                let Kind::Row { table, row } = unit.kind else { continue };
                let (Some(Some(columns)), Some(cells)) = (
                    columns.get(table),
                    read.text.tables.get(table).and_then(|grid| grid.rows.get(row)),
                ) else {
                    continue;
                };
                if let Some(value) = row_object(fields, columns, cells) {
                    rows.push((value, Passage::unit(self.pages, page, number)));
                }
            }
        }
        rows
    }

    /// The items under a heading with the label, a column with it, or a value with commas.
    fn scalars(&self, of: &Shape, labels: Option<&Field>) -> Vec<(Value, Passage)> {
        let Some(field) = labels else { return Vec::new() };
        let mut items = Vec::new();
        for (page, read) in self.pages.iter().enumerate() {
            let text = &read.text;
            let columns: Vec<Option<usize>> =
                text.tables.iter().map(|grid| best_column(&header_terms(grid), field)).collect();
            let named: Vec<bool> = text
                .units
                .iter()
                .map(|unit| {
                    unit.level().is_some() && likeness(field, &word::terms(&unit.text)) >= ALIKE
                })
                .collect();
            for (number, unit) in text.units.iter().enumerate() {
                let passage = || Passage::unit(self.pages, page, number);
                match unit.kind {
                    Kind::Item => {
                        let is_named = unit.heading.is_some_and(|heading| named[heading]);
                        if is_named && let Some(value) = value::read(&unit.text, of) {
                            items.push((value, passage()));
                        }
                    }
                    Kind::Row { table, row } => {
                        let cell = columns
                            .get(table)
                            .copied()
                            .flatten()
                            .and_then(|column| text.tables[table].rows.get(row)?.get(column));
                        if let Some(value) = cell.and_then(|cell| value::read(cell, of)) {
                            items.push((value, passage()));
                        }
                    }
                    Kind::Heading { .. } | Kind::Prose => {}
                }
            }
        }
        if !items.is_empty() {
            return items;
        }
        let pair = self.pairs.iter().find(|pair| likeness(field, &pair.label) >= ALIKE);
        let Some(pair) = pair else { return Vec::new() };
        pair.value
            .split([',', ';'])
            .filter_map(|part| {
                Some((value::read(part.trim_end_matches('.'), of)?, pair.passage.clone()))
            })
            .collect()
    }
}

/// Which column each field stands in, when the required ones and at least half of all are there.
fn columns(grid: &Grid, fields: &[Field]) -> Option<Vec<Option<usize>>> {
    let header = header_terms(grid);
    let columns: Vec<Option<usize>> =
        fields.iter().map(|field| best_column(&header, field)).collect();
    let found = columns.iter().flatten().count();
    let complete = fields
        .iter()
        .zip(&columns)
        .all(|(field, column)| !field.required || field.nullable || column.is_some());
    (complete && found > 0 && found * 2 >= fields.len()).then_some(columns)
}

fn header_terms(grid: &Grid) -> Vec<Vec<String>> {
    grid.header.iter().take(COLUMNS).map(|name| word::terms(name)).collect()
}

fn best_column(header: &[Vec<String>], field: &Field) -> Option<usize> {
    let mut best: Option<(f64, usize)> = None;
    for (column, name) in header.iter().enumerate() {
        let likeness = likeness(field, name);
        if likeness >= ALIKE && best.is_none_or(|(most, _)| likeness > most) {
            best = Some((likeness, column));
        }
    }
    best.map(|(_, column)| column)
}

fn row_object(fields: &[Field], columns: &[Option<usize>], cells: &[String]) -> Option<Value> {
    let mut object = Map::new();
    for (field, column) in fields.iter().zip(columns) {
        let cell = column.and_then(|column| cells.get(column));
        match cell.and_then(|cell| value::read(cell, &field.shape)) {
            Some(value) => {
                object.insert(field.name.clone(), value);
            }
            None if field.nullable => {
                object.insert(field.name.clone(), Value::Null);
            }
            None if field.required => return None,
            None => {}
        }
    }
    object.values().any(|value| !value.is_null()).then_some(Value::Object(object))
}

/// How much a label is the field's: 1 for the same words.
fn likeness(field: &Field, label: &[String]) -> f64 {
    let alike = |words: &[String]| {
        let shared = words.iter().filter(|word| label.contains(word)).count();
        let all = words.len() + label.len();
        if all == 0 { 0.0 } else { 2.0 * crate::rank::to_f64(shared) / crate::rank::to_f64(all) }
    };
    let named = field.labels.iter().map(|words| alike(words)).fold(0.0, f64::max);
    // The description names the label in passing: enough when nothing else fits.
    let described = !label.is_empty()
        && label.iter().all(|word| field.described.contains(word) && word.len() > 2);
    if described { named.max(ALIKE) } else { named }
}

/// Where `sentence` has spoken all words of the label.
fn holds(sentence: &str, label: &[String]) -> Option<usize> {
    let mut left = label.len();
    let mut seen = vec![false; label.len()];
    let mut end = None;
    word::for_each_term(sentence, |term, range| {
        let found = label.iter().zip(&mut seen).find(|(word, seen)| *word == term && !**seen);
        if let Some((_, seen)) = found {
            *seen = true;
            left -= 1;
            end = Some(range.end);
        }
    });
    end.filter(|_| left == 0)
}

/// Half of the words or more are the same.
const ALIKE: f64 = 0.6;

/// Stems of what a page is called by.
const TITLES: &[&str] = &["titl", "name", "headlin", "heading", "head", "nam"];

/// How many places are looked at for one word. A value that is labelled is found among the first.
const PLACES: usize = 500;

/// More columns than a table that anybody reads.
const COLUMNS: usize = 100;

/// Data is told twice, as data and in words, and all of it fits into a response.
const DATA_BYTES: usize = 200_000;
