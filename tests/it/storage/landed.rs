//! Steps that landed are closed text: databases have them, so that what is to change comes in a new one.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use server::operate::storage::{audit_migrations, migrations};
use sha2::{Digest as _, Sha256};

/// The names of the steps.
const STEPS: [&str; 5] = [
    "m20261128_000001_audit",
    "m20261128_000001_baseline",
    "m20261128_000002_grants",
    "m20261128_000003_service",
    "m20261128_000004_outbox_lock",
];

/// The files that say what the steps do, each with its digest.
const FILES: [(&str, &str); 4] = [
    ("server/src/operate/migration/audit.sql", "36da342714348dbe"),
    (
        "entity-providers/src/storage/migration/baseline.sql",
        "8171f59b6ae77834",
    ),
    (
        "entity-providers/src/storage/migration/default_grants.txt",
        "b443796aadb9e14a",
    ),
    (
        "server/src/operate/migration/baseline.sql",
        "ccdeff40a174be05",
    ),
];

#[test]
fn x5_what_landed_stays_as_it_is() {
    let steps = migrations().into_iter().chain(audit_migrations());
    let mut steps: Vec<String> = steps.map(|it| it.name().to_owned()).collect();
    steps.sort_unstable();
    steps.dedup();
    for name in STEPS {
        assert!(
            steps.iter().any(|it| it == name),
            "{name} is gone: databases have it"
        );
    }
    for (file, digest) in FILES {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(file);
        let text = fs::read_to_string(path).expect("a text");
        let mut found = String::new();
        for byte in Sha256::digest(text).iter().take(8) {
            write!(found, "{byte:02x}").expect("memory");
        }
        assert_eq!(
            found, digest,
            "{file} landed: undo that, and add a step instead"
        );
    }
}
