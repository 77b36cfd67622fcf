//! The files of a third party's type: large ones go through the service and never stay in its memory.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;

use load::Client;
use load::process::Process;

/// The size of the file, unless the variable `UPLOAD_MIB` names another one.
const MIB: usize = 64;
/// The maximum growth of memory, in KiB.
const MOST_GROWTH: u64 = 24 << 10;
const BOUNDARY: &str = "x7f3";

/// Sends the head of a request, and then its body piece by piece.
fn begin(process: &Process, client: &Client, head: &str) -> TcpStream {
    let mut stream = TcpStream::connect(("127.0.0.1", process.port())).expect("a connection");
    let cookie = client.cookie().expect("a cookie");
    let head = format!("{head}\r\nHost: a\r\nCookie: {cookie}\r\n");
    stream.write_all(head.as_bytes()).expect("a head");
    stream
}

/// The head of an answer, and what follows.
fn answer(stream: TcpStream) -> (String, BufReader<TcpStream>) {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert!(reader.read_line(&mut head).expect("a line") > 0, "{head}");
    }
    (head, reader)
}

fn field<'a>(head: &'a str, name: &str) -> &'a str {
    let lines = head.lines().filter_map(|it| it.split_once(": "));
    let mut values = lines.filter(|it| it.0.eq_ignore_ascii_case(name));
    values.next().expect("the field").1
}

/// The bytes of the file at this place of it.
fn piece(number: usize) -> Vec<u8> {
    vec![number.to_le_bytes()[0]; 1 << 20]
}

/// Sends a large file and reads it, while the memory of the service is watched.
pub(super) fn large_files_are_never_in_memory(process: &Process, client: &Client) {
    let count = std::env::var_os("UPLOAD_MIB").and_then(|it| it.to_str()?.parse().ok());
    let count: usize = count.unwrap_or(MIB);
    let before = process.memory().anonymous;
    let fields = format!(
        "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"siteId\"\r\n\r\nbiology-101\r\n\
         --{BOUNDARY}\r\nContent-Disposition: form-data; name=\"pages\"; filename=\"a.pdf\"\r\n\r\n"
    );
    let end = format!("\r\n--{BOUNDARY}--\r\n");
    let length = fields.len() + (count << 20) + end.len();
    let head = "POST /direct/scan.json HTTP/1.1";
    let mut stream = begin(process, client, head);
    let rest = format!(
        "Content-Type: multipart/form-data; boundary={BOUNDARY}\r\nContent-Length: {length}\r\n\r\n{fields}"
    );
    stream.write_all(rest.as_bytes()).expect("fields");
    let mut most = 0;
    for number in 0..count {
        stream.write_all(&piece(number)).expect("a piece");
        most = most.max(process.memory().anonymous);
    }
    stream.write_all(end.as_bytes()).expect("an end");
    let (head, _) = answer(stream);
    assert!(head.starts_with("HTTP/1.1 201"), "{head}");
    let path = format!("/direct/scan/{}/file", field(&head, "entityid"));
    let mut stream = begin(process, client, &format!("GET {path} HTTP/1.1"));
    stream.write_all(b"\r\n").expect("an end");
    let (head, mut body) = answer(stream);
    assert_eq!(field(&head, "content-length"), (count << 20).to_string());
    let mut read = vec![0; 1 << 20];
    for number in 0..count {
        body.read_exact(&mut read).expect("a piece");
        assert!(read == piece(number), "{number}");
        most = most.max(process.memory().anonymous);
    }
    let growth = most.saturating_sub(before);
    assert!(growth <= MOST_GROWTH, "{growth} KiB more are in memory");
}
