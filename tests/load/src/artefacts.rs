//! The artefacts that cargo has built of the workspace, to compile a source against them without a new build.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;

use serde_json::Value;
use tempfile::TempDir;

use crate::process::{self, root};

/// The dependencies of a third party's crate.
const DIRECT: [&str; 3] = ["entity_core", "serde", "server"];
/// Compiles only where `serde` is the one that `entity_core` was built with, and so that of the service.
const CONTROL: &str = "entity-core/tests/ui/right.rs";

/// The libraries that a third party links.
#[derive(Debug)]
pub struct Artefacts {
    /// The name in the source, and the file.
    libraries: Vec<(&'static str, PathBuf)>,
    /// Folders with everything that these libraries link themselves, as arguments of the compiler.
    searched: Vec<String>,
}

impl Artefacts {
    /// Those that the tests were built with; they are built if they are not up to date.
    pub fn of_workspace() -> &'static Self {
        static ARTEFACTS: LazyLock<Artefacts> = LazyLock::new(Artefacts::find);
        &ARTEFACTS
    }

    fn find() -> Self {
        let messages = process::build_messages(&root(), &["--workspace", "--lib"]);
        let messages: Vec<Value> = messages
            .lines()
            .filter_map(|it| serde_json::from_str(it).ok())
            .collect();
        // Build scripts and macros may have a `serde` of their own.
        let serdes = libraries(&messages, "serde");
        let found = serdes.into_iter().map(|serde| Self {
            libraries: DIRECT
                .iter()
                .filter_map(|name| match *name {
                    "serde" => Some((*name, serde.clone())),
                    _ => Some((*name, libraries(&messages, name).pop()?)),
                })
                .collect(),
            searched: searched(&messages),
        });
        found
            .filter(|it| it.libraries.len() == DIRECT.len())
            .find(Self::satisfies_control)
            .unwrap_or_else(|| panic!("{CONTROL} does not compile"))
    }

    fn satisfies_control(&self) -> bool {
        let folder = TempDir::new().expect("a folder for temporary files can be made");
        let arguments = ["--emit=metadata".to_owned()];
        let output = self.compile(CONTROL, folder.path(), &arguments);
        output.status.success()
    }

    /// Compiles `source`, a path below the folder of the workspace, against the libraries, with further `arguments` of
    /// the compiler; the output lies in `folder`.
    pub fn compile(&self, source: &str, folder: &Path, arguments: &[String]) -> Output {
        let mut command = Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
        command
            .args(["--edition=2024", "--color=never", "--out-dir"])
            .arg(folder)
            .args(&self.searched)
            .args(arguments)
            .arg(source)
            // Cargo tells the compiler which crate it compiles: what registers a type says whose it is.
            .env("CARGO_PKG_NAME", "library-shelf")
            .env("CARGO_PKG_VERSION", "0.1.0")
            .env_remove("RUSTC_BOOTSTRAP")
            .current_dir(root());
        for (name, file) in &self.libraries {
            command
                .arg("--extern")
                .arg(format!("{name}={}", file.display()));
        }
        command.output().expect("a compiler of Rust")
    }
}

/// The files of the library `name`.
fn libraries(messages: &[Value], name: &str) -> Vec<PathBuf> {
    let is = |it: &Value, place, word| it.pointer(place).is_some_and(|it| it == word);
    let artefacts = messages.iter().filter(|it| {
        is(it, "/reason", "compiler-artifact")
            && is(it, "/target/name", name)
            && is(it, "/target/kind/0", "lib")
    });
    let files = artefacts.filter_map(|it| {
        let files = it.get("filenames")?.as_array()?.iter();
        let mut files = files.filter_map(Value::as_str).map(PathBuf::from);
        files.find(|it| it.extension().is_some_and(|it| it == "rlib"))
    });
    files.collect()
}

/// The search paths that cargo gives the compiler for linked libraries, those of other languages included.
fn searched(messages: &[Value]) -> Vec<String> {
    let mut searched: Vec<String> = messages
        .iter()
        .filter(|it| it["reason"] == "build-script-executed")
        .filter_map(|it| it["linked_paths"].as_array())
        .flatten()
        .filter_map(Value::as_str)
        .map(|it| format!("-L{it}"))
        .collect();
    let library = libraries(messages, "entity_core").pop();
    let library = library.expect("entity-core is a library of the workspace");
    // Cargo shows the libraries of the workspace one folder above everything else.
    let folder = library.parent().expect("a file in a folder");
    searched.push(format!("-Ldependency={}", folder.join("deps").display()));
    searched
}
