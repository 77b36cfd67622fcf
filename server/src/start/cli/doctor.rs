//! `lectern doctor`: prints the settings, their sources, and the problems. It changes nothing.

use std::path::Path;
use std::process::ExitCode;

use entity_core::Registry;
use entity_core::blob::Blobs;
use entity_core::db::Db;
use entity_providers::storage::db::Survey;

use super::output::{Failure, USAGE, explain, fail, say, tell, tell_files};
use super::serve;
use crate::base::config::{Config, Loaded, Profile, Source};
use crate::operate::files::{self, DiskStore};
use crate::operate::jobs;
use crate::operate::production::{self, Findings};
use crate::operate::storage;

/// The options of the checks and of the report.
#[derive(Clone, Copy, Debug)]
pub(super) struct Options {
    /// Every index is compared with its table, and every stored file with its digest.
    pub(super) integrity: bool,
    /// True if settings that nobody set are shown too, and all entity types.
    pub(super) all: bool,
}

/// Shows the settings, which come from `file` among others, checks them, then looks at the database.
pub(super) fn run(loaded: &Loaded, file: Option<&Path>, options: Options) -> ExitCode {
    let shown = loaded.effective.iter();
    let shown = shown.filter(|it| options.all || it.2 != Source::Default);
    for (key, value, source) in shown {
        say(&format!("{key:32} {value:40} ({source})"));
    }
    let set = loaded.effective.iter().filter(|it| it.2 != Source::Default);
    if !options.all {
        say(&format!(
            "settings: {} of {} are set, the others are as the service comes: `--all` shows them",
            set.count(),
            loaded.effective.len()
        ));
    }
    for warning in &loaded.warnings {
        say(&format!("better: {warning}"));
    }
    let config = match &loaded.config {
        Err(problems) => return fail(problems, USAGE),
        Ok(config) => config,
    };
    match check(config, file, options) {
        Ok(failures) if failures.is_empty() => ExitCode::SUCCESS,
        Ok(failures) => fail(&failures.join("\n"), 1),
        Err(failure) => fail(&tell(&*failure), 1),
    }
}

/// Answers why the service would not start.
fn check(config: &Config, file: Option<&Path>, options: Options) -> Result<Vec<String>, Failure> {
    let registry = Registry::from_inventory()?;
    for ((name, version), types) in registry.origins().into_iter().filter(|_| options.all) {
        say(&format!(
            "entity types of {name} {version}: {}",
            types.join(", ")
        ));
    }
    let place = files::place(config)?;
    let folder = files::folder(config)?;
    match config.files.url.is_some() || folder.is_none_or(|it| it.is_dir()) {
        true => say(&format!("files: in {place}")),
        false => say(&format!("files: in {place}, which is made at the start")),
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        match look(config, &registry, options.integrity).await {
            Ok((content, damage)) => inspect(config, file, &content, damage).await,
            Err(problem) => {
                let outside = production::inspect_outside(config, file)?;
                let outside = judge(config.profile, outside, false);
                Ok([Some(problem), outside].into_iter().flatten().collect())
            }
        }
    })
}

/// The database, if it is there and lacks nothing, and which stored files are not whole.
async fn look(
    config: &Config,
    registry: &Registry,
    is_thorough: bool,
) -> Result<(Db, Option<String>), String> {
    let look = storage::look(config.database.expose(), registry, is_thorough).await;
    let look = look.map_err(|it| format!("database: {}", explain(&it)))?;
    if !look.lacks.is_empty() {
        return Err(format!(
            "database: not up to date: `lectern migrate` adds {}",
            look.lacks.join(", ")
        ));
    }
    let survey = survey(config, registry, &look.content, is_thorough).await;
    let survey = survey.map_err(|it| format!("files: {}", explain(&it)))?;
    let (count, damaged) = (survey.count, survey.damaged.len());
    say(&format!(
        "files: {count} that rows name, {damaged} of them not whole"
    ));
    let wrong = entity_providers::storage::db::miscounted(&look.content).await;
    match wrong.map_err(|it| format!("database: {}", explain(&it)))? {
        0 => say("database: reached and up to date"),
        wrong => say(&format!(
            "database: reached; counted wrong for {wrong} of the accounts and sites: `lectern migrate` counts anew"
        )),
    }
    let jobs = jobs::report(&look.content).await;
    for line in jobs.map_err(|it| format!("database: {}", explain(&it)))? {
        say(&line);
    }
    Ok((look.content, survey.damage()))
}

/// Looks at the stored files, and reads them if it `is_thorough`.
async fn survey(
    config: &Config,
    registry: &Registry,
    content: &Db,
    is_thorough: bool,
) -> entity_core::Result<Survey> {
    let store = &match config.files.url {
        Some(_) => files::connect(config).await?,
        None => Blobs::new(DiskStore::at(files::folder(config)?.unwrap_or_default())),
    };
    let look = async |blob| store.check(&blob, is_thorough).await;
    Survey::of(content, registry, look, tell_files).await
}

async fn inspect(
    config: &Config,
    file: Option<&Path>,
    content: &Db,
    damage: Option<String>,
) -> Result<Vec<String>, Failure> {
    let findings = production::inspect(config, file, content).await?;
    let is_fit = findings.refused.is_empty();
    let exposure = production::inspect_exposure(config, content).await?;
    let exposure = exposure.map(|it| serve::refuse_to_listen(config, &it));
    let judged = judge(config.profile, findings, exposure.is_none());
    if is_fit && damage.is_none() {
        say("fit for production");
    }
    Ok([damage, exposure, judged].into_iter().flatten().collect())
}

/// Prints the findings. Only the profile `production` refuses them; the verdict says whether there is nothing else.
fn judge(profile: Profile, findings: Findings, is_fine: bool) -> Option<String> {
    for problem in &findings.warned {
        say(&format!("better: {problem}"));
    }
    let refused = findings.refused.clone();
    let refusal = findings.accept().err()?.to_string();
    match profile {
        Profile::Development => {
            say(match is_fine {
                true => "fine for development; before production:",
                false => "before production:",
            });
            for problem in refused {
                say(&format!("  {problem}"));
            }
            None
        }
        Profile::Production => Some(refusal),
    }
}
