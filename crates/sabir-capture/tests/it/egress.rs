//! The guard: the table of refused addresses, names and what they resolve to, and what a rule lets
//! through.
#![expect(clippy::unwrap_used, reason = "what cannot be set up fails its test")]

use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use sabir_capture::{
    Denials, Guard, HostPort, HostPortError, Reason, Refused, Resolver, Resolving, Rules, Target,
};
use url::Url;

/// Gives its answers one after the other, and then none.
#[derive(Debug)]
pub(crate) struct Scripted(Mutex<VecDeque<Vec<IpAddr>>>);

impl Scripted {
    pub(crate) fn new(answers: &[&[&str]]) -> Arc<Self> {
        let parse = |answer: &&[&str]| answer.iter().map(|it| it.parse().unwrap()).collect();
        Arc::new(Self(Mutex::new(answers.iter().map(parse).collect())))
    }

    pub(crate) fn left(&self) -> usize {
        self.0.lock().unwrap().len()
    }
}

impl Resolver for Scripted {
    fn resolve<'a>(&'a self, _: &'a str) -> Resolving<'a> {
        let next = self.0.lock().unwrap().pop_front();
        Box::pin(async move { next.ok_or_else(|| std::io::Error::other("no such name")) })
    }
}

fn guard() -> Guard {
    Guard::with_resolver(Rules::default(), Scripted::new(&[]))
}

fn url(text: &str) -> Url {
    Url::parse(text).unwrap()
}

fn code<T>(result: Result<T, Refused>) -> Option<&'static str> {
    result.err().map(|refused| refused.code())
}

/// LC-E1, LC-E2, LC-E3, LC-E4, LC-E5, LC-E6: the committed table, before any name is resolved.
#[test]
fn addresses_of_the_table_are_refused() {
    let table = include_str!("../data/refused.txt");
    let mut wrong = Vec::new();
    let mut seen = Vec::new();
    for line in table.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (expected, address) = line.split_once(char::is_whitespace).unwrap();
        let found = code(guard().check(&url(address.trim())));
        if found != Some(expected) {
            wrong.push(format!("{address}: {found:?} instead of {expected}"));
        }
        seen.push(expected);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(seen.len() >= 40, "only {} addresses", seen.len());
    for reason in Reason::ALL {
        // These need a resolver or a person's rule, or cannot be written as a URL.
        let is_elsewhere = matches!(reason, Reason::Unresolved | Reason::NoHost | Reason::Denied);
        assert!(is_elsewhere || seen.contains(&reason.code()), "{reason:?} is not in the table");
    }
}

/// LC-E7: any port, and the default one where none is given.
#[test]
fn public_addresses_pass_at_any_port() {
    for (address, host, port) in [
        ("https://example.com/", "example.com", 443),
        ("http://example.com:8080/x?y#z", "example.com", 8080),
        ("http://Example.COM./", "example.com", 80),
        ("http://8.8.8.8/", "8.8.8.8", 80),
        ("http://134744072/", "8.8.8.8", 80),
        ("https://[2606:4700::1111]/", "[2606:4700::1111]", 443),
        ("http://[64:ff9b::8.8.8.8]/", "[64:ff9b::808:808]", 80),
        ("http://notlocalhost.com/", "notlocalhost.com", 80),
        ("http://internal.example.com/", "internal.example.com", 80),
        ("http://100.63.255.255/", "100.63.255.255", 80),
        ("http://172.32.0.1/", "172.32.0.1", 80),
        ("http://xn--bcher-kva.example/", "xn--bcher-kva.example", 80),
    ] {
        let target = guard().check(&url(address)).unwrap();
        assert_eq!((target.host().as_str(), target.port()), (host, port), "{address}");
    }
}

async fn resolve(answers: &[&[&str]]) -> Result<Vec<String>, &'static str> {
    let guard = Guard::with_resolver(Rules::default(), Scripted::new(answers));
    let target = guard.check(&url("http://a.example/")).unwrap();
    let found = guard.resolve(&target).await.map_err(|refused| refused.code())?;
    Ok(found.iter().map(ToString::to_string).collect())
}

/// LC-E8: every address of a name must be public, not only one.
#[tokio::test]
async fn one_private_address_spoils_a_name() {
    assert_eq!(resolve(&[&["8.8.8.8", "1.1.1.1"]]).await.unwrap(), ["8.8.8.8:80", "1.1.1.1:80"]);
    for (answer, expected) in [
        (&["127.0.0.1"][..], "loopback"),
        (&["8.8.8.8", "10.0.0.1"], "private"),
        (&["10.0.0.1", "8.8.8.8"], "private"),
        (&["8.8.8.8", "::1"], "loopback"),
        (&["8.8.8.8", "::ffff:169.254.169.254"], "metadata"),
        (&["2606:4700::1", "fd00::1"], "unique_local"),
        (&[], "unresolved"),
        (&["8.8.8.8"; 65], "unresolved"),
    ] {
        assert_eq!(resolve(&[answer]).await, Err(expected), "{answer:?}");
    }
    assert_eq!(resolve(&[]).await, Err("unresolved"));
}

/// LC-E9: one question, one answer; the second answer of a name that changes its mind is not heard.
#[tokio::test]
async fn a_name_is_resolved_once() {
    let resolver = Scripted::new(&[&["8.8.8.8"], &["127.0.0.1"]]);
    let guard = Guard::with_resolver(Rules::default(), Arc::clone(&resolver) as _);
    let target = guard.check(&url("http://rebind.example/")).unwrap();
    assert_eq!(guard.resolve(&target).await.unwrap()[0].to_string(), "8.8.8.8:80");
    assert_eq!(resolver.left(), 1);
    assert_eq!(code(guard.resolve(&target).await), Some("loopback"));
}

/// Hosts that are denied, by their names.
#[derive(Debug)]
pub(crate) struct Denied(pub(crate) &'static [&'static str]);

impl Denials for Denied {
    fn denies(&self, host: &str) -> bool {
        self.0.contains(&host)
    }
}

/// LC-E18: what is denied is refused in every spelling, whatever rule allows it, and an address also
/// under a name.
#[tokio::test]
async fn what_a_person_denies_is_refused() {
    let rules = || Rules { allow: vec!["localhost:81".parse().unwrap()] };
    let denied = Arc::new(Denied(&["a.example", "localhost", "8.8.8.8", "[2606:4700::1]"]));
    let guard = |answers: &[&[&str]]| {
        Guard::with_resolver(rules(), Scripted::new(answers)).denying(Arc::clone(&denied) as _)
    };
    for address in [
        "http://a.example/",
        "https://A.Example.:444/",
        "http://localhost:81/",
        "http://8.8.8.8/",
        "http://0x08080808/",
        "http://[::ffff:8.8.8.8]/",
        "http://[2606:4700:0::1]/",
    ] {
        assert_eq!(code(guard(&[]).check(&url(address))), Some("denied"), "{address}");
    }
    assert_eq!(code(guard(&[]).check_host("a.example", 443)), Some("denied"));
    for answer in [&["8.8.8.8"][..], &["1.1.1.1", "::ffff:8.8.8.8"], &["2606:4700::1"]] {
        let answers = [answer];
        let guard = guard(&answers);
        let target = guard.check(&url("http://b.example/")).unwrap();
        assert_eq!(code(guard.resolve(&target).await), Some("denied"), "{answer:?}");
    }
    let passes = guard(&[&["1.1.1.1"]]);
    let target = passes.check(&url("http://b.a.example/")).unwrap();
    assert!(passes.resolve(&target).await.is_ok());
}

/// LC-E10: a rule is for one host at one port, in every spelling of that host.
#[tokio::test]
async fn rules_let_exactly_one_host_and_port_through() {
    let allow = ["127.0.0.1:8080", "localhost:81", "[::1]:82", "a.example:83"];
    let rules = Rules { allow: allow.map(|it| it.parse().unwrap()).into() };
    let guard = Guard::with_resolver(rules, Scripted::new(&[&["10.0.0.1"], &["10.0.0.1"]]));
    for passes in [
        "http://127.0.0.1:8080/",
        "http://0x7f.1:8080/",
        "http://LOCALHOST.:81/",
        "http://[0::1]:82/",
    ] {
        assert_eq!(code(guard.check(&url(passes))), None, "{passes}");
    }
    for stays_out in [
        "http://127.0.0.1/",
        "http://127.0.0.1:8081/",
        "http://127.0.0.2:8080/",
        "http://localhost:8080/",
        "http://[::ffff:127.0.0.1]:8080/",
        "http://user@127.0.0.1:8080/",
        "ftp://127.0.0.1:8080/",
    ] {
        assert!(code(guard.check(&url(stays_out))).is_some(), "{stays_out}");
    }
    let target = guard.check(&url("http://a.example:83/")).unwrap();
    assert_eq!(guard.resolve(&target).await.unwrap()[0].to_string(), "10.0.0.1:83");
    let target = guard.check(&url("http://a.example:84/")).unwrap();
    assert_eq!(code(guard.resolve(&target).await), Some("private"));
}

#[test]
fn rules_are_read_from_words() {
    for (text, error) in [
        ("localhost", HostPortError::NoPort),
        ("localhost:", HostPortError::Port),
        ("localhost:0", HostPortError::Port),
        ("localhost:65536", HostPortError::Port),
        ("::1", HostPortError::Host),
        ("[::1:80", HostPortError::Host),
        (":80", HostPortError::Host),
        ("a b:80", HostPortError::Host),
        ("http://localhost:80", HostPortError::Host),
    ] {
        assert_eq!(text.parse::<HostPort>(), Err(error), "{text}");
    }
    assert_eq!("LocalHost.:80".parse::<HostPort>().unwrap().to_string(), "localhost:80");
}

/// LC-E11: a refusal says what and why, on one line.
#[test]
fn refusals_can_be_read() {
    let refused = guard().check(&url("http://169.254.169.254/x")).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "refused 169.254.169.254 (metadata): the address hands out a machine's own credentials"
    );
    let long = format!("http://{}local/", "a.".repeat(1000));
    assert!(guard().check(&url(&long)).unwrap_err().to_string().len() < 400);
    for reason in Reason::ALL {
        let (words, code) = (reason.to_string(), reason.code());
        assert!(!words.ends_with('.') && !words.contains('\n'), "{words}");
        assert!(code.chars().all(|c| c.is_ascii_lowercase() || c == '_'), "{code}");
    }
}

#[test]
fn a_host_without_a_url_is_judged_the_same() {
    for (host, expected) in [
        ("127.0.0.1", Some("loopback")),
        ("0x7f.1", Some("loopback")),
        ("[::1]", Some("loopback")),
        ("metadata.google.internal.", Some("metadata")),
        ("exa mple", Some("no_host")),
        ("", Some("no_host")),
        ("::1", Some("no_host")),
        ("example.com", None),
    ] {
        assert_eq!(code(guard().check_host(host, 443)), expected, "{host:?}");
    }
}

/// What a reader of the registries would say of IPv4, in other words than the guard's.
fn is_public(ip: Ipv4Addr) -> bool {
    let number = u32::from(ip);
    let within =
        |net: [u8; 4], bits: u32| number >> (32 - bits) == u32::from_be_bytes(net) >> (32 - bits);
    let metadata = [[168, 63, 129, 16], [100, 100, 100, 200]].map(u32::from_be_bytes);
    !(ip.is_private()
        || ip.is_loopback()
        || ip.is_link_local()
        || ip.is_documentation()
        || ip.is_multicast()
        || within([0; 4], 8)
        || within([100, 64, 0, 0], 10)
        || within([192, 0, 0, 0], 24)
        || within([192, 88, 99, 0], 24)
        || within([198, 18, 0, 0], 15)
        || within([240, 0, 0, 0], 4)
        || metadata.contains(&number))
}

/// An IPv4 address near a border, or anywhere.
fn any_v4() -> impl Strategy<Value = Ipv4Addr> {
    let borders = prop::sample::select(vec![
        0x0000_0000_u32,
        0x0a00_0000,
        0x0b00_0000,
        0x6440_0000,
        0x6480_0000,
        0x7f00_0000,
        0x8000_0000,
        0xa9fe_0000,
        0xa9ff_0000,
        0xac10_0000,
        0xac20_0000,
        0xc000_0000,
        0xc000_0100,
        0xc000_0200,
        0xc000_0300,
        0xc058_6300,
        0xc0a8_0000,
        0xc0a9_0000,
        0xc612_0000,
        0xc614_0000,
        0xc633_6400,
        0xcb00_7100,
        0xe000_0000,
        0xf000_0000,
        0xffff_ffff,
    ]);
    let near = (borders, -3_i32..3).prop_map(|(it, by)| Ipv4Addr::from(it.wrapping_add_signed(by)));
    prop_oneof![near, any::<u32>().prop_map(Ipv4Addr::from)]
}

fn judged(host: &str) -> Result<Target, Refused> {
    guard().check_host(host, 80)
}

proptest! {
    /// The table and the registries agree, and every disguise is judged like what is inside.
    #[test]
    fn every_ipv4_address_is_judged(ip in any_v4()) {
        let plain = judged(&ip.to_string());
        prop_assert_eq!(plain.is_ok(), is_public(ip), "{}", ip);
        let expected = code(plain);
        let number = u32::from(ip);
        let [a, b, c, d] = ip.octets();
        for spelling in [
            number.to_string(),
            format!("{number:#x}"),
            format!("0{a:o}.0{b:o}.0{c:o}.0{d:o}"),
            format!("{a}.{}", number & 0x00ff_ffff),
            format!("[::ffff:{ip}]"),
            format!("[64:ff9b::{ip}]"),
        ] {
            prop_assert_eq!(code(judged(&spelling)), expected, "{}", spelling);
        }
        let tunnels = [
            format!("[2002:{:x}:{:x}::1]", number >> 16, number & 0xffff),
            format!("[2001:0:1::{:x}:{:x}]", !number >> 16, !number & 0xffff),
        ];
        for tunnel in tunnels {
            prop_assert_eq!(code(judged(&tunnel)), expected.or(Some("tunnel")), "{}", tunnel);
        }
    }

    /// Only global unicast and translated public addresses pass.
    #[test]
    fn ipv6_outside_of_the_public_range_never_passes(ip in any::<u128>()) {
        let ip = Ipv6Addr::from(ip);
        let passes = judged(&format!("[{ip}]")).is_ok();
        let is_translated = ip.segments()[..6] == [0x64, 0xff9b, 0, 0, 0, 0];
        let is_mapped = ip.to_ipv4().is_some();
        prop_assert!(!passes || (ip.segments()[0] & 0xe000) == 0x2000 || is_translated || is_mapped);
    }

    /// No text makes it panic, and none but http and https passes.
    #[test]
    fn any_text_is_judged(text in ".{0,60}", scheme in "(http|https|ftp|ws|file|x)") {
        let _ = judged(&text);
        if let Ok(url) = Url::parse(&format!("{scheme}://{text}")) {
            let passes = guard().check(&url).is_ok();
            prop_assert!(!passes || matches!(url.scheme(), "http" | "https"));
        }
    }
}
