//! `/direct/profile`: the profiles of people.
//!
//! Each account has a profile. Its row is stored when somebody first writes it; until then the profile is blank. Everybody
//! reads the name of a person; the rest is for those who share a site with the person and hold a function of the roster
//! there. `Profile::complete` is called for each profile that leaves the database, and takes out the rest.

mod file;
mod known;
mod view;

use entity_core::blob::Blob;
use entity_core::db;
use entity_core::{
    Access, Action, Actions, Answers, Context, Entity, Error, ErrorKind, Fields, Need, Operation,
    Permit, Read, Result, Update, Verb, Version, encode_segment, standard,
};
use sea_orm::{ColumnTrait as _, EntityTrait as _, QueryFilter as _};
use serde::Serialize;

use self::known::Known;
use crate::people::user::{self, User};

/// People change their own profile: [`Profile::decide`] says so.
const ACCESS: Access = Access::new(Need::Session, Need::Session);
/// The address of the caller's own profile, and a second one.
const OWN: [&str; 2] = ["me", "current"];

/// The profile that a person fills in.
#[standard(version)]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(prefix = "profile", own = "me", table = "profile", access = ACCESS, permits = Self::decide, unarchived)]
#[entity(check = Self::check, settle = Self::settle, complete = Self::complete)]
#[entity(version = Self::to_version)]
pub struct Profile {
    /// The internal id of the person.
    #[entity(id, owner, person, for_programs)]
    pub user_uuid: String,
    /// The name.
    #[entity(title, computed, label = "Name")]
    pub display_name: String,
    /// The e-mail address; empty for those who may not know it.
    #[entity(computed, email, label = "E-mail")]
    pub email: String,
    /// The name by which the person likes to be called.
    #[entity(max = 255)]
    pub nickname: Option<String>,
    /// The pronouns, such as `she/her`.
    #[entity(max = 99)]
    pub pronouns: Option<String>,
    /// The pronunciation of the name, in letters.
    #[entity(max = 255)]
    pub pronunciation: Option<String>,
    /// The address of the profile.
    #[entity(computed, address, for_programs)]
    pub profile_url: Option<String>,
    /// The address of the picture; null if there is none.
    #[entity(computed, address, for_programs)]
    pub image_url: Option<String>,
    /// True if there is a recording of the name.
    #[entity(computed, label = "Recording of the name")]
    pub has_pronunciation_recording: bool,
    /// The number at the institution. Only administrators change it.
    #[entity(max = 99, label = "Student number")]
    pub student_number: Option<String>,
    /// The picture.
    #[serde(skip)]
    #[entity(hidden)]
    pub picture: Option<Blob>,
    /// The media type of the picture.
    #[serde(skip)]
    #[entity(hidden)]
    pub picture_type: String,
    /// The recording of the name.
    #[serde(skip)]
    #[entity(hidden)]
    pub recording: Option<Blob>,
    /// The media type of the recording.
    #[serde(skip)]
    #[entity(hidden)]
    pub recording_type: String,
    /// The parts that the caller may know.
    #[serde(skip)]
    #[entity(skip)]
    known: Known,
}

entity_core::register!(Profile, demo = include_str!("../../demo/profile.json"));

impl Profile {
    /// Returns a profile of the person with the internal id `id` that tells nothing.
    fn blank(id: &str) -> Self {
        Self {
            user_uuid: id.to_owned(),
            version: 1,
            ..Self::default()
        }
    }

    #[expect(clippy::unnecessary_wraps, reason = "records are checked that way")]
    fn check(&mut self, _cx: &Context, _before: Option<&Self>) -> Result<()> {
        for text in [
            &mut self.nickname,
            &mut self.pronouns,
            &mut self.pronunciation,
            &mut self.student_number,
        ] {
            let trimmed = text.as_deref().map(str::trim).filter(|it| !it.is_empty());
            *text = trimmed.map(ToOwned::to_owned);
        }
        Ok(())
    }

    async fn settle(&mut self, cx: &Context, before: Option<&Self>) -> Result<()> {
        let is_same = before.is_some_and(|it| it.student_number == self.student_number);
        match is_same || cx.authorizer().is_superuser(cx).await? {
            true => Ok(()),
            false => Err(Error::new(
                ErrorKind::Forbidden,
                "`studentNumber` is changed by administrators: leave it as it is",
            )),
        }
    }

    /// Adds what the accounts of the people tell, and takes out what the caller may not know.
    async fn complete(cx: &Context, profiles: &mut [Self]) -> Result<()> {
        let ids: Vec<String> = profiles.iter().map(|it| it.user_uuid.clone()).collect();
        let accounts = db::among(cx, user::user::Column::Id.into_expr(), &ids)?;
        let accounts = user::user::Entity::find().filter(accounts);
        let accounts: Vec<User> = db::load(cx, accounts).await?;
        let known = known::of(cx, &ids, None).await?;
        for profile in profiles {
            let id = profile.user_uuid.as_str();
            let account = accounts.iter().find(|it| it.id == id);
            let known = known.get(id).copied().unwrap_or_default();
            profile.fill(cx, account, known);
            profile.redact(known);
        }
        Ok(())
    }

    fn fill(&mut self, cx: &Context, account: Option<&User>, known: Known) {
        if let Some(account) = account {
            self.display_name = match known.name {
                true => account.display_name.clone(),
                false => user::full_name(&account.first_name, &account.last_name),
            };
            self.email.clone_from(&account.email);
        }
        let address = format!(
            "{}/direct/profile/{}",
            cx.base_url(),
            encode_segment(&self.user_uuid)
        );
        self.image_url = self.picture.is_some().then(|| format!("{address}/image"));
        self.has_pronunciation_recording = self.recording.is_some();
        self.profile_url = Some(address);
        self.known = known;
    }

    /// Takes out everything but the name that is not in `known`.
    fn redact(&mut self, known: Known) {
        if !known.email {
            self.email.clear();
        }
        if !known.profile {
            self.nickname = None;
            self.pronouns = None;
            self.pronunciation = None;
            self.profile_url = None;
            self.image_url = None;
            self.has_pronunciation_recording = false;
        }
        if !known.number {
            self.student_number = None;
        }
    }

    fn to_version(&self) -> Version {
        crate::base::fields::seen(self)
    }

    async fn decide(cx: &Context, profile: &Self, operation: Operation) -> Result<Permit> {
        let is_own = cx.caller().user_id() == Some(&profile.user_uuid);
        let is_allowed = match operation {
            Operation::Read => true,
            Operation::Create | Operation::Delete => false,
            Operation::Update => is_own || cx.authorizer().is_superuser(cx).await?,
        };
        match is_allowed {
            true => Ok(Permit::Allowed),
            false => Ok(Permit::Forbidden),
        }
    }
}

/// Returns the account that `name` names for the caller: by `me`, an internal id, or an external id. External ids can be
/// guessed: one leads to the caller, and to people who share a site with the caller.
async fn account(cx: &Context, name: &str) -> Result<Option<String>> {
    if OWN.contains(&name) || user::is_caller(cx, name) {
        return Ok(cx.caller().user_id().map(ToOwned::to_owned));
    }
    if let Some(account) = user::find(cx, name).await? {
        return Ok(Some(account.id));
    }
    let Some(account) = user::by_eid(cx, name).await? else {
        return Ok(None);
    };
    let known = known::of(cx, std::slice::from_ref(&account.id), None).await?;
    let shares = known.get(&account.id).is_some_and(|it| it.shares);
    Ok(shares.then_some(account.id))
}

impl Read for Profile {
    /// By internal or external id, or as `me`.
    async fn read(cx: &Context, id: &str) -> Result<Option<Self>> {
        let Some(id) = account(cx, id).await? else {
            return Ok(None);
        };
        if let Some(stored) = db::read(cx, &id).await? {
            return Ok(Some(stored));
        }
        let mut blank = [Self::blank(&id)];
        Self::complete(cx, &mut blank).await?;
        Ok(blank.into_iter().next())
    }
}

impl Update for Profile {
    type Changes = Fields;

    async fn update(cx: &Context, current: Self, changes: Fields) -> Result<Self> {
        let (stored, _is_new) = db::put(cx, Self::blank(&current.user_uuid), |_| ()).await?;
        db::update(cx, stored, changes).await
    }
}

impl Actions for Profile {
    fn actions() -> Vec<Action<Self>> {
        vec![
            Action::entity(Verb::Get, "image", Need::Session, file::picture)
                .doc("The picture of the person; a blank one for those who may not see it.")
                .optional_argument("variant", "`thumb` or `official`: the same picture.")
                .offered_if(|it| it.image_url.is_some())
                .answers(Answers::Bytes(file::PICTURES)),
            Action::entity(Verb::Put, "image", Need::Session, file::put_picture)
                .doc("Replaces the caller's picture by the body of the request, or by the file of a form: PNG, JPEG, GIF or WebP.")
                .parameters(file::NAME)
                .receiving()
                .answers(Answers::Entity),
            Action::entity(Verb::Delete, "image", Need::Session, file::remove_picture)
                .doc("Removes the caller's picture."),
            Action::entity(Verb::Get, "pronunciation", Need::Session, file::recording)
                .doc("The recording of the person's name.")
                .offered_if(|it| it.has_pronunciation_recording)
                .answers(Answers::Bytes(file::RECORDINGS)),
            Action::entity(Verb::Put, "pronunciation", Need::Session, file::put_recording)
                .doc("Replaces the recording of the caller's name by the body of the request, or by the file of a form: MP3, MP4, Ogg, WAV or WebM.")
                .parameters(file::NAME)
                .receiving()
                .answers(Answers::Entity),
            Action::entity(Verb::Delete, "pronunciation", Need::Session, file::remove_recording)
                .doc("Removes the recording of the caller's name."),
        ]
    }
}
