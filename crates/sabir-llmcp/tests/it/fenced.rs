//! Reads a prompt by its fences, as a careful model would. It shares no code with the writer.

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) trust: String,
    pub(crate) kind: String,
    pub(crate) fields: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Seen {
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }
}

/// The documents of a prompt, and the text around them.
pub(crate) fn read_fences(prompt: &str, mark: &str) -> (Vec<Seen>, String) {
    let (opening, closing) = (format!("<<<{mark} "), format!("{mark}>>>"));
    let mut seen: Vec<Seen> = Vec::new();
    let mut around = String::new();
    let mut lines = prompt.split('\n');
    while let Some(line) = lines.next() {
        let Some(head) = line.strip_prefix(&opening) else {
            around.push_str(line);
            around.push('\n');
            continue;
        };
        let (trust, kind) = head.split_once(' ').unwrap_or((head, ""));
        let mut fields = Vec::new();
        for line in lines.by_ref().take_while(|line| !line.is_empty()) {
            let (name, value) = line.split_once(": ").unwrap_or((line.trim_end_matches(':'), ""));
            fields.push((name.to_owned(), value.to_owned()));
        }
        let body: Vec<&str> = lines.by_ref().take_while(|line| *line != closing).collect();
        seen.push(Seen {
            trust: trust.to_owned(),
            kind: kind.to_owned(),
            fields,
            body: body.join("\n"),
        });
    }
    (seen, around)
}
