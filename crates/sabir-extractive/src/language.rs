//! Which language a text is in, as far as that can be seen from its small words, and which words say
//! nothing by themselves.

use crate::word;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    English,
    German,
    French,
    Spanish,
}

impl Language {
    /// The language whose small words are the most frequent in the beginning of `text`; English when
    /// there are none.
    pub(crate) fn of(text: &str) -> Self {
        let head = &text[..text.floor_char_boundary(DETECT_BYTES)];
        let mut hits = [0_usize; 4];
        word::for_each_word(head, |word, _, _| {
            let folded = word::folded(word);
            for (hits, language) in hits.iter_mut().zip(Self::ALL) {
                *hits += usize::from(language.small_words().contains(&folded.as_str()));
            }
        });
        let mut best = Self::English;
        let mut most = hits[0];
        for (count, language) in hits.into_iter().zip(Self::ALL) {
            if count > most {
                (best, most) = (language, count);
            }
        }
        best
    }

    /// Whether a folded word says nothing by itself. A single letter never does.
    pub(crate) fn is_stop(self, folded: &str) -> bool {
        folded.chars().nth(1).is_none() && !folded.starts_with(|c: char| c.is_numeric() || c > 'z')
            || self.small_words().binary_search(&folded).is_ok()
    }

    fn small_words(self) -> &'static [&'static str] {
        match self {
            Self::English => ENGLISH,
            Self::German => GERMAN,
            Self::French => FRENCH,
            Self::Spanish => SPANISH,
        }
    }

    const ALL: [Self; 4] = [Self::English, Self::German, Self::French, Self::Spanish];
}

/// Enough to tell a language, little enough to cost nothing.
const DETECT_BYTES: usize = 2_000;

#[rustfmt::skip]
const ENGLISH: &[&str] = &[
    "a", "about", "above", "after", "again", "all", "also", "although", "am", "an", "and", "any",
    "are", "aren", "as", "at", "be", "because", "been", "before", "being", "below", "between",
    "both", "but", "by", "can", "cannot", "could", "couldn", "did", "didn", "do", "does", "doesn",
    "doing", "don", "done", "down", "during", "each", "either", "else", "ever", "every", "few",
    "for", "from", "further", "get", "gets", "give", "given", "go", "got", "had", "hadn", "has",
    "hasn", "have", "haven", "having", "he", "her", "here", "hers", "herself", "him", "himself",
    "his", "how", "however", "i", "if", "in", "into", "is", "isn", "it", "its", "itself", "just",
    "let", "like", "ll", "made", "make", "many", "may", "me", "might", "more", "most", "much",
    "must", "my", "myself", "neither", "no", "nor", "not", "now", "of", "off", "on", "once",
    "one", "only", "or", "other", "others", "our", "ours", "out", "over", "own", "per", "please",
    "rather", "re", "same", "say", "says", "shall", "she", "should", "shouldn", "since", "so",
    "some", "such", "tell", "than", "that", "the", "their", "theirs", "them", "themselves",
    "then", "there", "therefore", "these", "they", "this", "those", "though", "through", "thus",
    "to", "too", "under", "until", "up", "upon", "us", "ve", "very", "was", "wasn", "we", "well",
    "were", "weren", "what", "when", "where", "whether", "which", "while", "who", "whom", "whose",
    "why", "will", "with", "within", "without", "won", "would", "wouldn", "yet", "you", "your",
    "yours",
];

#[rustfmt::skip]
const GERMAN: &[&str] = &[
    "aber", "alle", "allem", "allen", "aller", "alles", "als", "also", "am", "an", "ander",
    "andere", "anderen", "auch", "auf", "aus", "bei", "beim", "bin", "bis", "bist", "da",
    "dadurch", "daher", "damit", "dann", "das", "dass", "dein", "deine", "dem", "den", "denn",
    "der", "des", "dich", "die", "dies", "diese", "diesem", "diesen", "dieser", "dieses", "dir",
    "doch", "dort", "du", "durch", "ein", "eine", "einem", "einen", "einer", "eines", "er", "es",
    "etwas", "euch", "euer", "fur", "gegen", "gewesen", "gibt", "hab", "habe", "haben", "hat",
    "hatte", "hatten", "hier", "hin", "hinter", "ich", "ihm", "ihn", "ihnen", "ihr", "ihre",
    "ihrem", "ihren", "ihrer", "im", "in", "ins", "ist", "ja", "jede", "jedem", "jeden", "jeder",
    "jedes", "jetzt", "kann", "kein", "keine", "keinem", "keinen", "keiner", "konnen", "konnte",
    "machen", "man", "mehr", "mein", "meine", "mich", "mir", "mit", "muss", "mussen", "nach",
    "nicht", "nichts", "noch", "nun", "nur", "ob", "oder", "ohne", "sehr", "sein", "seine",
    "seinem", "seinen", "seiner", "seit", "sich", "sie", "sind", "so", "solche", "soll", "sollte",
    "sondern", "uber", "um", "und", "uns", "unser", "unter", "viel", "viele", "vom", "von", "vor",
    "wann", "war", "waren", "warum", "was", "weil", "welche", "welchem", "welchen", "welcher",
    "welches", "wenn", "wer", "werde", "werden", "wie", "wieder", "wieviel", "will", "wir",
    "wird", "wo", "wurde", "wurden", "zu", "zum", "zur", "zwischen",
];

#[rustfmt::skip]
const FRENCH: &[&str] = &[
    "ai", "ainsi", "alors", "apres", "au", "aucun", "aussi", "autre", "autres", "aux", "avait",
    "avant", "avec", "avoir", "beaucoup", "bien", "car", "ce", "ceci", "cela", "celle", "celui",
    "ces", "cet", "cette", "ceux", "chaque", "chez", "ci", "combien", "comme", "comment",
    "contre", "dans", "de", "depuis", "des", "donc", "dont", "du", "elle", "elles", "en",
    "encore", "entre", "est", "et", "etaient", "etait", "ete", "etre", "eu", "eux", "faire",
    "fait", "font", "il", "ils", "je", "jusqu", "la", "le", "les", "leur", "leurs", "lors", "lui",
    "ma", "mais", "me", "meme", "mes", "moi", "moins", "mon", "ne", "ni", "nos", "notre", "nous",
    "on", "ont", "ou", "par", "parce", "pas", "pendant", "peu", "peut", "plus", "pour",
    "pourquoi", "qu", "quand", "que", "quel", "quelle", "quelles", "quels", "qui", "quoi", "sa",
    "sans", "se", "selon", "sera", "ses", "si", "son", "sont", "sous", "sur", "ta", "te", "tes",
    "toi", "ton", "tous", "tout", "toute", "toutes", "tres", "trop", "tu", "un", "une", "vos",
    "votre", "vous", "y",
];

#[rustfmt::skip]
const SPANISH: &[&str] = &[
    "al", "algo", "alguna", "algunas", "alguno", "algunos", "ante", "antes", "aquel", "aquella",
    "asi", "aun", "aunque", "bien", "cada", "casi", "como", "con", "contra", "cual", "cuales",
    "cuando", "cuanta", "cuantas", "cuanto", "cuantos", "de", "del", "desde", "donde", "dos",
    "durante", "e", "el", "ella", "ellas", "ellos", "en", "entre", "era", "eran", "es", "esa",
    "esas", "ese", "eso", "esos", "esta", "estaba", "estado", "estan", "estar", "estas", "este",
    "esto", "estos", "fue", "fueron", "ha", "habia", "han", "hasta", "hay", "la", "las", "le",
    "les", "lo", "los", "mas", "me", "mi", "mientras", "mis", "mucho", "muchos", "muy", "nada",
    "ni", "no", "nos", "nosotros", "nuestra", "nuestro", "o", "otra", "otras", "otro", "otros",
    "para", "pero", "poco", "por", "porque", "pues", "que", "quien", "quienes", "se", "sea",
    "segun", "ser", "si", "sido", "sin", "sobre", "solo", "son", "su", "sus", "tal", "tambien",
    "tan", "tanto", "te", "tiene", "tienen", "todo", "todos", "tu", "tus", "un", "una", "unas",
    "uno", "unos", "usted", "y", "ya", "yo",
];

#[cfg(test)]
mod tests {
    use super::Language;

    #[test]
    fn the_lists_are_sorted() {
        for language in Language::ALL {
            assert!(language.small_words().is_sorted_by(|a, b| a < b), "{language:?}");
        }
    }

    #[test]
    fn small_words_tell_the_language() {
        for (text, language) in [
            ("the cat sat on the mat", Language::English),
            ("die Katze saß auf der Matte", Language::German),
            ("le chat est sur le tapis", Language::French),
            ("el gato está en la alfombra", Language::Spanish),
            ("xyzzy", Language::English),
        ] {
            assert_eq!(Language::of(text), language, "{text}");
        }
    }

    #[test]
    fn a_name_of_one_ideograph_is_no_small_word() {
        assert!(Language::English.is_stop("x"));
        assert!(!Language::English.is_stop("水"));
        assert!(!Language::English.is_stop("7"));
    }
}
