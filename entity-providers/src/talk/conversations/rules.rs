//! Checks of topics that are written, and the values that follow from them.

use entity_core::db;
use entity_core::{
    Context, Create, Delete, Error, Fields, Need, Provider as _, Reference, Result, Update, gate,
};

use super::settings::{ConversationSettings, switched_off};
use super::{CREATE_DISCUSSION, CREATE_QUESTION, NOBODY, PIN, Topic, VIEW_GROUPS};
use super::{check_draft, is_moderator, locked};
use crate::base::fields::named;
use crate::courses::calendar::{self, Deadline};
use crate::people::group;

/// The message where members may not write without their names.
const NOT_ANONYMOUS: &str = "must not be true: writing without a name is switched off in this site";

impl Topic {
    /// Names the creators that the caller may not know.
    #[expect(clippy::unused_async, reason = "the framework awaits it")]
    pub(super) async fn name_nobody(_cx: &Context, topics: &mut [Self]) -> Result<()> {
        for it in topics
            .iter_mut()
            .filter(|it| it.creator.is_empty() && it.anonymous)
        {
            NOBODY.clone_into(&mut it.creator_display_name);
        }
        Ok(())
    }

    pub(super) fn check(&mut self, cx: &Context, before: Option<&Self>) -> Result<()> {
        if self.kind.is_empty() {
            "QUESTION".clone_into(&mut self.kind);
        }
        if self.visibility.is_empty() {
            "SITE".clone_into(&mut self.visibility);
        }
        match &*self.visibility {
            "GROUP" if self.groups.is_empty() => {
                let message = "must not be empty for the visibility `GROUP`";
                return Err(Error::field("groups", message));
            }
            "GROUP" => {}
            _ => self.groups.clear(),
        }
        self.for_instructors = self.visibility == "INSTRUCTORS";
        check_draft(self.draft, before.map(|it| it.draft))?;
        if let (Some(show), Some(hide)) = (self.show_date, self.hide_date)
            && hide < show
        {
            return Err(Error::disordered("showDate", "hideDate"));
        }
        cx.user_id()?.clone_into(&mut self.modifier);
        Ok(())
    }

    /// Checks what else than the permission to write the topic the changes need.
    pub(super) async fn settle(&mut self, cx: &Context, before: Option<&Self>) -> Result<()> {
        let blank = Self::default();
        let former = before.unwrap_or(&blank);
        self.demand_settings(cx, before).await?;
        self.tags.check(cx, self, &former.tags).await?;
        let moderated = |it: &Self| {
            let dates = [it.show_date, it.hide_date, it.lock_date, it.due_date];
            (it.hidden, it.locked, dates)
        };
        if (former.closed || moderated(self) != moderated(former))
            && !is_moderator(cx, &self.site_id).await?
        {
            return Err(if former.closed {
                locked()
            } else {
                Error::forbidden()
            });
        }
        if self.pinned != former.pinned && !gate::holds(cx, PIN, &self.site_id).await? {
            return Err(Error::forbidden());
        }
        if self.groups != former.groups && !gate::holds(cx, VIEW_GROUPS, &self.site_id).await? {
            let own = group::of_user(cx, &self.site_id, cx.user_id()?).await?;
            let mut new = self.groups.iter().filter(|it| !former.groups.contains(it));
            if new.any(|it| !own.contains(it)) {
                return Err(Error::field("groups", "must be groups of yours"));
            }
        }
        Ok(())
    }

    /// Refuses what is switched off in the site.
    async fn demand_settings(&self, cx: &Context, before: Option<&Self>) -> Result<()> {
        let is_new = |new: bool, former: fn(&Self) -> bool| new && !before.is_some_and(former);
        let is_pinned = is_new(self.pinned, |it| it.pinned);
        let allows_anonymous = is_new(self.allow_anonymous_posts, |it| it.allow_anonymous_posts);
        if before.is_some() && !is_pinned && !allows_anonymous {
            return Ok(());
        }
        let settings = ConversationSettings::of(cx, &self.site_id).await?;
        if before.is_none() {
            settings.demand_open(cx).await?;
        }
        if is_pinned && !settings.allow_pinning {
            return Err(switched_off("pinning"));
        }
        let anonymous = [
            ("anonymous", self.anonymous && before.is_none()),
            ("allowAnonymousPosts", allows_anonymous),
        ];
        match anonymous.into_iter().find(|it| it.1) {
            Some((name, _)) if !settings.allow_anon_posting => {
                Err(Error::field(name, NOT_ANONYMOUS))
            }
            _ => Ok(()),
        }
    }

    fn cause(&self) -> String {
        Reference::entity(Self::PREFIX, self.id.as_str()).to_string()
    }

    /// Lets the calendar show when the topic is due to those who see the topic.
    async fn follow(&self, cx: &Context) -> Result<()> {
        let deadline = self.due_date.map(|at| Deadline {
            site_id: self.site_id.clone(),
            title: self.title.clone(),
            description: String::new(),
            at: at.0,
            field: "dueDate",
            creator: if self.anonymous {
                String::new()
            } else {
                self.creator.clone()
            },
            groups: self.groups.clone(),
            assignment_id: None,
        });
        calendar::follow_cause(cx, &self.cause(), deadline).await?;
        Ok(())
    }

    /// Returns the topic `id` of `site`, if the caller sees it.
    ///
    /// # Errors
    /// Returns an error that names the field `topicId` if the caller sees no such topic.
    pub(super) async fn of_field(cx: &Context, id: &str, site: &str) -> Result<Self> {
        let unseen = || Error::vanished("topicId", "must be a topic that you see");
        let found = named::<Self>(cx, id, unseen).await?;
        match found.site_id == site {
            true => Ok(found),
            false => Err(Error::field("siteId", "must be the site of the topic")),
        }
    }
}

impl Create for Topic {
    type Draft = Fields;

    fn site(draft: &Fields) -> Option<&str> {
        draft.text("siteId")
    }

    async fn create(cx: &Context, draft: Fields) -> Result<Self> {
        let function = match draft.text("type") {
            Some("DISCUSSION") => CREATE_DISCUSSION,
            _ => CREATE_QUESTION,
        };
        gate::demand_in_site(cx, Need::Site("site.visit"), draft.text("siteId")).await?;
        gate::demand_in_site(cx, Need::Site(function), draft.text("siteId")).await?;
        let topic: Self = db::create(cx, draft).await?;
        topic.follow(cx).await?;
        cx.emit_about::<Self>("conversations.topic.created", &topic);
        Ok(topic)
    }
}

impl Update for Topic {
    type Changes = Fields;

    async fn update(cx: &Context, current: Self, changes: Fields) -> Result<Self> {
        let topic: Self = db::update(cx, current, changes).await?;
        topic.follow(cx).await?;
        cx.emit_about::<Self>("conversations.topic.updated", &topic);
        Ok(topic)
    }
}

impl Delete for Topic {
    async fn delete(cx: &Context, current: Self) -> Result<()> {
        if current.closed && !is_moderator(cx, &current.site_id).await? {
            return Err(locked());
        }
        calendar::follow_cause(cx, &current.cause(), None).await?;
        cx.emit_about::<Self>("conversations.topic.deleted", &current);
        db::delete(cx, current).await
    }
}
