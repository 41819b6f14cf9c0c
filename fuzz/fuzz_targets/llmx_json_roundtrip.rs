//! LLMX to JSON and back gives an equal tree, and no JSON makes the decoder panic.

#![no_main]

use libfuzzer_sys::fuzz_target;
use sabir_llmx::{json, parse, print, same};

fuzz_target!(|text: &str| {
    // As JSON: whatever the decoder accepts must be strict LLMX.
    if let Ok(llmx) = json::decode(text) {
        let parsed = parse(&llmx);
        assert!(!parsed.has_errors(), "decoded into what does not parse: {llmx}");
        assert_eq!(print(&parsed.tree), llmx, "decoded into what is not strict");
    }

    let parsed = parse(text);
    let encoded = match json::encode(&parsed.tree) {
        Ok(encoded) => encoded,
        Err(error) => {
            assert!(parsed.has_errors(), "a valid document does not encode: {error:?}");
            return;
        }
    };
    match json::decode(&encoded) {
        Ok(llmx) => {
            let again = parse(&llmx);
            assert!(!again.has_errors(), "decoded into what does not parse: {llmx}");
            assert!(same(&parsed.tree, &again.tree), "{encoded} became {llmx}");
        }
        Err(error) => panic!("{encoded} does not decode: {error:?}"),
    }
});
