//! Faults of the machine: file systems that can fill up or fail, and system calls that fail.
//!
//! They need root and `strace`. Where these are missing, the tests say so in a line and do nothing, unless
//! `REQUIRE_FAULTS` demands them.

use std::env;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

pub(crate) fn skip(reason: &str) {
    assert!(
        env::var_os("REQUIRE_FAULTS").is_none_or(|it| it == "0"),
        "{reason}, and REQUIRE_FAULTS demands it"
    );
    eprintln!("{reason}: a test of faults is skipped");
}

/// A file system of its own. It is unmounted when this is dropped.
#[derive(Debug)]
pub struct Mount {
    folder: TempDir,
    image: Option<TempDir>,
}

impl Mount {
    /// One in memory that has room for this many MiB; `None` where this process may not mount any.
    pub fn tmpfs(size: u32) -> Option<Self> {
        let it = Self {
            folder: folder(),
            image: None,
        };
        let options = format!("size={size}m");
        it.mount(&["-t", "tmpfs", "-o", &options, "tmpfs"])
    }

    /// One in a file, of a kind that [can fail](Self::fail); `None` where this process may not mount any.
    pub fn ext4() -> Option<Self> {
        let image = folder();
        let file = image.path().join("image");
        let made = File::create(&file).and_then(|it| it.set_len(64 << 20));
        made.expect("a file of 64 MiB");
        let made = Command::new("mkfs.ext4").arg("-q").arg(&file).status();
        if !made.is_ok_and(|it| it.success()) {
            skip("there is no mkfs.ext4");
            return None;
        }
        let it = Self {
            folder: folder(),
            image: Some(image),
        };
        let file = file.display().to_string();
        it.mount(&["-t", "ext4", "-o", "loop,errors=remount-ro", &file])
    }

    fn mount(self, arguments: &[&str]) -> Option<Self> {
        let mut command = Command::new("mount");
        command.args(arguments).arg(self.folder.path());
        let done = command.stderr(Stdio::null()).status();
        if !done.is_ok_and(|it| it.success()) {
            skip("file systems can't be mounted here");
            return None;
        }
        Some(self)
    }

    /// Returns its path.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Leaves no room in it until the answer is dropped.
    pub fn fill(&self) -> Filler {
        let path = self.path().join("filler");
        let mut file = File::create(&path).expect("a file can be made");
        for size in [1 << 16, 1 << 12, 1] {
            while file.write_all(&vec![0; size]).is_ok() {}
        }
        Filler(path)
    }

    /// Reports an error of the file system to the kernel, which then mounts it read-only whatever is open in it.
    pub fn fail(&self) {
        let device = fs::metadata(self.path()).expect("the mounted folder").dev();
        let (major, minor) = (device >> 8 & 0xfff, device & 0xff);
        let name = fs::read_link(format!("/sys/dev/block/{major}:{minor}")).expect("the device");
        let name = name.file_name().expect("a name").to_owned();
        let switch = Path::new("/sys/fs/ext4")
            .join(name)
            .join("trigger_fs_error");
        fs::write(switch, "1").expect("a kernel that can be told of an error");
    }

    /// Checks it and mounts it anew, for reading and writing.
    ///
    /// # Panics
    /// It can't be repaired.
    pub fn repair(&self) {
        let image = self.image.as_ref().expect("a file system in a file");
        let image = image.path().join("image");
        run(Command::new("umount").arg(self.path()));
        // It tells by its status that it repaired something.
        let checked = Command::new("e2fsck")
            .arg("-fy")
            .arg(&image)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .expect("e2fsck comes with mkfs.ext4");
        assert!(checked.code().is_some_and(|it| it < 4), "{checked}");
        let mut command = Command::new("mount");
        run(command.args(["-o", "loop"]).arg(image).arg(self.path()));
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let mut command = Command::new("umount");
        drop(command.arg("-l").arg(self.path()).status());
    }
}

/// A file that takes all room. The room is there again when this is dropped.
#[derive(Debug)]
pub struct Filler(PathBuf);

impl Drop for Filler {
    fn drop(&mut self) {
        drop(fs::remove_file(&self.0));
    }
}

/// Faults that `strace` puts into the system calls of a process, until this is dropped.
#[derive(Debug)]
pub struct Injection {
    strace: Child,
    log: TempDir,
}

impl Injection {
    /// Lets `calls` (`fsync,fdatasync`) of the process fail with `fault` (`error=EIO`, `error=ENOSPC:when=3`; calls are
    /// counted for each thread and each kind of call); `None` where `strace` can't be used.
    pub fn attach(process: u32, calls: &str, fault: &str) -> Option<Self> {
        let log = folder();
        let strace = Command::new("strace")
            .args(["-f", "-p", &process.to_string(), "-o"])
            .arg(log.path().join("log"))
            .args(["-e", &format!("trace={calls}")])
            .args(["-e", &format!("inject={calls}:{fault}")])
            .stderr(Stdio::piped())
            .spawn();
        let Ok(mut strace) = strace else {
            skip("strace is not installed");
            return None;
        };
        let told = strace.stderr.take().expect("its output is piped");
        let mut line = String::new();
        BufReader::new(told).read_line(&mut line).expect("text");
        if !line.contains("attached") {
            drop(strace.wait());
            skip("strace may not be used here");
            return None;
        }
        Some(Self { strace, log })
    }

    /// Ends it, and tells how many calls it let fail.
    pub fn end(mut self) -> usize {
        self.detach();
        let log = fs::read_to_string(self.log.path().join("log")).unwrap_or_default();
        log.matches("(INJECTED)").count()
    }

    fn detach(&mut self) {
        let id = self.strace.id().to_string();
        drop(Command::new("kill").args(["-INT", &id]).status());
        drop(self.strace.wait());
    }
}

impl Drop for Injection {
    fn drop(&mut self) {
        if let Ok(None) = self.strace.try_wait() {
            self.detach();
        }
    }
}

fn folder() -> TempDir {
    TempDir::with_prefix("lectern-fault-").expect("a folder for temporary files can be made")
}

fn run(command: &mut Command) {
    let done = command.status().expect("a program of the system");
    assert!(done.success(), "{command:?}: {done}");
}
