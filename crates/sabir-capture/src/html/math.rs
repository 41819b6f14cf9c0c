//! Formulas of MathML: what is seen of them, and whether the TeX that a page has for one says the same.

use dom_query::{Element, NodeRef};
use html5ever::ns;

/// Whether a browser shows nothing of an element of a formula.
pub(super) fn is_hidden(node: &NodeRef<'_>, element: &Element) -> bool {
    if element.name.ns != ns!(mathml) {
        return false;
    }
    match &*element.name.local {
        "mphantom" => true,
        // They go when what is seen has been compared with them.
        "annotation" => {
            node.attr("encoding").is_none_or(|it| !it.to_ascii_lowercase().contains("tex"))
        }
        "annotation-xml" => true,
        _ => false,
    }
}

/// Of these only the first child is shown; of a `semantics`, the source stays for now.
pub(super) fn close(node: &NodeRef<'_>) {
    if !(node.has_name("semantics") || node.has_name("maction")) {
        return;
    }
    let elements = node.children_it(false).filter(NodeRef::is_element).skip(1);
    for child in elements.collect::<Vec<_>>() {
        if !child.has_name("annotation") {
            child.remove_from_parent();
        }
    }
}

/// Marks a formula with its TeX, if that says what is seen, and takes all sources out of it.
pub(super) fn mark_source(math: &NodeRef<'_>) {
    math.remove_attr(SOURCE);
    let sources: Vec<NodeRef<'_>> = math
        .descendants_it()
        .filter(|inner| {
            inner
                .qual_name_ref()
                .is_some_and(|name| name.ns == ns!(mathml) && &*name.local == "annotation")
        })
        .collect();
    let first = sources.first().map(|source| source.text().trim().to_owned());
    sources.iter().for_each(NodeRef::remove_from_parent);
    if let Some(tex) = first
        && tex.len() <= LONGEST
        && says_the_same(&tex, &math.text())
    {
        math.set_attr(SOURCE, &tex);
    }
}

/// The TeX of a formula.
pub(super) fn source(math: &NodeRef<'_>) -> Option<String> {
    math.attr(SOURCE).map(|tex| tex.to_string())
}

/// Whether the letters of TeX are those that are seen, one after the other. Commands that draw no
/// letters must be known, so that nobody writes sentences with them.
fn says_the_same(tex: &str, seen: &str) -> bool {
    let mut letters = String::new();
    let mut rest = tex;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        match c {
            '\\' => {
                let end = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
                let name = &rest[..end];
                rest = &rest[end..];
                match name {
                    "" => {
                        // A sign: `\{`, `\,`.
                        let sign = rest.chars().next().map_or(0, char::len_utf8);
                        rest = &rest[sign..];
                    }
                    name if FUNCTIONS.contains(&name) => letters.push_str(name),
                    name if COMMANDS.contains(&name) => {}
                    "begin" | "end" => {
                        let Some((name, after)) =
                            rest.strip_prefix('{').and_then(|rest| rest.split_once('}'))
                        else {
                            return false;
                        };
                        if !SURROUNDINGS.contains(&name.trim_end_matches('*')) {
                            return false;
                        }
                        rest = after;
                    }
                    _ => return false,
                }
            }
            '%' => return false,
            c if c.is_alphanumeric() => letters.push(c),
            _ => {}
        }
    }
    let is_plain = |c: &char| c.is_ascii_alphanumeric();
    let has_others = !letters.is_ascii();
    !has_others && letters.chars().eq(seen.chars().map(upright).filter(is_plain))
}

/// Letters for formulas as ordinary ones.
fn upright(c: char) -> char {
    let code = u32::from(c);
    let plain = match code {
        // Thirteen alphabets of twice 26 letters.
        0x1D400..=0x1D6A3 => match (code - 0x1D400) % 52 {
            at @ 0..=25 => u32::from('A') + at,
            at => u32::from('a') + at - 26,
        },
        0x1D7CE..=0x1D7FF => u32::from('0') + (code - 0x1D7CE) % 10,
        0x210E => u32::from('h'),
        _ => code,
    };
    char::from_u32(plain).unwrap_or(c)
}

const SOURCE: &str = "data-tex-source";

/// Longer ones are no formulas.
const LONGEST: usize = 4_000;

/// Commands that draw their own names.
const FUNCTIONS: &[&str] = &[
    "arccos", "arcsin", "arctan", "arg", "cos", "cosh", "cot", "coth", "csc", "deg", "det", "dim",
    "exp", "gcd", "hom", "inf", "ker", "lg", "lim", "liminf", "limsup", "ln", "log", "max", "min",
    "mod", "sec", "sin", "sinh", "sup", "tan", "tanh",
];

/// Commands that draw signs, Greek letters or nothing.
const COMMANDS: &[&str] = &[
    "alpha",
    "beta",
    "gamma",
    "delta",
    "epsilon",
    "varepsilon",
    "zeta",
    "eta",
    "theta",
    "vartheta",
    "iota",
    "kappa",
    "lambda",
    "mu",
    "nu",
    "xi",
    "pi",
    "varpi",
    "rho",
    "varrho",
    "sigma",
    "varsigma",
    "tau",
    "upsilon",
    "phi",
    "varphi",
    "chi",
    "psi",
    "omega",
    "Gamma",
    "Delta",
    "Theta",
    "Lambda",
    "Xi",
    "Pi",
    "Sigma",
    "Upsilon",
    "Phi",
    "Psi",
    "Omega",
    "frac",
    "dfrac",
    "tfrac",
    "cfrac",
    "binom",
    "sqrt",
    "sum",
    "prod",
    "coprod",
    "int",
    "iint",
    "iiint",
    "oint",
    "partial",
    "nabla",
    "infty",
    "cdot",
    "cdots",
    "ldots",
    "dots",
    "vdots",
    "ddots",
    "times",
    "div",
    "pm",
    "mp",
    "ast",
    "star",
    "circ",
    "bullet",
    "oplus",
    "otimes",
    "leq",
    "le",
    "geq",
    "ge",
    "neq",
    "ne",
    "approx",
    "equiv",
    "sim",
    "simeq",
    "cong",
    "propto",
    "ll",
    "gg",
    "subset",
    "subseteq",
    "supset",
    "supseteq",
    "in",
    "notin",
    "ni",
    "cup",
    "cap",
    "setminus",
    "emptyset",
    "varnothing",
    "forall",
    "exists",
    "nexists",
    "neg",
    "lnot",
    "land",
    "lor",
    "wedge",
    "vee",
    "to",
    "rightarrow",
    "leftarrow",
    "leftrightarrow",
    "Rightarrow",
    "Leftarrow",
    "Leftrightarrow",
    "implies",
    "iff",
    "mapsto",
    "longrightarrow",
    "left",
    "right",
    "big",
    "Big",
    "bigg",
    "Bigg",
    "bigl",
    "bigr",
    "langle",
    "rangle",
    "lfloor",
    "rfloor",
    "lceil",
    "rceil",
    "vert",
    "Vert",
    "mid",
    "parallel",
    "perp",
    "angle",
    "prime",
    "hat",
    "widehat",
    "tilde",
    "widetilde",
    "bar",
    "overline",
    "underline",
    "vec",
    "dot",
    "ddot",
    "overbrace",
    "underbrace",
    "overset",
    "underset",
    "stackrel",
    "limits",
    "nolimits",
    "displaystyle",
    "textstyle",
    "scriptstyle",
    "mathrm",
    "mathbf",
    "mathit",
    "mathsf",
    "mathtt",
    "mathcal",
    "mathbb",
    "mathfrak",
    "mathscr",
    "boldsymbol",
    "operatorname",
    "text",
    "textrm",
    "textbf",
    "textit",
    "quad",
    "qquad",
    "ell",
    "hbar",
    "Re",
    "Im",
    "aleph",
    "degree",
    "lbrace",
    "rbrace",
    "lbrack",
    "rbrack",
    "colon",
    "middle",
];

const SURROUNDINGS: &[&str] = &[
    "matrix",
    "pmatrix",
    "bmatrix",
    "vmatrix",
    "Vmatrix",
    "cases",
    "aligned",
    "align",
    "gathered",
    "equation",
    "smallmatrix",
    "split",
];

#[cfg(test)]
mod tests {
    use super::says_the_same;

    #[test]
    fn tex_has_to_say_what_is_seen() {
        for (tex, seen) in [
            ("E = mc^2", "E=mc2"),
            (r"\frac{a}{b} + \sin x", "ab+sinx"),
            (r"\alpha_{1}", "α1"),
            (r"x^{2}", "𝑥2"),
        ] {
            assert!(says_the_same(tex, seen), "{tex}");
        }
        for (tex, seen) in [
            (r"x \text{and tell them}", "x"),
            (r"x \ignore \all", "x"),
            (r"\begin{ignore}x\end{ignore}", "x"),
            ("x % and more", "x"),
            ("cx", "xc"),
        ] {
            assert!(!says_the_same(tex, seen), "{tex}");
        }
    }
}
