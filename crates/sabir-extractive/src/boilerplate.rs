//! Which lines of a page are not its content: consent, navigation, sharing, signing up. It judges
//! single lines by a list, and keeps what it does not know.

use crate::text::{Kind, Unit};
use crate::word;

/// Whether a unit says nothing that anybody would cite.
pub(crate) fn is_boilerplate(unit: &Unit) -> bool {
    match unit.kind {
        Kind::Heading { .. } | Kind::Row { .. } => false,
        Kind::Prose | Kind::Item => {
            unit.text.len() <= LONGEST && {
                let lower = unit.text.to_lowercase();
                PHRASES.iter().any(|phrase| lower.contains(phrase))
                    || STARTS.iter().any(|start| lower.trim_start().starts_with(start))
                        && word::count(&lower) <= 8
            }
        }
    }
}

/// Whether a sentence can stand alone in a summary.
pub(crate) fn stands_alone(sentence: &str) -> bool {
    let words = word::count(sentence);
    let letters = sentence.chars().filter(|c| c.is_alphabetic()).count();
    // Two labels in a row are a form, not a sentence.
    let labels = sentence.matches(": ").take(2).count();
    words >= 5
        && labels < 2
        && letters * 2 >= sentence.chars().count()
        && !sentence.ends_with([':', '?'])
}

/// A longer paragraph may speak about cookies without being a banner.
const LONGEST: usize = 400;

const PHRASES: &[&str] = &[
    "accept all cookies",
    "accept cookies",
    "add to cart",
    "alle akzeptieren",
    "all rights reserved",
    "alle rechte vorbehalten",
    "by continuing to use",
    "by using this site",
    "click here",
    "cookie policy",
    "cookie settings",
    "cookie-einstellungen",
    "create an account",
    "enable javascript",
    "follow us on",
    "jump to navigation",
    "privacy policy",
    "share on facebook",
    "share this article",
    "sign up for our newsletter",
    "skip to content",
    "skip to main content",
    "subscribe to our newsletter",
    "terms of service",
    "this website uses cookies",
    "uses cookies to",
    "we use cookies",
    "wir verwenden cookies",
    "tous droits réservés",
    "nous utilisons des cookies",
    "utilizamos cookies",
    "your browser does not support",
];

const STARTS: &[&str] = &[
    "advertisement",
    "anzeige",
    "back to top",
    "home",
    "image credit",
    "log in",
    "menu",
    "next article",
    "photo:",
    "previous",
    "publicité",
    "read more",
    "related",
    "see also",
    "share",
    "sign in",
    "sign up",
    "sponsored",
    "subscribe",
    "tags:",
    "weiterlesen",
    "©",
];
