//! Records as a journal keeps them: those that one input made are one JSON text, a list. Most tasks of
//! a busy node begin and end with the message that brings them, and three records say nearly the same
//! of it; they are written as one, and read as three. It knows forms, and nothing of what they mean.

use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Usage;
use super::record::{
    Authentication, Ending, Record, Seen, TaskDigest, TaskEnded, TaskKey, TaskStarted,
};
use crate::id::{DelegateId, SessionId, SkillName};
use crate::mode::PayloadMode;
use crate::provenance::{LineageHop, Provenance, VerificationStatus};
use crate::replay::ReplayRecord;
use crate::time::{Stamp, Timestamp};
use crate::trust::Mark;

/// The records of one input, as a text.
pub fn write_records(records: &[Record]) -> String {
    let mut out = Vec::with_capacity(TYPICAL_BYTES);
    let written = match Done::of(records) {
        Some(done) => serde_json::to_writer(&mut out, &[done]),
        None => serde_json::to_writer(&mut out, records),
    };
    // Records are texts, numbers and JSON values: they always have a JSON form.
    written.ok().and_then(|()| String::from_utf8(out).ok()).unwrap_or_default()
}

/// The records that [`write_records`] wrote; `None` of any other text.
pub fn read_records(text: &str) -> Option<Vec<Record>> {
    if !is_done(text) {
        return serde_json::from_str(text).ok();
    }
    let [done] = serde_json::from_str::<[Done<'_>; 1]>(text).ok()?;
    Some(done.into_records())
}

/// Of the records in such a text, the messages that were let in. That takes less than reading all.
pub fn read_seen(text: &str) -> Option<Vec<Seen>> {
    if is_done(text) {
        let [done] = serde_json::from_str::<[Done<'_>; 1]>(text).ok()?;
        return Some(vec![done.seen()]);
    }
    let glances: Vec<Glance> = serde_json::from_str(text).ok()?;
    let seen = |Glance { replay, session, at }| Some(Seen { replay: replay?, session, at: at? });
    Some(glances.into_iter().filter_map(seen).collect())
}

/// The same text with each record by itself, for who shows them one by one.
pub fn spell_out_records(text: &str) -> Cow<'_, str> {
    let spell_out = || serde_json::to_string(&read_records(text)?).ok();
    match is_done(text) {
        true => spell_out().map_or(Cow::Borrowed(text), Cow::Owned),
        false => Cow::Borrowed(text),
    }
}

fn is_done(text: &str) -> bool {
    text.starts_with(BEGINNING)
}

/// Of a record, what tells whether a message was let in: only one kind has a `replay`.
#[derive(Deserialize)]
struct Glance {
    #[serde(default)]
    replay: Option<ReplayRecord>,
    #[serde(default)]
    session: Option<SessionId>,
    at: Option<Timestamp>,
}

/// A message that was let in, the task that it began, and the result with which that ended at once: what
/// is true of all three stands here once, and what follows from it does not stand here.
#[derive(Serialize, Deserialize)]
struct Done<'a> {
    record: Name,
    /// Stands for the id of the message.
    seen: Cow<'a, str>,
    forget_at: Timestamp,
    key: Cow<'a, TaskKey>,
    session: Cow<'a, SessionId>,
    skill: Cow<'a, SkillName>,
    digest: TaskDigest,
    mode: PayloadMode,
    deadline: Timestamp,
    authentication: Authentication,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    shown: Option<Mark>,
    output: Cow<'a, Value>,
    produced_by: Cow<'a, DelegateId>,
    model_version: Cow<'a, str>,
    usage: Usage,
    at: Timestamp,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Name {
    Done,
}

/// How a text of this kind begins.
const BEGINNING: &str = r#"[{"record":"done","#;

impl<'a> Done<'a> {
    /// None where anything would be lost.
    fn of(records: &'a [Record]) -> Option<Self> {
        let [Record::Seen(seen), Record::Started(started), Record::Ended(ended)] = records else {
            return None;
        };
        let Ending::Result { output, provenance } = &ended.ending else { return None };
        let (key, at) = (&started.key, ended.at);
        let is_one = seen.replay.sender == key.owner
            && seen.session.as_ref() == Some(&started.session)
            && seen.at == at
            && started.at == at
            && started.contract.is_none()
            && started.input.is_none()
            && matches!(&*started.delegation_path, [only] if *only == key.owner)
            && ended.key == *key
            && ended.session == started.session
            && ended.digest == started.digest
            && ended.mode == started.mode
            && ended.authentication == started.authentication
            && ended.shown == started.shown;
        if !is_one || !is_plain(provenance, started, ended) {
            return None;
        }
        Some(Self {
            record: Name::Done,
            seen: Cow::Borrowed(&seen.replay.digest),
            forget_at: seen.replay.forget_at,
            key: Cow::Borrowed(key),
            session: Cow::Borrowed(&started.session),
            skill: Cow::Borrowed(&started.skill),
            digest: started.digest,
            mode: started.mode,
            deadline: started.deadline,
            authentication: started.authentication,
            shown: started.shown,
            output: Cow::Borrowed(output),
            produced_by: Cow::Borrowed(&provenance.produced_by),
            model_version: Cow::Borrowed(&provenance.model_version),
            usage: ended.usage,
            at,
        })
    }

    fn seen(&self) -> Seen {
        let (sender, digest) = (self.key.owner.clone(), self.seen.clone().into_owned());
        let replay = ReplayRecord { sender, digest, forget_at: self.forget_at };
        Seen { replay, session: Some(self.session.clone().into_owned()), at: self.at }
    }

    fn into_records(self) -> Vec<Record> {
        let seen = self.seen();
        let (key, session) = (self.key.into_owned(), self.session.into_owned());
        let started = TaskStarted {
            key: key.clone(),
            session: session.clone(),
            skill: self.skill.into_owned(),
            digest: self.digest,
            mode: self.mode,
            contract: None,
            delegation_path: Arc::from([key.owner.clone()]),
            deadline: self.deadline,
            authentication: self.authentication,
            shown: self.shown,
            input: None,
            at: self.at,
        };
        let maker = (self.produced_by.into_owned(), self.model_version.into_owned());
        let provenance = Box::new(plain(maker, &started, self.usage));
        let ended = TaskEnded {
            key,
            session,
            digest: self.digest,
            mode: self.mode,
            ending: Ending::Result { output: self.output.into_owned(), provenance },
            usage: self.usage,
            authentication: self.authentication,
            shown: self.shown,
            at: self.at,
        };
        vec![Record::Seen(seen), Record::Started(started.into()), Record::Ended(ended.into())]
    }
}

/// The provenance of a result of which nothing else is known than who made it, when, and at what cost.
fn plain(maker: (DelegateId, String), started: &TaskStarted, usage: Usage) -> Provenance {
    let (produced_by, model_version) = maker;
    let stamp = Stamp::from(started.at);
    let hop = LineageHop {
        delegate_id: produced_by.clone(),
        model_version: model_version.clone(),
        step: started.skill.to_string(),
        timestamp: Some(stamp.clone()),
        verification: VerificationStatus::Unverified,
    };
    let mut provenance = Provenance::new(produced_by, model_version, started.mode);
    provenance.session_id = Some(started.session.clone());
    provenance.timestamp = Some(stamp);
    provenance.tokens_used = usage.tokens;
    provenance.cost_usd = usage.cost_usd;
    provenance.latency_ms = Some(0);
    provenance.lineage = Arc::from([hop]);
    provenance
}

/// Whether a provenance is what [`plain`] makes of the rest. Nothing is copied to say so.
fn is_plain(provenance: &Provenance, started: &TaskStarted, ended: &TaskEnded) -> bool {
    let Provenance {
        produced_by,
        model_version,
        payload_mode_used,
        confidence: None,
        verification: VerificationStatus::Unverified,
        verified_by: None,
        session_id: Some(session),
        timestamp: Some(stamp),
        tokens_used,
        cost_usd,
        latency_ms: Some(0),
        contract_id: None,
        contract_satisfied: None,
        contract_violations,
        evidence,
        lineage,
        signature: None,
    } = provenance
    else {
        return false;
    };
    let [hop] = &**lineage else { return false };
    contract_violations.is_empty()
        && evidence.is_empty()
        && *payload_mode_used == started.mode
        && *session == started.session
        && *tokens_used == ended.usage.tokens
        && cost_usd.map(f64::to_bits) == ended.usage.cost_usd.map(f64::to_bits)
        && hop.delegate_id == *produced_by
        && hop.model_version == *model_version
        && hop.step == started.skill.as_str()
        && hop.timestamp.as_ref() == Some(stamp)
        && hop.verification == VerificationStatus::Unverified
        && is_written(stamp, ended.at)
}

/// Whether a time is written as we write it.
fn is_written(stamp: &Stamp, at: Timestamp) -> bool {
    let mut rest = Rest(&stamp.text);
    stamp.at == at && write!(rest, "{at}").is_ok() && rest.0.is_empty()
}

/// Takes only what a text goes on with.
struct Rest<'a>(&'a str);

impl fmt::Write for Rest<'_> {
    fn write_str(&mut self, written: &str) -> fmt::Result {
        self.0 = self.0.strip_prefix(written).ok_or(fmt::Error)?;
        Ok(())
    }
}

/// Most inputs fit.
const TYPICAL_BYTES: usize = 1024;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::contract::Contract;
    use crate::id::TaskId;
    use crate::value::{HexBytes, Score};

    /// What a message that brings a task without terms, done at once, makes a delegate record.
    fn records() -> [Record; 3] {
        let key = TaskKey {
            owner: DelegateId::new("ldp:delegate:caller").unwrap(),
            id: TaskId::new("t-1").unwrap(),
        };
        let (session, at) = (SessionId::new("s-1").unwrap(), Timestamp::from_millis(1_000_500));
        let digest = TaskDigest(HexBytes([7; 32]));
        let (sender, forget_at) = (key.owner.clone(), at.plus_millis(300_000));
        let replay = ReplayRecord { sender, digest: "ab".repeat(16), forget_at };
        let started = TaskStarted {
            key: key.clone(),
            session: session.clone(),
            skill: SkillName::new("echo").unwrap(),
            digest,
            mode: PayloadMode::Text,
            contract: None,
            delegation_path: Arc::from([key.owner.clone()]),
            deadline: at.plus_millis(9),
            authentication: Authentication::Signed,
            shown: None,
            input: None,
            at,
        };
        let usage = Usage { tokens: Some(0), cost_usd: Some(0.0) };
        let maker = (DelegateId::new("ldp:delegate:harbor").unwrap(), "m-1".to_owned());
        let provenance = Box::new(plain(maker, &started, usage));
        let ended = TaskEnded {
            key,
            session: session.clone(),
            digest,
            mode: PayloadMode::Text,
            ending: Ending::Result { output: json!("done"), provenance },
            usage,
            authentication: Authentication::Signed,
            shown: None,
            at,
        };
        [
            Record::Seen(Seen { replay, session: Some(session), at }),
            Record::Started(started.into()),
            Record::Ended(ended.into()),
        ]
    }

    /// QP-J20
    #[test]
    fn a_task_that_is_done_at_once_is_one_record_and_read_as_three() {
        let records = records();
        let text = write_records(&records);
        assert_eq!(
            text,
            concat!(
                r#"[{"record":"done","seen":"abababababababababababababababab","#,
                r#""forget_at":1300500,"key":{"owner":"ldp:delegate:caller","id":"t-1"},"#,
                r#""session":"s-1","skill":"echo","#,
                r#""digest":"0707070707070707070707070707070707070707070707070707070707070707","#,
                r#""mode":"text","deadline":1000509,"authentication":"signed","output":"done","#,
                r#""produced_by":"ldp:delegate:harbor","model_version":"m-1","#,
                r#""usage":{"tokens":0,"cost_usd":0.0},"at":1000500}]"#,
            )
        );
        assert_eq!(read_records(&text).unwrap(), records);
        let Record::Seen(seen) = &records[0] else { panic!() };
        assert_eq!(read_seen(&text).unwrap(), std::slice::from_ref(seen));
        let spelled_out = spell_out_records(&text);
        assert_eq!(spelled_out, serde_json::to_string(&records).unwrap());
        assert_eq!(read_seen(&spelled_out).unwrap(), std::slice::from_ref(seen));
        assert_eq!(spell_out_records(&spelled_out), spelled_out);
    }

    /// One thing that is not as in the plain case, for each that there is.
    type Change = fn(&mut Seen, &mut TaskStarted, &mut TaskEnded, &mut Provenance);

    const CHANGES: [Change; 30] = [
        |seen, _, _, _| seen.replay.sender = DelegateId::new("other").unwrap(),
        |seen, _, _, _| seen.session = None,
        |seen, _, _, _| seen.session = SessionId::new("other").ok(),
        |seen, _, _, _| seen.at = Timestamp::from_millis(1),
        |_, started, _, _| started.at = Timestamp::from_millis(1),
        |_, started, _, _| {
            let contract = json!({ "contract_id": "c", "objective": "o" });
            started.contract = Some(serde_json::from_value::<Contract>(contract).unwrap());
        },
        |_, started, _, _| started.input = Some(json!(null)),
        |_, started, _, _| started.delegation_path = Arc::default(),
        |_, started, _, _| {
            let path = [DelegateId::new("other").unwrap(), started.key.owner.clone()];
            started.delegation_path = Arc::from(path);
        },
        |_, started, _, _| started.key.id = TaskId::new("other").unwrap(),
        |_, started, _, _| started.session = SessionId::new("other").unwrap(),
        |_, started, _, _| started.digest = TaskDigest(HexBytes([8; 32])),
        |_, started, _, _| started.mode = PayloadMode::SemanticFrame,
        |_, started, _, _| started.authentication = Authentication::Unsigned,
        |_, started, _, _| started.shown = Some(Mark(HexBytes([1; 16]))),
        |_, started, _, _| started.skill = SkillName::new("other").unwrap(),
        |_, _, ended, _| ended.usage.tokens = None,
        |_, _, ended, _| ended.usage.cost_usd = Some(-0.0),
        |_, _, ended, _| ended.at = Timestamp::from_millis(1),
        |_, _, _, provenance| provenance.confidence = Score::new(0.5),
        |_, _, _, provenance| provenance.verification = VerificationStatus::ToolVerified,
        |_, _, _, provenance| provenance.verified_by = Some("me".to_owned()),
        |_, _, _, provenance| provenance.session_id = None,
        |_, _, _, provenance| provenance.latency_ms = Some(1),
        |_, _, _, provenance| provenance.contract_satisfied = Some(true),
        |_, _, _, provenance| provenance.contract_violations.push("late".to_owned()),
        |_, _, _, provenance| provenance.lineage = Arc::default(),
        |_, _, _, provenance| Arc::make_mut(&mut provenance.lineage)[0].step.clear(),
        |_, _, _, provenance| {
            let stamp = Stamp::try_from("1970-01-01T00:16:40.5Z".to_owned()).unwrap();
            Arc::make_mut(&mut provenance.lineage)[0].timestamp = Some(stamp.clone());
            provenance.timestamp = Some(stamp);
        },
        |_, _, _, provenance| provenance.payload_mode_used = PayloadMode::SemanticGraph,
    ];

    /// QP-J20: what is true of one record alone keeps all of them apart.
    #[test]
    fn nothing_is_lost_by_writing_records_as_one() {
        for (index, change) in CHANGES.into_iter().enumerate() {
            let mut records = records();
            let [Record::Seen(seen), Record::Started(started), Record::Ended(ended)] = &mut records
            else {
                panic!()
            };
            let Ending::Result { provenance, .. } = &mut ended.ending else { panic!() };
            let mut changed = (**provenance).clone();
            change(seen, started, ended, &mut changed);
            let Ending::Result { provenance, .. } = &mut ended.ending else { panic!() };
            **provenance = changed;
            let text = write_records(&records);
            assert!(!is_done(&text), "{index}: {text}");
            assert_eq!(read_records(&text).unwrap(), records, "{index}");
        }
        let [seen, started, ended] = records();
        for others in [vec![seen.clone(), started.clone()], vec![started, ended, seen]] {
            assert_eq!(read_records(&write_records(&others)).unwrap(), others);
        }
    }

    #[test]
    fn what_is_no_list_of_records_is_none() {
        let whole = write_records(&records());
        for text in ["", "[", "{}", "[1]", BEGINNING, &whole[..whole.len() - 1]] {
            assert_eq!(read_records(text), None, "{text}");
            assert_eq!(read_seen(text), None, "{text}");
            assert_eq!(spell_out_records(text), text);
        }
    }

    proptest! {
        /// QP-J20
        #[test]
        fn records_are_read_as_they_were_written(
            names in prop::array::uniform6("[ -~]{1,8}"),
            text in ".{0,20}",
            millis in 0..u64::from(u32::MAX) * 1000,
            tokens in prop::option::of(any::<u32>()),
            cents in prop::option::of(0..1000_u32),
        ) {
            let [owner, id, session, skill, maker, model] = names;
            let mut records = records();
            let [Record::Seen(seen), Record::Started(started), Record::Ended(ended)] = &mut records
            else {
                panic!()
            };
            let key = TaskKey {
                owner: DelegateId::new(owner).unwrap(),
                id: TaskId::new(id).unwrap(),
            };
            let session = SessionId::new(session).unwrap();
            let at = Timestamp::from_millis(millis);
            seen.replay.sender = key.owner.clone();
            (seen.session, seen.at) = (Some(session.clone()), at);
            started.delegation_path = Arc::from([key.owner.clone()]);
            (started.key, started.session, started.at) = (key.clone(), session.clone(), at);
            started.skill = SkillName::new(skill).unwrap();
            (ended.key, ended.session, ended.at) = (key, session, at);
            let cost_usd = cents.map(|cents| f64::from(cents) / 100.0);
            ended.usage = Usage { tokens: tokens.map(u64::from), cost_usd };
            let maker = (DelegateId::new(maker).unwrap(), model);
            let provenance = Box::new(plain(maker, started, ended.usage));
            ended.ending = Ending::Result { output: json!({ "text": text }), provenance };
            let text = write_records(&records);
            prop_assert!(is_done(&text), "{}", text);
            prop_assert_eq!(read_records(&text).unwrap(), records);
        }
    }
}
