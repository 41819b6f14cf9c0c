//! Wrong tokens, counted by address: after a few, each further one costs a wait, in which not even the
//! right one is looked at.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

#[derive(Debug, Default)]
pub(super) struct Attempts(Mutex<BTreeMap<IpAddr, Record>>);

#[derive(Debug)]
struct Record {
    wrong: u32,
    last: Instant,
    /// Before this nothing is looked at.
    not_before: Instant,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Attempt {
    Right,
    Wrong,
    /// It was not looked at.
    TooSoon {
        wait: Duration,
    },
}

impl Attempts {
    /// Looks at one token, unless it comes too soon. Nobody else of that address is looked at
    /// meanwhile, so that many at once gain nothing.
    pub(super) fn make(
        &self,
        address: IpAddr,
        now: Instant,
        is_right: impl FnOnce() -> bool,
    ) -> Attempt {
        let address = counted_as(address);
        let mut records = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(record) = records.get(&address)
            && now < record.not_before
        {
            return Attempt::TooSoon { wait: record.not_before - now };
        }
        if is_right() {
            records.remove(&address);
            return Attempt::Right;
        }
        if records.len() >= MOST_ADDRESSES && !records.contains_key(&address) {
            records.retain(|_, record| now < record.last + FORGOTTEN_AFTER);
            // Somebody has very many addresses: whoever waits the shortest is forgotten.
            if records.len() >= MOST_ADDRESSES {
                let first = records.iter().min_by_key(|(_, it)| it.not_before).map(|(at, _)| *at);
                first.map(|address| records.remove(&address));
            }
        }
        let record =
            records.entry(address).or_insert(Record { wrong: 0, last: now, not_before: now });
        if now >= record.last + FORGOTTEN_AFTER {
            record.wrong = 0;
        }
        record.wrong = record.wrong.saturating_add(1);
        record.last = now;
        record.not_before = now + wait_after(record.wrong);
        Attempt::Wrong
    }
}

/// Doubles from one second on.
fn wait_after(wrong: u32) -> Duration {
    match wrong.checked_sub(FREE) {
        None => Duration::ZERO,
        Some(more) => Duration::from_secs(1 << more.min(16)).min(LONGEST_WAIT),
    }
}

/// Whoever has one address of IPv6 has its neighbours, too.
fn counted_as(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(six) if !six.is_loopback() => {
            Ipv6Addr::from(u128::from(six) & !u128::from(u64::MAX)).into()
        }
        address => address,
    }
}

/// Wrong tokens that cost nothing: people mistype.
const FREE: u32 = 5;
const LONGEST_WAIT: Duration = Duration::from_secs(60);
const FORGOTTEN_AFTER: Duration = Duration::from_secs(15 * 60);
const MOST_ADDRESSES: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    /// CO-3: after five wrong ones the waits double, up to a minute, and nothing is looked at
    /// meanwhile.
    #[test]
    fn each_wrong_token_costs_more() {
        let attempts = Attempts::default();
        let address: IpAddr = "10.0.0.1".parse().unwrap();
        let mut now = Instant::now();
        for _ in 1..FREE {
            assert_eq!(attempts.make(address, now, || false), Attempt::Wrong);
        }
        for wait in [1, 2, 4, 8, 16, 32, 60, 60] {
            assert_eq!(attempts.make(address, now, || false), Attempt::Wrong);
            let wait = Duration::from_secs(wait);
            let early = attempts.make(address, now, || panic!("it was looked at"));
            assert_eq!(early, Attempt::TooSoon { wait });
            // Others do not wait.
            let other = attempts.make("10.0.0.2".parse().unwrap(), now, || true);
            assert_eq!(other, Attempt::Right);
            now += wait;
        }
        assert_eq!(attempts.make(address, now, || true), Attempt::Right);
        assert_eq!(attempts.make(address, now, || false), Attempt::Wrong);
        assert_eq!(attempts.make(address, now, || false), Attempt::Wrong);
    }

    /// CO-3: neighbours count as one, memory is bounded, and old mistakes are forgotten.
    #[test]
    fn many_addresses_gain_little() {
        let attempts = Attempts::default();
        let now = Instant::now();
        for host in 0..u128::from(FREE) {
            let address = Ipv6Addr::from((0x2001_0db8 << 96) + host);
            assert_eq!(attempts.make(address.into(), now, || false), Attempt::Wrong);
        }
        let near = Ipv6Addr::from((0x2001_0db8 << 96) + 99);
        let wait = Duration::from_secs(1);
        assert_eq!(attempts.make(near.into(), now, || true), Attempt::TooSoon { wait });
        for host in 0..4_500_u32 {
            attempts.make(std::net::Ipv4Addr::from(host).into(), now, || false);
        }
        assert_eq!(attempts.0.lock().unwrap().len(), MOST_ADDRESSES);
        assert_eq!(attempts.make(near.into(), now, || true), Attempt::TooSoon { wait });
        let later = now + FORGOTTEN_AFTER;
        for _ in 1..FREE {
            assert_eq!(attempts.make(near.into(), later, || false), Attempt::Wrong);
        }
        assert_eq!(attempts.make(near.into(), later, || true), Attempt::Right);
    }
}
