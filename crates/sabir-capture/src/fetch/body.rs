//! The bytes of an answer, unpacked and bounded. It does not know what they mean.

use std::io::{self, Write};

use flate2::write::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use reqwest::Response;
use reqwest::header::CONTENT_ENCODING;

use super::error::FetchError;
use super::hop;

/// The whole body, if it has at most `most` bytes packed and unpacked.
pub(super) async fn read(mut response: Response, most: usize) -> Result<Vec<u8>, FetchError> {
    let packing = hop::header(response.headers(), CONTENT_ENCODING).unwrap_or_default();
    let mut unpacker = Unpacker::new(&packing, most)?;
    let mut came = 0_usize;
    loop {
        let chunk = response.chunk().await.map_err(|error| match error.is_timeout() {
            true => FetchError::TimedOut,
            false => FetchError::Broken { reason: hop::chain(&error) },
        })?;
        let Some(chunk) = chunk else { break };
        came = came.saturating_add(chunk.len());
        if came > most {
            return Err(FetchError::TooLarge { most });
        }
        unpacker.write(&chunk)?;
    }
    unpacker.finish()
}

struct Unpacker {
    kind: Kind,
    packing: String,
    most: usize,
}

enum Kind {
    Plain(Bounded),
    Gzip(MultiGzDecoder<Bounded>),
    /// Which of the two formats that go by this name it is shows in the first byte.
    DeflateUnseen(Bounded),
    Zlib(ZlibDecoder<Bounded>),
    Deflate(DeflateDecoder<Bounded>),
}

impl Unpacker {
    fn new(packing: &str, most: usize) -> Result<Self, FetchError> {
        let bytes = Bounded { bytes: Vec::new(), most, is_over: false };
        let kind = match packing.trim().to_ascii_lowercase().as_str() {
            "" | "identity" => Kind::Plain(bytes),
            "gzip" | "x-gzip" => Kind::Gzip(MultiGzDecoder::new(bytes)),
            "deflate" => Kind::DeflateUnseen(bytes),
            _ => return Err(FetchError::Packing { name: packing.to_owned() }),
        };
        Ok(Self { kind, packing: packing.to_owned(), most })
    }

    fn write(&mut self, chunk: &[u8]) -> Result<(), FetchError> {
        if let (Kind::DeflateUnseen(bytes), Some(first)) = (&mut self.kind, chunk.first()) {
            let bytes = std::mem::take(bytes);
            // A zlib header names method 8 in its low half.
            self.kind = match first & 0x0f {
                8 => Kind::Zlib(ZlibDecoder::new(bytes)),
                _ => Kind::Deflate(DeflateDecoder::new(bytes)),
            };
        }
        let written = match &mut self.kind {
            Kind::Plain(out) | Kind::DeflateUnseen(out) => out.write_all(chunk),
            Kind::Gzip(out) => out.write_all(chunk),
            Kind::Zlib(out) => out.write_all(chunk),
            Kind::Deflate(out) => out.write_all(chunk),
        };
        written.map_err(|_| self.failure())
    }

    fn finish(mut self) -> Result<Vec<u8>, FetchError> {
        let ended = match &mut self.kind {
            Kind::Plain(_) | Kind::DeflateUnseen(_) => Ok(()),
            Kind::Gzip(out) => out.try_finish(),
            Kind::Zlib(out) => out.try_finish(),
            Kind::Deflate(out) => out.try_finish(),
        };
        if ended.is_err() || self.out().is_over {
            return Err(self.failure());
        }
        Ok(std::mem::take(&mut self.out_mut().bytes))
    }

    fn failure(&self) -> FetchError {
        match self.out().is_over {
            true => FetchError::TooLarge { most: self.most },
            false => FetchError::Packing { name: self.packing.clone() },
        }
    }

    fn out(&self) -> &Bounded {
        match &self.kind {
            Kind::Plain(out) | Kind::DeflateUnseen(out) => out,
            Kind::Gzip(out) => out.get_ref(),
            Kind::Zlib(out) => out.get_ref(),
            Kind::Deflate(out) => out.get_ref(),
        }
    }

    fn out_mut(&mut self) -> &mut Bounded {
        match &mut self.kind {
            Kind::Plain(out) | Kind::DeflateUnseen(out) => out,
            Kind::Gzip(out) => out.get_mut(),
            Kind::Zlib(out) => out.get_mut(),
            Kind::Deflate(out) => out.get_mut(),
        }
    }
}

/// Takes no more than it may: a few bytes can unpack to gigabytes.
#[derive(Default)]
struct Bounded {
    bytes: Vec<u8>,
    most: usize,
    is_over: bool,
}

impl Write for Bounded {
    fn write(&mut self, chunk: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + chunk.len() > self.most {
            self.is_over = true;
            return Err(io::Error::other("too large"));
        }
        self.bytes.extend_from_slice(chunk);
        Ok(chunk.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
