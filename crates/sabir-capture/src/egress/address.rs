//! Which addresses are public, and which names never are. Pure tables: it asks no resolver.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::refused::Reason;

/// Public, or the reason why not.
pub(super) fn judge(ip: IpAddr) -> Result<(), Reason> {
    match ip {
        IpAddr::V4(ip) => judge_v4(ip),
        IpAddr::V6(ip) => judge_v6(ip),
    }
}

/// Names that are local whatever a resolver says. The name is in lower case and has no final dot.
pub(super) fn judge_name(name: &str) -> Result<(), Reason> {
    if METADATA_NAMES.contains(&name) {
        return Err(Reason::Metadata);
    }
    let is_loopback = name == "localhost"
        || name.ends_with(".localhost")
        || matches!(name, "localhost.localdomain" | "ip6-localhost" | "ip6-loopback");
    if is_loopback {
        return Err(Reason::Loopback);
    }
    // A name of one word is completed from the machine's own search list.
    let is_local = !name.contains('.') || LOCAL_SUFFIXES.iter().any(|end| name.ends_with(end));
    if is_local { Err(Reason::LocalName) } else { Ok(()) }
}

fn judge_v4(ip: Ipv4Addr) -> Result<(), Reason> {
    if METADATA_V4.contains(&ip.octets()) {
        return Err(Reason::Metadata);
    }
    Err(match ip.octets() {
        [0, ..] => Reason::Unspecified,
        [10, ..] | [172, 16..=31, ..] | [192, 168, ..] => Reason::Private,
        [100, 64..=127, ..] => Reason::Shared,
        [127, ..] => Reason::Loopback,
        [169, 254, ..] => Reason::LinkLocal,
        [192, 0, 2, _] | [198, 51, 100, _] | [203, 0, 113, _] => Reason::Documentation,
        // Protocol assignments, and the relays of 6to4.
        [192, 0, 0, _] | [192, 88, 99, _] => Reason::Reserved,
        [198, 18..=19, ..] => Reason::Benchmarking,
        [224..=239, ..] => Reason::Multicast,
        [255, 255, 255, 255] => Reason::Broadcast,
        [240..=255, ..] => Reason::Reserved,
        _ => return Ok(()),
    })
}

fn judge_v6(ip: Ipv6Addr) -> Result<(), Reason> {
    let [a, b, c, d, e, f, g, h] = ip.segments();
    let last = v4(g, h);
    Err(match [a, b, c, d, e, f, g, h] {
        [0, 0, 0, 0, 0, 0, 0, 0] => Reason::Unspecified,
        [0, 0, 0, 0, 0, 0, 0, 1] => Reason::Loopback,
        METADATA_V6 => Reason::Metadata,
        // An IPv4 address in other clothes is judged as what it is: mapped, compatible, and
        // translated, which is all that a network without IPv4 has.
        [0, 0, 0, 0, 0, 0xffff, ..] | [0, 0, 0, 0, 0, 0, ..] | [0, 0, 0, 0, 0xffff, 0, ..] => {
            return judge_v4(last);
        }
        [0x64, 0xff9b, 0, 0, 0, 0, ..] => return judge_v4(last),
        // Translation for one site's own use.
        [0x64, 0xff9b, 1, ..] => Reason::Private,
        // Tunnels end at the IPv4 address that they carry. Teredo writes it inverted.
        [0x2002, b, c, ..] => judge_v4(v4(b, c)).err().unwrap_or(Reason::Tunnel),
        [0x2001, 0, ..] => judge_v4(v4(!g, !h)).err().unwrap_or(Reason::Tunnel),
        [0x2001, 2, 0, ..] => Reason::Benchmarking,
        [0x2001, 0x0db8, ..] | [0x3fff, 0..=0x0fff, ..] => Reason::Documentation,
        [0x2001, 0..=0x01ff, ..] => Reason::Reserved,
        // The last half of a tunnel inside of a site names its IPv4 address.
        [.., 0x0000 | 0x0200, 0x5efe, _, _] => judge_v4(last).err().unwrap_or(Reason::Tunnel),
        [0x2000..=0x3fff, ..] => return Ok(()),
        [0xfc00..=0xfdff, ..] => Reason::UniqueLocal,
        [0xfe80..=0xfebf, ..] => Reason::LinkLocal,
        [0xfec0..=0xfeff, ..] => Reason::SiteLocal,
        [0xff00..=0xffff, ..] => Reason::Multicast,
        _ => Reason::Reserved,
    })
}

fn v4(high: u16, low: u16) -> Ipv4Addr {
    let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
    Ipv4Addr::new(a, b, c, d)
}

/// Where clouds hand out credentials. Some of these look public.
const METADATA_V4: [[u8; 4]; 6] = [
    [169, 254, 169, 254],
    [169, 254, 170, 2],
    [169, 254, 170, 23],
    [100, 100, 100, 200],
    [168, 63, 129, 16],
    [192, 0, 0, 192],
];

const METADATA_V6: [u16; 8] = [0xfd00, 0x0ec2, 0, 0, 0, 0, 0, 0x0254];

const METADATA_NAMES: [&str; 5] = [
    "metadata",
    "metadata.google.internal",
    "metadata.goog",
    "instance-data",
    "instance-data.ec2.internal",
];

const LOCAL_SUFFIXES: [&str; 9] = [
    ".local",
    ".localdomain",
    ".internal",
    ".intranet",
    ".lan",
    ".home",
    ".corp",
    ".home.arpa",
    ".onion",
];
