//! How many orders are worked on at once, and how much memory what they ask for takes. Programs of
//! others leave some of both to people and to their agents, and none of these programs has it all. It
//! knows neither rows nor delegates.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use super::error::OrderError;
use super::request::OrderRequest;

/// How much is taken on at once.
#[derive(Debug, Clone, Copy)]
pub struct OrderLimits {
    pub all: OrderLoad,
    /// Of what came over MCP and A2A.
    pub of_programs: OrderLoad,
    /// Of one of these callers.
    pub of_one: OrderLoad,
}

/// So many orders, and so many bytes of what they ask for, as it is in memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OrderLoad {
    pub orders: usize,
    pub bytes: usize,
}

impl Default for OrderLimits {
    fn default() -> Self {
        let load = |orders, mib: usize| OrderLoad { orders, bytes: mib * MIB };
        // More than a node can do at once, and little enough to hold in memory.
        Self { all: load(1024, 512), of_programs: load(768, 384), of_one: load(512, 256) }
    }
}

/// Cheap to clone; clones share everything.
#[derive(Debug, Clone)]
pub(super) struct Room {
    limits: OrderLimits,
    taken: Arc<Mutex<Taken>>,
}

#[derive(Debug, Default)]
struct Taken {
    all: OrderLoad,
    of_programs: OrderLoad,
    of_callers: HashMap<String, OrderLoad>,
}

/// The place of one order, until it is dropped.
#[derive(Debug)]
pub(super) struct Place {
    room: Room,
    bytes: usize,
    /// Of one that came over MCP or A2A.
    caller: Option<String>,
}

impl Room {
    pub(super) fn new(limits: OrderLimits) -> Self {
        Self { limits, taken: Arc::default() }
    }

    /// A place for an order that is about to be taken.
    pub(super) fn take(&self, request: &OrderRequest) -> Result<Place, OrderError> {
        let bytes = weight(request);
        let mut taken = self.lock();
        taken.all.check(bytes, self.limits.all)?;
        if let Some(visit) = &request.visit {
            taken.of_programs.check(bytes, self.limits.of_programs)?;
            let one = taken.of_callers.get(&visit.caller).copied().unwrap_or_default();
            one.check(bytes, self.limits.of_one)?;
        }
        Ok(self.enter(&mut taken, request, bytes))
    }

    /// One for an order that was taken before the node stopped, whatever else there is.
    pub(super) fn take_again(&self, request: &OrderRequest) -> Place {
        self.enter(&mut self.lock(), request, weight(request))
    }

    fn enter(&self, taken: &mut Taken, request: &OrderRequest, bytes: usize) -> Place {
        let caller = request.visit.as_ref().map(|visit| visit.caller.clone());
        taken.all.add(bytes);
        if let Some(caller) = &caller {
            taken.of_programs.add(bytes);
            taken.of_callers.entry(caller.clone()).or_default().add(bytes);
        }
        Place { room: self.clone(), bytes, caller }
    }

    fn lock(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OrderLoad {
    /// Whether there is room for one more. One alone is taken however large it is: whoever carries it
    /// here has bounded it.
    fn check(self, bytes: usize, most: Self) -> Result<(), OrderError> {
        if self.orders >= most.orders {
            return Err(OrderError::TooMany { limit: most.orders });
        }
        if self.orders > 0 && self.bytes.saturating_add(bytes) > most.bytes {
            return Err(OrderError::TooLarge { limit: most.bytes >> 20 });
        }
        Ok(())
    }

    fn add(&mut self, bytes: usize) {
        self.orders += 1;
        self.bytes = self.bytes.saturating_add(bytes);
    }

    fn remove(&mut self, bytes: usize) {
        self.orders = self.orders.saturating_sub(1);
        self.bytes = self.bytes.saturating_sub(bytes);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.room.lock();
        taken.all.remove(self.bytes);
        let Some(caller) = &self.caller else { return };
        taken.of_programs.remove(self.bytes);
        if let Some(one) = taken.of_callers.get_mut(caller) {
            one.remove(self.bytes);
            if one.orders == 0 {
                taken.of_callers.remove(caller);
            }
        }
    }
}

/// About what a request takes in memory: its data, and the message that it came in. A list of small
/// numbers takes thirty times what it takes as text.
fn weight(request: &OrderRequest) -> usize {
    let message = request.visit.as_ref().and_then(|visit| visit.message.as_ref());
    let data = request.input.iter().chain(message).map(weight_of_value).sum::<usize>();
    request.task.len() + data
}

fn weight_of_value(value: &Value) -> usize {
    let within = match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(weight_of_value).sum(),
        Value::Object(fields) => {
            // Beside the field itself there is its place in the table.
            let entry = |(name, value): (&String, &Value)| {
                name.len() + ENTRY_BYTES + weight_of_value(value)
            };
            fields.iter().map(entry).sum()
        }
    };
    size_of::<Value>() + within
}

/// A name without its letters, a hash, and a place in a table that is half empty.
const ENTRY_BYTES: usize = size_of::<String>() + 3 * size_of::<usize>();

const MIB: usize = 1024 * 1024;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::errands::{OrderVisit, Placer};

    fn of(caller: Option<&str>, input: Option<Value>) -> OrderRequest {
        let visit = caller.map(OrderVisit::of);
        let by = if visit.is_some() { Placer::A2a } else { Placer::Person };
        OrderRequest { input, visit, by, ..OrderRequest::new("x") }
    }

    /// OR-24
    #[test]
    fn a_program_leaves_room_for_others_and_all_of_them_for_people() {
        let room = Room::new(OrderLimits::default());
        let fill = |caller: Option<&str>| {
            let mut places = Vec::new();
            let refused = loop {
                match room.take(&of(caller, None)) {
                    Ok(place) => places.push(place),
                    Err(error) => break error,
                }
            };
            assert_eq!(refused.code(), "TOO_MANY");
            places
        };
        let one = fill(Some("a"));
        assert_eq!(one.len(), 512);
        let other = fill(Some("b"));
        assert_eq!(other.len(), 256);
        let own = fill(None);
        assert_eq!(own.len(), 256);
        // What was under way before is taken up all the same.
        let again = room.take_again(&of(Some("a"), None));
        assert!(room.take(&of(None, None)).is_err());
        drop((one, again));
        assert!(room.take(&of(None, None)).is_ok());
        drop((other, own));
        let taken = room.lock();
        assert_eq!((taken.all, taken.of_programs), (OrderLoad::default(), OrderLoad::default()));
        assert!(taken.of_callers.is_empty(), "who is gone is forgotten");
    }

    /// OR-24
    #[test]
    fn what_takes_much_memory_counts_as_much() {
        let zeros = || Value::Array(vec![json!(0); 1_000_000]);
        let bytes = weight(&of(None, Some(zeros())));
        assert!(bytes > 30_000_000, "{bytes}");
        let fields = |count: usize| -> Value {
            let fields = (0..count).map(|it| (it.to_string(), json!(0)));
            Value::Object(fields.collect())
        };
        assert!(weight(&of(None, Some(fields(1000)))) > 100_000);
        let room = Room::new(OrderLimits::default());
        // Whatever it is, one is taken.
        let all = Value::Array(vec![zeros(); 20]);
        drop(room.take(&of(Some("a"), Some(all))).unwrap());
        let request = of(Some("a"), Some(zeros()));
        let mut held = Vec::new();
        while let Ok(place) = room.take(&request) {
            held.push(place);
        }
        assert!((2..10).contains(&held.len()), "{}", held.len());
        assert_eq!(room.take(&request).unwrap_err().code(), "TOO_LARGE");
        // Small ones of the same caller, and others, have room.
        assert!(room.take(&of(Some("a"), None)).is_ok());
        assert!(room.take(&of(Some("b"), Some(zeros()))).is_ok());
        assert!(room.take(&of(None, Some(zeros()))).is_ok());
    }
}
