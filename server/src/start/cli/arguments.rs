//! The arguments.

use std::path::PathBuf;

use clap::{ArgGroup, Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use entity_providers::base::university::PASSWORD;

use super::audit;
use super::instant::Instant;

/// The heading of the options that say where settings are.
const SETTINGS: &str = "Settings";
/// The commands that the options of a service mean something to; those that show demo data's password; and those that no
/// setting means anything to.
const SERVING: [&str; 2] = ["serve", "doctor"];
const WITH_DEMO: [&str; 2] = ["serve", "demo"];
const WITHOUT_SETTINGS: [&str; 1] = ["new-type"];

/// Parses the arguments of the process. Prints errors, the help or the version, and ends the process then.
pub(super) fn read() -> Arguments {
    let matches = command().get_matches();
    Arguments::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
}

/// The arguments as each command shows them: only its own, although it takes those of others.
fn command() -> clap::Command {
    let mut whole = Arguments::command();
    whole.build();
    let names: Vec<String> = whole
        .get_subcommands()
        .map(|it| it.get_name().to_owned())
        .collect();
    for name in names {
        whole = whole.mut_subcommand(&name, |it| only_own(it, &name));
    }
    whole
}

/// Hides the options of `command` that mean nothing to the one with this name, and to all below it.
fn only_own(command: clap::Command, name: &str) -> clap::Command {
    let below: Vec<String> = command
        .get_subcommands()
        .map(|it| it.get_name().to_owned())
        .collect();
    let command = command.mut_args(|it| {
        let is_own = match it.get_id().as_str() {
            "listen" => SERVING.contains(&name),
            "profile" => SERVING.contains(&name) || name == "demo",
            "demo_password" => WITH_DEMO.contains(&name),
            "config" | "database" => !WITHOUT_SETTINGS.contains(&name),
            _ => return it,
        };
        it.hide(!is_own)
    });
    below.into_iter().fold(command, |command, inner| {
        command.mut_subcommand(inner, |it| only_own(it, name))
    })
}

/// Lectern, a learning-management service.
#[derive(Debug, Parser)]
#[command(
    name = "lectern",
    version,
    after_help = "Example:\n  lectern --demo --listen 127.0.0.1:8081"
)]
pub(super) struct Arguments {
    #[command(subcommand)]
    pub(super) command: Option<Command>,
    #[command(flatten)]
    pub(super) settings: Settings,
    #[command(flatten)]
    pub(super) demo: Demo,
}

/// The sources of settings.
#[derive(Args, Debug)]
pub(super) struct Settings {
    /// A TOML file with settings.
    #[arg(long, global = true, help_heading = SETTINGS, env = "LECTERN_CONFIG", value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    /// The address (or the host) and the port to listen on [default: 127.0.0.1:8080].
    #[arg(long, global = true, help_heading = SETTINGS, value_name = "ADDRESS")]
    pub(super) listen: Option<String>,
    /// The database: `sqlite://FILE`, `/path/to/FILE` or `postgres://…` [default: `sqlite://lectern.db`].
    #[arg(long, global = true, help_heading = SETTINGS, value_name = "URL")]
    pub(super) database: Option<String>,
    /// The purpose of the service: `development`, or `production`, which refuses what is unsafe [default: development].
    #[arg(long, global = true, help_heading = SETTINGS, value_name = "PROFILE")]
    pub(super) profile: Option<String>,
}

/// The arguments for demo data.
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

/// The subcommands.
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Serve (what happens without a command).
    #[command(after_help = "Example:\n  lectern serve --config lectern.toml")]
    Serve {
        /// Fill an empty database with a small university first.
        #[arg(long)]
        demo: bool,
    },
    /// Bring the database up to date and stop.
    #[command(after_help = "Example:\n  lectern migrate --database sqlite://lectern.db")]
    Migrate {
        /// Run a migration of rows that a crate of an entity type declares once more: one that a former release noted as
        /// done and had passed over.
        #[arg(long, num_args = 2, value_names = ["CRATE", "MIGRATION"])]
        again: Vec<String>,
    },
    /// List, make and change accounts. A password is read from `LECTERN_PASSWORD` or, without it, from the input.
    #[command(after_help = "Example:\n  lectern user add ada --superuser")]
    User {
        #[command(subcommand)]
        action: UserAction,
    },
    /// Fill an empty database with a small university and stop.
    #[command(after_help = "Example:\n  lectern demo --database sqlite://trial.db")]
    Demo {
        /// Add so many thousand users with courses beside it, for measurements: at most 400.
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=400))]
        scale: Option<u32>,
    },
    /// Print what the audit log tells of requests, newest first, while the service may go on: a JSON object a line.
    #[command(after_help = "Example:\n  lectern audit --user ada --since 2d --status 4xx")]
    Audit(Audit),
    /// Write all data of a SQLite database to one file, and the files that people uploaded to a folder beside it, while
    /// the service may go on.
    #[command(after_help = "Example:\n  lectern backup lectern.backup")]
    Backup {
        /// The file to write. The folder has its name and `.files`.
        file: PathBuf,
        /// Replace the file if it is there.
        #[arg(long)]
        force: bool,
    },
    /// Make a SQLite database from a backup, and put its files where the service stores them, while no service uses it.
    #[command(after_help = "Example:\n  lectern restore lectern.backup")]
    Restore {
        /// The file with the backup. The folder with its name and `.files` is beside it.
        file: PathBuf,
        /// Replace the database that is there.
        #[arg(long)]
        force: bool,
    },
    /// Write a site with everything in it to a zip archive, while the service may go on.
    #[command(after_help = "Example:\n  lectern export biology-101 biology.zip")]
    Export {
        /// The id of the site.
        site: String,
        /// The file to write. Nothing is replaced.
        file: PathBuf,
    },
    /// Take a site in from an archive that `lectern export` wrote. An import that was cut off goes on where it stopped,
    /// and one that is complete does nothing again.
    #[command(after_help = "Example:\n  lectern import biology.zip")]
    Import {
        /// The archive.
        file: PathBuf,
    },
    /// Tell what is set to something else than the default, and what is wrong with the settings or with the database. Every
    /// page of a SQLite database is read, and the files are counted.
    #[command(after_help = "Example:\n  lectern doctor --config lectern.toml --profile production")]
    Doctor {
        /// Also compare every index with its table and every stored file with its digest, which takes longer.
        #[arg(long)]
        integrity: bool,
        /// Also show the settings that are as they were, and all entity types.
        #[arg(long)]
        all: bool,
    },
    /// Make the crate of a new entity type, in a folder of its own.
    #[command(after_help = "Example:\n  lectern new-type book --path .")]
    NewType(NewType),
}

/// The filter and the format of rows of the audit log.
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

/// The arguments of a new crate with an entity type.
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
    #[arg(long, value_name = "URL", requires = "rev")]
    pub(super) git: Option<String>,
    /// The commit of that repository.
    #[arg(long, value_name = "COMMIT", requires = "git")]
    pub(super) rev: Option<String>,
    /// The folder to make [default: `lectern-NAME`].
    #[arg(long, value_name = "FOLDER")]
    pub(super) into: Option<PathBuf>,
}

/// The actions on accounts.
#[derive(Debug, Subcommand)]
pub(super) enum UserAction {
    /// Make an account.
    #[command(after_help = "Example:\n  lectern user add ada --superuser")]
    Add {
        /// The external id, with which the user logs in.
        eid: String,
        /// Make it a super user's.
        #[arg(long)]
        superuser: bool,
    },
    /// Change the password.
    #[command(after_help = "Example:\n  lectern user passwd ada")]
    Passwd {
        /// The external id, with which the user logs in.
        eid: String,
    },
    /// List all accounts: what users type to log in, their names, the kinds of their accounts, and which are shut.
    #[command(after_help = "Example:\n  lectern user list --json")]
    List {
        /// Print a JSON object a line instead of a table.
        #[arg(long)]
        json: bool,
    },
    /// Open an account again that was shut.
    #[command(after_help = "Example:\n  lectern user enable ada")]
    Enable {
        /// The external id, with which the user logs in.
        eid: String,
    },
    /// Shut the account.
    #[command(after_help = "Example:\n  lectern user disable ada")]
    Disable {
        /// The external id, with which the user logs in.
        eid: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The help of all commands, by their names.
    fn helps(command: &mut clap::Command, above: &str, found: &mut Vec<(String, String)>) {
        for it in command.get_subcommands_mut() {
            if it.get_name() == "help" {
                continue;
            }
            let name = format!("{above} {}", it.get_name());
            found.push((name.clone(), it.render_long_help().to_string()));
            helps(it, &name, found);
        }
    }

    #[test]
    fn each_command_shows_its_own_options_and_an_example() {
        let mut whole = command();
        let mut found = Vec::new();
        helps(&mut whole, "lectern", &mut found);
        assert!(found.len() > 14, "{found:?}");
        for (name, help) in &found {
            let (_, example) = help.split_once("Example:\n  ").expect("an example");
            assert!(example.starts_with(name.as_str()), "{name}: {help}");
            let given: Vec<&str> = example
                .lines()
                .next()
                .unwrap_or_default()
                .split(' ')
                .collect();
            let parsed = command().try_get_matches_from(given);
            assert!(parsed.is_ok(), "{name}: {parsed:?}");
            let is_of = |names: &[&str]| names.iter().any(|it| *name == format!("lectern {it}"));
            for (option, is_shown) in [
                ("--listen", is_of(&SERVING)),
                ("--demo-password", is_of(&WITH_DEMO)),
                ("--database", !is_of(&WITHOUT_SETTINGS)),
                ("--since", is_of(&["audit"])),
                ("--integrity", is_of(&["doctor"])),
            ] {
                let has_option = help.lines().any(|it| it.trim_start().starts_with(option));
                assert_eq!(has_option, is_shown, "{option} of {name}: {help}");
            }
        }
    }

    #[test]
    fn options_that_a_command_does_not_show_are_taken_where_they_stand() {
        for line in [
            "lectern --listen 127.0.0.1:1 audit",
            "lectern audit --listen 127.0.0.1:1",
            "lectern user list --profile production",
            "lectern migrate --demo-password x",
        ] {
            let matches = command().try_get_matches_from(line.split(' '));
            let arguments = Arguments::from_arg_matches(&matches.unwrap());
            assert!(arguments.is_ok(), "{line}");
        }
        let matches = command().try_get_matches_from(["lectern", "audit", "--listen", "x"]);
        let arguments = Arguments::from_arg_matches(&matches.unwrap()).unwrap();
        assert_eq!(arguments.settings.listen.as_deref(), Some("x"));
    }
}
