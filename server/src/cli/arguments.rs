//! The arguments.

use std::path::PathBuf;

use clap::{ArgGroup, Args, Parser, Subcommand};
use entity_providers::demo::PASSWORD;

use super::audit;
use super::instant::Instant;

/// Lectern, a learning-management service.
#[derive(Debug, Parser)]
#[command(name = "lectern", version)]
pub(super) struct Arguments {
    #[command(subcommand)]
    pub(super) command: Option<Command>,
    #[command(flatten)]
    pub(super) settings: Settings,
    #[command(flatten)]
    pub(super) demo: Demo,
}

/// Where settings are.
#[derive(Args, Debug)]
pub(super) struct Settings {
    /// A TOML file with settings.
    #[arg(long, global = true, env = "LECTERN_CONFIG", value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    /// The address (or the host) and the port to listen on [default: 127.0.0.1:8080].
    #[arg(long, global = true, value_name = "ADDRESS")]
    pub(super) listen: Option<String>,
    /// The database: `sqlite://FILE`, `/path/to/FILE` or `postgres://…` [default: `sqlite://lectern.db`].
    #[arg(long, global = true, value_name = "URL")]
    pub(super) database: Option<String>,
    /// What the service is for: `development`, or `production`, which refuses what is unsafe [default: development].
    #[arg(long, global = true, value_name = "PROFILE")]
    pub(super) profile: Option<String>,
}

/// What demo data are like.
#[derive(Args, Debug)]
pub(super) struct Demo {
    /// Fill an empty database with a small university first.
    #[arg(long)]
    pub(super) demo: bool,
    /// The password of everybody in the demo data.
    #[arg(
        long,
        global = true,
        env = "LECTERN_DEMO_PASSWORD",
        default_value = PASSWORD,
        hide_env_values = true
    )]
    pub(super) demo_password: String,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Serve (what happens without a command).
    Serve {
        /// Fill an empty database with a small university first.
        #[arg(long)]
        demo: bool,
    },
    /// Bring the database up to date and stop.
    Migrate {
        /// Run a migration of rows that a crate of an entity type declares once more: one that a former release noted as
        /// done and had passed over.
        #[arg(long, num_args = 2, value_names = ["CRATE", "MIGRATION"])]
        again: Vec<String>,
    },
    /// List, make and change accounts. A password is read from `LECTERN_PASSWORD` or, without it, from the input.
    User {
        #[command(subcommand)]
        action: UserAction,
    },
    /// Fill an empty database with a small university and stop.
    Demo {
        /// Add so many thousand users with courses beside it, for measurements: at most 400.
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=400))]
        scale: Option<u32>,
    },
    /// Print what the audit log tells of requests, newest first, while the service may go on: a JSON object a line.
    Audit(Audit),
    /// Write all data of a SQLite database to one file, and the files that people uploaded to a folder beside it, while
    /// the service may go on.
    Backup {
        /// The file to write. The folder has its name and `.files`.
        file: PathBuf,
        /// Replace the file if it is there.
        #[arg(long)]
        force: bool,
    },
    /// Make a SQLite database from a backup, and put its files where the service stores them, while no service uses it.
    Restore {
        /// The file with the backup. The folder with its name and `.files` is beside it.
        file: PathBuf,
        /// Replace the database that is there.
        #[arg(long)]
        force: bool,
    },
    /// Write a site with everything in it to a zip archive, while the service may go on.
    Export {
        /// The id of the site.
        site: String,
        /// The file to write. Nothing is replaced.
        file: PathBuf,
    },
    /// Take a site in from an archive that `lectern export` wrote. An import that was cut off goes on where it stopped,
    /// and one that is complete does nothing again.
    Import {
        /// The archive.
        file: PathBuf,
    },
    /// Explain the settings, where each comes from, and what is wrong with them or with the database. Every page of a
    /// SQLite database is read.
    Doctor {
        /// Also compare every index with its table, which takes longer.
        #[arg(long)]
        integrity: bool,
    },
    /// Make the crate of a new entity type, in a folder of its own.
    NewType(NewType),
}

/// Which rows of the audit log are printed, and how.
#[derive(Args, Debug)]
pub(super) struct Audit {
    /// Only requests of this account: what the user types to log in, or the internal id.
    #[arg(long, value_name = "NAME")]
    pub(super) user: Option<String>,
    /// Only requests from this instant on (ISO 8601), or of the last `30m`, `12h` or `2d`.
    #[arg(long, value_name = "WHEN", value_parser = Instant::parse)]
    pub(super) since: Option<Instant>,
    /// Only requests before this instant, or before that long ago.
    #[arg(long, value_name = "WHEN", value_parser = Instant::parse)]
    pub(super) until: Option<Instant>,
    /// Only requests whose path begins like this.
    #[arg(long, value_name = "PREFIX")]
    pub(super) path: Option<String>,
    /// Only requests with this method.
    #[arg(long)]
    pub(super) method: Option<String>,
    /// Only requests with this status, such as `403`, or with one of a class, such as `4xx`.
    #[arg(long, value_parser = audit::statuses)]
    pub(super) status: Option<(u16, u16)>,
    /// The most rows that are printed.
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub(super) limit: u32,
    /// Print a table of comma-separated values instead of JSON.
    #[arg(long)]
    pub(super) csv: bool,
}

/// What the crate of a new entity type is like.
#[derive(Args, Debug)]
#[group(skip)]
#[command(group = ArgGroup::new("source").required(true).args(["path", "git"]))]
pub(super) struct NewType {
    /// The name of the type, such as `book`: the prefix of its addresses.
    pub(super) name: String,
    /// The folder with the sources of the service.
    #[arg(long, value_name = "FOLDER")]
    pub(super) path: Option<PathBuf>,
    /// The address of the git repository with the sources of the service.
    #[arg(long, value_name = "URL")]
    pub(super) git: Option<String>,
    /// The folder to make [default: `lectern-NAME`].
    #[arg(long, value_name = "FOLDER")]
    pub(super) into: Option<PathBuf>,
}

/// What to do with an account.
#[derive(Debug, Subcommand)]
pub(super) enum UserAction {
    /// Make an account.
    Add {
        /// What the user types to log in.
        eid: String,
        /// Make it a super user's.
        #[arg(long)]
        superuser: bool,
    },
    /// Change the password.
    Passwd {
        /// What the user types to log in.
        eid: String,
    },
    /// List all accounts: what users type to log in, their names, the kinds of their accounts, and which are shut.
    List {
        /// Print a JSON object a line instead of a table.
        #[arg(long)]
        json: bool,
    },
    /// Open an account again that was shut.
    Enable {
        /// What the user types to log in.
        eid: String,
    },
    /// Shut the account.
    Disable {
        /// What the user types to log in.
        eid: String,
    },
}
