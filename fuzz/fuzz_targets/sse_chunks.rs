//! Any split of any bytes gives the same events.

#![no_main]

use libfuzzer_sys::fuzz_target;
use sabir_engine::{SseDecoder, SseEvent};

fuzz_target!(|input: (Vec<u8>, &[u8])| {
    let (cuts, bytes) = input;
    let whole = decode([bytes].into_iter());
    assert_eq!(decode(bytes.chunks(1)), whole);
    // Each byte of the first part says how long the next piece is.
    let mut rest = bytes;
    let pieces = cuts.iter().map(|&length| {
        let (piece, after) = rest.split_at(usize::from(length).min(rest.len()));
        rest = after;
        piece
    });
    let pieces: Vec<&[u8]> = pieces.collect();
    assert_eq!(decode(pieces.into_iter().chain([rest])), whole);
});

fn decode<'b>(pieces: impl Iterator<Item = &'b [u8]>) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut decoder = SseDecoder::new();
    let mut events = Vec::new();
    let mut sink = |event: SseEvent<'_>| events.push((event.name.to_vec(), event.data.to_vec()));
    for piece in pieces {
        if decoder.push(piece, &mut sink).is_err() {
            return events;
        }
    }
    decoder.finish(&mut sink);
    events
}
