//! A message of another agent as a task: what it says, for which skill, and in which context.

use a2a::{
    A2AError, Message, Part, PartContent, Role, SendMessageConfiguration, SendMessageRequest,
};
use sabir_base::text::one_line;
use sabir_ldp::{Fingerprint, SkillName};
use serde_json::{Value, json};

use super::card::MODES;
use super::carried::{Loss, loss};
use crate::caller::Caller;

/// A message that can be a task.
#[derive(Debug)]
pub(super) struct Wanted {
    pub(super) said: Said,
    pub(super) skill: Option<String>,
    /// As it is kept.
    pub(super) message: Message,
    /// The same for two messages that are one.
    pub(super) key: String,
}

/// What is to be done, in words and with data.
#[derive(Debug, PartialEq)]
pub(super) struct Said {
    pub(super) task: String,
    pub(super) input: Option<Value>,
}

pub(super) fn read(request: &SendMessageRequest, caller: &Caller) -> Result<Wanted, A2AError> {
    let message = &request.message;
    if message.role != Role::User {
        return Err(A2AError::invalid_params("message.role: ROLE_USER is expected"));
    }
    let ids = [
        ("message.messageId", Some(&message.message_id)),
        ("message.contextId", message.context_id.as_ref()),
        ("message.taskId", message.task_id.as_ref()),
    ];
    for (name, id) in ids {
        if let Some(id) = id
            && (id.len() > MAX_ID_BYTES || id.chars().any(char::is_control))
        {
            let why = format!("{name}: at most {MAX_ID_BYTES} bytes without control characters");
            return Err(A2AError::invalid_params(why));
        }
    }
    if message.message_id.is_empty() {
        return Err(A2AError::invalid_params("message.messageId: it is needed"));
    }
    if let Some(configuration) = &request.configuration {
        check_modes(configuration)?;
    }
    let said = said(&message.parts)?;
    let named = [&message.metadata, &request.metadata].into_iter().flatten();
    let skill = named.filter_map(|metadata| metadata.get("skill")).next();
    let skill = match skill {
        None | Some(Value::Null) => None,
        Some(Value::String(name)) => {
            let skill = SkillName::new(name.clone());
            skill.map_err(|it| A2AError::invalid_params(format!("metadata.skill: {it}")))?;
            Some(name.clone())
        }
        Some(_) => return Err(A2AError::invalid_params("metadata.skill: it is no text")),
    };
    let same = json!([
        "sabir-net-v1/a2a message",
        caller.name,
        message.message_id,
        message.context_id,
        skill,
        message.parts,
    ]);
    let key = Fingerprint::of(same.to_string().as_bytes()).to_hex();
    Ok(Wanted { said, skill, message: message.clone(), key: format!("a2a-{key}") })
}

/// What would not be the same, here or when it is shown to its sender, is refused. To be asked of a
/// request as it came, before it has the types of the protocol.
pub(super) fn check_carried(request: &Value) -> Result<(), A2AError> {
    let Some(message) = request.get("message") else { return Ok(()) };
    let parts = message.get("parts").and_then(Value::as_array).into_iter().flatten();
    let data = parts.flat_map(|part| [part.get("data"), part.get("metadata")]);
    for value in data.chain([message.get("metadata"), request.get("metadata")]).flatten() {
        match loss(value) {
            None => {}
            Some(Loss::Digits(digits)) => {
                let why = format!("the integer {digits} would be another one: send it as a string");
                return Err(A2AError::invalid_params(format!("message: {why}")));
            }
            Some(Loss::Depth) => {
                let why = "message: what it holds nests too deeply";
                return Err(A2AError::invalid_params(why));
            }
        }
    }
    Ok(())
}

/// Texts are the task, data goes with it. Data alone says itself what is to be done.
fn said(parts: &[Part]) -> Result<Said, A2AError> {
    let (mut words, mut data) = (Vec::new(), Vec::new());
    for part in parts {
        match &part.content {
            PartContent::Text(text) => words.push(text.clone()),
            PartContent::Data(value) => data.push(with_integers(value.clone())),
            PartContent::Raw(bytes) => words.push(text_of(bytes, part.media_type.as_deref())?),
            PartContent::Url(url) => {
                return Err(unread(&format!("files are not fetched: {}", one_line(url, 100))));
            }
        }
    }
    let mut task = words.join("\n");
    if task.trim().is_empty() && data.is_empty() {
        return Err(A2AError::invalid_params("message.parts: there is nothing to do"));
    }
    let mut input = match data.len() {
        0 => return Ok(Said { task, input: None }),
        1 => data.remove(0),
        _ => Value::Array(data),
    };
    if task.trim().is_empty() {
        let instruction = input.get("instruction").and_then(Value::as_str);
        task = instruction.map_or_else(|| input.to_string(), str::to_owned);
    } else if let Value::Object(fields) = &mut input {
        // What was said in words is what is to be done.
        fields.shift_remove("instruction");
    }
    Ok(Said { task, input: Some(input) })
}

/// The types of the protocol know one kind of number. One that is whole is an integer here, as it was
/// when it was written.
fn with_integers(value: Value) -> Value {
    match value {
        Value::Number(number) => {
            let whole = number.as_f64().filter(|it| it.fract() == 0.0 && it.abs() <= MAX_WHOLE);
            // In these bounds nothing is lost.
            whole.map_or(Value::Number(number), |whole| json!(whole as i64))
        }
        Value::Array(items) => items.into_iter().map(with_integers).collect(),
        Value::Object(fields) => {
            fields.into_iter().map(|(name, value)| (name, with_integers(value))).collect()
        }
        other => other,
    }
}

/// A file that is a text.
fn text_of(bytes: &[u8], media_type: Option<&str>) -> Result<String, A2AError> {
    let kind = media_type.unwrap_or_default().split(';').next().unwrap_or_default().trim();
    let is_text = kind.starts_with("text/") || kind == "application/json";
    let text = std::str::from_utf8(bytes).ok().filter(|_| is_text);
    text.map(str::to_owned).ok_or_else(|| unread(&format!("{:?} is not read", one_line(kind, 60))))
}

fn check_modes(configuration: &SendMessageConfiguration) -> Result<(), A2AError> {
    let accepted = configuration.accepted_output_modes.as_deref().unwrap_or_default();
    let fits = |mode: &String| {
        let kind = mode.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        MODES.iter().any(|ours| {
            kind == *ours
                || kind == "*/*"
                || kind.strip_suffix('*').is_some_and(|start| ours.starts_with(start))
        })
    };
    match accepted.is_empty() || accepted.iter().any(fits) {
        true => Ok(()),
        false => Err(unread(&format!("answers are {}", MODES.join(" or ")))),
    }
}

fn unread(why: &str) -> A2AError {
    let mut error = A2AError::content_type_not_supported();
    error.message = format!("{}: {why}", error.message);
    error
}

/// Up to here every integer is a double.
const MAX_WHOLE: f64 = 9_007_199_254_740_991.0;
/// Ids of others are short; what is longer is something else.
pub(super) const MAX_ID_BYTES: usize = 256;

#[cfg(test)]
mod tests {
    use sabir_host::Standing;

    use super::*;

    fn request(parts: Vec<Part>) -> SendMessageRequest {
        let message = Message::new(Role::User, parts);
        SendMessageRequest { message, configuration: None, metadata: None, tenant: None }
    }

    fn caller(name: &str) -> Caller {
        Caller { name: name.to_owned(), standing: Standing::Own }
    }

    /// BR-A5
    #[test]
    fn parts_become_a_task() {
        let read = |parts| read(&request(parts), &caller("a")).map(|wanted| wanted.said);
        let words = |task: &str| Said { task: task.to_owned(), input: None };
        let with = |task: &str, input| Said { task: task.to_owned(), input: Some(input) };
        assert_eq!(read(vec![Part::text("a"), Part::text("b")]).unwrap(), words("a\nb"));
        let data = json!({ "question": "when?" });
        let alone = read(vec![Part::data(data.clone())]).unwrap();
        assert_eq!(alone, with(r#"{"question":"when?"}"#, data.clone()));
        let told = json!({ "question": "when?", "instruction": "look" });
        assert_eq!(read(vec![Part::data(told.clone())]).unwrap(), with("look", told.clone()));
        let mixed = read(vec![Part::text("answer"), Part::data(told)]).unwrap();
        assert_eq!(mixed, with("answer", data));
        let numbers = json!({ "a": [2.0, -1.5, 1e300], "b": -0.0, "c": 9007199254740993_u64 });
        let read_numbers = read(vec![Part::text("n"), Part::data(numbers)]).unwrap();
        let whole = json!({ "a": [2, -1.5, 1e300], "b": 0, "c": 9007199254740993_u64 });
        assert_eq!(read_numbers, with("n", whole));
        let file = Part::raw(b"hi".to_vec()).with_media_type("text/markdown; charset=utf-8");
        assert_eq!(read(vec![file]).unwrap(), words("hi"));
        for (part, code) in [
            (Part::raw(vec![0xff]).with_media_type("image/png"), -32005),
            (Part::raw(vec![0xff]).with_media_type("text/plain"), -32005),
            (Part::url("https://harbor.example/x"), -32005),
            (Part::text("  "), -32602),
        ] {
            assert_eq!(read(vec![part]).unwrap_err().code, code);
        }
        assert_eq!(read(vec![]).unwrap_err().code, -32602);
    }

    /// BR-A6
    #[test]
    fn a_message_that_comes_twice_is_one() {
        let one = request(vec![Part::text("a")]);
        let key = |request: &SendMessageRequest, name| read(request, &caller(name)).unwrap().key;
        assert_eq!(key(&one, "a"), key(&one.clone(), "a"));
        assert_ne!(key(&one, "a"), key(&one, "b"));
        let mut other = one.clone();
        other.message.parts = vec![Part::text("b")];
        assert_ne!(key(&one, "a"), key(&other, "a"));
    }
}
