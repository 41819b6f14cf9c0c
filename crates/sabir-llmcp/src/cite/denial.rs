//! Whether the rest of its sentence changes what a part of a source says: denies it, makes it a
//! condition, takes some of it back, or calls it false. It knows words and commas, and no grammar, so
//! that in doubt it says yes.

use std::ops::Range;

use super::sentence::{Rest, is_break, rest};
use super::source::SourceText;
use super::words::{Group, Groups, carries_negation, groups, is_article, marks};

/// Whether the tokens `from..to` say something else without what surrounds them.
pub(super) fn is_changed(source: &SourceText, from: usize, to: usize) -> bool {
    let rest = rest(source, from, to);
    rest.asks
        || is_changed_near(source, &rest, from)
        || is_changed_before(source, &rest, from, to)
        || is_led_up_to(source, &rest)
        || is_changed_behind(source, &rest, to - from)
        || is_called_false(source, &rest)
}

/// The groups of the tokens of a range, with phrases that reach over its end.
fn marks_of(source: &SourceText, range: &Range<usize>, beyond: usize) -> Vec<Groups> {
    let end = (range.end + beyond).min(source.tokens.len());
    let mut marks = marks(source.tokens.get(range.start..end).unwrap_or_default());
    marks.truncate(range.len());
    for (mark, token) in marks.iter_mut().zip(&source.tokens[range.clone()]) {
        // "May" and the German "Mai" are months, and "non-stop" is a word.
        let is_month = token.is_capital && mark.has(Group::Month);
        let is_part = token.word == "non" && source.plain.text()[token.end..].starts_with('-');
        if is_month || is_part {
            *mark = Groups::default();
        }
    }
    marks
}

/// What changes the words right behind it, over small words: "less safe", "would have paid", "some of
/// the bridges".
fn is_changed_near(source: &SourceText, rest: &Rest, from: usize) -> bool {
    let marks = marks_of(source, &rest.before, REACH);
    let mut strangers = 0;
    for (at, mark) in rest.before.clone().zip(&marks).rev().take(REACH) {
        let begins_anew = [Group::And, Group::But, Group::So, Group::Clause, Group::ClauseLink];
        if is_break(source, at + 1) || mark.has_any(&begins_anew) {
            return false;
        }
        let word = source.tokens[at].word.as_str();
        let is_share = mark.has(Group::Share) && is_share_of(source, at, from);
        let is_percentage = word == "%" && is_share_of(source, at, from);
        // "Less safe", "might soon pay", "nur im Sommer sicher": so far each of them reaches.
        let is_weakened = (mark.has(Group::Weaken) && strangers == 0)
            || (mark.has(Group::Modal) && strangers <= 1)
            || mark.has(Group::Zero);
        if is_share || is_percentage || is_weakened {
            return true;
        }
        let is_small = carries_negation(word) || mark.has_any(&[Group::Copula, Group::Link]);
        strangers += usize::from(!is_small);
        if strangers > 2 {
            return false;
        }
    }
    false
}

/// Whether the share at `at` is one of what begins at `from`: "some people", "half of the people".
fn is_share_of(source: &SourceText, at: usize, from: usize) -> bool {
    let between = source.tokens.get(at + 1..from).unwrap_or_default();
    let is_of = |word: &str| {
        matches!(word, "of" | "de" | "des" | "der" | "von" | "di" | "do" | "da" | "del" | "d")
    };
    between.iter().all(|it| is_article(&it.word) || is_of(&it.word))
}

/// Where the look back from a quote passed the beginning of a clause.
struct Passed {
    /// The first token of that clause.
    at: usize,
    /// How far back it hides negations: over one clause if a list could end there.
    hides: Hides,
    /// Whether conditions do not reach into it, either: "if it rains, which is rare".
    is_aside: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Hides {
    OneClause,
    All,
}

/// What changes words that may stand far behind it: negations, denials, conditions.
fn is_changed_before(source: &SourceText, rest: &Rest, from: usize, to: usize) -> bool {
    let marks = marks_of(source, &rest.before, REACH);
    let mark = |at: usize| marks[at - rest.before.start];
    let mut passed: Option<Passed> = None;
    let mut breaks = 0;
    let mut breaks_since_passed = 0;
    for at in rest.before.clone().rev() {
        // What begins right behind: the quote itself, or a part of what was looked at.
        let next = match at + 1 == from {
            true => marks_of(source, &(from..from + 1), REACH).first().copied().unwrap_or_default(),
            false => mark(at + 1),
        };
        let has_break = is_break(source, at + 1);
        match beginning(next, has_break, mark(at), breaks) {
            Beginning::Anew => return false,
            Beginning::Clause(hides) if passed.is_none() => {
                let is_aside = next.has_any(&[Group::Clause, Group::ClauseAfterComma]);
                passed = Some(Passed { at: at + 1, hides, is_aside });
                breaks_since_passed = 0;
            }
            Beginning::Clause(_) | Beginning::Nothing => {
                breaks_since_passed += usize::from(has_break);
            }
        }
        breaks += usize::from(has_break);
        let here = mark(at);
        let is_first = at == rest.before.start || is_break(source, at);
        let is_condition = here.has(Group::Condition)
            || (is_first && here.has(Group::ConditionFirst))
            || (at == rest.before.start && here.has(Group::Inversion));
        let is_aside = passed.as_ref().is_some_and(|passed| passed.is_aside);
        if is_condition && !is_aside {
            return true;
        }
        if here.has(Group::Fail) && is_linked(source, at, from, to) {
            return true;
        }
        if !here.has_any(&[Group::Negation, Group::Scarce, Group::Deny, Group::Falsehood]) {
            continue;
        }
        let is_hidden = passed.as_ref().is_some_and(|passed| {
            let is_near = passed.hides == Hides::All || breaks_since_passed == 0;
            // "It is not true that A, and B": both are denied.
            let is_put_forward = (at + 1..passed.at).any(|at| mark(at).has(Group::ClauseLink));
            is_near && !is_put_forward
        });
        let is_denial = here.has_any(&[Group::Deny, Group::Falsehood]);
        if is_hidden
            || (!is_denial && is_of_another(source, rest, at, &mark))
            || (!is_denial && is_spent(source, rest, at, from, to))
        {
            continue;
        }
        return true;
    }
    false
}

enum Beginning {
    Nothing,
    /// A clause of its own: negations before it do not reach into it.
    Clause(Hides),
    /// What stands before is taken back.
    Anew,
}

/// What begins at a token whose groups are `next`, behind one with the groups `last`. Between it and
/// the quote there are so many breaks.
fn beginning(next: Groups, has_break: bool, last: Groups, breaks: usize) -> Beginning {
    // "Not because", "anything but": it is said of what follows.
    let is_of_next = match last.has(Group::Negation) {
        true => !has_break || next.has(Group::Clause),
        false => !has_break && last.has(Group::Deny) && next.has(Group::But),
    };
    if is_of_next {
        return Beginning::Nothing;
    }
    match () {
        () if next.has(Group::But) => Beginning::Anew,
        // A clause that ends before the quote does not hold it.
        () if breaks > 0 => Beginning::Nothing,
        () if has_break && next.has(Group::So) => Beginning::Clause(Hides::All),
        () if has_break && next.has(Group::And) => Beginning::Clause(Hides::OneClause),
        () if next.has(Group::Clause) => Beginning::Clause(Hides::All),
        () if has_break && next.has_any(&[Group::ClauseAfterComma, Group::Condition]) => {
            Beginning::Clause(Hides::All)
        }
        () => Beginning::Nothing,
    }
}

/// Whether what the token governs is linked to it and begins or holds the quote: "failed to", "stopped
/// paying", "a lack of", "weigerte sich, ... zu".
fn is_linked(source: &SourceText, at: usize, from: usize, to: usize) -> bool {
    let is_near = from - at <= REACH && !(at + 1..from).any(|at| is_break(source, at));
    let is_link = |at: usize| {
        let token = source.tokens.get(at);
        token.is_some_and(|it| groups(&it.word).has(Group::Link))
    };
    if is_break(source, from) {
        return is_near && (from..to).any(|at| source.tokens[at].word == "zu");
    }
    at + 1 == from || (is_near && (is_link(at + 1) || is_link(from - 1)))
}

/// Whether the negation at `at` is said in a clause that ends before the quote: "although it is not
/// cheap, it is safe", "those who do not smoke are healthy people", "No, it is safe".
fn is_of_another(
    source: &SourceText,
    rest: &Rest,
    at: usize,
    mark: &dyn Fn(usize) -> Groups,
) -> bool {
    let end = (at + 1..=rest.before.end).find(|at| is_break(source, *at));
    let start = (rest.before.start..=at)
        .rev()
        .find(|at| *at == rest.before.start || is_break(source, *at))
        .unwrap_or(at);
    let behind = at + 1..end.unwrap_or(rest.before.end);
    let puts_forward =
        behind.clone().any(|at| mark(at).has_any(&[Group::ClauseLink, Group::Saying]));
    if puts_forward {
        return false;
    }
    let begins_clause =
        mark(start).has_any(&[Group::Clause, Group::ClauseAfterComma]) && start < at;
    let is_answer = start == rest.before.start
        && end == Some(at + 1)
        && matches!(source.tokens[at].word.as_str(), "no" | "non" | "não");
    if end.is_some() && (begins_clause || is_answer) {
        return true;
    }
    let is_relative = (at.saturating_sub(2).max(start)..at).any(|at| mark(at).has(Group::Relative));
    is_relative && behind.skip(1).any(|at| mark(at).has(Group::Copula))
}

/// Whether the negation at `at` denies a verb, and the quote only names what that verb is about: "did
/// not pay | dividends in May".
fn is_spent(source: &SourceText, rest: &Rest, at: usize, from: usize, to: usize) -> bool {
    let verb = at + 2 == from && !is_break(source, from) && !is_break(source, at + 1);
    let groups_at = |at: usize| groups(&source.tokens[at].word);
    let is_plain = verb && {
        let verb = groups_at(at + 1);
        let is_small = carries_negation(&source.tokens[at + 1].word);
        !is_small && !verb.has_any(&[Group::Saying, Group::Link, Group::Copula, Group::Fail])
    };
    let is_helped = groups_at(at).has(Group::Do)
        || (at > rest.before.start && groups_at(at - 1).has(Group::Do));
    is_plain && is_helped && to - from <= MAX_NAME
}

/// Whether the line with a colon before a list or a quotation changes it: "None of this is true:".
fn is_led_up_to(source: &SourceText, rest: &Rest) -> bool {
    let changes = [Group::Negation, Group::Scarce, Group::Deny, Group::Falsehood, Group::Condition];
    marks_of(source, &rest.lead, 0).iter().any(|mark| mark.has_any(&changes))
}

/// What takes back the words before it: "hilft leider nicht", "is safe if cooled", "which is false".
fn is_changed_behind(source: &SourceText, rest: &Rest, words: usize) -> bool {
    let marks = marks_of(source, &rest.after, REACH);
    let is_start = |at: &usize| *at > rest.after.start && is_break(source, *at);
    let mut starts = vec![rest.after.start];
    starts.extend(rest.after.clone().filter(is_start));
    let mut clauses = starts.iter().enumerate().map(|(number, start)| {
        let end = starts.get(number + 1).copied().unwrap_or(rest.after.end);
        Clause(&marks[start - rest.after.start..end - rest.after.start])
    });
    if !is_break(source, rest.after.start)
        && clauses.next().is_some_and(|clause| clause.changes_joined(words))
    {
        return true;
    }
    // Behind a clause that says something by itself, a condition is one of that.
    let mut is_own = false;
    clauses.any(|clause| {
        is_own |= clause.is_own();
        clause.changes_apart() || (!is_own && clause.conditions())
    })
}

/// A clause behind a quote.
struct Clause<'a>(&'a [Groups]);

impl Clause<'_> {
    fn has(&self, groups: &[Group]) -> bool {
        self.0.iter().any(|mark| mark.has_any(groups))
    }

    fn begins(&self, groups: &[Group]) -> bool {
        self.0.first().is_some_and(|mark| mark.has_any(groups))
    }

    /// Whether it denies that something is true, or that somebody thinks so.
    fn denies_truth(&self) -> bool {
        let is_truth = |mark: &Groups| mark.has_any(&[Group::Truth, Group::Belief]);
        let mut negations =
            self.0.iter().enumerate().filter(|(_, mark)| mark.has_any(NEGATIONS)).map(|(at, _)| at);
        // "Is not true"; "stimmt nicht", "said nobody".
        negations.any(|at| {
            self.0[at + 1..].iter().any(is_truth)
                || self.0[at.saturating_sub(2)..at].iter().any(is_truth)
        })
    }

    /// Whether it changes a quote of so many words when nothing ends between the two.
    fn changes_joined(&self, words: usize) -> bool {
        let is_negation = |at: usize| self.0.get(at).is_some_and(|mark| mark.has_any(NEGATIONS));
        // "The bridge | is not open": the quote only names what is spoken of.
        let is_name = words <= MAX_NAME
            && self.begins(&[Group::Copula])
            && (is_negation(0) || is_negation(1));
        self.denies_truth()
            || (!is_name && self.has(NEGATIONS))
            || self.has(&[Group::Falsehood, Group::Condition, Group::Exception])
            || (self.has(&[Group::Rejected, Group::Deny]) && self.has(&[Group::Copula]))
    }

    /// Whether it changes a quote that a comma or the like parts it from.
    fn changes_apart(&self) -> bool {
        let (opener, first, second) = self.opening();
        // "A new bridge, not a repaired one" says the same without; "and nobody came" says more.
        let is_contrast = second.has_any(&[Group::Article, Group::Number]);
        let is_clause = first.has(Group::NegativePronoun)
            || (first.has(Group::NegativeDeterminer)
                && opener > 0
                && !second.has_any(&[Group::Tie, Group::Link, Group::AfterNumber]));
        let is_exception = first.has(Group::Exception)
            && !first.has(Group::ClauseAfterComma)
            && !self.begins(&[Group::And]);
        let is_restriction = (first.has(Group::Negation) && !is_contrast && !is_clause)
            || first.has_any(&[Group::Condition, Group::ConditionFirst])
            || is_exception;
        // "And the tunnel was rejected" speaks of something else, "and that was rejected" does not.
        let speaks_back = !self.says_by_itself() || self.has(&[Group::BackReference]);
        let is_called_false = self.has(&[Group::Falsehood, Group::Rejected, Group::Deny]);
        (is_restriction && !self.begins(&[Group::EvenIf]))
            || (speaks_back && (is_called_false || self.denies_truth()))
            || first.has(Group::Falsehood)
    }

    /// How many words open it ("and", "but"), and the two behind those.
    fn opening(&self) -> (usize, Groups, Groups) {
        let opens = |mark: &&Groups| {
            mark.has_any(&[Group::But, Group::And, Group::So, Group::Clause])
                && !mark.has_any(NEGATIONS)
        };
        let opener = self.0.iter().take_while(opens).count();
        let at = |at: usize| self.0.get(at).copied().unwrap_or_default();
        (opener, at(opener), at(opener + 1))
    }

    fn says_by_itself(&self) -> bool {
        self.begins(&[Group::And]) || self.is_own()
    }

    /// Whether it surely has a subject of its own. Behind "and" there may be none.
    fn is_own(&self) -> bool {
        use Group::{But, Clause, ClauseAfterComma, EvenIf, So};
        self.begins(&[So, But, Clause, ClauseAfterComma, EvenIf])
    }

    fn conditions(&self) -> bool {
        self.has(&[Group::Condition]) || (!self.says_by_itself() && self.has(&[Group::Exception]))
    }
}

/// Whether the next sentence says that the one before is not so: "This is not true."
fn is_called_false(source: &SourceText, rest: &Rest) -> bool {
    let marks = marks_of(source, &rest.next, 0);
    let marks = &marks[..marks.len().min(MAX_CALL)];
    let speaks_back = marks.iter().take(3).any(|mark| mark.has(Group::BackReference));
    // "Nobody believes this" says so, and a longer sentence says more.
    let is_short = rest.next.len() <= MAX_SHORT_CALL;
    let is_truth = |mark: &Groups| mark.has(Group::Truth) || (is_short && mark.has(Group::Belief));
    let denial = marks.iter().position(|mark| mark.has_any(NEGATIONS));
    let is_denied = denial.is_some_and(|at| marks[at + 1..].iter().any(is_truth));
    let denies = |mark: &Groups| mark.has(Group::Falsehood) || (is_short && mark.has(Group::Deny));
    (speaks_back || rest.next.len() <= 2) && (is_denied || marks.iter().any(denies))
}

const NEGATIONS: &[Group] = &[Group::Negation, Group::Scarce];

/// "no evidence at all for the ...": so many words are looked over.
const REACH: usize = 6;

/// "But this story of his is not true": so many words of the next sentence are read.
const MAX_CALL: usize = 8;

const MAX_SHORT_CALL: usize = 6;

/// A quote of so few words may be a name of something, and say nothing about it.
const MAX_NAME: usize = 3;
