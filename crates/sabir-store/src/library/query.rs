//! From what a person types to what the index understands. Nothing that is typed is taken for an
//! operator: every word is quoted.

use super::search::Matching;

/// What the index is asked for; `None` when there is nothing to look for.
///
/// Words in double quotes have to stand side by side; a word that ends in `*` stands for all that
/// begin so. Of more than 64 words and phrases the first count.
pub(crate) fn expression(typed: &str, matching: Matching) -> Option<String> {
    let joint = match matching {
        Matching::All => " AND ",
        Matching::Any => " OR ",
    };
    let mut terms: Vec<String> = Vec::new();
    let (mut rest, mut quoted) = (typed, false);
    loop {
        let end = rest.find('"').unwrap_or(rest.len());
        let piece = &rest[..end];
        if quoted {
            add(&mut terms, phrase(piece));
        } else {
            piece.split(is_gap).for_each(|word| add(&mut terms, term(word)));
        }
        if end == rest.len() || terms.len() >= MAX_TERMS {
            break;
        }
        (rest, quoted) = (&rest[end + 1..], !quoted);
    }
    (!terms.is_empty()).then(|| terms.join(joint))
}

fn add(terms: &mut Vec<String>, term: Option<String>) {
    if let Some(term) = term
        && terms.len() < MAX_TERMS
        && !terms.contains(&term)
    {
        terms.push(term);
    }
}

fn term(word: &str) -> Option<String> {
    match word.strip_suffix('*') {
        Some(start) => phrase(start).map(|phrase| phrase + "*"),
        None => phrase(word),
    }
}

/// Without letters and digits there is nothing that the index knows.
fn phrase(words: &str) -> Option<String> {
    let words = words.replace(is_gap, " ");
    words.contains(char::is_alphanumeric).then(|| format!("\"{}\"", words.trim()))
}

fn is_gap(c: char) -> bool {
    c.is_whitespace() || c.is_control()
}

/// More than any question has; each costs a walk through the index.
const MAX_TERMS: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    fn all(typed: &str) -> String {
        expression(typed, Matching::All).unwrap_or_default()
    }

    #[test]
    fn every_word_is_quoted() {
        assert_eq!(all("hotel OR price"), r#""hotel" AND "OR" AND "price""#);
        assert_eq!(
            all("title:x -y (z) NEAR(a b)"),
            r#""title:x" AND "-y" AND "(z)" AND "NEAR(a" AND "b)""#
        );
        assert_eq!(all("c++ ++ *"), r#""c++""#);
        assert_eq!(expression("a b", Matching::Any).unwrap(), r#""a" OR "b""#);
    }

    #[test]
    fn quotes_make_phrases_and_a_star_a_beginning() {
        assert_eq!(
            all(r#"the "price of  a room" hot*"#),
            r#""the" AND "price of  a room" AND "hot"*"#
        );
        assert_eq!(all(r#"a"b"c"#), r#""a" AND "b" AND "c""#);
        assert_eq!(all(r#""left open"#), r#""left open""#);
        assert_eq!(all("\"\" \"\0\" \"a\0b\""), r#""a b""#);
        assert_eq!(all("a a A"), r#""a" AND "A""#);
    }

    #[test]
    fn there_are_not_more_terms_than_the_index_can_bear() {
        let many: String = (0..10_000).map(|number| format!("w{number} ")).collect();
        assert_eq!(all(&many).matches(" AND ").count(), MAX_TERMS - 1);
        assert_eq!(all(" \t\n "), "");
    }
}
