//! A JSON formatter which stops at data too deep or too large.

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

/// Writes compact JSON.
#[derive(Debug, Default)]
pub(super) struct Limited {
    limits: Limits,
    /// True if a key of the outermost object is being written, of which nothing was written so far.
    is_at_root_key: bool,
    /// The metadata key that the key being written is equal to so far.
    candidate: Option<&'static str>,
}

impl Limited {
    /// Returns whether the outermost object has the metadata key `name`.
    pub(super) fn has(&self, name: &str) -> bool {
        self.limits.found.contains(&name)
    }
}

impl Formatter for &mut Limited {
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
        writer.write_all(fragment.as_bytes())
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
