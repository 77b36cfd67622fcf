//! `/direct/gradebook-score`: the scores of students.

use std::collections::BTreeSet;

use entity_core::db::{self, Migration, Record as _};
use entity_core::wire::{Decimal, Millis};
use entity_core::{
    Access, Action, Actions, Arguments, Context, Create, Data, Delete, Entity, Error, Fields, Need,
    Operation, Permit, Result, Update, Verb, standard,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::audience::{Audience, MEMBER, SEES_SCORE};
use super::item::{GradebookItem, MOST_POINTS};
use super::{bulk, marking};

/// The permission to write is decided by [`GradebookScore::decide`], because several functions grant it.
const ACCESS: Access = Access::new(Need::Site(MEMBER), Need::Session);

/// The score of a student in one item.
#[standard(facts)]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(
    prefix = "gradebook-score",
    plural = "Gradebook scores",
    table = "gradebook_score"
)]
#[entity(access = ACCESS, sight = SEES_SCORE, permits = Self::decide, check = Self::check)]
#[entity(verbs(read, list))]
pub struct GradebookScore {
    /// The ids of the item and of the student, joined by a colon.
    #[entity(id)]
    pub score_id: String,
    /// The site. That of the item, if a new score is sent without it.
    #[entity(site, optional, references = "site")]
    pub site_id: String,
    /// The item.
    #[entity(on_create, parent = GradebookItem, references = "gradebook-item", max = 99)]
    #[entity(label = "Item")]
    pub item_id: String,
    /// The name of the item.
    #[entity(sql = "parent.name")]
    pub item_name: String,
    /// The student.
    #[entity(on_create, person, references = "user", max = 99, label = "Student")]
    #[entity(offered = "member")]
    pub user_id: String,
    /// The name of the student.
    #[entity(name_of = user_id)]
    pub user_name: String,
    /// The points that the student has; null for none yet.
    #[entity(kind = Number, uncompared, label = "Points")]
    #[entity(hint = "Empty as long as there are none.")]
    pub score: Option<Decimal>,
    /// True if the item does not count for the student.
    pub excused: bool,
    /// The comment for the student, as plain text.
    #[entity(optional)]
    pub comment: String,
    /// The internal id of who graded it last.
    #[entity(read_only, references = "user", label = "Graded by")]
    pub graded_by: String,
    /// When it was graded last.
    #[entity(updated)]
    pub graded_on: Millis,
    /// The number of changes.
    #[entity(version)]
    pub version: i64,
}

entity_core::register!(GradebookScore, migrations(INDEX, IN_ORDER));

/// The scores of some students are found among those of a large class.
const INDEX: Migration = Migration::of_tables(
    "gradebook_score_by_student",
    &["CREATE INDEX gradebook_score_by_student ON gradebook_score (site_id, user_id, item_id)"],
);

/// The scores of one student are also listed by it: in the order of lists, so that SQLite prefers it to the index of the
/// whole site even without knowing how many scores there are.
const IN_ORDER: Migration = Migration::of_tables(
    "gradebook_score_of_student",
    &[
        "CREATE INDEX gradebook_score_of_student ON gradebook_score (site_id, user_id, score_id)",
        "DROP INDEX gradebook_score_by_student",
    ],
);

impl GradebookScore {
    /// Returns the id of the score of `user` in `item`.
    pub(super) fn id_of(item: &str, user: &str) -> String {
        format!("{item}:{user}")
    }

    /// Checks that the score is one that is given here, as those of former students are, too.
    async fn hold_item(&self, cx: &Context) -> Result<()> {
        let items = BTreeSet::from([self.item_id.as_str()]);
        marking::hold_items(cx, &self.site_id, &items).await
    }

    fn check(&mut self, _cx: &Context, _before: Option<&Self>) -> Result<()> {
        check_points(self.score)
    }

    async fn decide(cx: &Context, score: &Self, operation: Operation) -> Result<Permit> {
        let is_seen = db::permits(cx, score, operation).await?;
        if operation == Operation::Read || is_seen != Permit::Allowed {
            return Ok(is_seen);
        }
        let audience = Audience::of(cx, &score.site_id).await?;
        Ok(audience.map_or(Permit::Forbidden, |it| it.permit(cx, &score.user_id)))
    }
}

/// Checks that a score is one that an item, and work that is graded by points, may have. It may be more than these are
/// worth: teachers reward what goes beyond what they asked for.
///
/// # Errors
/// Returns an error that names the field `score` if it is not.
pub(crate) fn check_points(score: Option<Decimal>) -> Result<()> {
    match score {
        Some(it) if it < Decimal::ZERO || it > MOST_POINTS => {
            let message = format!("must be between 0 and {MOST_POINTS}");
            Err(Error::field("score", message))
        }
        _ => Ok(()),
    }
}

impl Create for GradebookScore {
    type Draft = Fields;

    fn site(draft: &Fields) -> Option<&str> {
        draft.text("siteId")
    }

    async fn create(cx: &Context, draft: Fields) -> Result<Self> {
        let mut score = Self::make(cx, draft)?;
        if score.site_id.is_empty() {
            score.site_id = marking::site_of(cx, &score.item_id).await?;
        }
        score.score_id = Self::id_of(&score.item_id, &score.user_id);
        score.graded_by = cx.user_id()?.to_owned();
        let pair = (score.item_id.as_str(), score.user_id.as_str());
        marking::admit(cx, &score.site_id, &[pair]).await?;
        let change = super::change::of(cx, None, Some(&score));
        let score = db::add(cx, score).await?;
        db::insert(cx, &change).await?;
        Ok(score)
    }
}

impl Update for GradebookScore {
    type Changes = Fields;

    async fn update(cx: &Context, current: Self, sent: Fields) -> Result<Self> {
        current.hold_item(cx).await?;
        let mut changed = current.clone();
        changed.change(cx, sent)?;
        cx.user_id()?.clone_into(&mut changed.graded_by);
        let change = super::change::of(cx, Some(&current), Some(&changed));
        let changed = db::replace(cx, current, changed).await?;
        db::insert(cx, &change).await?;
        Ok(changed)
    }
}

impl Delete for GradebookScore {
    async fn delete(cx: &Context, current: Self) -> Result<()> {
        current.hold_item(cx).await?;
        let change = super::change::of(cx, Some(&current), None);
        db::insert(cx, &change).await?;
        db::delete(cx, current).await
    }
}

impl Actions for GradebookScore {
    fn actions() -> Vec<Action<Self>> {
        vec![
            Action::collection(Verb::Post, "site", Need::Session, set_many)
                .doc(
                    "Sets many scores of a site, all or none: a list `scores` of objects with `itemId`, `userId` and any of \
                     `score`, `excused` and `comment`. What is not sent stays as it is. Answers how many changed.",
                )
                .argument("siteId", "The site."),
        ]
    }
}

/// The effect of setting many scores.
#[derive(Debug, Serialize, JsonSchema)]
struct Changed {
    /// The number of scores that changed.
    changed: usize,
}

async fn set_many(cx: &Context, arguments: Arguments) -> Result<Data<Changed>> {
    let site = arguments.argument("siteId")?;
    Audience::demand_grader(cx, site).await?;
    let marks = bulk::read(&arguments.input)?;
    let changed = marking::set(cx, site, marks).await?;
    Ok(Data(Changed { changed }))
}
