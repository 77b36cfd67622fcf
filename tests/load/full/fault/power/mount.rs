//! The disk as a folder of this machine, through FUSE.

use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use fuser::{
    BackgroundSession, BsdFileFlags, Config, Errno, FileAttr, FileHandle, FileType, Filesystem,
    FopenFlags, Generation, INodeNo, LockOwner, OpenFlags, ReplyAttr, ReplyCreate, ReplyData,
    ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyStatfs, ReplyWrite, Request, TimeOrNow,
    WriteFlags,
};

use super::disk::{Disk, Refusal};

/// The time for which the kernel may believe what it was told: as long as it likes, because nobody else changes the disk.
const FOREVER: Duration = Duration::from_hours(1);
/// The number of the first file: 1 is the folder.
const FIRST: u64 = 2;
const PAGE: u32 = 4096;

/// A disk that can be mounted again and again.
#[derive(Clone, Debug, Default)]
pub(super) struct Device(Arc<Mutex<Disk>>);

impl Device {
    /// Shows the disk as the folder `at`, until the session is dropped.
    pub(super) fn mount(&self, at: &Path) -> io::Result<BackgroundSession> {
        fuser::spawn_mount(self.clone(), at, &Config::default())
    }

    pub(super) fn disk(&self) -> MutexGuard<'_, Disk> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl From<Refusal> for Errno {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Dead => Self::EIO,
            Refusal::NotFound => Self::ENOENT,
        }
    }
}

fn number(file: usize) -> INodeNo {
    INodeNo(FIRST + u64::try_from(file).expect("few files"))
}

/// The file with this number; none for the folder.
fn file(number: INodeNo) -> Option<usize> {
    usize::try_from(number.0.checked_sub(FIRST)?).ok()
}

fn at(offset: u64) -> usize {
    usize::try_from(offset).expect("small files")
}

fn attributes(disk: &Disk, number: INodeNo) -> Option<FileAttr> {
    let (kind, size, perm) = match file(number) {
        None => (FileType::Directory, 0, 0o755),
        Some(file) => {
            let (size, mode) = disk.attributes(file)?;
            let size = u64::try_from(size).expect("small files");
            (FileType::RegularFile, size, mode & 0o777)
        }
    };
    Some(FileAttr {
        ino: number,
        size,
        blocks: size.div_ceil(512),
        atime: UNIX_EPOCH,
        mtime: UNIX_EPOCH,
        ctime: UNIX_EPOCH,
        crtime: UNIX_EPOCH,
        kind,
        perm,
        nlink: 1,
        uid: 0,
        gid: 0,
        rdev: 0,
        blksize: PAGE,
        flags: 0,
    })
}

fn answer(done: Result<(), Refusal>, reply: ReplyEmpty) {
    match done {
        Ok(()) => reply.ok(),
        Err(refusal) => reply.error(refusal.into()),
    }
}

impl Filesystem for Device {
    fn lookup(&self, _: &Request, _: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let disk = self.disk();
        let found = disk.find(name).map(number);
        match found.and_then(|it| attributes(&disk, it)) {
            Some(attributes) => reply.entry(&FOREVER, &attributes, Generation(0)),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn getattr(&self, _: &Request, ino: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        match attributes(&self.disk(), ino) {
            Some(attributes) => reply.attr(&FOREVER, &attributes),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn setattr(
        &self,
        _: &Request,
        ino: INodeNo,
        mode: Option<u32>,
        _uid: Option<u32>,
        _gid: Option<u32>,
        size: Option<u64>,
        _atime: Option<TimeOrNow>,
        _mtime: Option<TimeOrNow>,
        _ctime: Option<SystemTime>,
        _fh: Option<FileHandle>,
        _crtime: Option<SystemTime>,
        _chgtime: Option<SystemTime>,
        _bkuptime: Option<SystemTime>,
        _flags: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        let mut disk = self.disk();
        if let (Some(file), Some(mode)) = (file(ino), mode) {
            disk.set_mode(file, u16::try_from(mode & 0o7777).expect("twelve bits"));
        }
        if let (Some(file), Some(size)) = (file(ino), size)
            && let Err(refusal) = disk.resize(file, at(size))
        {
            return reply.error(refusal.into());
        }
        match attributes(&disk, ino) {
            Some(attributes) => reply.attr(&FOREVER, &attributes),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn create(
        &self,
        _: &Request,
        _parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _umask: u32,
        _flags: i32,
        reply: ReplyCreate,
    ) {
        let mut disk = self.disk();
        let mode = u16::try_from(mode & 0o777).expect("nine bits");
        match disk.create(name, mode) {
            Err(refusal) => reply.error(refusal.into()),
            Ok(file) => {
                let attributes = attributes(&disk, number(file)).expect("a file just made");
                let (generation, handle) = (Generation(0), FileHandle(0));
                reply.created(
                    &FOREVER,
                    &attributes,
                    generation,
                    handle,
                    FopenFlags::empty(),
                );
            }
        }
    }

    fn unlink(&self, _: &Request, _parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        answer(self.disk().remove(name), reply);
    }

    fn read(
        &self,
        _: &Request,
        ino: INodeNo,
        _fh: FileHandle,
        offset: u64,
        size: u32,
        _flags: OpenFlags,
        _lock_owner: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let disk = self.disk();
        let length = usize::try_from(size).expect("small reads");
        let bytes = file(ino)
            .ok_or(Refusal::NotFound)
            .and_then(|it| disk.read(it, at(offset), length));
        match bytes {
            Ok(bytes) => reply.data(bytes),
            Err(refusal) => reply.error(refusal.into()),
        }
    }

    fn write(
        &self,
        _: &Request,
        ino: INodeNo,
        _fh: FileHandle,
        offset: u64,
        data: &[u8],
        _write_flags: WriteFlags,
        _flags: OpenFlags,
        _lock_owner: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let done = file(ino)
            .ok_or(Refusal::NotFound)
            .and_then(|it| self.disk().write(it, at(offset), data));
        match done {
            Ok(()) => reply.written(u32::try_from(data.len()).expect("small writes")),
            Err(refusal) => reply.error(refusal.into()),
        }
    }

    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        reply.ok();
    }

    fn fsync(&self, _: &Request, ino: INodeNo, _: FileHandle, _data: bool, reply: ReplyEmpty) {
        let mut disk = self.disk();
        let done = match file(ino) {
            Some(file) => disk.synchronise(file),
            None => disk.synchronise_names(),
        };
        answer(done, reply);
    }

    fn fsyncdir(&self, _: &Request, _: INodeNo, _: FileHandle, _data: bool, reply: ReplyEmpty) {
        answer(self.disk().synchronise_names(), reply);
    }

    fn readdir(
        &self,
        _: &Request,
        _ino: INodeNo,
        _fh: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        let disk = self.disk();
        for ((name, file), next) in disk.names().zip(1..).skip(at(offset)) {
            if reply.add(number(file), next, FileType::RegularFile, name) {
                break;
            }
        }
        reply.ok();
    }

    fn statfs(&self, _: &Request, _: INodeNo, reply: ReplyStatfs) {
        let blocks = 1 << 20;
        reply.statfs(blocks, blocks, blocks, 1 << 20, 1 << 20, PAGE, 255, PAGE);
    }
}
