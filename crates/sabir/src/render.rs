//! Diagnostics for people: the source with a caret, what is wrong, what to type instead.
//!
//! Only a window of the source is handed to the renderer, so that a line of ten megabytes costs no
//! more than a short one.

use std::borrow::Cow;

use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Patch, Renderer, Snippet};
use sabir_base::{Diagnostic, Severity, Span};

use crate::input::Source;
use crate::output::{Colour, Notes};
use crate::place::Places;

/// More than this in one go is not read by anybody; JSON has them all.
const MAX_RENDERED: usize = 50;

/// A line is shown from its start if a finding is no further into it than this: most messages are
/// lines of their own, and a place with its path is worth more than a narrow picture.
const WHOLE: usize = 160;

/// How much of a longer line is shown before and after the start of a finding. Together they fit a
/// terminal of ordinary width, with room for the line number.
const BEFORE: usize = 48;
const AFTER: usize = 80;

/// A finding that covers several lines may show more of them; the renderer folds the middle.
const AFTER_LINES: usize = 600;

/// A fix that writes more than this, or in more places, is told in words: its picture would hide
/// what it is about.
const MAX_FIX: usize = 200;
const MAX_EDITS: usize = 16;

/// Messages quote the source, and the source may be one word of ten megabytes.
const MAX_MESSAGE: usize = 400;

/// Prints all that is known about `source`.
pub(crate) fn print_all(notes: &mut Notes, source: &Source, diagnostics: &[Diagnostic]) {
    print(notes, &source.origin.to_string(), &Places::new(&source.text), diagnostics);
}

/// Prints `diagnostics` in the order given, as being about a text of that name.
pub(crate) fn print(
    notes: &mut Notes,
    name: &str,
    places: &Places<'_>,
    diagnostics: &[Diagnostic],
) {
    let name = &printable(name);
    for diagnostic in diagnostics.iter().take(MAX_RENDERED) {
        notes.line(render(name, places, diagnostic, notes.colour));
        notes.line("");
    }
    if let Some(more) = diagnostics.len().checked_sub(MAX_RENDERED).filter(|&more| more > 0) {
        notes.line(format_args!("... and {more} more in {name}"));
    }
}

/// One finding as text.
fn render(name: &str, places: &Places<'_>, diagnostic: &Diagnostic, colour: Colour) -> String {
    let window = Window::around(places, diagnostic.span);
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Info => Level::INFO,
    };
    let mut snippet = window
        .snippet::<Annotation<'_>>()
        .annotation(AnnotationKind::Primary.span(window.clamp(diagnostic.span)));
    // The renderer counts columns within the window, so it is not asked for them where the window
    // does not start with its line.
    if window.mark == 0 {
        snippet = snippet.path(name);
    }
    let mut far_labels = Vec::new();
    for label in &diagnostic.labels {
        match window.locate(label.span) {
            Some(range) => {
                let annotation = AnnotationKind::Context.span(range);
                snippet = snippet.annotation(annotation.label(clip(&label.message, MAX_MESSAGE)));
            }
            None => {
                let at = places.of(label.span.start);
                let message = clip(&label.message, MAX_MESSAGE);
                far_labels.push(format!("{message} ({name}:{}:{})", at.line, at.column));
            }
        }
    }
    let mut group = level
        .primary_title(clip(&diagnostic.message, MAX_MESSAGE))
        .id(diagnostic.code.as_str())
        .element(snippet);
    if window.mark > 0 {
        let at = places.of(diagnostic.span.start);
        let place = format!("{name}:{}:{}", at.line, at.column);
        group = group.element(Level::NOTE.message(format!("at {place}, in a long line")));
    }
    for label in far_labels {
        group = group.element(Level::NOTE.message(label));
    }
    let mut report = vec![];
    let fix_window = fix_window(places, &window, diagnostic);
    match fix_group(fix_window.as_ref().unwrap_or(&window), diagnostic) {
        Some(fix) => report.extend([group, fix]),
        None => {
            if let Some(help) = &diagnostic.help {
                group = group.element(Level::HELP.message(clip(help, MAX_MESSAGE)));
            }
            if !diagnostic.fixes.is_empty() {
                group = group.element(Level::HELP.message(fix_in_words(places, diagnostic)));
            }
            report.push(group);
        }
    }
    let renderer = match colour {
        Colour::Styled => Renderer::styled(),
        Colour::Plain => Renderer::plain(),
    };
    renderer.render(&report)
}

/// A window of its own for a fix that happens elsewhere than the finding.
fn fix_window(places: &Places<'_>, window: &Window, diagnostic: &Diagnostic) -> Option<Window> {
    let spans = diagnostic.fixes.iter().map(|edit| edit.span);
    let all = spans.reduce(Span::to)?;
    window.locate(all).is_none().then(|| Window::around(places, all))
}

/// The source as it would be after the fix, when all of it happens inside the window.
fn fix_group<'a>(window: &'a Window, diagnostic: &'a Diagnostic) -> Option<Group<'a>> {
    let length: usize = diagnostic.fixes.iter().map(|edit| edit.text.len()).sum();
    if diagnostic.fixes.is_empty() || diagnostic.fixes.len() > MAX_EDITS || length > MAX_FIX {
        return None;
    }
    let title = diagnostic.help.as_deref().unwrap_or("this would be right");
    let mut snippet = window.snippet::<Patch<'_>>();
    for edit in &diagnostic.fixes {
        snippet = snippet.patch(Patch::new(window.locate(edit.span)?, printable(&edit.text)));
    }
    Some(Level::HELP.secondary_title(clip(title, MAX_MESSAGE)).element(snippet))
}

fn fix_in_words(places: &Places<'_>, diagnostic: &Diagnostic) -> String {
    const MAX_STEPS: usize = 4;
    const MAX_TEXT: usize = 60;
    let mut steps: Vec<String> = Vec::new();
    for edit in diagnostic.fixes.iter().take(MAX_STEPS) {
        let at = places.of(edit.span.start);
        let old = clip(&places.text()[edit.span.range()], MAX_TEXT);
        let new = clip(&edit.text, MAX_TEXT);
        let what = match (old.is_empty(), new.is_empty()) {
            (true, _) => format!("insert `{new}`"),
            (false, true) => format!("delete `{old}`"),
            (false, false) => format!("replace `{old}` with `{new}`"),
        };
        steps.push(format!("at {}:{} {what}", at.line, at.column));
    }
    if diagnostic.fixes.len() > MAX_STEPS {
        steps.push(format!("and {} more edits", diagnostic.fixes.len() - MAX_STEPS));
    }
    steps.join(", ")
}

/// The start of `text`, printable, with a mark where it was cut.
pub(crate) fn clip(text: &str, max: usize) -> String {
    let end = text.floor_char_boundary(max);
    let mark = if end < text.len() { "…" } else { "" };
    format!("{}{mark}", printable(&text[..end]))
}

/// `text` without characters that would move a terminal's cursor or change its colours.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(char::is_control) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if c.is_control() {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// The part of the source around a finding.
#[derive(Debug)]
struct Window {
    /// What is shown: the part, with marks where lines were cut.
    source: String,
    /// The part's place in the text.
    start: usize,
    end: usize,
    /// How many bytes the mark at the front takes.
    mark: usize,
    line: usize,
}

impl Window {
    const MARK: &'static str = "…";

    fn around(places: &Places<'_>, span: Span) -> Self {
        let text = places.text();
        let at = span.start as usize;
        let first = places.line_at(span.start);
        // The last byte that belongs to the finding decides which line is the last: a finding that
        // ends with its line does not drag the next one along.
        let last = places.line_at(span.end.saturating_sub(1).max(span.start));
        let after = if last.start == first.start { AFTER } else { AFTER_LINES };
        let start = match at - first.start <= WHOLE {
            true => first.start,
            false => text.floor_char_boundary(at.saturating_sub(BEFORE)),
        };
        let end = text.ceil_char_boundary(last.end.min(at + after)).max(at);
        let mut source = String::with_capacity(end - start + 2 * Self::MARK.len());
        if start > first.start {
            source.push_str(Self::MARK);
        }
        let mark = source.len();
        source.push_str(&text[start..end]);
        if end < last.end {
            source.push_str(Self::MARK);
        }
        Self { source, start, end, mark, line: places.of(span.start).line as usize }
    }

    fn snippet<T: Clone>(&self) -> Snippet<'_, T> {
        Snippet::source(self.source.as_str()).line_start(self.line)
    }

    /// Where `span` is in the window, if all of it is.
    fn locate(&self, span: Span) -> Option<std::ops::Range<usize>> {
        let range = span.range();
        let inside = self.start <= range.start && range.end <= self.end;
        inside.then(|| range.start - self.start + self.mark..range.end - self.start + self.mark)
    }

    /// The part of `span` that is in the window.
    fn clamp(&self, span: Span) -> std::ops::Range<usize> {
        let into =
            |offset: u32| (offset as usize).clamp(self.start, self.end) - self.start + self.mark;
        into(span.start)..into(span.end)
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(text: &str, expect: Expect) {
        let parsed = sabir_axon::parse(text);
        let places = Places::new(text);
        let rendered: Vec<String> = parsed
            .diagnostics
            .iter()
            .map(|diagnostic| render("a.axon", &places, diagnostic, Colour::Plain))
            .collect();
        expect.assert_eq(&rendered.join("\n\n"));
    }

    #[test]
    fn a_finding_with_a_fix() {
        check(
            "INF(@a>@b): ok\nINF(@a->@b): é alert{level:3}",
            expect![[r#"
            error[AX105]: routing is written with `>`
             --> a.axon:2:7
              |
            2 | INF(@a->@b): é alert{level:3}
              |       ^^
              |
            help: write `(@sender>@receiver)`
              |
            2 - INF(@a->@b): é alert{level:3}
            2 + INF(@a>@b): é alert{level:3}
              |

            error[AX009]: `é` is not a name
             --> a.axon:2:14
              |
            2 | INF(@a->@b): é alert{level:3}
              |              ^
              |
            help: names are ASCII letters, digits, `-` and `_`, and start with a letter; quote other text
              |
            2 - INF(@a->@b): é alert{level:3}
            2 + INF(@a->@b): "é" alert{level:3}
              |

            error[AX113]: an operator is missing before this
             --> a.axon:2:16
              |
            2 | INF(@a->@b): é alert{level:3}
              |                ^^^^^
              |
            help: write `&` for "and", `->` for "then", or a comma between elements
              |
            2 | INF(@a->@b): é & alert{level:3}
              |                +

            error[AX112]: a record cannot be glued to this
             --> a.axon:2:21
              |
            2 | INF(@a->@b): é alert{level:3}
              |                     ^
              |
            help: write `#alert{...}` for a tagged record
              |
            2 | INF(@a->@b): é #alert{level:3}
              |                +"#]],
        );
    }

    #[test]
    fn a_finding_at_the_very_end() {
        check(
            "INF(@a>@b): ok\nINF(@a>@b):\n",
            expect![[r#"
                error[AX108]: expected an expression, found the end of the text
                 --> a.axon:3:1
                  |
                3 |
                  | ^
                  |
                help: write `_` for "nothing"
                  |
                2 | INF(@a>@b): _
                  |             +"#]],
        );
    }

    #[test]
    fn a_long_line_is_clipped_around_the_finding() {
        let filler = "é".repeat(5_000);
        check(
            &format!("INF(@a>@b): [\"{filler}\", x{{a:1}}, \"{filler}\"]"),
            expect![[r#"
            error[AX112]: a record cannot be glued to this
              |
            1 | …éééééééééééééééééééééé", x{a:1}, "éééééééééééééééééééééééééééééééééééé…
              |                            ^
              |
              = note: at a.axon:1:5019, in a long line
            help: write `#x{...}` for a tagged record
              |
            1 | …éééééééééééééééééééééé", #x{a:1}, "éééééééééééééééééééééééééééééééééééé…
              |                           +"#]],
        );
    }

    #[test]
    fn an_unclosed_comment_over_many_lines() {
        let body = "line\n".repeat(300);
        check(
            &format!("INF(@a>@b): x\n(* {body}"),
            expect![[r#"
                error[AX002]: a comment is never closed with `*)`
                   --> a.axon:2:1
                    |
                  2 | (* line
                    | ^^
                    |
                help: add `*)`
                    |
                302 |  *)
                    |"#]],
        );
    }

    #[test]
    fn control_characters_stay_out_of_the_terminal() {
        check(
            "INF(@a>@b): \u{1b}[31mred\u{0}",
            expect![[r#"
            error[AX108]: expected an expression, found `\u{1b}`
             --> a.axon:1:13
              |
            1 | INF(@a>@b): ␛[31mred␀
              |             ^
              |
            help: write `_` for "nothing"
              |
            1 - INF(@a>@b): ␛[31mred␀
            1 + INF(@a>@b): "\u{1b}[31mred\u{0}"
              |"#]],
        );
        assert_eq!(printable("a\u{1b}[31m\n"), "a\\u{1b}[31m\\n");
    }

    #[test]
    fn a_fix_outside_the_window_is_told_in_words() {
        let text = format!("x{}y", " ".repeat(500));
        let places = Places::new(&text);
        let diagnostic =
            Diagnostic::error(sabir_axon::codes::DUPLICATE_KEY, Span::new(0, 1), "twice")
                .label(Span::new(501, 502), "first here")
                .fix(sabir_base::Edit::delete(Span::new(501, 502)))
                .fix(sabir_base::Edit::insert(0, "z"));
        let rendered = render("a.axon", &places, &diagnostic, Colour::Plain);
        expect![[r#"
            error[AX116]: twice
             --> a.axon:1:1
              |
            1 | x                                                                               …
              | ^
              |
              = note: first here (a.axon:1:502)
              = help: at 1:502 delete `y`, at 1:1 insert `z`"#]]
        .assert_eq(&rendered);
    }
}
