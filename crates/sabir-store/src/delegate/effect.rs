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
    pub(crate) digest: [u8; 32],
    pub(crate) authentication: Authentication,
    pub(crate) shown: Option<Mark>,
    pub(crate) usage: Usage,
    pub(crate) at: Timestamp,
}

impl Effect {
    pub(crate) fn of_all(records: &[Record]) -> Vec<Self> {
        let numbered = records.iter().enumerate();
        numbered.filter_map(|(index, record)| Self::of(index, record)).collect()
    }

    fn of(index: usize, record: &Record) -> Option<Self> {
        Some(match record {
            Record::Seen(seen) => Self::Seen {
                session: seen.session.clone(),
                at: seen.at,
                forget_at: seen.replay.forget_at,
            },
            Record::Opened(opened) => Self::Opened {
                session: opened.session.clone(),
                mode: opened.mode,
                at: opened.at,
                spent: opened.spent,
            },
            Record::SteppedDown { session, mode } => {
                Self::SteppedDown { session: session.clone(), mode: *mode }
            }
            Record::Suspended { session, at } => {
                Self::Suspended { session: session.clone(), at: *at }
            }
            Record::Resumed { session, at, .. } => {
                Self::Resumed { session: session.clone(), at: *at }
            }
            Record::SessionEnded { session, owner, how, shown, at } => {
                Self::SessionEnded(Box::new(Past {
                    session: session.clone(),
                    owner: owner.clone(),
                    how: *how,
                    shown: *shown,
                    at: *at,
                }))
            }
            Record::Started(started) => Self::Started {
                key: started.key.clone(),
                session: started.session.clone(),
                at: started.at,
                // The writer refuses entries with more records than that.
                index: u16::try_from(index).unwrap_or(u16::MAX),
            },
            Record::Updated(updated) => Self::Updated { key: updated.key.clone(), n: updated.seq },
            Record::Ended(ended) => Self::Ended(Box::new(Ended {
                key: ended.key.clone(),
                session: ended.session.clone(),
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
