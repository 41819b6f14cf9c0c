//! A generated benchmark of the verifier: true quotes with harmless changes, and quotes that say
//! something else. It prints what was found for every kind of change; run it with `--nocapture`.

#![expect(clippy::unwrap_used, reason = "a source that cannot be read fails the test")]

use std::collections::BTreeMap;
use std::fmt::Write;

use sabir_llmcp::{
    CitableSource, CitationStatus, SourceText, Verdict, verify_citation, verify_quote,
};
use sabir_testkit::cases;
use unicode_normalization::UnicodeNormalization;

/// A source with the sentences of its plain text.
struct Text {
    name: String,
    source: SourceText,
    sentences: Vec<String>,
}

fn texts() -> Vec<Text> {
    cases(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/cite"))
        .into_iter()
        .map(|case| {
            let source = SourceText::new(&case.text);
            let sentences = sentences(source.plain().text());
            Text { name: case.name, source, sentences }
        })
        .collect()
}

fn sentences(text: &str) -> Vec<String> {
    let mut sentences = Vec::new();
    for line in text.lines().filter(|line| !line.contains('\t')) {
        let mut rest = line;
        while let Some(end) = ends(rest) {
            sentences.push(rest[..end].trim().to_owned());
            rest = &rest[end..];
        }
        sentences.push(rest.trim().to_owned());
    }
    sentences.retain(|it| {
        it.split_whitespace().count() >= 6
            || (!it.is_ascii() && it.chars().count() >= 14 && !it.contains(' '))
    });
    sentences
}

/// Where the first sentence ends, if another follows.
fn ends(line: &str) -> Option<usize> {
    line.char_indices().find_map(|(at, c)| {
        let after = at + c.len_utf8();
        let is_end = match c {
            '.' | '!' | '?' => line[after..].starts_with(' ') && !line[..at].ends_with("Dr"),
            '。' => !line[after..].is_empty(),
            _ => false,
        };
        is_end.then_some(after)
    })
}

fn judge(quote: &str, cited: &Text, all: &[Text]) -> Verdict {
    let sources: Vec<CitableSource<'_>> = all
        .iter()
        .map(|text| CitableSource { id: &text.name, hash: "h", url: None, text: &text.source })
        .collect();
    verify_citation(quote, &cited.name, &sources)
}

/// What stands in the source where the verdict points, without marks, is what it shows.
fn assert_own_words(verdict: &Verdict, text: &Text, quote: &str) {
    let shown = &text.source.markdown()[verdict.start..verdict.end];
    assert!(
        text.source.plain().text().contains(&verdict.quote),
        "{quote:?} shows {:?}",
        verdict.quote
    );
    let place = SourceText::new(shown);
    let letters = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).collect::<String>();
    // Parts of a list or of a table have marks at the edges; the letters are the same.
    assert!(
        letters(place.plain().text()).contains(&letters(&verdict.quote)),
        "{quote:?} points at {shown:?}"
    );
}

/// Numbers that are the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or_default() % sides.max(1)
    }
}

fn replace_first(text: &str, pairs: &[(&str, &str)]) -> Option<String> {
    let padded = format!(" {text} ");
    pairs.iter().find_map(|(from, to)| {
        let from = format!(" {from} ");
        padded
            .contains(&from)
            .then(|| padded.replacen(&from, &format!(" {to} "), 1).trim().to_owned())
    })
}

/// A lower-case word of at least eight letters that is no number and stands within the sentence.
fn long_word<'a>(sentence: &'a str, dice: &mut Dice) -> Option<&'a str> {
    let is_plain = |word: &&str| word.len() >= 8 && word.chars().all(|c| c.is_ascii_lowercase());
    let words: Vec<&str> = sentence.split_whitespace().filter(is_plain).collect();
    (!words.is_empty()).then(|| words[dice.roll(words.len())])
}

/// Changes that leave what is said as it is.
fn harmless(sentence: &str, dice: &mut Dice) -> Vec<(&'static str, String)> {
    let words: Vec<&str> = sentence.split_whitespace().collect();
    let mut out = vec![
        ("as it is", sentence.to_owned()),
        ("upper case", sentence.to_uppercase()),
        ("lower case", sentence.to_lowercase()),
        ("white space", words.join(if dice.roll(2) == 0 { "\n" } else { "  " })),
        ("decomposed", sentence.nfd().collect()),
        ("quoted", format!("“{sentence}”")),
        ("full stop", format!("{}.", sentence.trim_end_matches(['.', '。']))),
        ("no full stop", sentence.trim_end_matches(['.', '。']).to_owned()),
        ("straight quotes", sentence.replace(['“', '”', '„'], "\"").replace('’', "'")),
        ("curly quotes", sentence.replace('\'', "’")),
        ("soft hyphens", sentence.replace("tion", "ti\u{ad}on").replace(' ', "\u{a0}")),
        (
            "bold word",
            match words.get(words.len() / 2) {
                Some(word) => sentence.replacen(word, &format!("**{word}**"), 1),
                None => sentence.to_owned(),
            },
        ),
        ("commas dropped", sentence.replace(", ", " ")),
        ("ellipsis at the ends", format!("…{}...", sentence.trim_end_matches(['.', '。', '?']))),
    ];
    if let Some((clause, _)) = sentence.rsplit_once(", ")
        && clause.split_whitespace().count() >= 6
    {
        out.push(("up to a comma", clause.to_owned()));
    }
    if let Some((_, clause)) = sentence.split_once(", ")
        && clause.split_whitespace().count() >= 6
    {
        out.push(("behind a comma", clause.to_owned()));
    }
    // Words of letters only; what the verifier takes for a number or a turn is its own business.
    let is_plain = |word: &&str| word.len() > 3 && word.chars().all(|c| c.is_lowercase());
    if words.len() >= 10
        && let Some(at) = (3..words.len() - 4).find(|at| is_plain(&words[*at]))
    {
        let quote = format!("{} … {}", words[..at].join(" "), words[at + 1..].join(" "));
        out.push(("one word left out", quote));
    }
    if let Some(word) = long_word(sentence, dice) {
        let (left, right) = word.split_at(4);
        let typo = match dice.roll(3) {
            0 => format!("{left}{}", &right[1..]),
            1 => format!("{left}x{right}"),
            _ => format!("{}{}{}{}", &left[..2], &left[3..], &left[2..3], right),
        };
        out.push(("typing error", sentence.replacen(word, &typo, 1)));
    }
    let lost = [(" the ", " "), (" die ", " "), (" la ", " "), (" le ", " "), (" el ", " ")];
    if let Some((article, _)) = lost.iter().find(|(article, _)| sentence.contains(article)) {
        out.push(("article lost", sentence.replacen(article, " ", 1)));
    }
    out
}

/// Changes that say something else, made from a sentence of `text` and perhaps another one.
fn harmful(sentence: &str, at: usize, text: &Text, dice: &mut Dice) -> Vec<(&'static str, String)> {
    let words: Vec<&str> = sentence.split_whitespace().collect();
    let mut out = Vec::new();
    let mut push = |kind: &'static str, quote: Option<String>| {
        if let Some(quote) = quote.filter(|quote| quote != sentence) {
            out.push((kind, quote));
        }
    };
    let verbs = [
        "is", "was", "are", "were", "has", "had", "can", "will", "may", "did", "ist", "hat", "est",
        "a", "es", "fue",
    ];
    let nots = ["not", "never", "no", "nicht", "nie", "keine", "pas", "jamais", "nunca", "sin"];
    // A negation that is added.
    if let Some(verb) = words.iter().position(|word| verbs.contains(word)) {
        let mut more = words.clone();
        more.insert(verb + 1, nots[dice.roll(nots.len())]);
        push("negation added", Some(more.join(" ")));
    }
    if words.len() > 4 {
        let mut more = words.clone();
        more.insert(2 + dice.roll(words.len() - 3), "not");
        push("negation added anywhere", Some(more.join(" ")));
    }
    // One that is left out, in its place or with what stands before it.
    let is_not = |word: &&str| {
        let word = word.trim_matches(|c: char| !c.is_alphabetic()).to_lowercase();
        [
            "not", "no", "never", "nobody", "none", "nothing", "without", "cannot", "nicht", "nie",
            "niemand", "keine", "ohne", "pas", "jamais", "sans", "aucun", "no", "nunca", "nadie",
            "sin", "doesn't", "isn't", "wasn't",
        ]
        .contains(&word.as_str())
    };
    if let Some(not) = words.iter().position(is_not) {
        let mut fewer = words.clone();
        fewer.remove(not);
        push("negation dropped", Some(fewer.join(" ")));
        if words[not].ends_with(char::is_alphabetic) && words.len() - not > 3 {
            push("negation cut off", Some(words[not + 1..].join(" ")));
        }
        if not > 2 && words.len() - not > 3 {
            push(
                "ellipsis over negation",
                Some(format!("{} ... {}", words[..not].join(" "), words[not + 1..].join(" "))),
            );
        }
    }
    push(
        "contraction undone",
        replace_first(sentence, &[("doesn't", "does"), ("isn't", "is"), ("wasn't", "was")]),
    );
    if sentence.contains('不') {
        push("negation dropped", Some(sentence.replacen('不', "", 1)));
    }
    if sentence.contains("没有") {
        push("negation dropped", Some(sentence.replacen("没有", "", 1)));
    }
    // Numbers and units.
    for (at, c) in sentence.char_indices() {
        let signs = [".", "-", "−", "±", "<", ">", "~", "$", "-$"];
        if !c.is_ascii_digit() || !sentence[..at].ends_with(' ') {
            continue;
        }
        let sign = signs[dice.roll(signs.len())];
        push("sign added", Some(format!("{}{sign}{}", &sentence[..at], &sentence[at..])));
    }
    if let Some(digit) = sentence.find(|c: char| c.is_ascii_digit()) {
        let other =
            (sentence.as_bytes()[digit] - b'0' + 1 + u8::try_from(dice.roll(8)).unwrap()) % 10;
        push(
            "number swap",
            Some(format!("{}{other}{}", &sentence[..digit], &sentence[digit + 1..])),
        );
        push("digit more", Some(format!("{}0{}", &sentence[..=digit], &sentence[digit + 1..])));
        push("digit fewer", Some(format!("{}{}", &sentence[..digit], &sentence[digit + 1..])));
        let number_end = sentence[digit..].find(' ').map_or(sentence.len(), |end| digit + end);
        if sentence[..digit].split_whitespace().count() > 3 {
            push(
                "unit cut off",
                has_unit(&sentence[number_end..]).then(|| sentence[..number_end].to_owned()),
            );
        }
        let number_start = sentence[..digit].rfind(' ').map_or(0, |at| at + 1);
        let (before, after) = (&sentence[..number_start], &sentence[number_end..]);
        if before.split_whitespace().count() > 2 && after.split_whitespace().count() > 2 {
            push("ellipsis over number", Some(format!("{before}... {after}")));
        }
    }
    push(
        "number word swap",
        replace_first(
            sentence,
            &[
                ("two", "three"),
                ("three", "two"),
                ("four", "five"),
                ("six", "sixty"),
                ("eleven", "seven"),
                ("neun", "zehn"),
                ("drei", "vier"),
                ("cinq", "six"),
                ("seis", "siete"),
                ("half", "third"),
                ("twice", "thrice"),
                ("seven", "several"),
            ],
        ),
    );
    push(
        "unit swap",
        replace_first(
            sentence,
            &[
                ("metres", "miles"),
                ("km", "miles"),
                ("kg", "g"),
                ("g", "kg"),
                ("minutes", "hours"),
                ("hours", "minutes"),
                ("mm", "cm"),
                ("percent", "points"),
                ("million", "billion"),
                ("Millionen", "Milliarden"),
                ("mètres", "kilomètres"),
                ("millas", "metros"),
                ("days", "weeks"),
                ("years", "months"),
                ("miles", "yards"),
                ("watts", "volts"),
                ("Jahre", "Monate"),
            ],
        ),
    );
    push("sign swap", sentence.contains('%').then(|| sentence.replacen('%', "", 1)));
    push("sign swap", sentence.contains('€').then(|| sentence.replacen('€', "$", 1)));
    push("sign swap", sentence.contains('£').then(|| sentence.replacen('£', "", 1)));
    push("sign swap", sentence.contains("元").then(|| sentence.replacen('元', "美元", 1)));
    // Words.
    push(
        "opposite",
        replace_first(
            sentence,
            &[
                ("before", "after"),
                ("above", "below"),
                ("more", "less"),
                ("less", "more"),
                ("better", "worse"),
                ("rare", "common"),
                ("safe", "unsafe"),
                ("first", "last"),
                ("cheaper", "dearer"),
                ("closed", "opened"),
                ("dark", "pale"),
                ("early", "late"),
                ("old", "new"),
                ("retired", "active"),
                ("popular", "unpopular"),
                ("weniger", "mehr"),
                ("undicht", "dicht"),
                ("älteste", "jüngste"),
                ("premiers", "derniers"),
                ("augmenté", "diminué"),
                ("menores", "mayores"),
                ("cerrada", "abierta"),
                ("northern", "southern"),
                ("possible", "impossible"),
                ("visible", "invisible"),
                ("hollow", "solid"),
            ],
        ),
    );
    let other = &text.sentences[dice.roll(text.sentences.len())];
    let theirs: Vec<&str> = other.split_whitespace().collect();
    let names: Vec<&&str> = words
        .iter()
        .skip(1)
        .filter(|word| word.starts_with(char::is_uppercase) && word.len() > 3)
        .collect();
    if let Some(name) = names.first() {
        push("name swap", Some(sentence.replacen(**name, "Andersson", 1)));
        let twin: String =
            name.chars().enumerate().map(|(at, c)| if at == 2 { 'z' } else { c }).collect();
        push("name twin", Some(sentence.replacen(**name, &twin, 1)));
    }
    if words.len() > 6 && theirs.len() > 6 && other != sentence {
        let mut swapped = words.clone();
        swapped[3] = theirs[4];
        push("word swap", Some(swapped.join(" ")));
        let mut turned = words.clone();
        turned.swap(2, 5);
        push("order swap", Some(turned.join(" ")));
        let far = text
            .sentences
            .iter()
            .position(|it| it == other)
            .is_some_and(|place| place.abs_diff(at) > 1);
        if far {
            push(
                "splice",
                Some(format!(
                    "{} {}",
                    words[..words.len() / 2].join(" "),
                    theirs[theirs.len() / 2..].join(" ")
                )),
            );
            push(
                "splice with ellipsis",
                Some(format!(
                    "{} … {}",
                    theirs[..theirs.len() / 2].join(" "),
                    words[words.len() / 2..].join(" ")
                )),
            );
        }
        push(
            "turned ellipsis",
            Some(format!(
                "{} ... {}",
                words[words.len() / 2..].join(" "),
                words[..words.len() / 2].join(" ")
            )),
        );
    }
    let half = sentence.floor_char_boundary(sentence.len() / 2);
    push(
        "claim put behind",
        Some(format!("{} and everyone agrees.", sentence.trim_end_matches('.'))),
    );
    push(
        "half made up",
        Some(format!("{}was reported by several independent observers.", &sentence[..half])),
    );
    out
}

/// The end of each block, item or row with the start of the next one, as if both were one sentence.
fn adjacent(text: &Text) -> Vec<(&'static str, String)> {
    let lines: Vec<&str> =
        text.source.plain().text().lines().filter(|line| !line.is_empty()).collect();
    let pairs = lines.windows(2).filter_map(|pair| {
        let (before, after) = (pair[0].split_whitespace(), pair[1].split_whitespace());
        let before: Vec<&str> = before.collect();
        let (last, next) = (before.last()?, after.clone().next()?);
        // Without spaces a whole paragraph would be one word.
        let is_number = |word: &str| word.is_ascii() && word.contains(|c: char| c.is_ascii_digit());
        let kind =
            if is_number(last) || is_number(next) { "adjacent number" } else { "adjacent words" };
        let start = &before[before.len().saturating_sub(4)..];
        let end: Vec<&str> = after.take(4).collect();
        Some((kind, format!("{} {}", start.join(" "), end.join(" "))))
    });
    pairs.collect()
}

fn has_unit(after: &str) -> bool {
    let word =
        after.split_whitespace().next().unwrap_or_default().trim_end_matches(['.', ',', ';']);
    [
        "metres",
        "kg",
        "km",
        "g",
        "million",
        "Millionen",
        "%",
        "€",
        "percent",
        "miles",
        "minutes",
        "hours",
        "°C",
        "mm",
        "years",
        "days",
        "watts",
        "kW",
        "kWh",
        "vatios",
        "mètres",
        "metros",
        "millas",
    ]
    .contains(&word)
}

/// The words of a text, for telling whether a changed quote stands in it by chance.
fn words_of(text: &str) -> String {
    let is_word = |c: char| c.is_alphanumeric() || "%€£$°-.'".contains(c);
    let words: String =
        text.to_lowercase().chars().map(|c| if is_word(c) { c } else { ' ' }).collect();
    let words = words.split_whitespace().map(|word| word.trim_matches(['.', '-', '\'']));
    format!(" {} ", words.collect::<Vec<_>>().join(" "))
}

#[derive(Default)]
struct Tally {
    tried: usize,
    by_status: BTreeMap<&'static str, usize>,
    examples: Vec<String>,
}

impl Tally {
    fn count(&mut self, verdict: &Verdict) {
        self.tried += 1;
        *self.by_status.entry(verdict.status.word()).or_default() += 1;
    }

    fn of(&self, status: CitationStatus) -> usize {
        self.by_status.get(status.word()).copied().unwrap_or_default()
    }
}

fn table(title: &str, tallies: &BTreeMap<&str, Tally>) -> String {
    let mut table = format!("{title:<26} tried verified repaired ambiguous unverified\n");
    for (kind, tally) in tallies {
        let of = |status| tally.of(status);
        let (verified, repaired) = (of(CitationStatus::Verified), of(CitationStatus::Repaired));
        let (ambiguous, unverified) =
            (of(CitationStatus::Ambiguous), of(CitationStatus::Unverified));
        writeln!(
            table,
            "{kind:<26} {:>5} {verified:>8} {repaired:>8} {ambiguous:>9} {unverified:>10}",
            tally.tried
        )
        .unwrap();
    }
    table
}

/// True quotes are found, whatever harmless was done to them. LC-V2, LC-V3, LC-V4, LC-V5.
#[test]
fn true_quotes_are_found() {
    let texts = texts();
    let mut tallies: BTreeMap<&str, Tally> = BTreeMap::new();
    let mut dice = Dice(7);
    for text in &texts {
        for sentence in &text.sentences {
            for (kind, quote) in harmless(sentence, &mut dice) {
                let verdict = judge(&quote, text, &texts);
                let tally = tallies.entry(kind).or_default();
                tally.count(&verdict);
                match verdict.status {
                    CitationStatus::Verified | CitationStatus::Repaired => {
                        assert_own_words(&verdict, text, &quote)
                    }
                    _ => tally.examples.push(format!("{quote:?}: {:?}", verdict.reason)),
                }
            }
        }
    }
    println!("{}", table("true quotes", &tallies));
    let (mut tried, mut found) = (0, 0);
    for (kind, tally) in &tallies {
        tried += tally.tried;
        found += tally.of(CitationStatus::Verified) + tally.of(CitationStatus::Repaired);
        println!("missed, {kind}: {:#?}", tally.examples);
    }
    println!("recall: {found} of {tried}");
    assert!(tried > 1_000, "only {tried} quotes");
    assert!(found * 100 >= tried * 97, "found {found} of {tried}");
}

/// Changed quotes are not. LC-V6, LC-V7, LC-V8, LC-V9, LC-V10.
#[test]
fn changed_quotes_are_not_verified() {
    let texts = texts();
    let mut tallies: BTreeMap<&str, Tally> = BTreeMap::new();
    let mut dice = Dice(11);
    for (number, text) in texts.iter().enumerate() {
        for (at, sentence) in text.sentences.iter().enumerate() {
            let mut tries = harmful(sentence, at, text, &mut dice);
            if at == 0 {
                tries.extend(adjacent(text));
            }
            let stranger = &texts[(number + 1 + dice.roll(texts.len() - 1)) % texts.len()];
            tries.push(("wrong source", sentence.clone()));
            for (kind, quote) in tries {
                let cited = if kind == "wrong source" { stranger } else { text };
                // These stand there word by word.
                let is_cut = kind.contains("cut off") || kind.starts_with("adjacent");
                if !is_cut
                    && words_of(cited.source.plain().text()).contains(words_of(&quote).trim_end())
                {
                    continue;
                }
                let verdict = judge(&quote, cited, &texts);
                let tally = tallies.entry(kind).or_default();
                tally.count(&verdict);
                match verdict.status {
                    CitationStatus::Verified => {
                        tally.examples.push(format!("{quote:?} is {:?}", verdict.quote))
                    }
                    CitationStatus::Repaired => {
                        // The number of an item within the passage is a mark of Markdown.
                        if !kind.starts_with("adjacent") {
                            assert_own_words(&verdict, cited, &quote);
                        }
                        tally.examples.push(format!("{quote:?} becomes {:?}", verdict.quote));
                    }
                    _ => {}
                }
            }
        }
    }
    println!("{}", table("changed quotes", &tallies));
    let (mut tried, mut repaired) = (0, 0);
    for (kind, tally) in &tallies {
        println!("let through, {kind}: {:#?}", tally.examples);
        tried += tally.tried;
        repaired += tally.of(CitationStatus::Repaired);
        assert_eq!(tally.of(CitationStatus::Verified), 0, "{kind}");
        // Where a number or a negation differs, the source's words may not be put in either: the
        // claim beside them says something else.
        let is_slip =
            matches!(*kind, "word swap" | "name twin" | "claim put behind" | "adjacent words");
        assert!(is_slip || tally.of(CitationStatus::Repaired) == 0, "{kind}");
    }
    println!("precision of verified: {tried} changed quotes, none verified, {repaired} repaired");
    assert!(tried > 1_000, "only {tried} quotes");
}

/// Surroundings that change a sentence, which stands at `{}`.
const SURROUNDINGS: &[(&str, &str)] = &[
    ("denied before", "It is not true that {}."),
    ("denied before", "Nobody in the whole town claims, as far as we know, that {}."),
    ("denied before", "No study found that {}."),
    ("denied before", "The council rejected the claim that {}."),
    ("denied before", "Es stimmt keineswegs, dass {}."),
    ("denied before", "Personne ne croit que {}."),
    ("called false", "{}, which is not true."),
    ("called false", "“{}” is a myth."),
    ("called false", "{}. This is false."),
    ("called false", "He falsely claimed that {}."),
    ("called false", "{}, was nicht stimmt."),
    ("conditioned", "If {}, we go home."),
    ("conditioned", "They asked whether {}."),
    ("conditioned", "{} unless it rains."),
    ("conditioned", "{}, but only in theory."),
    ("conditioned", "Wenn {}, gehen wir."),
];

/// Sentences that stand word by word where something denies or conditions them. LC-V16.
#[test]
fn sentences_in_changed_surroundings_are_not_verified() {
    let mut tallies: BTreeMap<&str, Tally> = BTreeMap::new();
    for text in &texts() {
        for sentence in &text.sentences {
            let quote = sentence.trim_end_matches(['.', '。', '?', '!', '“', '”', '"']);
            for (kind, surroundings) in SURROUNDINGS {
                let source = SourceText::new(&surroundings.replace("{}", quote));
                let verdict = verify_quote(quote, &source);
                let tally = tallies.entry(kind).or_default();
                tally.count(&verdict);
                if verdict.status == CitationStatus::Verified {
                    tally.examples.push(source.markdown().to_owned());
                }
            }
        }
    }
    println!("{}", table("changed surroundings", &tallies));
    for (kind, tally) in &tallies {
        assert!(tally.tried > 300, "only {} of {kind}", tally.tried);
        assert!(tally.examples.is_empty(), "{kind}: {:#?}", tally.examples);
    }
}
