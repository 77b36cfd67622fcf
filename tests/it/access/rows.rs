//! Rows of every type, and how they get into the database.

use entity_core::db::Record;
use entity_core::{Context, Result, db};
use entity_providers::courses::announcement::Announcement;
use entity_providers::courses::assignment::{Assignment, Submission};
use entity_providers::courses::calendar::CalendarEvent;
use entity_providers::courses::content::ContentItem;
use entity_providers::courses::lessons::{Lesson, LessonItem, LessonProgress};
use entity_providers::courses::syllabus::SyllabusItem;
use entity_providers::courses::syllabus::redirect::SyllabusRedirect;
use entity_providers::courses::task::Task;
use entity_providers::people::invitation::Invitation;
use entity_providers::people::session_event::SessionEvent;
use entity_providers::people::site::Site;
use entity_providers::people::term::Term;
use entity_providers::people::user::{User, user};
use entity_providers::storage::db::site_parts::{SiteGroup, SitePage, SiteTool};
use entity_providers::storage::db::{group_member, membership, realm_grant};
use entity_providers::talk::conversations::{
    self, Topic, TopicComment, TopicMark, TopicPost, TopicTag,
};
use entity_providers::talk::notification::Notification;
use sea_orm::{ActiveModelTrait, EntityTrait, IntoActiveModel, QuerySelect as _};
use server::pages::feed::Feed;

use super::chat::Talk;
use super::forums::Board;
use super::gradebook::Grade;
use super::poll::Question;
use super::quiz::Paper;

/// Rows to add.
#[derive(Clone, Debug, Default)]
pub(super) struct Rows {
    pub(super) users: Vec<User>,
    pub(super) sites: Vec<Site>,
    pub(super) pages: Vec<SitePage>,
    pub(super) tools: Vec<SiteTool>,
    pub(super) groups: Vec<SiteGroup>,
    pub(super) group_members: Vec<group_member::Model>,
    pub(super) members: Vec<membership::Model>,
    pub(super) invitations: Vec<Invitation>,
    pub(super) grants: Vec<realm_grant::Model>,
    pub(super) announcements: Vec<Announcement>,
    pub(super) events: Vec<CalendarEvent>,
    pub(super) feeds: Vec<Feed>,
    pub(super) terms: Vec<Term>,
    pub(super) notifications: Vec<Notification>,
    pub(super) session_events: Vec<SessionEvent>,
    pub(super) tasks: Vec<Task>,
    pub(super) syllabus: Vec<SyllabusItem>,
    pub(super) redirects: Vec<SyllabusRedirect>,
    pub(super) content: Vec<ContentItem>,
    pub(super) topics: Vec<Topic>,
    pub(super) posts: Vec<TopicPost>,
    pub(super) comments: Vec<TopicComment>,
    pub(super) marks: Vec<TopicMark>,
    pub(super) tags: Vec<TopicTag>,
    pub(super) settings: Vec<conversations::ConversationSettings>,
    pub(super) agreements: Vec<conversations::ConversationAgreement>,
    pub(super) lessons: Vec<Lesson>,
    pub(super) lesson_items: Vec<LessonItem>,
    pub(super) lesson_progress: Vec<LessonProgress>,
    pub(super) assignments: Vec<Assignment>,
    pub(super) work: Vec<Submission>,
    pub(super) grades: Vec<Grade>,
    pub(super) papers: Vec<Paper>,
    pub(super) boards: Vec<Board>,
    pub(super) talks: Vec<Talk>,
    pub(super) questions: Vec<Question>,
}

impl Rows {
    pub(super) async fn insert(self, cx: &Context) -> Result<()> {
        // Hashing is slow on purpose: everybody has the hash of the demo.
        let known: Vec<User> = db::load(cx, user::Entity::find().limit(1)).await?;
        let hash = known.into_iter().map(|it| it.password_hash).next();
        let users = self.users.into_iter().map(|it| User {
            password_hash: hash.clone().unwrap_or_default(),
            ..it
        });
        records(cx, &users.collect::<Vec<_>>()).await?;
        records(cx, &self.sites).await?;
        records(cx, &self.pages).await?;
        records(cx, &self.tools).await?;
        records(cx, &self.groups).await?;
        insert(cx, self.group_members).await?;
        insert(cx, self.members).await?;
        records(cx, &self.invitations).await?;
        insert(cx, self.grants).await?;
        records(cx, &self.announcements).await?;
        records(cx, &self.terms).await?;
        records(cx, &self.events).await?;
        records(cx, &self.assignments).await?;
        records(cx, &self.work).await?;
        for paper in &self.papers {
            paper.insert(cx).await?;
        }
        for board in &self.boards {
            board.insert(cx).await?;
        }
        for talk in &self.talks {
            talk.insert(cx).await?;
        }
        for question in &self.questions {
            question.insert(cx).await?;
        }
        records(cx, &self.topics).await?;
        records(cx, &self.posts).await?;
        records(cx, &self.comments).await?;
        records(cx, &self.marks).await?;
        records(cx, &self.tags).await?;
        records(cx, &self.agreements).await?;
        for settings_of_site in self.settings {
            db::put(cx, settings_of_site, |_| {}).await?;
        }
        records(cx, &self.lessons).await?;
        records(cx, &self.lesson_items).await?;
        records(cx, &self.lesson_progress).await?;
        records(cx, &self.notifications).await?;
        records(cx, &self.session_events).await?;
        records(cx, &self.tasks).await?;
        records(cx, &self.syllabus).await?;
        records(cx, &self.redirects).await?;
        records(cx, &self.content).await?;
        for grade in &self.grades {
            match grade {
                Grade::Item(it) => db::insert(cx, it).await?,
                Grade::Category(it) => db::insert(cx, it).await?,
                Grade::Score(it) => db::insert(cx, it).await?,
                Grade::Change(it) => db::insert(cx, it).await?,
                Grade::Override(it) => db::insert(cx, it).await?,
            }
        }
        records(cx, &self.feeds).await
    }
}

async fn records<T: Record>(cx: &Context, records: &[T]) -> Result<()> {
    for record in records {
        db::insert(cx, record).await?;
    }
    Ok(())
}

async fn insert<M, A>(cx: &Context, rows: Vec<M>) -> Result<()>
where
    M: IntoActiveModel<A>,
    A: ActiveModelTrait + Send,
{
    if rows.is_empty() {
        return Ok(());
    }
    let rows: Vec<A> = rows
        .into_iter()
        .map(IntoActiveModel::into_active_model)
        .collect();
    A::Entity::insert_many(rows)
        .exec_without_returning(cx.db()?)
        .await?;
    Ok(())
}
