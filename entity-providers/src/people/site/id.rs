//! The ids that people choose for sites.
//!
//! An id is what addresses show of a site, so that no id may pass for another one. Each id is kept in the table
//! `site_likeness` under its skeleton, which ids that look alike have in common; the key of that table is what refuses
//! the second one, at whatever moment it comes.

use entity_core::{Context, Error, ErrorKind, Result, check_name};
use sea_orm::ActiveValue::Set;
use sea_orm::EntityTrait;
use unicode_normalization::UnicodeNormalization;
use unicode_security::{GeneralSecurityProfile, skeleton};

use crate::storage::db::site_likeness::{ActiveModel, Entity as Likenesses};

/// The site whose members with `site.upd` are super users.
pub const ADMIN_SITE: &str = "!admin";
/// The maximum length of an id, in bytes.
const MOST: usize = 99;

/// Checks the id that somebody chose, and returns its normal form.
pub(super) fn check(cx: &Context, id: &str) -> Result<String> {
    let id: String = id.nfc().collect();
    check_name(cx, "site", "id", &id)?;
    let is_legal = id.starts_with(char::is_alphanumeric)
        && id.len() <= MOST
        && id.chars().all(is_usual)
        && !id.ends_with('.');
    match is_legal {
        true => Ok(id),
        false => Err(Error::field(
            "id",
            format!(
                "must begin with a letter or digit, have at most {MOST} bytes and only letters, digits and what stands on every keyboard, but no white space, none of / \\ : , ; and no dot at the end"
            ),
        )),
    }
}

/// Reserves `ids`, and all that looks like them, for the sites that have them.
///
/// # Errors
/// Returns a conflict if there is a site whose id looks like one of them.
pub(crate) async fn claim_ids(cx: &Context, ids: &[String]) -> Result<()> {
    Likenesses::insert_many(ids.iter().map(|it| row(it)))
        .exec_without_returning(cx.db()?)
        .await
        .map_err(|it| taken(it.into()))?;
    Ok(())
}

/// Returns what is kept of the id of a site.
fn row(id: &str) -> ActiveModel {
    ActiveModel {
        skeleton: Set(likeness(id)),
        site_id: Set(id.to_owned()),
    }
}

/// Returns the skeleton of `id`: texts that look alike have the same one, whatever their case. Letters are made small
/// before and after, as the skeleton of a digit may be a capital letter.
fn likeness(id: &str) -> String {
    let folded = id.nfkc().collect::<String>().to_lowercase();
    skeleton(&folded).collect::<String>().to_lowercase()
}

/// Says of a violated key that it is that of an id.
pub(super) fn taken(error: Error) -> Error {
    match error.kind() {
        ErrorKind::Conflict => {
            Error::conflict("there is already a site with this id, or with one that looks like it")
                .with_source(error)
        }
        _ => error,
    }
}

/// Returns whether the character may stand in an id: it separates nothing in addresses and references.
fn is_usual(sign: char) -> bool {
    let is_separator = matches!(sign, '/' | '\\' | ':' | ',' | ';');
    !(is_separator || sign.is_control() || sign.is_whitespace() || is_discouraged(sign))
}

/// Returns whether the character is one beyond ASCII that identifiers should not have: it is invisible, a sign of no
/// script in use, or a form of another character.
fn is_discouraged(sign: char) -> bool {
    !sign.is_ascii() && !sign.identifier_allowed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sec_ids_that_look_alike_have_one_likeness() {
        for (one, other) in [
            ("Biology-101", "biology-101"),
            ("biology-101", "b\u{131}ology-101"),
            ("biology-101", "biology-1\u{43e}1"),
            ("paypal", "p\u{430}ypal"),
            ("b\u{fc}cher", "bu\u{308}cher"),
            ("a\u{ff0d}b", "a-b"),
        ] {
            assert_eq!(likeness(one), likeness(other), "{one} {other}");
        }
        for (one, other) in [
            ("biology-101", "biology-102"),
            ("a.b", "a-b"),
            ("b\u{fc}cher", "bucher"),
        ] {
            assert_ne!(likeness(one), likeness(other));
        }
    }
}
