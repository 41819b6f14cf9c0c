//! How often each address asks. Time comes in as an argument, and the table has an end.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::time::Duration;

use tokio::time::Instant;

use super::options::Rate;

/// A bucket for each address. A request takes one token out; they come back with time.
#[derive(Debug)]
pub(super) struct Rates {
    rate: Rate,
    buckets: HashMap<IpAddr, Bucket>,
    /// Shared by all addresses for which there is no room in the table.
    rest: Option<Bucket>,
}

#[derive(Debug, Clone, Copy)]
struct Bucket {
    tokens: f64,
    at: Instant,
}

/// Some half a megabyte.
const MAX_BUCKETS: usize = 8192;

impl Rates {
    pub(super) fn new(rate: Rate) -> Self {
        Self { rate, buckets: HashMap::new(), rest: None }
    }

    /// Takes a token, or tells how long to wait for one.
    pub(super) fn take(&mut self, address: IpAddr, now: Instant) -> Result<(), Duration> {
        let rate = self.rate;
        let whose = neighbourhood(address);
        if self.buckets.len() >= MAX_BUCKETS && !self.buckets.contains_key(&whose) {
            // A full bucket is as good as none.
            self.buckets.retain(|_, bucket| bucket.filled(rate, now).tokens < rate.burst);
        }
        let fresh = Bucket { tokens: rate.burst, at: now };
        let bucket = if self.buckets.len() < MAX_BUCKETS || self.buckets.contains_key(&whose) {
            self.buckets.entry(whose).or_insert(fresh)
        } else {
            self.rest.get_or_insert(fresh)
        };
        *bucket = bucket.filled(rate, now);
        if bucket.tokens >= 1.0 {
            bucket.tokens -= 1.0;
            return Ok(());
        }
        let wait = (1.0 - bucket.tokens) / rate.per_second;
        Err(Duration::try_from_secs_f64(wait).unwrap_or(LONGEST_WAIT).min(LONGEST_WAIT))
    }
}

/// Where nothing comes back, somebody may as well try tomorrow.
const LONGEST_WAIT: Duration = Duration::from_secs(24 * 60 * 60);

impl Bucket {
    fn filled(self, rate: Rate, now: Instant) -> Self {
        let came = now.saturating_duration_since(self.at).as_secs_f64() * rate.per_second;
        Self { tokens: (self.tokens + came).min(rate.burst), at: now.max(self.at) }
    }
}

/// Who has one address of IPv6 has the 64 bits behind it as well.
pub(super) fn neighbourhood(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let prefix = u128::from(address) & !u128::from(u64::MAX);
            IpAddr::V6(Ipv6Addr::from(prefix))
        }
        address @ IpAddr::V4(_) => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLOW: Rate = Rate { per_second: 2.0, burst: 3.0 };

    fn address(number: u32) -> IpAddr {
        IpAddr::from(number.to_be_bytes())
    }

    #[tokio::test]
    async fn a_burst_then_a_rate() {
        let mut rates = Rates::new(SLOW);
        let start = Instant::now();
        for _ in 0..3 {
            assert_eq!(rates.take(address(1), start), Ok(()));
        }
        assert_eq!(rates.take(address(1), start), Err(Duration::from_millis(500)));
        assert_eq!(rates.take(address(2), start), Ok(()), "others are not held back");
        let later = start + Duration::from_millis(500);
        assert_eq!(rates.take(address(1), later), Ok(()));
        assert!(rates.take(address(1), later).is_err());
        // What runs backwards gives nothing.
        assert!(rates.take(address(1), start).is_err());
    }

    #[tokio::test]
    async fn the_table_has_an_end() {
        let mut rates = Rates::new(SLOW);
        let start = Instant::now();
        for number in 0..2 * MAX_BUCKETS as u32 {
            let _ = rates.take(address(number), start);
        }
        assert_eq!(rates.buckets.len(), MAX_BUCKETS);
        assert!(rates.take(address(u32::MAX), start).is_err(), "the rest share one bucket");
        let later = start + Duration::from_secs(9);
        assert_eq!(rates.take(address(u32::MAX), later), Ok(()));
        assert_eq!(rates.buckets.len(), 1, "full buckets are forgotten");
    }

    #[test]
    fn a_network_is_one_neighbour() {
        let of = |text: &str| neighbourhood(text.parse().unwrap()).to_string();
        assert_eq!(of("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::");
        assert_eq!(of("::ffff:10.1.2.3"), "10.1.2.3");
        assert_eq!(of("10.1.2.3"), "10.1.2.3");
    }
}
