//! Which trace something is part of, as W3C Trace Context writes it.
//!
//! It is a hint and grants nothing: whoever sends one gets its own words back in logs, and no more.
//! `tracestate` is not passed on, as the specification allows: it is a text of strangers.

use std::fmt;
use std::future::Future;

/// The header that it travels in.
pub const TRACEPARENT: &str = "traceparent";

/// A trace, and the step of it that comes before what happens now.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct TraceContext {
    pub(super) trace: [u8; 16],
    pub(super) span: [u8; 8],
    pub(super) is_sampled: bool,
}

impl TraceContext {
    /// Reads the header. What is not exactly as it should be is none, and a new trace begins.
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        let is_dash = |at: usize| bytes.get(at) == Some(&b'-');
        if bytes.len() < LENGTH || !(is_dash(2) && is_dash(35) && is_dash(52)) {
            return None;
        }
        let [version] = hex::<1>(&bytes[..2])?;
        // Later versions may have more behind another dash; this one has not, and 255 never is one.
        let is_whole = match version {
            0 => bytes.len() == LENGTH,
            0xff => false,
            _ => bytes.len() == LENGTH || is_dash(LENGTH),
        };
        let (trace, span) = (hex::<16>(&bytes[3..35])?, hex::<8>(&bytes[36..52])?);
        let [flags] = hex::<1>(&bytes[53..55])?;
        let is_named = trace != [0; 16] && span != [0; 8];
        (is_whole && is_named).then_some(Self { trace, span, is_sampled: flags & 1 == 1 })
    }

    /// The first step of a new trace; nothing if the system gives no random numbers.
    pub(super) fn root() -> Option<Self> {
        let mut trace = [0; 16];
        getrandom::fill(&mut trace).ok()?;
        Self { trace, span: [0; 8], is_sampled: true }.next()
    }

    /// A step after this one.
    pub(super) fn next(&self) -> Option<Self> {
        let mut span = [0; 8];
        getrandom::fill(&mut span).ok()?;
        Some(Self { span, ..*self })
    }

    /// 32 hexadecimal digits.
    pub fn trace_id(&self) -> String {
        Hex(&self.trace).to_string()
    }

    pub fn span_id(&self) -> String {
        Hex(&self.span).to_string()
    }
}

/// As the header has it.
impl fmt::Display for TraceContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let flags = u8::from(self.is_sampled);
        write!(f, "00-{}-{}-{flags:02x}", Hex(&self.trace), Hex(&self.span))
    }
}

impl fmt::Debug for TraceContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TraceContext({self})")
    }
}

struct Hex<'a>(&'a [u8]);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Lower case only, as the specification has it.
fn hex<const N: usize>(digits: &[u8]) -> Option<[u8; N]> {
    let digit = |digit: u8| match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    };
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    (digits.len() == 2 * N).then_some(bytes)
}

const LENGTH: usize = 55;

tokio::task_local! {
    static CURRENT: Option<TraceContext>;
}

/// What the work that runs here is part of.
pub fn current() -> Option<TraceContext> {
    CURRENT.try_with(|context| *context).ok().flatten()
}

/// Work that is part of a trace, if there is one. What it spawns is not, unless it is told.
pub fn within<F: Future>(
    context: Option<TraceContext>,
    work: F,
) -> impl Future<Output = F::Output> {
    CURRENT.scope(context, work)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    #[test]
    fn a_header_is_read_as_it_was_written() {
        let read = TraceContext::parse(GOOD).unwrap();
        assert_eq!(read.to_string(), GOOD);
        assert_eq!(read.trace_id(), "0af7651916cd43dd8448eb211c80319c");
        assert_eq!(read.span_id(), "b7ad6b7169203331");
        assert!(read.is_sampled);
        // Flags that nobody knows yet are not passed on.
        let flags = GOOD.replace("-01", "-fe");
        assert!(!TraceContext::parse(&flags).unwrap().is_sampled);
        // A later version may say more.
        let later = format!("cc{}-what-ever", &GOOD[2..]);
        assert_eq!(TraceContext::parse(&later), Some(read));
    }

    #[test]
    fn what_is_no_header_is_none() {
        let zero_trace = format!("00-{}-b7ad6b7169203331-01", "0".repeat(32));
        let zero_span = "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01";
        let long = format!("{GOOD}-");
        let more = format!("{GOOD}-x");
        let upper = GOOD.to_uppercase();
        let forbidden = format!("ff{}", &GOOD[2..]);
        let glued = format!("cc{}x", &GOOD[2..]);
        let wide = GOOD.replace('a', "é");
        for bad in [
            "",
            "00",
            "-",
            &GOOD[..54],
            &GOOD[1..],
            &long,
            &more,
            &upper,
            &forbidden,
            &glued,
            &wide,
            &zero_trace,
            zero_span,
            &GOOD.replace('-', "_"),
            &GOOD.replace("b7", "g7"),
            &format!(" {GOOD}"),
            &format!("{GOOD}, {GOOD}"),
            &"0".repeat(100_000),
        ] {
            assert_eq!(TraceContext::parse(bad), None, "{bad:.80}");
        }
    }

    #[tokio::test]
    async fn work_knows_its_trace_and_what_is_beside_it_does_not() {
        let context = TraceContext::parse(GOOD);
        assert_eq!(current(), None);
        let inside = within(context, async {
            let beside = tokio::spawn(async { current() }).await.unwrap();
            (current(), beside, within(None, async { current() }).await)
        });
        assert_eq!(inside.await, (context, None, None));
        assert_eq!(current(), None);
    }
}
