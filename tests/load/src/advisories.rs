//! Known defects of the crates we use: compares `Cargo.lock` with the files of the `RustSec` database.

use std::collections::HashMap;
use std::fmt;
use std::fs;
use std::path::Path;

use semver::{Version, VersionReq};
use toml::{Table, Value};

/// Advisories that we know of and accept, each with the reason.
const ACCEPTED: &[(&str, &str)] = &[];

/// A crate in use that an advisory is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The advisory.
    pub id: String,
    /// The crate.
    pub package: String,
    /// The version in use.
    pub version: Version,
    /// The severity of the finding.
    pub weight: Weight,
}

/// The severity of a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Weight {
    /// The version is vulnerable.
    Vulnerable,
    /// Something to know about, such as that nobody maintains it.
    Information(String),
    /// We know and accept it, for this reason.
    Accepted(&'static str),
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            id,
            package,
            version,
            weight,
        } = self;
        write!(f, "{id}: {package} {version} ")?;
        match weight {
            Weight::Vulnerable => f.write_str("is vulnerable"),
            Weight::Information(what) => f.write_str(what),
            Weight::Accepted(reason) => write!(f, "is accepted: {reason}"),
        }
    }
}

/// Returns the advisories of the database in `folder` about the crates of this lock file.
///
/// # Errors
/// The database or the lock file can't be read; a file of the database that can't be understood is named.
pub fn check(folder: &Path, lock: &str) -> Result<Vec<Finding>, String> {
    let mut findings = Vec::new();
    for (package, versions) in locked(lock)? {
        let Ok(files) = fs::read_dir(folder.join("crates").join(&package)) else {
            continue;
        };
        for file in files.flatten() {
            let text = fs::read_to_string(file.path()).map_err(|error| error.to_string())?;
            let advisory = Advisory::parse(&text)
                .ok_or_else(|| format!("{} is not an advisory", file.path().display()))?;
            let affected = versions.iter().filter(|it| advisory.affects(it));
            findings.extend(affected.map(|version| Finding {
                id: advisory.id.clone(),
                package: package.clone(),
                version: version.clone(),
                weight: advisory.weight(),
            }));
        }
    }
    findings.sort_by(|one, other| one.id.cmp(&other.id));
    Ok(findings)
}

/// The crates of a lock file that come from a registry, with their versions.
fn locked(lock: &str) -> Result<HashMap<String, Vec<Version>>, String> {
    let lock: Table = lock.parse().map_err(|error| format!("{error}"))?;
    let packages = lock.get("package").and_then(Value::as_array);
    let mut crates = HashMap::<String, Vec<Version>>::new();
    for package in packages.ok_or("a lock file without packages")? {
        let text = |key| package.get(key).and_then(Value::as_str);
        if let (Some(name), Some(version), Some(_)) =
            (text("name"), text("version"), text("source"))
        {
            let version = version
                .parse()
                .map_err(|error| format!("{name}: {error}"))?;
            crates.entry(name.to_owned()).or_default().push(version);
        }
    }
    Ok(crates)
}

/// An entry of the database.
#[derive(Debug)]
struct Advisory {
    id: String,
    is_withdrawn: bool,
    information: Option<String>,
    /// Versions without the defect: those in which it was mended and those that never had it.
    sound: Vec<VersionReq>,
}

impl Advisory {
    fn parse(text: &str) -> Option<Self> {
        let (_, text) = text.split_once("```toml")?;
        let (text, _) = text.split_once("```")?;
        let file: Table = text.parse().ok()?;
        let about = file.get("advisory")?;
        let versions = file.get("versions")?;
        let mut sound = Vec::new();
        for key in ["patched", "unaffected"] {
            for range in versions
                .get(key)
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
            {
                sound.push(range.as_str()?.parse().ok()?);
            }
        }
        Some(Self {
            id: about.get("id")?.as_str()?.to_owned(),
            is_withdrawn: about.get("withdrawn").is_some(),
            information: about
                .get("informational")
                .and_then(Value::as_str)
                .map(ToOwned::to_owned),
            sound,
        })
    }

    fn affects(&self, version: &Version) -> bool {
        !self.is_withdrawn && !self.sound.iter().any(|it| it.matches(version))
    }

    fn weight(&self) -> Weight {
        let accepted = ACCEPTED.iter().find(|(id, _)| *id == self.id);
        match (accepted, &self.information) {
            (Some((_, reason)), _) => Weight::Accepted(reason),
            (None, Some(what)) => Weight::Information(what.clone()),
            (None, None) => Weight::Vulnerable,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADVISORY: &str = "```toml\n[advisory]\nid = \"RUSTSEC-2026-9999\"\npackage = \"old\"\n\
        [versions]\npatched = [\">= 1.2.3\"]\nunaffected = [\"< 1.0.0\"]\n```\n\n# A defect\n";

    /// Returns the findings when version `version` of the crate `old` is in use.
    fn found(version: &str, advisory: &str) -> Vec<Finding> {
        let folder = tempfile::tempdir().expect("a folder");
        let crates = folder.path().join("crates/old");
        fs::create_dir_all(&crates).expect("a folder");
        fs::write(crates.join("RUSTSEC-2026-9999.md"), advisory).expect("a file");
        let lock = format!(
            "version = 4\n[[package]]\nname = \"old\"\nversion = \"{version}\"\nsource = \"registry+x\"\n"
        );
        check(folder.path(), &lock).expect("a database and a lock file")
    }

    #[test]
    fn a_vulnerable_version_is_found() {
        let findings = found("1.2.2", ADVISORY);
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].weight, Weight::Vulnerable);
    }

    #[test]
    fn a_mended_version_and_one_from_before_the_defect_are_not_found() {
        assert_eq!(found("1.2.3", ADVISORY), []);
        assert_eq!(found("0.9.9", ADVISORY), []);
    }

    #[test]
    fn that_nobody_maintains_it_is_information() {
        let advisory =
            ADVISORY.replace("[versions]", "informational = \"unmaintained\"\n[versions]");
        let findings = found("1.2.2", &advisory);
        assert_eq!(
            findings[0].weight,
            Weight::Information("unmaintained".to_owned())
        );
    }

    #[test]
    fn a_withdrawn_advisory_is_not_found() {
        let advisory = ADVISORY.replace("[versions]", "withdrawn = \"2026-01-01\"\n[versions]");
        assert_eq!(found("1.2.2", &advisory), []);
    }
}
