//! A list takes as many statements for many entities as for few.

use entity_core::testing::origin;
use entity_core::{Body, Caller, DirectPath, Dispatcher, Input, Preconditions, Request, Verb};

use super::suite::Suite;
use super::{Held, Verdict};
use crate::counting::{Count, counting_dispatcher};
use crate::role::SITE;

const FEW: usize = 2;
const MANY: usize = 14;
/// What a longer list may take more: the groups of those entities that have some, and an expanded type.
const ALLOWED: usize = 4;

/// Checks that the number of statements of a list, with its references expanded, does not grow with the list.
pub async fn a_list_takes_a_constant_number_of_statements(suite: &Suite) -> Verdict {
    if !(suite.can("list") && suite.can("create")) {
        return Ok(Held::Skipped("the type has no list, or nobody can fill it"));
    }
    for number in suite.rows.len()..MANY {
        suite.make(suite.plain(SITE, number)).await?;
    }
    let count = Count::default();
    let dispatcher = counting_dispatcher(suite.app.service(), &count);
    for who in &suite.people {
        let caller = who
            .id
            .as_ref()
            .map_or_else(Caller::anonymous, |id| Caller::user(id, id));
        // What is remembered from request to request is not counted.
        let Some(_) = statements(suite, &dispatcher, &count, &caller, MANY).await? else {
            continue;
        };
        let few = statements(suite, &dispatcher, &count, &caller, FEW).await?;
        let many = statements(suite, &dispatcher, &count, &caller, MANY).await?;
        let (Some((few, _)), Some((many, shown))) = (few, many) else {
            continue;
        };
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

/// Returns how many statements a list of at most `limit` entities takes, and how many it shows; `None` if the caller
/// gets no list.
async fn statements(
    suite: &Suite,
    dispatcher: &Dispatcher,
    count: &Count,
    caller: &Caller,
    limit: usize,
) -> Result<Option<(usize, usize)>, String> {
    let references: Vec<_> = suite.references().map(|it| it.name).collect();
    let mut query = vec![("_limit".to_owned(), limit.to_string())];
    if !references.is_empty() {
        query.push(("_expand".to_owned(), references.join(",")));
    }
    let raw = format!("/{}", suite.route.prefix);
    let path = DirectPath::parse(&raw, |_| false).map_err(|it| it.to_string())?;
    let request = Request {
        path,
        verb: Verb::Get,
        query,
        input: Input::default(),
        preconditions: Preconditions::default(),
        is_dry_run: false,
        wants_abilities: false,
        origin: origin(caller.clone()),
    };
    count.take();
    let Ok(reply) = dispatcher.dispatch(&request).await else {
        return Ok(None);
    };
    let shown = match &reply.body {
        Body::Collection(list) => list.items.len(),
        _ => 0,
    };
    Ok(Some((count.take(), shown)))
}
