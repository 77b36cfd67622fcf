//! The names of people: the one place that makes names of a first and a last name, here and in SQL.
//!
//! First and last names are stored without white space around them.

/// [`full_name`] in SQL, of the columns of an account `u`.
pub(crate) const FULL_NAME: &str = "trim(u.first_name || ' ' || u.last_name)";

/// The same, and empty where no account `u` was joined.
pub(crate) const NAME_OR_NOTHING: &str = "coalesce(trim(u.first_name || ' ' || u.last_name), '')";

/// [`FULL_NAME`] with folded letters, where searches look.
pub(crate) const FULL_NAME_FOLDED: &str = "trim(u.first_name_folded || ' ' || u.last_name_folded)";

/// [`sort_name`] in SQL, of the columns of an account `u`; empty if there is no name.
pub(crate) const SORT_NAME: &str = "CASE WHEN u.first_name = '' THEN u.last_name \
    WHEN u.last_name = '' THEN u.first_name ELSE u.last_name || ', ' || u.first_name END";

/// The name of a person, empty if there is none: for those who may not know the external id.
pub fn full_name(first_name: &str, last_name: &str) -> String {
    format!("{} {}", first_name.trim(), last_name.trim())
        .trim()
        .to_owned()
}

/// The name of a person: the external id if there is no other.
pub fn display_name(first_name: &str, last_name: &str, eid: &str) -> String {
    match full_name(first_name, last_name) {
        name if name.is_empty() => eid.to_owned(),
        name => name,
    }
}

/// The name of a person as lists are sorted by it: the external id if there is no other.
pub fn sort_name(first_name: &str, last_name: &str, eid: &str) -> String {
    match (first_name.trim(), last_name.trim()) {
        ("", "") => eid.to_owned(),
        (name, "") | ("", name) => name.to_owned(),
        (first, last) => format!("{last}, {first}"),
    }
}

#[cfg(test)]
mod tests {
    use sea_orm::{ConnectionTrait, Database, DbBackend, Statement};

    use super::*;
    use crate::courses::announcement::Announcement;
    use entity_core::db::Record as _;

    #[tokio::test]
    async fn the_database_makes_the_same_names() {
        let connection = Database::connect("sqlite::memory:").await.unwrap();
        for (first, last, full, sorted) in [
            ("Ada", "Student", "Ada Student", "Student, Ada"),
            ("Ada", "", "Ada", "Ada"),
            ("", "Student", "Student", "Student"),
            ("", "", "", ""),
            (
                "Ana María",
                "de la Cruz",
                "Ana María de la Cruz",
                "de la Cruz, Ana María",
            ),
        ] {
            let statement = Statement::from_sql_and_values(
                DbBackend::Sqlite,
                format!(
                    "SELECT {FULL_NAME}, {SORT_NAME} FROM (SELECT ? AS first_name, ? AS last_name) u"
                ),
                [first.into(), last.into()],
            );
            let row = connection.query_one_raw(statement).await.unwrap().unwrap();
            let by_database: (String, String) = (
                row.try_get_by_index(0).unwrap(),
                row.try_get_by_index(1).unwrap(),
            );
            assert_eq!(by_database, (full.to_owned(), sorted.to_owned()));
            assert_eq!(
                (full_name(first, last), sort_name(first, last, "")),
                by_database
            );
            let shown = display_name(first, last, "ada1");
            assert_eq!(shown, if full.is_empty() { "ada1" } else { full });
        }
    }

    /// Fields with `name_of` show the same names.
    #[test]
    fn records_show_these_names() {
        let shown = Announcement::select();
        let name = NAME_OR_NOTHING.replace("u.", "created_by_account.");
        assert!(shown.contains(&name.as_str()), "{shown:?}");
    }
}
