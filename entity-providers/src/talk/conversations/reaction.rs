//! Reactions to topics and posts, and votes for them: their counts, and the permissions.

use std::collections::BTreeMap;

use entity_core::db::{ColumnValue, Row};
use entity_core::wire::Millis;
use entity_core::{Context, Error, ErrorKind, Result, gate};
use serde::Serialize;
use serde::de::IgnoredAny;

use super::settings::{ConversationSettings, switched_off};
use super::{Topic, TopicMark, TopicPost, is_moderator, locked};

/// The function of those who react.
pub(super) const REACT: &str = "conversations.post.react";
/// The function of those who vote.
pub(super) const UPVOTE: &str = "conversations.post.upvote";

/// The reactions, in the order in which statements tell them.
pub(super) const KINDS: [&str; 4] = ["THUMBS_UP", "LOVE_IT", "GOOD_IDEA", "KEY"];

/// The numbers of the reactions to a row: the keys of the marks of a topic or a post begin with its id and a colon.
pub(super) const TOTALS: &str = "(SELECT count(CASE WHEN r.thumbs_up THEN 1 END) || ',' || count(CASE WHEN r.love_it THEN 1 END) \
    || ',' || count(CASE WHEN r.good_idea THEN 1 END) || ',' || count(CASE WHEN r.is_key THEN 1 END) \
    FROM conversation_mark r WHERE r.mark_id > this.id || ':' AND r.mark_id < this.id || ';')";
/// The reactions of the caller, in whose mark `m` they are.
pub(super) const OWN: &str = "CASE WHEN m.thumbs_up THEN '1' ELSE '0' END || ',' || CASE WHEN m.love_it THEN '1' ELSE '0' END \
    || ',' || CASE WHEN m.good_idea THEN '1' ELSE '0' END || ',' || CASE WHEN m.is_key THEN '1' ELSE '0' END";
/// The number of the votes for a row.
pub(super) const VOTES: &str = "(SELECT count(*) FROM conversation_mark r \
    WHERE r.mark_id > this.id || ':' AND r.mark_id < this.id || ';' AND r.upvoted)";

/// The number of people for each reaction that somebody has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct ReactionTotals(pub BTreeMap<&'static str, i64>);

/// The truth about each reaction: that the caller has it, or not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct OwnReactions(pub BTreeMap<&'static str, bool>);

impl Default for OwnReactions {
    fn default() -> Self {
        Self(KINDS.map(|it| (it, false)).into())
    }
}

/// Returns the number of each reaction in the next column, which has them with commas between.
fn numbers(row: &mut Row<'_>) -> Result<Vec<(&'static str, i64)>> {
    let column: String = row.take()?;
    let numbers = column.split(',').map(|it| it.parse().unwrap_or_default());
    Ok(KINDS.into_iter().zip(numbers).collect())
}

impl ColumnValue for ReactionTotals {
    type Sent = IgnoredAny;

    fn receive(_cx: &Context, _sent: IgnoredAny) -> Result<Self, String> {
        Err("can't be written".to_owned())
    }

    fn to_value(&self) -> sea_orm::Value {
        String::new().into()
    }

    fn read(_cx: &Context, row: &mut Row<'_>) -> Result<Self> {
        let numbers = numbers(row)?.into_iter();
        Ok(Self(numbers.filter(|it| it.1 > 0).collect()))
    }
}

impl ColumnValue for OwnReactions {
    type Sent = IgnoredAny;

    fn receive(_cx: &Context, _sent: IgnoredAny) -> Result<Self, String> {
        Err("can't be written".to_owned())
    }

    fn to_value(&self) -> sea_orm::Value {
        String::new().into()
    }

    fn read(_cx: &Context, row: &mut Row<'_>) -> Result<Self> {
        let numbers = numbers(row)?.into_iter();
        Ok(Self(numbers.map(|it| (it.0, it.1 > 0)).collect()))
    }
}

/// A topic, or a post of one.
#[derive(Clone, Copy)]
pub(super) struct Thing<'a> {
    pub(super) topic: &'a Topic,
    pub(super) post: Option<&'a TopicPost>,
}

impl Thing<'_> {
    /// Refuses whoever lacks `function`, what is the caller's own, and what is locked for the caller.
    async fn demand(self, cx: &Context, function: &str) -> Result<()> {
        let site = &self.topic.site_id;
        if !gate::holds(cx, function, site).await? {
            return Err(Error::forbidden());
        }
        let creator = self.post.map_or(&self.topic.creator, |it| &it.creator);
        if creator == cx.user_id()? {
            let message = "it is your own: others react to it and vote for it";
            return Err(Error::new(ErrorKind::Forbidden, message));
        }
        let is_locked = self.topic.closed || self.post.is_some_and(|it| it.locked);
        match is_locked && !is_moderator(cx, site).await? {
            true => Err(locked()),
            false => Ok(()),
        }
    }

    fn emit(self, cx: &Context, what: &str) {
        match self.post {
            Some(post) => cx.emit_about::<TopicPost>(format!("conversations.post.{what}"), post),
            None => cx.emit_about::<Topic>(format!("conversations.topic.{what}"), self.topic),
        }
    }

    /// Gives and takes back reactions of the caller: those that `sent` names.
    pub(super) async fn react(self, cx: &Context, sent: &BTreeMap<String, bool>) -> Result<()> {
        if let Some(unknown) = sent.keys().find(|it| !KINDS.contains(&it.as_str())) {
            let shown: String = unknown.escape_default().take(40).collect();
            let message = format!("`{shown}` is no reaction: send {}", KINDS.join(", "));
            return Err(Error::bad_request(message));
        }
        let settings = ConversationSettings::of(cx, &self.topic.site_id).await?;
        if !settings.allow_reactions {
            return Err(switched_off("reacting"));
        }
        self.demand(cx, REACT).await?;
        let now = Millis(cx.now());
        let change = |mark: &mut TopicMark| {
            for (kind, is_given) in sent {
                if let Some(place) = mark.reaction(kind) {
                    *place = *is_given;
                }
            }
            let has_any = mark.thumbs_up || mark.love_it || mark.good_idea || mark.is_key;
            mark.reacted_at = has_any.then(|| mark.reacted_at.unwrap_or(now));
        };
        if TopicMark::put(cx, self, change).await? {
            let is_given = sent.values().any(|it| *it);
            self.emit(cx, if is_given { "reacted" } else { "unreacted" });
        }
        Ok(())
    }

    /// Gives the vote of the caller, or takes it back.
    pub(super) async fn vote(self, cx: &Context, is_given: bool) -> Result<()> {
        let settings = ConversationSettings::of(cx, &self.topic.site_id).await?;
        if !settings.allow_upvoting {
            return Err(switched_off("voting"));
        }
        self.demand(cx, UPVOTE).await?;
        let now = Millis(cx.now());
        let change = |mark: &mut TopicMark| {
            mark.upvoted = is_given;
            mark.upvoted_at = is_given.then(|| mark.upvoted_at.unwrap_or(now));
        };
        if TopicMark::put(cx, self, change).await? && is_given {
            self.emit(cx, "upvoted");
        }
        Ok(())
    }
}
