//! The checks that every type of entity has to pass, whoever wrote it.
//!
//! [`conformance!`](crate::conformance!) makes a test of them for each kind of database. Each check is a function that
//! takes a [`Suite`], the type on a running service, and returns what is wrong and what to do about it.

mod actions;
mod agreement;
mod calendar;
mod cost;
mod formats;
mod hidden;
mod input;
mod leftovers;
mod lifetime;
mod making;
mod permissions;
mod roundtrip;
mod sample;
mod secrecy;
mod suite;
mod twice;
mod values;
mod veils;
mod versions;
mod views;
mod writing;

use entity_core::Provider;
use futures::future::BoxFuture;

use crate::database::Backend;

pub use actions::actions_answer_everybody;
pub use agreement::callers_see_the_same_in_every_way;
pub use calendar::events_are_when_entities_say;
pub use cost::a_list_takes_a_constant_number_of_statements;
pub use input::wrong_input_is_refused;
pub use leftovers::a_deletion_leaves_nothing;
pub use lifetime::entities_end_with_their_site;
pub use making::{Given, Make, Row};
pub use permissions::only_those_write_who_may;
pub use roundtrip::fields_come_back_as_they_were_sent;
pub use secrecy::hidden_entities_leave_no_trace;
pub use suite::{Person, Suite};
pub use twice::of_two_creations_at_once_one_succeeds;
pub use values::values_are_the_same_in_every_way;
pub use veils::veiled_values_show_nowhere;
pub use versions::versions_hold;
pub use views::views_show_what_the_list_shows;
pub use writing::writing_actions_ask_who_may;

/// The outcome of a check: how it held, or what is wrong and what to do about it.
pub type Verdict = Result<Held, String>;

/// The result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// The check ran, and the type passed.
    Passed,
    /// The type lacks what the check is about, for this reason.
    Skipped(&'static str),
}

/// A check of the suite.
pub type Check = for<'a> fn(&'a Suite) -> BoxFuture<'a, Verdict>;

/// All checks by their names, in the order in which they run.
pub const CHECKS: [(&str, Check); 16] = [
    ("callers_see_the_same_in_every_way", |it| {
        Box::pin(callers_see_the_same_in_every_way(it))
    }),
    ("values_are_the_same_in_every_way", |it| {
        Box::pin(values_are_the_same_in_every_way(it))
    }),
    ("veiled_values_show_nowhere", |it| {
        Box::pin(veiled_values_show_nowhere(it))
    }),
    ("events_are_when_entities_say", |it| {
        Box::pin(events_are_when_entities_say(it))
    }),
    ("actions_answer_everybody", |it| {
        Box::pin(actions_answer_everybody(it))
    }),
    ("views_show_what_the_list_shows", |it| {
        Box::pin(views_show_what_the_list_shows(it))
    }),
    ("hidden_entities_leave_no_trace", |it| {
        Box::pin(hidden_entities_leave_no_trace(it))
    }),
    ("fields_come_back_as_they_were_sent", |it| {
        Box::pin(fields_come_back_as_they_were_sent(it))
    }),
    ("wrong_input_is_refused", |it| {
        Box::pin(wrong_input_is_refused(it))
    }),
    ("versions_hold", |it| Box::pin(versions_hold(it))),
    ("a_list_takes_a_constant_number_of_statements", |it| {
        Box::pin(a_list_takes_a_constant_number_of_statements(it))
    }),
    ("of_two_creations_at_once_one_succeeds", |it| {
        Box::pin(of_two_creations_at_once_one_succeeds(it))
    }),
    ("only_those_write_who_may", |it| {
        Box::pin(only_those_write_who_may(it))
    }),
    ("a_deletion_leaves_nothing", |it| {
        Box::pin(a_deletion_leaves_nothing(it))
    }),
    ("entities_end_with_their_site", |it| {
        Box::pin(entities_end_with_their_site(it))
    }),
    // It may delete what the others look at.
    ("writing_actions_ask_who_may", |it| {
        Box::pin(writing_actions_ask_who_may(it))
    }),
];

/// Runs all checks on the type `P` over a database of this kind, and does nothing where that kind is not installed.
/// `given` holds values for the fields for which no generated value will do, or is the function that makes entities.
///
/// # Panics
/// Panics with one paragraph for each check that the type does not pass.
pub async fn prove<P: Provider>(backend: Backend, given: Given) {
    let Some(suite) = Suite::start(backend, P::PREFIX, given).await else {
        return;
    };
    let suite = suite.unwrap_or_else(|it| panic!("\n`{}`: {it}\n", P::PREFIX));
    let complaints = complaints(&suite).await;
    assert!(
        complaints.is_empty(),
        "\n`{}` on {backend:?}:\n{}\n",
        P::PREFIX,
        complaints.join("\n")
    );
}

/// Runs all checks on `suite`, and returns what is wrong.
pub async fn complaints(suite: &Suite) -> Vec<String> {
    let (mut complaints, mut skipped) = (Vec::new(), Vec::new());
    if suite.has_make() {
        eprintln!(
            "values of fields: left out but for free texts, because `make` alone knows which go together"
        );
    }
    for (name, check) in CHECKS {
        match check(suite).await {
            Ok(Held::Passed) => {}
            Ok(Held::Skipped(reason)) => skipped.push(format!("{name}: skipped, because {reason}")),
            Err(complaint) => complaints.push(format!("{name}: {complaint}")),
        }
    }
    // A type of which nothing was looked at has not passed.
    match skipped.len() == CHECKS.len() {
        true => complaints.append(&mut skipped),
        false => skipped.iter().for_each(|it| eprintln!("{it}")),
    }
    complaints
}

/// Makes two tests, `conformance::sqlite` and `conformance::postgres`, that run the [checks](mod@crate::conformance) on a
/// type:
///
/// ```text
/// lectern_testing::conformance!(Book);
/// ```
///
/// The values that the checks write are generated from the type's fields. Where the rules of the type refuse a
/// generated value, the author gives another: `conformance!(Book, {"isbn": "9780141439600"})`. Where values must go
/// together, or an entity needs something else first, a function makes the fields of each entity:
///
/// ```text
/// async fn fields(app: &TestApp, site: &str, number: usize) -> serde_json::Value { … }
///
/// lectern_testing::conformance!(Chapter, make = fields);
/// ```
///
/// It is called with another `number` each time, makes what it needs by the clients of `app`, and returns fields that can be
/// sent as a new entity of `site`. A module with several types names each: `conformance!(books: Book);`.
#[macro_export]
macro_rules! conformance {
    ($name:ident: $provider:ty $(, $($given:tt)+)?) => {
        #[cfg(test)]
        mod $name {
            use super::*;

            #[$crate::tokio::test(crate = "lectern_testing::tokio")]
            async fn sqlite() {
                let given = $crate::given!($($($given)+)?);
                $crate::conformance::prove::<$provider>($crate::Backend::Sqlite, given).await;
            }

            #[$crate::tokio::test(crate = "lectern_testing::tokio")]
            async fn postgres() {
                let given = $crate::given!($($($given)+)?);
                $crate::conformance::prove::<$provider>($crate::Backend::Postgres, given).await;
            }
        }
    };
    ($provider:ty $(, $($given:tt)+)?) => {
        $crate::conformance!(conformance: $provider $(, $($given)+)?);
    };
}

/// Expands to what an author gives to [`conformance!`](crate::conformance!), which may be nothing.
#[doc(hidden)]
#[macro_export]
macro_rules! given {
    () => {
        $crate::conformance::Given::Values($crate::serde_json::json!({}))
    };
    (make = $make:path) => {
        $crate::conformance::Given::Entities(|app, site, number| {
            ::std::boxed::Box::pin($make(app, site, number))
        })
    };
    ($given:tt) => {
        $crate::conformance::Given::Values($crate::serde_json::json!($given))
    };
}
