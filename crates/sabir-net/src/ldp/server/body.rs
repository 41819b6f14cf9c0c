//! The body of a request: within its time, within its size, and within what all may take together.
//! Answers have such a room as well.

use std::sync::Arc;

use axum::body::Bytes;
use futures_util::FutureExt as _;
use http_body_util::BodyExt as _;
use hyper::body::{Body as _, Incoming};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};

use super::options::LdpLimits;
use super::refusal::Refused;

/// What all bodies, or all answers, may take together, counted in steps.
#[derive(Debug, Clone)]
pub(super) struct Room(Arc<Semaphore>);

/// A body, and the room that it takes for as long as it is there.
#[derive(Debug)]
pub(super) struct Taken {
    pub(super) bytes: Bytes,
    _share: Share,
}

/// A part of a room, for as long as it is held. Few bytes take none.
pub(super) type Share = Option<OwnedSemaphorePermit>;

const STEP_BYTES: usize = 16 * 1024;

impl Room {
    pub(super) fn new(bytes: usize) -> Self {
        let steps = (bytes / STEP_BYTES).min(Semaphore::MAX_PERMITS);
        Self(Arc::new(Semaphore::new(steps)))
    }

    /// Reads the body of a request whose headers were there at `began`. Room is taken as bytes come and
    /// never for those that were only announced: who announces much and sends little takes nothing from
    /// others.
    pub(super) async fn read(
        &self,
        mut body: Incoming,
        began: Instant,
        limits: &LdpLimits,
    ) -> Result<Taken, Refused> {
        let limit = limits.message_bytes;
        let too_large = Refused::TooLarge { limit };
        if body.size_hint().lower() > limit as u64 {
            return Err(too_large);
        }
        let deadline = began + limits.body_time;
        let mut first = Bytes::new();
        let mut all: Vec<u8> = Vec::new();
        let mut share: Share = None;
        loop {
            // Mostly it came with the headers, and needs no timer.
            let frame = match body.frame().now_or_never() {
                Some(frame) => frame,
                None => timeout_at(deadline, body.frame()).await.map_err(|_| Refused::SlowBody)?,
            };
            let frame = match frame {
                None => break,
                Some(Err(_)) => return Err(Refused::BrokenBody),
                Some(Ok(frame)) => frame,
            };
            let Ok(data) = frame.into_data() else { continue };
            let length = first.len() + all.len() + data.len();
            if length > limit {
                return Err(too_large);
            }
            self.make_room(&mut share, length)?;
            // Nearly every message comes in one piece, which need not be copied.
            if first.is_empty() && all.is_empty() {
                first = data;
            } else {
                if all.is_empty() {
                    all = std::mem::take(&mut first).to_vec();
                }
                all.extend_from_slice(&data);
            }
        }
        let bytes = if all.is_empty() { first } else { Bytes::from(all) };
        Ok(Taken { bytes, _share: share })
    }

    /// Room for so many bytes that are there already.
    pub(super) fn share(&self, length: usize) -> Result<Share, Refused> {
        let mut share = None;
        self.make_room(&mut share, length)?;
        Ok(share)
    }

    /// The same, when there is some.
    pub(super) async fn wait_for_share(&self, length: usize) -> Share {
        let wanted = u32::try_from(steps(length)).unwrap_or(u32::MAX);
        // It is never closed.
        Arc::clone(&self.0).acquire_many_owned(wanted).await.ok()
    }

    /// The first step is free, so that small messages pass when large ones fill everything.
    pub(super) fn make_room(&self, share: &mut Share, length: usize) -> Result<(), Refused> {
        let held = share.as_ref().map_or(0, OwnedSemaphorePermit::num_permits);
        let wanted = steps(length).saturating_sub(held);
        if wanted == 0 {
            return Ok(());
        }
        let wanted = u32::try_from(wanted).map_err(|_| Refused::Busy)?;
        let more = Arc::clone(&self.0).try_acquire_many_owned(wanted).map_err(|_| Refused::Busy)?;
        match share {
            Some(share) => share.merge(more),
            None => *share = Some(more),
        }
        Ok(())
    }
}

/// The first is free.
fn steps(length: usize) -> usize {
    length.div_ceil(STEP_BYTES).saturating_sub(1)
}
