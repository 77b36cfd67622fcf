//! A list takes as many statements for many entities as for few.

use entity_core::Caller;

use super::suite::Suite;
use super::{Held, Verdict};
use crate::counting::{Cost, Counter};
use crate::role::SITE;

const FEW: usize = 2;
const MANY: usize = 14;
/// The number of further statements for a longer list: groups of those entities that have some, and an expanded type.
const ALLOWED: usize = 4;

/// Checks that the number of statements of a list, with its references expanded, does not grow with the list.
pub async fn a_list_takes_a_constant_number_of_statements(suite: &Suite) -> Verdict {
    if !(suite.can("list") && suite.can("create")) {
        return Ok(Held::Skipped("the type has no list, or nobody can fill it"));
    }
    for _ in suite.rows.len()..MANY {
        suite.make(SITE).await?;
    }
    let counter = Counter::of(suite.app.service());
    for who in &suite.people {
        let caller = who
            .id
            .as_ref()
            .map_or_else(Caller::anonymous, |id| Caller::user(id, id));
        // What is remembered from request to request is not counted.
        let Some(_) = cost(suite, &counter, &caller, MANY).await else {
            continue;
        };
        let few = cost(suite, &counter, &caller, FEW).await;
        let many = cost(suite, &counter, &caller, MANY).await;
        let (Some(few), Some(many)) = (few, many) else {
            continue;
        };
        let (few, many, shown) = (few.statements, many.statements, many.shown);
        if many > few + ALLOWED {
            return Err(format!(
                "a list of {shown} entities takes {many} statements for {}, and one of at most {FEW} takes {few}: read \
                 what belongs to the entities of a list by one statement for all, in `list` and not in `permits`, \
                 and implement `read_many` of a type that others refer to",
                who.role
            ));
        }
    }
    Ok(Held::Passed)
}

/// Returns what a list of at most `limit` entities takes; `None` if the caller gets no list.
async fn cost(suite: &Suite, counter: &Counter, caller: &Caller, limit: usize) -> Option<Cost> {
    let references: Vec<_> = suite.references().map(|it| it.name).collect();
    let mut query = vec![("_limit".to_owned(), limit.to_string())];
    if !references.is_empty() {
        query.push(("_expand".to_owned(), references.join(",")));
    }
    let path = format!("/{}", suite.route.prefix);
    counter.read(caller, &path, &query).await.ok()
}
