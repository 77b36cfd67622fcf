//! A disk in memory that loses what was not synchronised when its power is cut.
//!
//! Programs see every write at once. The disk itself promises only what a program synchronised: the content of a file
//! by `fsync` of the file, its name by `fsync` of the folder. There is one folder.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

/// The number of bytes that a device writes as a whole or not at all.
const SECTOR: usize = 512;

/// The fate of the writes that nobody synchronised.
#[derive(Clone, Copy, Debug)]
pub(super) enum Cut {
    /// All of them are lost.
    Clean,
    /// Some of their sectors are kept and others lost, as this number decides.
    Torn(u64),
}

/// The disk with its files. Files that nobody can name any more stay, because a cut may bring their names back.
#[derive(Debug, Default)]
pub(super) struct Disk {
    files: Vec<File>,
    names: BTreeMap<OsString, usize>,
    durable_names: BTreeMap<OsString, usize>,
    /// The number of further changes the disk takes before its power is gone.
    changes_left: Option<u64>,
}

/// Why the disk refuses a change or a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The power is gone.
    Dead,
    /// There is no such file.
    NotFound,
}

#[derive(Debug, Default)]
struct File {
    mode: u16,
    content: Vec<u8>,
    durable: Vec<u8>,
    pending: Vec<Change>,
}

#[derive(Debug)]
enum Change {
    Write { offset: usize, bytes: Vec<u8> },
    Resize(usize),
}

impl Disk {
    /// The power goes after so many further changes: from then on every operation fails.
    pub(super) fn fail_after(&mut self, changes: u64) {
        self.changes_left = Some(changes);
    }

    /// Returns whether the power is gone.
    pub(super) fn is_dead(&self) -> bool {
        self.changes_left == Some(0)
    }

    /// Cuts the power and turns it on again: writes that were not synchronised are lost, as `cut` says.
    pub(super) fn cut(&mut self, cut: Cut) {
        self.changes_left = None;
        self.names.clone_from(&self.durable_names);
        for file in &mut self.files {
            file.cut(cut);
        }
    }

    pub(super) fn find(&self, name: &OsStr) -> Option<usize> {
        self.names.get(name).copied()
    }

    pub(super) fn names(&self) -> impl Iterator<Item = (&OsStr, usize)> {
        self.names.iter().map(|(name, file)| (&**name, *file))
    }

    pub(super) fn create(&mut self, name: &OsStr, mode: u16) -> Result<usize, Refusal> {
        self.change()?;
        let file = self.files.len();
        self.files.push(File {
            mode,
            ..File::default()
        });
        self.names.insert(name.to_owned(), file);
        Ok(file)
    }

    pub(super) fn remove(&mut self, name: &OsStr) -> Result<(), Refusal> {
        self.change()?;
        let removed = self.names.remove(name);
        removed.map(drop).ok_or(Refusal::NotFound)
    }

    /// The length and the mode of `file`.
    pub(super) fn attributes(&self, file: usize) -> Option<(usize, u16)> {
        let file = self.files.get(file)?;
        Some((file.content.len(), file.mode))
    }

    pub(super) fn set_mode(&mut self, file: usize, mode: u16) {
        if let Some(file) = self.files.get_mut(file) {
            file.mode = mode;
        }
    }

    pub(super) fn read(&self, file: usize, offset: usize, length: usize) -> Result<&[u8], Refusal> {
        if self.is_dead() {
            return Err(Refusal::Dead);
        }
        let content = &self.files.get(file).ok_or(Refusal::NotFound)?.content;
        let start = offset.min(content.len());
        let end = offset.saturating_add(length).min(content.len());
        Ok(&content[start..end])
    }

    pub(super) fn write(
        &mut self,
        file: usize,
        offset: usize,
        bytes: &[u8],
    ) -> Result<(), Refusal> {
        let bytes = bytes.to_vec();
        self.apply(file, Change::Write { offset, bytes })
    }

    pub(super) fn resize(&mut self, file: usize, length: usize) -> Result<(), Refusal> {
        self.apply(file, Change::Resize(length))
    }

    /// Promises the content of `file`.
    pub(super) fn synchronise(&mut self, file: usize) -> Result<(), Refusal> {
        self.change()?;
        let file = self.files.get_mut(file).ok_or(Refusal::NotFound)?;
        file.durable.clone_from(&file.content);
        file.pending.clear();
        Ok(())
    }

    /// Promises the names.
    pub(super) fn synchronise_names(&mut self) -> Result<(), Refusal> {
        self.change()?;
        self.durable_names.clone_from(&self.names);
        Ok(())
    }

    fn apply(&mut self, file: usize, change: Change) -> Result<(), Refusal> {
        self.change()?;
        let file = self.files.get_mut(file).ok_or(Refusal::NotFound)?;
        change.apply_to(&mut file.content);
        file.pending.push(change);
        Ok(())
    }

    /// Counts a change, and refuses it when the power is gone.
    fn change(&mut self) -> Result<(), Refusal> {
        match &mut self.changes_left {
            Some(0) => Err(Refusal::Dead),
            Some(left) => {
                *left -= 1;
                Ok(())
            }
            None => Ok(()),
        }
    }
}

impl File {
    fn cut(&mut self, cut: Cut) {
        let pending = std::mem::take(&mut self.pending);
        if let Cut::Torn(seed) = cut {
            let mut dice = Dice(seed | 1);
            for change in pending {
                change.tear(&mut self.durable, &mut dice);
            }
        }
        self.content.clone_from(&self.durable);
    }
}

impl Change {
    fn apply_to(&self, content: &mut Vec<u8>) {
        match self {
            Self::Resize(length) => content.resize(*length, 0),
            Self::Write { offset, bytes } => {
                let end = offset + bytes.len();
                if content.len() < end {
                    content.resize(end, 0);
                }
                content[*offset..end].copy_from_slice(bytes);
            }
        }
    }

    /// Applies some of the change: each sector of it, or the new length, with even odds.
    fn tear(self, content: &mut Vec<u8>, dice: &mut Dice) {
        match self {
            Self::Resize(_) if dice.is_odd() => self.apply_to(content),
            Self::Resize(_) => {}
            Self::Write { offset, bytes } => {
                let mut start = 0;
                while start < bytes.len() {
                    let end = bytes.len().min(start + SECTOR - (offset + start) % SECTOR);
                    if dice.is_odd() {
                        let part = Self::Write {
                            offset: offset + start,
                            bytes: bytes[start..end].to_vec(),
                        };
                        part.apply_to(content);
                    }
                    start = end;
                }
            }
        }
    }
}

/// Marsaglia's xorshift: the same throws for the same seed.
#[derive(Debug)]
struct Dice(u64);

impl Dice {
    fn is_odd(&mut self) -> bool {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) & 1 == 1
    }
}

#[test]
fn a_cut_loses_what_was_not_synchronised() {
    let mut disk = Disk::default();
    let name = OsStr::new("a");
    let file = disk.create(name, 0o600).expect("power");
    disk.write(file, 0, b"kept").expect("power");
    disk.synchronise(file).expect("power");
    disk.cut(Cut::Clean);
    assert_eq!(disk.find(name), None, "its name was not synchronised");

    let file = disk.create(name, 0o600).expect("power");
    disk.synchronise_names().expect("power");
    disk.write(file, 0, b"kept").expect("power");
    disk.synchronise(file).expect("power");
    disk.write(file, 2, b"lost and more").expect("power");
    assert_eq!(disk.read(file, 0, 99), Ok(&b"kelost and more"[..]));
    disk.cut(Cut::Clean);
    assert_eq!(disk.read(file, 0, 99), Ok(&b"kept"[..]));

    disk.fail_after(1);
    disk.write(file, 0, b"x").expect("power for one change");
    assert_eq!(disk.write(file, 0, b"y"), Err(Refusal::Dead));
    assert_eq!(disk.read(file, 0, 9), Err(Refusal::Dead));
}
