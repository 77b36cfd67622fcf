//! Versions: a change gives a new one, nothing is sent twice, and nothing is overwritten unseen.

use http::StatusCode;
use http::header::{ETAG, IF_MATCH, IF_NONE_MATCH};
use serde_json::{Value, json};

use super::sample;
use super::suite::Suite;
use super::{Held, Verdict};
use crate::role::SITE;

/// Checks entity tags and conditional requests, before and after a change.
pub async fn versions_hold(suite: &Suite) -> Verdict {
    if !(suite.can("read") && suite.can("create")) {
        return Ok(Held::Skipped(
            "the type has no single entities that can be made",
        ));
    }
    let row = suite.make(SITE).await?;
    let path = format!("{}.json", suite.path_of(&row.id));
    let before = tag(suite, &path).await?;
    let admin = suite.superuser();
    let known = admin.clone().with_header(IF_NONE_MATCH, &before);
    let again = known.get(&path).await.status;
    expect(
        again,
        StatusCode::NOT_MODIFIED,
        "what a client has is sent again",
        "",
    )?;
    if !suite.can("update") {
        return Ok(Held::Passed);
    }
    let Some(change) = change(suite, &row.sent) else {
        return Ok(Held::Skipped(
            "the type has no field that a check can change",
        ));
    };
    // The clock stands still: states of one instant are told apart too.
    let changed = admin.put(&path, &change).await;
    if !changed.status.is_success() {
        let (status, text) = (changed.status, changed.text());
        return Err(format!(
            "the change {change} is answered with {status}: {text}"
        ));
    }
    let after = tag(suite, &path).await?;
    if after == before {
        return Err(format!(
            "the change {change} leaves the version as it was: declare a field as `version`, or let `Entity::version` \
             depend on everything that clients see"
        ));
    }
    let fresh = known.get(&path).await.status;
    expect(fresh, StatusCode::OK, "a changed entity is not sent", "")?;
    let shown = admin.get(&path).await.json();
    let stale = admin.clone().with_header(IF_MATCH, &before);
    let back = json!(row.sent);
    let advice = ": compare the version that was read in the statement that writes";
    for (what, status) in [
        ("a change", stale.put(&path, &back).await.status),
        ("a deletion", stale.delete(&path).await.status),
    ] {
        if suite.can("delete") || what == "a change" {
            let complaint = format!("{what} of an old version is carried out");
            expect(status, StatusCode::PRECONDITION_FAILED, &complaint, advice)?;
        }
    }
    if admin.get(&path).await.json() != shown {
        return Err(
            "a refused change changes the entity: write in the unit of work only".to_owned(),
        );
    }
    let present = admin.clone().with_header(IF_MATCH, &after);
    let answer = present.put(&path, &writable(suite, back)).await;
    match answer.status.is_success() {
        true => Ok(Held::Passed),
        false => Err(format!(
            "a change of the present version is answered with {}: {}",
            answer.status,
            answer.text()
        )),
    }
}

async fn tag(suite: &Suite, path: &str) -> Result<String, String> {
    let answer = suite.superuser().get(path).await;
    let tag = answer.header(ETAG).map(ToOwned::to_owned);
    tag.ok_or_else(|| {
        format!("{path} has no ETag: declare a field as `version` or `updated`, or implement `Entity::version`")
    })
}

fn expect(
    status: StatusCode,
    expected: StatusCode,
    complaint: &str,
    advice: &str,
) -> Result<(), String> {
    match status == expected {
        true => Ok(()),
        false => Err(format!("{complaint}: {status}, not {expected}{advice}")),
    }
}

/// Returns a change of the first field that can have another value than `sent` says.
pub(super) fn change(suite: &Suite, sent: &serde_json::Map<String, Value>) -> Option<Value> {
    suite
        .fields()
        .filter(|it| it.may_be_written(false) && !suite.is_given(it) && it.references.is_none())
        .find_map(|field| {
            let other = sample::awkward(field).into_iter();
            let mut other = other.chain(suite.variants(field));
            let value = other.find(|it| sent.get(field.name) != Some(it))?;
            Some(json!({ field.name: suite.unused(field, &value) }))
        })
}

/// Returns the fields of `sent` that a change may have.
fn writable(suite: &Suite, mut sent: Value) -> Value {
    if let Some(fields) = sent.as_object_mut() {
        fields.retain(|name, _| {
            let field = suite.route.schema.field(name);
            field.is_some_and(|it| it.may_be_written(false))
        });
    }
    sent
}
