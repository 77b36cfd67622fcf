//! The command line of `lectern`: its commands and their output.

mod archive;
mod arguments;
mod audit;
mod backup;
mod doctor;
mod instant;
mod new_type;
mod open;
mod operator;
mod output;
mod prompt;
mod serve;
mod users;

use std::error::Error as StdError;
use std::process::ExitCode;
use std::time::Duration;

use entity_core::Registry;

use crate::base::config::{self, Config, ConfigSources, Loaded};
use crate::base::telemetry;
use crate::operate::storage::{self, Storage};
use crate::start::build::cores;

use arguments::{Arguments, Command, Demo, Settings};
use output::{Failure, USAGE, fail, say, tell};

/// The time that threads that work on something may take when everything else is over.
const LAST_THREADS: Duration = Duration::from_secs(1);

/// Runs the program: reads the arguments, does what they say, answers how it went.
pub fn run() -> ExitCode {
    let arguments = arguments::read();
    if let Some(Command::NewType(wanted)) = &arguments.command {
        return match new_type::run(wanted) {
            Ok(()) => ExitCode::SUCCESS,
            Err(failure) => fail(&tell(&*failure), USAGE),
        };
    }
    let given = match given(&arguments.settings) {
        Ok(given) => given,
        Err(failure) => return fail(&tell(&*failure), USAGE),
    };
    let loaded = config::load(&given);
    if let Some(Command::Doctor { integrity, all }) = arguments.command {
        let file = arguments.settings.config.as_deref();
        return doctor::run(&loaded, file, doctor::Options { integrity, all });
    }
    let config = match &loaded {
        Loaded {
            config: Ok(config), ..
        } => config.clone(),
        Loaded {
            config: Err(problems),
            ..
        } => return fail(problems, USAGE),
    };
    telemetry::start(&config);
    for warning in &loaded.warnings {
        tracing::warn!("{warning}");
    }
    let runtime = match tokio::runtime::Builder::new_multi_thread()
        // A looping hook keeps one of them for ever, which must not be the only one.
        .worker_threads(cores().max(2))
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => return fail(&error, 1),
    };
    let database = config.database.clone();
    let done = runtime.block_on(execute(arguments, config));
    // A thread that waits for something that is gone, such as a name server, holds nobody up.
    runtime.shutdown_timeout(LAST_THREADS);
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => fail(&tell_damage(database.expose(), &*failure), 1),
    }
}

/// A failure as the operator reads it: if a damaged file is behind it, that is told by its name.
fn tell_damage(database: &str, failure: &(dyn StdError + Send + Sync + 'static)) -> String {
    let told = tell(failure);
    match storage::damage_behind(database, failure) {
        // Whoever opened it has said what to do.
        Some(damage) if !told.contains("lectern restore") => damage.to_string(),
        _ => told,
    }
}

async fn execute(arguments: Arguments, config: Config) -> Result<(), Failure> {
    let file = arguments.settings.config.as_deref();
    match arguments.command {
        None => serve::run(config, file, &arguments.demo).await,
        Some(Command::Serve { demo }) => {
            // `lectern --demo serve` means the same as `lectern serve --demo`.
            let options = Demo {
                demo: demo || arguments.demo.demo,
                ..arguments.demo
            };
            serve::run(config, file, &options).await
        }
        Some(Command::Demo { scale }) => operator::demo(config, &arguments.demo, scale).await,
        Some(Command::Migrate { again }) => {
            let registry = Registry::from_inventory()?;
            let storage = Storage::open(config.database.expose(), &registry).await?;
            if let [origin, name] = &*again {
                entity_providers::storage::db::run_again(&storage.content, &registry, origin, name)
                    .await?;
                say(&format!(
                    "the migration `{name}` of the crate `{origin}` has run"
                ));
            }
            let mended = entity_providers::storage::db::mend_usage(&storage.content).await?;
            if mended > 0 {
                say(&format!(
                    "counted anew: it was wrong for {mended} of the accounts and sites"
                ));
            }
            say("the database is up to date");
            Ok(())
        }
        Some(Command::Audit(wanted)) => audit::run(&config, wanted).await,
        Some(Command::User { action }) => Box::pin(operator::user(config, action)).await,
        Some(Command::Backup { file, force }) => backup::backup(&config, &file, force).await,
        Some(Command::Restore { file, force }) => backup::restore(&config, &file, force).await,
        Some(Command::Export { site, file }) => archive::export(config, &site, &file).await,
        Some(Command::Import { file }) => archive::import(config, &file).await,
        Some(Command::Doctor { .. } | Command::NewType(_)) => Ok(()),
    }
}

/// The settings in the file, the environment and the arguments.
fn given(settings: &Settings) -> Result<ConfigSources, Failure> {
    let file = match &settings.config {
        None => None,
        Some(path) => {
            let text = std::fs::read_to_string(path)
                .map_err(|error| format!("can't read {}: {error}", path.display()))?;
            Some((path.display().to_string(), text))
        }
    };
    let environment = std::env::vars_os()
        .filter(|(name, _)| name.to_string_lossy().starts_with("LECTERN_"))
        .collect();
    let arguments = [
        ("listen", settings.listen.clone()),
        ("database", settings.database.clone()),
        ("profile", settings.profile.clone()),
    ]
    .into_iter()
    .filter_map(|(key, value)| Some((key.to_owned(), value?)))
    .collect();
    Ok(ConfigSources {
        file,
        environment,
        arguments,
    })
}
