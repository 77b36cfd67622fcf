//! A JSON formatter whose output may stand inside HTML, and which stops at data too deep or too large.

use std::io::{self, Write};

use serde_json::ser::{CharEscape, Formatter};

/// The most levels of lists and objects.
pub(crate) const MAX_DEPTH: usize = 32;
/// The most values in one entity.
const MAX_NODES: usize = 100_000;
/// The most bytes of text in one entity.
const MAX_BYTES: usize = 8 << 20;

/// The keys that the framework adds to an entity: its reference, address, id and title.
pub(crate) const METADATA: [&str; 4] = ["entityReference", "entityURL", "entityId", "entityTitle"];

/// The amount of data that is written of one entity, which has limits.
///
/// They hold while the data is walked, so that data without an end can't exhaust the stack.
#[derive(Debug, Default)]
pub(crate) struct Limits {
    depth: usize,
    nodes: usize,
    bytes: usize,
    /// The metadata keys that the outermost object has.
    found: Vec<&'static str>,
}

impl Limits {
    /// Begins an object or a list.
    pub(crate) fn enter(&mut self) -> io::Result<()> {
        self.depth += 1;
        match self.depth > MAX_DEPTH {
            true => Err(io::Error::other("the data is nested too deeply")),
            false => Ok(()),
        }
    }

    /// Ends an object or a list.
    pub(crate) fn leave(&mut self) {
        self.depth -= 1;
    }

    /// Counts a value, of which this many bytes are known.
    pub(crate) fn count(&mut self, bytes: usize) -> io::Result<()> {
        self.nodes += 1;
        self.take(bytes)
    }

    /// Counts bytes of a text.
    pub(crate) fn take(&mut self, bytes: usize) -> io::Result<()> {
        self.bytes += bytes;
        match self.nodes > MAX_NODES || self.bytes > MAX_BYTES {
            true => Err(io::Error::other("the data is too large")),
            false => Ok(()),
        }
    }

    /// Notes the key of an entry of the object that was entered last.
    pub(crate) fn note_key(&mut self, name: &str) {
        if self.depth == 1 {
            self.found
                .extend(METADATA.into_iter().find(|it| *it == name));
        }
    }

    /// Returns the metadata keys that the outermost object has.
    pub(crate) fn found(&self) -> &[&'static str] {
        &self.found
    }
}

/// Writes compact JSON with `<`, `>`, `&`, U+2028 and U+2029 escaped.
#[derive(Debug, Default)]
pub(super) struct Safe {
    limits: Limits,
    /// True if a key of the outermost object is being written, of which nothing was written so far.
    is_at_root_key: bool,
    /// The metadata key that the key being written is equal to so far.
    candidate: Option<&'static str>,
}

impl Safe {
    /// Returns whether the outermost object has the metadata key `name`.
    pub(super) fn has(&self, name: &str) -> bool {
        self.limits.found.contains(&name)
    }
}

impl Formatter for &mut Safe {
    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.limits.enter()?;
        writer.write_all(b"[")
    }

    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.limits.leave();
        writer.write_all(b"]")
    }

    fn begin_array_value<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        is_first: bool,
    ) -> io::Result<()> {
        self.limits.count(1)?;
        match is_first {
            true => Ok(()),
            false => writer.write_all(b","),
        }
    }

    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.limits.enter()?;
        writer.write_all(b"{")
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.limits.leave();
        writer.write_all(b"}")
    }

    fn begin_object_key<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        is_first: bool,
    ) -> io::Result<()> {
        self.is_at_root_key = self.limits.depth == 1;
        self.limits.count(1)?;
        match is_first {
            true => Ok(()),
            false => writer.write_all(b","),
        }
    }

    fn end_object_key<W: ?Sized + Write>(&mut self, _writer: &mut W) -> io::Result<()> {
        self.is_at_root_key = false;
        self.limits.found.extend(self.candidate.take());
        Ok(())
    }

    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        if self.is_at_root_key || self.candidate.is_some() {
            self.candidate = METADATA
                .into_iter()
                .find(|it| self.is_at_root_key && *it == fragment);
            self.is_at_root_key = false;
        }
        self.limits.bytes += fragment.len();
        write_harmless(writer, fragment.as_bytes())
    }

    fn write_char_escape<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        escape: CharEscape,
    ) -> io::Result<()> {
        self.is_at_root_key = false;
        self.candidate = None;
        serde_json::ser::CompactFormatter.write_char_escape(writer, escape)
    }
}

/// Writes `text`, with what could end or start markup or a line of script escaped.
fn write_harmless<W: ?Sized + Write>(writer: &mut W, text: &[u8]) -> io::Result<()> {
    let mut rest = text;
    while let Some(at) = find_suspect(rest) {
        let (before, suspect) = rest.split_at(at);
        writer.write_all(before)?;
        let (written, length): (&[u8], usize) = match suspect {
            [b'<', ..] => (b"\\u003c", 1),
            [b'>', ..] => (b"\\u003e", 1),
            [b'&', ..] => (b"\\u0026", 1),
            [0xe2, 0x80, 0xa8, ..] => (b"\\u2028", 3),
            [0xe2, 0x80, 0xa9, ..] => (b"\\u2029", 3),
            _ => (suspect.get(..1).unwrap_or_default(), 1),
        };
        writer.write_all(written)?;
        rest = suspect.get(length..).unwrap_or_default();
    }
    writer.write_all(rest)
}

/// The length from which searching a text in large steps pays.
const LONG: usize = 24;

/// Where the first byte is that may begin something to escape.
fn find_suspect(text: &[u8]) -> Option<usize> {
    if text.len() < LONG {
        return text
            .iter()
            .position(|it| matches!(it, b'<' | b'>' | b'&' | 0xe2));
    }
    let markup = memchr::memchr3(b'<', b'>', b'&', text);
    let before = markup.and_then(|it| text.get(..it)).unwrap_or(text);
    memchr::memchr(0xe2, before).or(markup)
}
