//! What a record means for the tables: names, numbers and times, without what was said.

use sabir_ldp::{
    Authentication, DelegateId, HowEnded, Mark, PayloadMode, Record, SessionId, TaskKey, Timestamp,
    Usage,
};

/// In the order of the records; those without a meaning for the tables have none.
#[derive(Clone, Debug)]
pub(crate) enum Effect {
    Seen { session: Option<SessionId>, at: Timestamp, forget_at: Timestamp },
    Opened { session: SessionId, mode: PayloadMode, at: Timestamp, spent: Usage },
    SteppedDown { session: SessionId, mode: PayloadMode },
    Suspended { session: SessionId, at: Timestamp },
    Resumed { session: SessionId, at: Timestamp },
    SessionEnded(Box<Past>),
    Started { key: TaskKey, session: SessionId, at: Timestamp, index: u16 },
    Updated { key: TaskKey, n: u64 },
    Ended(Box<Ended>),
    Refused,
}

/// A session that ended.
#[derive(Clone, Debug)]
pub(crate) struct Past {
    pub(crate) session: SessionId,
    pub(crate) owner: DelegateId,
    pub(crate) how: HowEnded,
    pub(crate) shown: Option<Mark>,
    pub(crate) at: Timestamp,
}

/// A task that ended.
#[derive(Clone, Debug)]
pub(crate) struct Ended {
    pub(crate) key: TaskKey,
    pub(crate) session: SessionId,
    /// Where the same entry started it just before, if it did.
    pub(crate) began: Option<Began>,
    pub(crate) digest: [u8; 32],
    pub(crate) authentication: Authentication,
    pub(crate) shown: Option<Mark>,
    pub(crate) usage: Usage,
    pub(crate) at: Timestamp,
}

/// How a task began that took no time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Began {
    pub(crate) at: Timestamp,
    pub(crate) index: u16,
}

impl Effect {
    /// A task that is over as it begins is one effect.
    pub(crate) fn of_all(records: Vec<Record>) -> Vec<Self> {
        let mut effects = Vec::new();
        for (index, record) in records.into_iter().enumerate() {
            let mut effect = Self::of(index, record);
            if let Some(Self::Ended(ended)) = &mut effect
                && let Some(Self::Started { key, session, at, index }) = effects.last()
                && (key, session) == (&ended.key, &ended.session)
            {
                ended.began = Some(Began { at: *at, index: *index });
                effects.pop();
            }
            effects.extend(effect);
        }
        effects
    }

    fn of(index: usize, record: Record) -> Option<Self> {
        Some(match record {
            Record::Seen(seen) => {
                Self::Seen { session: seen.session, at: seen.at, forget_at: seen.replay.forget_at }
            }
            Record::Opened(opened) => Self::Opened {
                session: opened.session,
                mode: opened.mode,
                at: opened.at,
                spent: opened.spent,
            },
            Record::SteppedDown { session, mode } => Self::SteppedDown { session, mode },
            Record::Suspended { session, at } => Self::Suspended { session, at },
            Record::Resumed { session, at, .. } => Self::Resumed { session, at },
            Record::SessionEnded { session, owner, how, shown, at } => {
                Self::SessionEnded(Box::new(Past { session, owner, how, shown, at }))
            }
            Record::Started(started) => Self::Started {
                key: started.key,
                session: started.session,
                at: started.at,
                // The writer refuses entries with more records than that.
                index: u16::try_from(index).unwrap_or(u16::MAX),
            },
            Record::Updated(updated) => Self::Updated { key: updated.key, n: updated.seq },
            Record::Ended(ended) => Self::Ended(Box::new(Ended {
                key: ended.key,
                session: ended.session,
                began: None,
                digest: ended.digest.0.0,
                authentication: ended.authentication,
                shown: ended.shown,
                usage: ended.usage,
                at: ended.at,
            })),
            Record::Refused(_) => Self::Refused,
            // The first two are a snapshot's; the last is for people.
            Record::Known { .. } | Record::Faded { .. } | Record::Forgot | Record::Attested(_) => {
                return None;
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DONE: &str = concat!(
        r#"[{"record":"done","seen":"abababababababababababababababab","#,
        r#""forget_at":1300500,"key":{"owner":"ldp:delegate:caller","id":"t-1"},"#,
        r#""session":"s-1","skill":"echo","#,
        r#""digest":"0707070707070707070707070707070707070707070707070707070707070707","#,
        r#""mode":"text","deadline":1000509,"authentication":"signed","output":"done","#,
        r#""produced_by":"ldp:delegate:harbor","model_version":"m-1","#,
        r#""usage":{"tokens":0,"cost_usd":0.0},"at":1000500}]"#,
    );

    fn names(records: Vec<Record>) -> Vec<&'static str> {
        let name = |effect: &Effect| match effect {
            Effect::Seen { .. } => "seen",
            Effect::Started { .. } => "started",
            Effect::Ended(ended) if ended.began.is_some() => "began and ended",
            Effect::Ended(_) => "ended",
            _ => "another",
        };
        Effect::of_all(records).iter().map(name).collect()
    }

    #[test]
    fn a_task_that_took_no_time_is_one_effect() {
        let records = || sabir_ldp::read_records(DONE).unwrap();
        assert_eq!(names(records()), ["seen", "began and ended"]);
        let effects = Effect::of_all(records());
        let [_, Effect::Ended(ended)] = effects.as_slice() else { panic!("{effects:?}") };
        let began = ended.began.unwrap();
        assert_eq!((began.at, began.index), (Timestamp::from_millis(1_000_500), 1));
        // What means nothing for the tables does not come between.
        let mut several = records();
        several.insert(2, Record::Forgot);
        assert_eq!(names(several), ["seen", "began and ended"]);
    }

    #[test]
    fn what_is_not_of_one_task_stays_apart() {
        let records = || sabir_ldp::read_records(DONE).unwrap();
        let mut another = records();
        let Record::Ended(ended) = &mut another[2] else { panic!() };
        ended.key.id = sabir_ldp::TaskId::new("t-2").unwrap();
        assert_eq!(names(another), ["seen", "started", "ended"]);
        let mut elsewhere = records();
        let Record::Ended(ended) = &mut elsewhere[2] else { panic!() };
        ended.session = SessionId::new("s-2").unwrap();
        assert_eq!(names(elsewhere), ["seen", "started", "ended"]);
        let mut between = records();
        between.swap(0, 1);
        assert_eq!(names(between), ["started", "seen", "ended"]);
    }
}
