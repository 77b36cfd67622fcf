//! Keys that are whole numbers, for types whose clients read ids as integers.

use crate::contract::context::Context;
use crate::db::record::definition::Record;
use crate::primitives::error::{Error, Result};
use crate::primitives::stable_hash::stable_hash;

/// The largest number: clients keep ids in 32 bits with a sign.
const LARGEST: u64 = 2_147_483_647;

/// The maximum number of draws. As long as a table holds less than half of all numbers, hardly any search takes so many.
const MOST_DRAWS: usize = 32;

/// Returns a key for a new record, as text: a whole number from 1 to 2,147,483,647 that no row of the table has. Numbers
/// are drawn and not counted, so that nobody learns from one how many rows there are, or which others exist.
///
/// # Errors
/// Returns an error if the database can't be read or if no free number is found.
pub async fn new_number<T: Record>(cx: &Context) -> Result<String> {
    for _ in 0..MOST_DRAWS {
        let number = draw(&cx.new_id()).to_string();
        let db = cx.db()?;
        let mut sql = db.sql("SELECT count(*) FROM \"");
        sql.push(T::TABLE)
            .push("\" WHERE \"")
            .push(T::KEY)
            .push("\" = ");
        sql.bind(number.as_str());
        if db
            .rows(sql.into_statement(), crate::db::columns::<i64>)
            .await?
            == [0]
        {
            return Ok(number);
        }
    }
    Err(Error::internal("no number is free"))
}

/// The largest number that programs keep exactly which have floating-point numbers only.
const LARGEST_EXACT: u64 = (1 << 53) - 1;

/// Returns a number from 1 to 9,007,199,254,740,991 that was hardly ever drawn before, for types that make many entities at
/// once: among a hundred million of them, the chance that two have the same number is below one half. A unit of work that
/// stores the same number twice fails, and finds another one when it is tried again.
pub fn large_number(cx: &Context) -> u64 {
    let number = stable_hash(&cx.new_id()).checked_rem(LARGEST_EXACT);
    number.unwrap_or_default().saturating_add(1)
}

/// Draws a number by a unique id.
fn draw(id: &str) -> u64 {
    stable_hash(id)
        .checked_rem(LARGEST)
        .unwrap_or_default()
        .saturating_add(1)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{LARGEST, draw};

    #[test]
    fn numbers_are_positive_fit_in_32_bits_and_differ() {
        let numbers: BTreeSet<u64> = (0..1000).map(|it| draw(&format!("id-{it}"))).collect();
        assert!(numbers.len() > 990, "{}", numbers.len());
        assert!(numbers.iter().all(|it| (1..=LARGEST).contains(it)));
    }
}
