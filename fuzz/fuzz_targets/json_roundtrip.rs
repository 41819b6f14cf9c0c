//! AXON to JSON and back gives an equal tree, and no JSON makes the decoder panic.

#![no_main]

use libfuzzer_sys::fuzz_target;
use sabir_axon::{json, parse, same};

fuzz_target!(|text: &str| {
    // As JSON: whatever the decoder accepts must be AXON.
    if let Ok(axon) = json::decode(text) {
        assert!(!parse(&axon).has_errors(), "decoded into what does not parse: {axon}");
    }

    let parsed = parse(text);
    if parsed.has_errors() {
        return;
    }
    let encoded = match json::encode(&parsed.tree) {
        Ok(value) => value.to_string(),
        Err(error) => panic!("a valid document does not encode: {error:?}"),
    };
    match json::decode(&encoded) {
        Ok(axon) => {
            let again = parse(&axon);
            assert!(!again.has_errors(), "decoded into what does not parse: {axon}");
            assert!(same(&parsed.tree, &again.tree), "{encoded} became {axon}");
        }
        Err(error) => panic!("{encoded} does not decode: {error:?}"),
    }
});
