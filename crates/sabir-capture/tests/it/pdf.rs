//! PDF files, written by hand here and read in a process of their own.

#![expect(clippy::unwrap_used, reason = "a test that cannot start a process has failed")]

use std::io::Write as _;
use std::time::Duration;

use sabir_capture::{
    PageError, PdfError, PdfLimits, PdfReader, ReadOptions, read_bytes, run_pdf_child,
};
use url::Url;

/// What the child does: this test, run by [`reader`]. On its own it is no test.
#[test]
#[ignore = "the child process of the other tests"]
#[expect(clippy::disallowed_methods, reason = "the test runner has the standard output")]
fn child() {
    let output = std::fs::File::create("/dev/fd/3").unwrap();
    let code = run_pdf_child(std::io::stdin(), output);
    // The code has no number to be read; success is the only one that is equal to success.
    let number = match format!("{code:?}") {
        text if text == format!("{:?}", std::process::ExitCode::SUCCESS) => 0,
        text if text == format!("{:?}", std::process::ExitCode::from(3)) => 3,
        _ => 4,
    };
    std::process::exit(number);
}

/// This program again, with the child's output where a reader expects it and the test runner's
/// nowhere.
fn reader(limits: PdfLimits) -> PdfReader {
    let program = std::env::current_exe().unwrap();
    let script = "exec \"$0\" --exact pdf::child --ignored --nocapture 3>&1 >/dev/null";
    PdfReader::new("/bin/sh", ["-c".into(), script.into(), program.into_os_string()], limits)
}

fn read(bytes: &[u8]) -> Result<sabir_capture::PdfText, PdfError> {
    runtime().block_on(reader(PdfLimits::default()).read(bytes))
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

/// LC-C16: title, pages and paragraphs of a file.
#[test]
fn text_of_two_pages() {
    let file = pdf(&[
        &["The harbour clock is slow, and no-", "body minds."],
        &["It will stay so \\(we think\\)."],
    ]);
    let url = Url::parse("https://example.org/clock.pdf").unwrap();
    let options = ReadOptions::default();
    let reader = reader(PdfLimits::default());
    let page = runtime().block_on(read_bytes(&file, None, &url, &options, &reader)).unwrap();
    expect_test::expect![[r#"
        # Clocks

        The harbour clock is slow, and nobody minds.

        _Page 2_

        It will stay so (we think).
    "#]]
    .assert_eq(&page.markdown);
    assert_eq!(read(&file).unwrap().pages, 2);
}

/// LC-C16: what is no PDF file, is cut off, or lies about itself is refused; the reader may do what it
/// likes in its own process.
#[test]
fn broken_files_are_refused() {
    let whole = pdf(&[&["words"]]);
    let mut no_pages = whole.clone();
    let at = find(&no_pages, b"/Kids");
    no_pages[at..at + 5].copy_from_slice(b"/Gone");
    for broken in [
        b"".to_vec(),
        b"%PDF-1.4\n".to_vec(),
        b"no pdf at all".to_vec(),
        whole[..40].to_vec(),
        no_pages,
        b"%PDF-1.4\n1 0 obj\n".iter().chain(&b"[".repeat(200_000)).copied().collect(),
        b"%PDF-1.4\n1 0 obj\n".iter().chain(&b"<<".repeat(100_000)).copied().collect(),
    ] {
        let refused = read(&broken).unwrap_err();
        assert!(matches!(refused, PdfError::Broken | PdfError::NoText), "{refused:?}");
    }
}

/// LC-C16: a file that needs a password says so.
#[test]
fn encrypted_files_are_named() {
    let mut file = pdf(&[&["secret"]]);
    let at = find(&file, b"trailer\n<<");
    let encrypt = b" /Encrypt << /Filter /Standard /V 1 /R 2 /P -4 \
        /O (01234567890123456789012345678901) /U (01234567890123456789012345678901) >> \
        /ID [(a) (b)]";
    file.splice(at + 10..at + 10, encrypt.iter().copied());
    let refused = read(&file).unwrap_err();
    assert!(matches!(refused, PdfError::Encrypted), "{refused:?}");
}

/// LC-C16: a file without text says so.
#[test]
fn files_without_text_are_named() {
    let refused = read(&pdf(&[&[]])).unwrap_err();
    assert!(matches!(refused, PdfError::NoText), "{refused:?}");
}

/// LC-C17: large files are not even tried, long texts are cut, slow readers are stopped, and a program
/// that cannot be started is an error.
#[test]
fn limits_hold() {
    let file = pdf(&[&["some words"], &["more words"]]);
    let limits = PdfLimits { max_input: 10, ..PdfLimits::default() };
    let refused = runtime().block_on(reader(limits).read(&file)).unwrap_err();
    assert!(matches!(refused, PdfError::TooLarge { limit: 10, .. }), "{refused:?}");

    let limits = PdfLimits { max_output: 30, ..PdfLimits::default() };
    let read = runtime().block_on(reader(limits).read(&file)).unwrap();
    assert!(read.truncated);

    // It never reads, and never ends by itself.
    let limits = PdfLimits { time: Duration::from_millis(50), ..PdfLimits::default() };
    let slow = PdfReader::new("/bin/sh", ["-c", "exec sleep 1000"], limits);
    let refused = runtime().block_on(slow.read(&vec![0; 1_000_000])).unwrap_err();
    assert!(matches!(refused, PdfError::TookTooLong), "{refused:?}");

    let none = PdfReader::new("/nonexistent", [""; 0], PdfLimits::default());
    let refused = runtime().block_on(none.read(&file)).unwrap_err();
    assert!(matches!(refused, PdfError::Program(_)), "{refused:?}");
}

/// LC-C17: a page that unpacks to much more than there is memory for ends the child, and nothing else.
#[test]
fn a_page_that_unpacks_without_end_is_refused() {
    // A stream that says it is 64 GB of text, and a page tree that holds itself.
    let file = b"%PDF-1.4\n\
        1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n\
        2 0 obj\n<< /Type /Pages /Kids [2 0 R] /Count 99999999 >>\nendobj\n\
        trailer\n<< /Root 1 0 R /Size 3 >>\n%%EOF\n";
    assert!(read(file).is_err());
}

/// LC-C15: what cannot be read is refused by its name.
#[test]
fn other_kinds_are_refused() {
    let options = ReadOptions::default();
    let noise: Vec<u8> =
        (0..200_u32).map(|at| u8::try_from(at * at * 151 % 255 + 1).unwrap()).collect();
    for (name, bytes, kind) in [
        ("x", &b"\x89PNG\r\n\x1a\n\0\0"[..], Some("image/png")),
        ("x", b"PK\x03\x04\0\0", Some("application/zip")),
        ("x", b"\0\x01\x02", None),
        ("program.html", b"\x7fELF\x02\x01\x01\0\0\0", None),
        ("program", b"\x7fELF\x02\x01\x01\0\0\0", Some("text/html")),
        ("noise.txt", &noise, None),
        ("noise.md", &noise, Some("text/markdown; charset=utf-8")),
    ] {
        let url = Url::parse("https://example.org/").unwrap().join(name).unwrap();
        let reader = reader(PdfLimits::default());
        let refused = runtime().block_on(read_bytes(bytes, kind, &url, &options, &reader));
        let refused = refused.unwrap_err();
        assert!(matches!(refused, PageError::Unsupported { .. }), "{refused:?}");
        assert!(refused.to_string().contains("PDF"), "{refused}");
    }
}

/// LC-C15: texts in other alphabets and encodings are texts.
#[test]
fn texts_of_all_kinds_are_no_bytes() {
    let wide: Vec<u8> = "wide".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let marked = [&b"\xff\xfe"[..], &wide].concat();
    for (bytes, kind) in [
        (&b"caf\xe9 au lait"[..], None),
        ("日本語 \u{1b}[1m".as_bytes(), None),
        (&marked, None),
        (&wide, Some("text/plain; charset=UTF-16LE")),
        (b"", None),
    ] {
        let url = Url::parse("file:///x.txt").unwrap();
        let reader = reader(PdfLimits::default());
        let options = ReadOptions::default();
        let read = read_bytes(bytes, kind, &url, &options, &reader);
        runtime().block_on(read).unwrap();
    }
}

/// A PDF file with these lines on its pages.
fn pdf(pages: &[&[&str]]) -> Vec<u8> {
    let kids: Vec<String> = (0..pages.len()).map(|at| format!("{} 0 R", 5 + 2 * at)).collect();
    let mut objects = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        format!("<< /Type /Pages /Kids [{}] /Count {} >>", kids.join(" "), pages.len()),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
            .to_owned(),
        "<< /Title (Clocks) >>".to_owned(),
    ];
    for (at, lines) in pages.iter().enumerate() {
        objects.push(format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {} 0 R \
             /Resources << /Font << /F1 3 0 R >> >> >>",
            6 + 2 * at
        ));
        let shown: String = lines
            .iter()
            .enumerate()
            .map(|(line, text)| format!("1 0 0 1 72 {} Tm ({text}) Tj\n", 700 - 14 * line))
            .collect();
        let content = format!("BT /F1 12 Tf\n{shown}ET\n");
        objects.push(format!("<< /Length {} >>\nstream\n{content}endstream", content.len()));
    }
    let mut file = b"%PDF-1.4\n".to_vec();
    let mut places = Vec::new();
    for (at, object) in objects.iter().enumerate() {
        places.push(file.len());
        write!(file, "{} 0 obj\n{object}\nendobj\n", at + 1).unwrap();
    }
    let start = file.len();
    write!(file, "xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1).unwrap();
    for place in places {
        writeln!(file, "{place:010} 00000 n ").unwrap();
    }
    let size = objects.len() + 1;
    write!(
        file,
        "trailer\n<< /Size {size} /Root 1 0 R /Info 4 0 R >>\nstartxref\n{start}\n%%EOF\n"
    )
    .unwrap();
    file
}

fn find(bytes: &[u8], what: &[u8]) -> usize {
    bytes.windows(what.len()).position(|window| window == what).unwrap()
}
