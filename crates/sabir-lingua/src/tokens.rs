//! Token accounting: how many tokens a model's vocabulary makes of a text, without asking anyone.

mod window;

use window::windows;

/// A vocabulary that a model family reads and writes with.
///
/// Versions of a model that differ only in their special tokens share one: special tokens never
/// stand in a text that is counted. The vocabularies of retired models are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Tokenizer {
    O200k,
    Cl100k,
    Llama3,
    Qwen,
    Mistral,
    DeepSeek,
    Kimi,
    Glm4,
    Glm5,
    MiniMax,
}

impl Tokenizer {
    pub const ALL: &[Self] = &[
        Self::O200k,
        Self::Cl100k,
        Self::Llama3,
        Self::Qwen,
        Self::Mistral,
        Self::DeepSeek,
        Self::Kimi,
        Self::Glm4,
        Self::Glm5,
        Self::MiniMax,
    ];

    /// What people type: `o200k`, `llama3`.
    pub fn name(self) -> &'static str {
        match self {
            Self::O200k => "o200k",
            Self::Cl100k => "cl100k",
            Self::Llama3 => "llama3",
            Self::Qwen => "qwen",
            Self::Mistral => "mistral",
            Self::DeepSeek => "deepseek",
            Self::Kimi => "kimi",
            Self::Glm4 => "glm4",
            Self::Glm5 => "glm5",
            Self::MiniMax => "minimax",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|tokenizer| tokenizer.name() == name)
    }

    /// Which models use it. The words in brackets are asked for by the licence of that vocabulary.
    pub fn description(self) -> &'static str {
        match self {
            Self::O200k => "OpenAI GPT-4o, GPT-4.1, GPT-5, o1, o3, o4 and gpt-oss",
            Self::Cl100k => "OpenAI GPT-4 and GPT-3.5",
            Self::Llama3 => "Meta Llama 3 to 3.3 (Built with Meta Llama 3)",
            Self::Qwen => "Alibaba Qwen 2.5 and Qwen 3",
            Self::Mistral => "Mistral models with the Tekken tokenizer",
            Self::DeepSeek => "DeepSeek V3, V4 and R1",
            Self::Kimi => "Moonshot Kimi K2 and K3",
            Self::Glm4 => "Zhipu GLM-4.5 to 4.7",
            Self::Glm5 => "Zhipu GLM-5",
            Self::MiniMax => "MiniMax M2",
        }
    }

    /// How many tokens `text` is, as plain text: `<|endoftext|>` is the characters that it
    /// consists of.
    ///
    /// The first count with a vocabulary unpacks it, which takes as long as counting a few hundred
    /// kilobytes. Time is in proportion to the text, whatever is in it: the text is counted in
    /// windows, cut where every vocabulary begins a new token anyway. So the count is exact, save
    /// for text that goes on for 4 KiB without a white space, a line end or a CJK punctuation mark
    /// between words; each such stretch is cut anyway, which can add a token or two.
    pub fn count(self, text: &str) -> usize {
        // Every name below is there because its vocabulary is switched on in the manifest, which a
        // test proves; a vocabulary that is missing could only be left uncounted.
        let Some(encoding) = tiktoken::get_encoding(self.encoding()) else { return 0 };
        windows(text).map(|window| encoding.count(window)).sum()
    }

    fn encoding(self) -> &'static str {
        match self {
            Self::O200k => "o200k_base",
            Self::Cl100k => "cl100k_base",
            Self::Llama3 => "llama3",
            Self::Qwen => "qwen2",
            Self::Mistral => "mistral_v3",
            Self::DeepSeek => "deepseek_v3",
            Self::Kimi => "kimi_k2",
            Self::Glm4 => "glm4",
            Self::Glm5 => "glm5",
            Self::MiniMax => "minimax_m2",
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_are_distinct_and_lead_back() {
        for (index, tokenizer) in Tokenizer::ALL.iter().enumerate() {
            assert_eq!(Tokenizer::from_name(tokenizer.name()), Some(*tokenizer));
            assert_eq!(*tokenizer as usize, index, "ALL names each once, in order");
        }
        assert_eq!(Tokenizer::from_name("O200K"), None);
    }

    #[test]
    fn every_vocabulary_is_embedded() {
        for tokenizer in Tokenizer::ALL {
            assert!(tiktoken::get_encoding(tokenizer.encoding()).is_some(), "{tokenizer:?}");
            assert_eq!(tokenizer.count(""), 0, "{tokenizer:?}");
            assert_eq!(tokenizer.count("hello world"), 2, "{tokenizer:?}");
        }
    }

    /// Counts that OpenAI publishes with its own tokenizer.
    #[test]
    fn published_counts() {
        for (text, cl100k, o200k) in [
            ("antidisestablishmentarianism", 6, 6),
            ("2 + 2 = 4", 7, 7),
            ("お誕生日おめでとう", 9, 8),
            ("tiktoken is great!", 6, 6),
        ] {
            assert_eq!(Tokenizer::Cl100k.count(text), cl100k, "{text}");
            assert_eq!(Tokenizer::O200k.count(text), o200k, "{text}");
        }
    }

    #[test]
    fn special_tokens_are_plain_text() {
        for tokenizer in Tokenizer::ALL {
            for special in ["<|endoftext|>", "<|eot_id|>", "[INST]", "<｜User｜>", "<think>"] {
                assert!(tokenizer.count(special) > 1, "{tokenizer:?} {special}");
            }
        }
    }

    #[test]
    fn every_character_costs_something() {
        for tokenizer in Tokenizer::ALL {
            for character in ['\0', '\u{200d}', '\u{e000}', '\u{feff}', '\u{10ffff}', '\u{301}'] {
                assert!(tokenizer.count(&character.to_string()) > 0, "{tokenizer:?} {character:?}");
            }
        }
    }

    /// Texts on which some way of counting looks at the whole rest again and again. Each takes less
    /// than a second, and half a minute or more when time grows with the square.
    #[test]
    fn hostile_texts_take_linear_time() {
        for unit in ["a", " ", "🦀", "(", "\n", "\u{a0}1", "\u{200d}", "\u{e000}a", "👨\u{200d}👩"]
        {
            let text = unit.repeat(500_000 / unit.len());
            for tokenizer in [Tokenizer::O200k, Tokenizer::DeepSeek] {
                assert!(tokenizer.count(&text) > 1000, "{tokenizer:?} {unit:?}");
            }
        }
    }

    #[test]
    fn prose_longer_than_a_window_counts_exactly() {
        for sentence in [
            "The pilot boards at 04:30, two miles off the breakwater; nobody else does.\n",
            "引き水人は四時半に乗船します。波止場から二マイル沖です、ほかには誰も乗りません。",
            "Лоцман поднимается на борт в половине пятого: в двух милях от мола.\r\n\r\n",
            "    fn main() { let x = [1, 2, 3]; /* why */ }\n\t// done\n",
        ] {
            let text = sentence.repeat(300);
            for tokenizer in Tokenizer::ALL {
                let whole = tiktoken::get_encoding(tokenizer.encoding()).unwrap().count(&text);
                assert_eq!(tokenizer.count(&text), whole, "{tokenizer:?} {sentence}");
            }
        }
    }

    /// What the patterns of the vocabularies tell apart, in every order.
    const PIECES: &[&str] = &[
        "a", "B", "the", "7", "2024", " ", "  ", "\t", "\n", "\r\n", "\r", "/", ".", ",", "'s",
        "'", "(", "_", "é", "é", "漢", "字", "の", "カ", "ー", "한", "。", "，", "、", "！", "？",
        "\u{a0}", "\u{3000}", "\u{200d}", "🦀", "\u{301}", "ก", "ا", "Я", "①", "\u{85}", "\u{b}",
        "\u{2028}", "々", "〇", "・",
    ];

    proptest! {
        /// Cut at every place that `windows` may cut without loss, and count the parts.
        #[test]
        fn exact_cuts_keep_the_count(pieces in prop::collection::vec(prop::sample::select(PIECES), 1..40)) {
            let text: String = pieces.concat();
            let mut parts = Vec::new();
            let mut start = 0;
            for (at, _) in text.char_indices().skip(1) {
                if window::is_token_start(&text, at) {
                    parts.push(&text[start..at]);
                    start = at;
                }
            }
            parts.push(&text[start..]);
            for tokenizer in Tokenizer::ALL {
                let encoding = tiktoken::get_encoding(tokenizer.encoding()).unwrap();
                let sum: usize = parts.iter().map(|part| encoding.count(part)).sum();
                prop_assert_eq!(sum, encoding.count(&text), "{:?} {:?}", tokenizer, parts);
            }
        }
    }
}
