//! `/direct/gradebook-override`: course grades that instructors enter in the place of those that are computed.

use entity_core::wire::Millis;
use entity_core::{Access, Context, Entity, Need, Result, standard};
use serde::Serialize;

use super::audience::{GRADE_ALL, MEMBER, SEES_CHANGE};
use super::marking;
use crate::base::letter::LETTERS;

const ACCESS: Access = Access::new(Need::Site(MEMBER), Need::Site(GRADE_ALL));

/// The course grade that an instructor gave a student, whatever the scores say.
#[standard(facts)]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(
    prefix = "gradebook-override",
    plural = "Entered course grades",
    table = "gradebook_override"
)]
#[entity(access = ACCESS, sight = SEES_CHANGE, check = Self::check, settle = Self::settle)]
#[entity(verbs(read, list, create, update, delete))]
pub struct GradebookOverride {
    /// The ids of the site and of the student, joined by a colon.
    #[entity(id)]
    pub override_id: String,
    /// The site.
    #[entity(site, references = "site")]
    pub site_id: String,
    /// The student.
    #[entity(on_create, person, references = "user", max = 99, label = "Student")]
    #[entity(offered = "member")]
    pub user_id: String,
    /// The grade: a letter such as `B+`.
    #[entity(choices = LETTERS)]
    pub grade: String,
    /// Why it was entered, for those who grade.
    #[entity(optional)]
    pub reason: String,
    /// The internal id of who entered it last.
    #[entity(read_only, references = "user", label = "Entered by")]
    pub entered_by: String,
    /// When it was entered last.
    #[entity(updated)]
    pub entered_on: Millis,
    /// The number of changes.
    #[entity(version)]
    pub version: i64,
}

entity_core::register!(GradebookOverride);

impl GradebookOverride {
    fn check(&mut self, cx: &Context, before: Option<&Self>) -> Result<()> {
        if before.is_none() {
            self.override_id = format!("{}:{}", self.site_id, self.user_id);
        }
        cx.user_id()?.clone_into(&mut self.entered_by);
        Ok(())
    }

    async fn settle(&mut self, cx: &Context, before: Option<&Self>) -> Result<()> {
        match before {
            Some(_) => Ok(()),
            None => marking::demand_student(cx, &self.site_id, &self.user_id).await,
        }
    }
}
