//! Parameters of addresses that say where a visitor came from, and nothing of what is shown. What an
//! address leads to it does not know.

/// Whether a parameter of this name only says where a visitor came from.
pub fn is_tracking_name(name: &str) -> bool {
    let is_campaign = name.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("utm_"));
    is_campaign || NAMES.iter().any(|known| name.eq_ignore_ascii_case(known))
}

const NAMES: &[&str] = &[
    "_ga",
    "_gl",
    "_hsenc",
    "_hsmi",
    "dclid",
    "fbclid",
    "gbraid",
    "gclid",
    "gclsrc",
    "igsh",
    "igshid",
    "li_fat_id",
    "mc_cid",
    "mc_eid",
    "mkt_tok",
    "msclkid",
    "ttclid",
    "twclid",
    "wbraid",
    "yclid",
];

#[cfg(test)]
mod tests {
    use super::is_tracking_name;

    #[test]
    fn campaigns_and_clicks_are_known() {
        for name in ["utm_source", "UTM_x", "fbclid", "gclid", "GCLID", "_ga", "mc_eid"] {
            assert!(is_tracking_name(name), "{name}");
        }
        for name in ["", "id", "ref", "source", "utm", "\u{fc}tm_"] {
            assert!(!is_tracking_name(name), "{name}");
        }
    }
}
