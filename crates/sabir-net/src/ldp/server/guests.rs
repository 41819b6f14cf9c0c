//! How many may be there at one time, and how many of them from one address. It knows neither what a
//! guest wants nor who it is.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::options::LdpLimits;
use super::rate::neighbourhood;
use crate::server::is_loopback;

/// A place among those that may be taken at one time.
pub(super) type Place = OwnedSemaphorePermit;

/// Connections, or requests: how many there are, and how many of them come from one address
/// elsewhere.
#[derive(Debug, Clone)]
pub(super) struct Guests {
    all: Arc<Semaphore>,
    each: Counts,
    most: usize,
}

/// How many there are of each address.
type Counts = Arc<Mutex<HashMap<IpAddr, usize>>>;

/// The place of one of them.
#[derive(Debug)]
pub(super) struct Guest {
    _place: Place,
    counted: Option<(IpAddr, Counts)>,
}

impl Guests {
    pub(super) fn of_connections(limits: &LdpLimits) -> Self {
        Self::new(limits.connections, limits.connections_each)
    }

    /// Requests and streams that are being answered.
    pub(super) fn of_requests(limits: &LdpLimits) -> Self {
        Self::new(limits.places, limits.places_each)
    }

    fn new(all: usize, most: usize) -> Self {
        Self { all: semaphore(all), each: Arc::default(), most }
    }

    pub(super) fn take(&self, caller: IpAddr) -> Option<Guest> {
        let place = Arc::clone(&self.all).try_acquire_owned().ok()?;
        if is_loopback(SocketAddr::new(caller, 0)) {
            return Some(Guest { _place: place, counted: None });
        }
        let whose = neighbourhood(caller);
        let mut each = self.each.lock().unwrap_or_else(PoisonError::into_inner);
        let count = each.entry(whose).or_default();
        if *count >= self.most {
            return None;
        }
        *count += 1;
        drop(each);
        Some(Guest { _place: place, counted: Some((whose, Arc::clone(&self.each))) })
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        let Some((whose, each)) = &self.counted else { return };
        let mut each = each.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = each.get_mut(whose) {
            *count -= 1;
            if *count == 0 {
                each.remove(whose);
            }
        }
    }
}

pub(super) fn semaphore(places: usize) -> Arc<Semaphore> {
    Arc::new(Semaphore::new(places.min(Semaphore::MAX_PERMITS)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits() -> LdpLimits {
        LdpLimits {
            places: 5,
            places_each: 2,
            connections: 4,
            connections_each: 1,
            ..LdpLimits::default()
        }
    }

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    /// LD-H16
    #[test]
    fn an_address_elsewhere_has_so_many_places_and_gets_them_back() {
        let places = Guests::of_requests(&limits());
        let far = ip("203.0.113.7");
        let (first, second) = (places.take(far), places.take(far));
        assert!(first.is_some() && second.is_some());
        assert!(places.take(far).is_none());
        // Refused, it takes no place away from others.
        assert_eq!(places.all.available_permits(), 3);
        let other = places.take(ip("203.0.113.8"));
        assert!(other.is_some());
        drop(first);
        let again = places.take(far);
        assert!(again.is_some() && places.take(far).is_none());
        drop((second, other, again));
        assert_eq!(places.all.available_permits(), 5);
        // Who has gone is not remembered.
        assert!(places.each.lock().unwrap().is_empty());
    }

    /// LD-H15, LD-H16
    #[test]
    fn neighbours_of_ipv6_are_one_address_and_ipv4_is_the_same_in_either_form() {
        let places = Guests::of_requests(&limits());
        let _held = (places.take(ip("2001:db8:1:2::1")), places.take(ip("2001:db8:1:2:ff::9")));
        assert!(places.take(ip("2001:db8:1:2::3")).is_none());
        assert!(places.take(ip("2001:db8:1:3::1")).is_some());
        let _held = (places.take(ip("203.0.113.7")), places.take(ip("::ffff:203.0.113.7")));
        assert!(places.take(ip("203.0.113.7")).is_none());
    }

    /// LD-H16
    #[test]
    fn this_machine_is_held_back_by_the_whole_only() {
        let places = Guests::of_requests(&limits());
        let near: Vec<_> = (0..5).filter_map(|_| places.take(ip("127.0.0.1"))).collect();
        assert_eq!(near.len(), 5);
        assert!(places.take(ip("::1")).is_none());
        assert!(places.take(ip("203.0.113.7")).is_none());
    }

    /// LD-H16: connections are counted apart from requests, and by their own limits.
    #[test]
    fn connections_have_limits_of_their_own() {
        let connections = Guests::of_connections(&limits());
        let held = connections.take(ip("203.0.113.7"));
        assert!(held.is_some() && connections.take(ip("203.0.113.7")).is_none());
        assert_eq!(connections.all.available_permits(), 3);
        let defaults = LdpLimits::default();
        assert_eq!((defaults.places, defaults.places_each), (16_384, 2048));
        assert_eq!((defaults.connections, defaults.connections_each), (4096, 256));
    }
}
