//! The settings that documents name are those of the service, with their defaults.

use std::collections::BTreeSet;

use server::base::config::{OTHER_VARIABLES, RATE_LIMITS, SETTINGS, Setting};

use super::{DOCUMENTS, OPERATING, prose, read, rows, spans};

/// Variables that the service knows without having a setting for them.
const OF_ORCHESTRATORS: [&str; 2] = ["LECTERN_SERVICE_HOST", "LECTERN_PORT"];
/// Settings whose default the service finds out itself, and the beginning of how the manual tells it.
const FOUND_OUT: [(&str, &str); 4] = [
    ("files.endpoint", "Amazon's own"),
    ("files.folder", "where the system has temporary files"),
    ("files.region", "`AWS_REGION`"),
    ("files.accessKey", "`AWS_ACCESS_KEY_ID`"),
];

fn setting(key: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|it| it.key == key)
}

/// A number and its unit: milliseconds, bytes, or none.
fn amount(text: &str) -> Option<(u64, &'static str)> {
    let text = text.replace(',', "");
    let digits = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let (number, unit) = text.split_at(text.len() - digits.len());
    let number: u64 = number.parse().ok()?;
    let (factor, unit) = match unit.trim() {
        "ms" => (1, "time"),
        "s" | "second" | "seconds" => (1_000, "time"),
        "m" | "minute" | "minutes" => (60_000, "time"),
        "h" | "hour" | "hours" => (3_600_000, "time"),
        "day" | "days" => (86_400_000, "time"),
        "KiB" => (1 << 10, "bytes"),
        "MiB" => (1 << 20, "bytes"),
        "GiB" => (1 << 30, "bytes"),
        "" | "each" => (1, ""),
        _ => return None,
    };
    Some((number * factor, unit))
}

/// Returns whether `told` is the default of `setting`. A time without a unit is in seconds.
fn is_default(told: &str, setting: &Setting) -> bool {
    if told == setting.default {
        return true;
    }
    match (amount(told), amount(setting.default)) {
        (Some((told, "time")), Some((number, ""))) => told == number * 1_000,
        (Some(told), Some(default)) => told == default,
        _ => false,
    }
}

/// The text before one of these signs.
fn until<'a>(text: &'a str, signs: &[char]) -> &'a str {
    text.split(signs).next().unwrap_or_default().trim()
}

#[test]
fn every_setting_that_is_named_is_one() {
    let groups = SETTINGS
        .iter()
        .filter_map(|it| Some(it.key.split_once('.')?.0));
    let groups = groups.collect::<BTreeSet<_>>();
    let mut count = 0;
    for document in DOCUMENTS {
        for span in spans(document) {
            let key = until(&span, &[' ', '=']);
            let is_word =
                |it: &str| !it.is_empty() && it.chars().all(|c| c.is_ascii_alphanumeric());
            match key.split_once('.') {
                Some((group, name)) if groups.contains(group) && is_word(name) => {
                    count += 1;
                    assert!(
                        setting(key).is_some(),
                        "{document}: there is no setting `{key}`"
                    );
                }
                _ => {}
            }
        }
    }
    assert!(count > 80, "{count}");
}

#[test]
fn every_variable_that_is_named_is_one() {
    let known = |it: &str| {
        SETTINGS.iter().any(|setting| setting.variable == it)
            || OTHER_VARIABLES.contains(&it)
            || OF_ORCHESTRATORS.contains(&it)
            || it.starts_with("LECTERN_EXT_")
    };
    let mut count = 0;
    for document in DOCUMENTS {
        let text = read(document);
        let named = text.match_indices("LECTERN_");
        let is_letter = |c: char| c == '_' || c.is_ascii_uppercase();
        for (at, _) in named {
            let name = text
                .split_at(at)
                .1
                .split(|c| !is_letter(c))
                .next()
                .unwrap_or_default();
            // How a name is made is said with the first part alone.
            if name != "LECTERN_" {
                count += 1;
                assert!(known(name), "{document}: there is no variable {name}");
            }
        }
    }
    assert!(count > 10, "{count}");
}

#[test]
fn tables_of_settings_tell_the_defaults_of_the_program() {
    let tables = rows(OPERATING, &["Setting"]);
    let table = &tables[..tables.len() - SETTINGS.len()];
    assert!(table.len() > 15, "{table:?}");
    for row in table {
        let keys = row[0].split('`').skip(1).step_by(2).collect::<Vec<_>>();
        let found_out = FOUND_OUT.iter().find(|it| keys.contains(&it.0));
        if let Some((key, told)) = found_out {
            assert!(row[1].starts_with(told), "{row:?}");
            assert_eq!(setting(key).expect(key).default, "", "{row:?}");
            continue;
        }
        // A comma between digits belongs to the number.
        let told = row[1].split(", ").collect::<Vec<_>>();
        assert_eq!(told.len(), keys.len(), "{row:?}");
        for (told, key) in told.iter().zip(keys) {
            let setting = setting(key).unwrap_or_else(|| panic!("there is no setting `{key}`"));
            assert!(
                is_default(told, setting),
                "`{key}` is {}: {row:?}",
                setting.default
            );
        }
    }
}

/// The last table has them all, as a settings file writes them.
#[test]
fn the_table_of_all_settings_is_that_of_the_program() {
    let tables = rows(OPERATING, &["Setting"]);
    let table = &tables[tables.len() - SETTINGS.len()..];
    let told = table.iter().map(|row| (&*row[0], &*row[1]));
    let told = told.map(|it| (it.0.trim_matches('`'), it.1.trim_matches('`')));
    let expected = SETTINGS.iter().map(|it| (it.key, it.default));
    assert_eq!(told.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
    assert!(table.iter().all(|row| row[2].len() > 15), "{table:?}");
}

#[test]
fn the_table_of_limits_tells_of_every_rate_limit() {
    let rows = rows(OPERATING, &["Subject"]);
    let row = rows.iter().find(|it| it[0] == "Requests in a second");
    let row = row.expect("a row");
    for limit in RATE_LIMITS {
        let key = format!("rate.{}", limit.name);
        let told = format!("`{key}` ({})", setting(&key).expect(&key).default);
        assert!(row[1].contains(&told), "{told} is missing: {row:?}");
    }
}

#[test]
fn defaults_in_the_text_are_those_of_the_program() {
    let mut count = 0;
    for document in DOCUMENTS {
        let prose = prose(document);
        for (at, _) in prose.match_indices("` (") {
            let key = prose.split_at(at).0.rsplit('`').next().unwrap_or_default();
            let (_, behind) = prose.split_at(at).1.split_once('(').unwrap_or_default();
            let told = until(behind, &[')', ';']);
            let is_value = told.starts_with(|c: char| c.is_ascii_digit());
            if let Some(setting) = setting(key).filter(|_| is_value) {
                count += 1;
                let default = setting.default;
                assert!(
                    is_default(told, setting),
                    "{document}: `{key}` is {default}, not {told}"
                );
            }
        }
    }
    assert!(count >= 15, "{count}");
}

#[test]
fn a_default_that_differs_would_be_seen() {
    for (told, key, expected) in [
        ("180 days", "retention.audit", true),
        ("181 days", "retention.audit", false),
        ("6 seconds", "login.addressInterval", true),
        ("5,000,000", "retention.auditRows", true),
        ("1 GiB", "files.siteBytes", true),
        ("1 MiB", "files.siteBytes", false),
        ("500 ms", "admission.wait", true),
        ("500", "admission.wait", false),
        ("500 each", "invitations.perSite", true),
        ("false", "audit.required", false),
    ] {
        assert_eq!(
            is_default(told, setting(key).expect(key)),
            expected,
            "{told} {key}"
        );
    }
}
