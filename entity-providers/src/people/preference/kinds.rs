//! Kinds of notifications that somebody is not shown.

use entity_core::db::{ColumnValue, Row};
use entity_core::engine::NoticeRegistration;
use entity_core::{Context, Error, Result, inventory};
use serde::Serialize;

/// The separator in the column, which also stands in front of the first kind and behind the last one.
const SEPARATOR: &str = "\n";
/// The maximum number of kinds.
const MOST: usize = 100;

/// The condition that the caller has muted neither the kind nor the site of a notification.
pub(crate) const NOT_MUTED: &str = "NOT EXISTS (SELECT 1 FROM preference p WHERE p.user_id = {caller} \
    AND replace(p.muted_kinds, '\n' || this.event || '\n', '') <> p.muted_kinds) \
    AND NOT EXISTS (SELECT 1 FROM membership q WHERE q.user_id = {caller} \
    AND q.site_id = this.site_id AND q.is_muted)";

/// Kinds of notifications.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Kinds(pub Vec<String>);

/// Returns all kinds of notifications, in order.
pub(super) fn known_kinds() -> Vec<&'static str> {
    let all = inventory::iter::<NoticeRegistration>.into_iter();
    let mut kinds: Vec<_> = all.map(|it| it.0.kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds
}

entity_core::register_options!("notification", |_cx, _site| Box::pin(async {
    Ok(offered())
}));

/// Returns all kinds of notifications, with what people call them.
fn offered() -> Vec<(String, String)> {
    let words = |kind: &str| match kind {
        "annc.new" => "New announcements".to_owned(),
        "asn.new.assignment" => "New assignments".to_owned(),
        "asn.grade.submission" => "Work that is returned".to_owned(),
        "conversations.reply" => "Posts in conversations".to_owned(),
        "forums.reply" => "Replies in forums".to_owned(),
        "invitation.sent" => "Invitations".to_owned(),
        "sam.assessment.available" => "New quizzes".to_owned(),
        other => other.replace('.', " "),
    };
    let kinds = known_kinds().into_iter();
    kinds.map(|it| (it.to_owned(), words(it))).collect()
}

impl Kinds {
    /// Refuses kinds that no type has, unless they were there `before`.
    pub(super) fn check(&self, before: &Self) -> Result<()> {
        let known = known_kinds();
        let is_known = |it: &String| known.contains(&it.as_str()) || before.0.contains(it);
        match self.0.iter().all(is_known) {
            true => Ok(()),
            false => Err(Error::field(
                "mutedKinds",
                format!("must be some of {}", known.join(", ")),
            )),
        }
    }
}

impl ColumnValue for Kinds {
    type Sent = Vec<String>;

    fn receive(_cx: &Context, sent: Vec<String>) -> Result<Self, String> {
        let mut kinds: Vec<String> = sent.iter().map(|it| it.trim().to_owned()).collect();
        kinds.sort_unstable();
        kinds.dedup();
        let is_kind = |it: &String| {
            !it.is_empty() && it.bytes().all(|it| it.is_ascii_graphic()) && it.len() <= MOST
        };
        match kinds.len() <= MOST && kinds.iter().all(is_kind) {
            true => Ok(Self(kinds)),
            false => Err(format!("must be at most {MOST} kinds, such as `annc.new`")),
        }
    }

    fn to_value(&self) -> sea_orm::Value {
        match self.0.is_empty() {
            true => String::new().into(),
            false => format!("{SEPARATOR}{}{SEPARATOR}", self.0.join(SEPARATOR)).into(),
        }
    }

    fn read(_cx: &Context, row: &mut Row<'_>) -> Result<Self> {
        let column: String = row.take()?;
        let kinds = column.split(SEPARATOR).filter(|it| !it.is_empty());
        Ok(Self(kinds.map(ToOwned::to_owned).collect()))
    }
}
