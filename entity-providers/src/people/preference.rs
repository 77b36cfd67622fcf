//! `/direct/preference`: how the caller wants the service to be: the sites at hand, time zone, language, and what they are
//! told of.
//!
//! Nobody else sees or changes it. The sites at hand and the muted ones are noted in the memberships of the caller, where
//! everything else that asks for them finds them. The row of the rest is stored when it is first written.

mod kinds;
mod sites;

use entity_core::db;
use entity_core::recurrence::Tz;
use entity_core::{
    Access, Action, Actions, Arguments, Context, Data, Entity, Error, Fields, List, Need,
    Operation, Page, Permit, Read, Result, Search, Update, Verb, Version, search, standard,
};
use sea_orm::{ColumnTrait as _, EntityTrait as _, QueryFilter as _, QuerySelect as _};
use serde::Serialize;

use crate::people::user;

pub(crate) use self::kinds::NOT_MUTED;
use self::kinds::{Kinds, known_kinds};
pub(crate) use self::sites::pinned;
use self::sites::{SiteIds, Sites};

const ACCESS: Access = Access::new(Need::Session, Need::Session);
/// The address of the caller's own, and a second one.
const OWN: [&str; 2] = ["me", "current"];

/// The preferences of the caller.
#[standard(version)]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(prefix = "preference", own = "me", singular = "Preferences", table = "preference", access = ACCESS, unarchived)]
#[entity(permits = Self::decide, check = Self::check, settle = Self::settle)]
#[entity(complete = Self::complete, version = Self::to_version)]
#[entity(listed("timeZone", "language"))]
pub struct Preference {
    /// The internal id of the caller.
    #[entity(id, owner, person)]
    pub user_id: String,
    /// The time zone: a name of the IANA database, such as `Europe/Berlin`; null for that of the service.
    #[entity(max = 64)]
    #[entity(hint = "The clock by which you read times; empty for that of the service.")]
    pub time_zone: Option<String>,
    /// The language: a tag such as `de` or `pt-BR`; null for that of the service.
    #[entity(max = 35)]
    #[entity(hint = "Such as de or pt-BR; empty for that of the service.")]
    pub language: Option<String>,
    /// The ids of the sites that the caller keeps at hand, in the caller's order.
    #[entity(computed, writable, kind = List, sent = Vec<String>, label = "Pinned sites")]
    #[entity(offered = "site")]
    #[entity(hint = "The sites that stand first on your start page.")]
    pub pinned_site_ids: SiteIds,
    /// The kinds of notifications that the caller is not shown, such as `annc.new`.
    #[entity(kind = List, sent = Vec<String>, label = "Notifications that you do not want")]
    #[entity(offered = "notification")]
    pub muted_kinds: Kinds,
    /// The ids of the sites of which the caller is shown no notifications.
    #[entity(computed, writable, kind = List, sent = Vec<String>)]
    #[entity(label = "Sites without notifications", offered = "site")]
    pub muted_site_ids: SiteIds,
}

entity_core::register!(Preference);
entity_core::register_zone!(|cx| Box::pin(zone(cx)));

impl Preference {
    fn blank(id: &str) -> Self {
        Self {
            user_id: id.to_owned(),
            version: 1,
            ..Self::default()
        }
    }

    /// Returns the preferences of the caller.
    async fn own(cx: &Context) -> Result<Self> {
        let id = cx.user_id()?;
        if let Some(stored) = db::read(cx, id).await? {
            return Ok(stored);
        }
        let mut blank = [Self::blank(id)];
        Self::complete(cx, &mut blank).await?;
        let [blank] = blank;
        Ok(blank)
    }

    fn check(&mut self, _cx: &Context, _before: Option<&Self>) -> Result<()> {
        for text in [&mut self.time_zone, &mut self.language] {
            let trimmed = text.as_deref().map(str::trim).filter(|it| !it.is_empty());
            *text = trimmed.map(ToOwned::to_owned);
        }
        let is_zone = |it: &String| it.parse::<Tz>().is_ok();
        if !self.time_zone.as_ref().is_none_or(is_zone) {
            return Err(Error::field(
                "timeZone",
                "must be a time zone of the IANA database, such as `Europe/Berlin`",
            ));
        }
        match self.language.as_deref().is_none_or(is_language) {
            true => Ok(()),
            false => Err(Error::field(
                "language",
                "must be a language tag, such as `de` or `pt-BR`",
            )),
        }
    }

    /// Notes the sites in the memberships of the caller.
    async fn settle(&mut self, cx: &Context, before: Option<&Self>) -> Result<()> {
        let Some(before) = before else {
            return Ok(());
        };
        self.muted_kinds.check(&before.muted_kinds)?;
        let (pinned, muted) = (&self.pinned_site_ids, &self.muted_site_ids);
        if *pinned != before.pinned_site_ids {
            sites::put(cx, Sites::Pinned, pinned, &before.pinned_site_ids).await?;
        }
        if *muted != before.muted_site_ids {
            sites::put(cx, Sites::Muted, muted, &before.muted_site_ids).await?;
        }
        Ok(())
    }

    async fn complete(cx: &Context, preferences: &mut [Self]) -> Result<()> {
        let own = |it: &&mut Self| cx.caller().user_id() == Some(&it.user_id);
        for preference in preferences.iter_mut().filter(own) {
            preference.pinned_site_ids = sites::of_caller(cx, Sites::Pinned).await?;
            preference.muted_site_ids = sites::of_caller(cx, Sites::Muted).await?;
        }
        Ok(())
    }

    fn to_version(&self) -> Version {
        crate::base::fields::seen(self)
    }

    #[expect(
        clippy::unused_async,
        reason = "the attribute `permits` takes an `async fn`"
    )]
    async fn decide(cx: &Context, preference: &Self, operation: Operation) -> Result<Permit> {
        let is_own = cx.caller().user_id() == Some(&preference.user_id);
        Ok(match operation {
            _ if !is_own => Permit::Hidden,
            Operation::Read | Operation::Update => Permit::Allowed,
            Operation::Create | Operation::Delete => Permit::Forbidden,
        })
    }
}

/// Returns whether `tag` has the form of a language tag (BCP 47): a language, then a script, a region, and variants, each
/// but the first perhaps missing. Extensions are none of the preferences.
fn is_language(tag: &str) -> bool {
    let is_alphabetic = |it: &str| it.bytes().all(|it| it.is_ascii_alphabetic());
    let is_alphanumeric = |it: &str| it.bytes().all(|it| it.is_ascii_alphanumeric());
    let is_digits = |it: &str| it.bytes().all(|it| it.is_ascii_digit());
    let mut parts = tag.split('-').peekable();
    let language = parts.next().unwrap_or_default();
    if !matches!(language.len(), 2..=3) || !is_alphabetic(language) {
        return false;
    }
    parts.next_if(|it| it.len() == 4 && is_alphabetic(it));
    parts.next_if(|it| (it.len() == 2 && is_alphabetic(it)) || (it.len() == 3 && is_digits(it)));
    let begins_with_digit = |it: &str| it.bytes().next().is_some_and(|it| it.is_ascii_digit());
    let is_variant = |it: &str| {
        is_alphanumeric(it)
            && (matches!(it.len(), 5..=8) || (it.len() == 4 && begins_with_digit(it)))
    };
    parts.all(is_variant)
}

impl Read for Preference {
    /// Only the caller's own: by `me`, or by the internal or external id.
    async fn read(cx: &Context, id: &str) -> Result<Option<Self>> {
        match OWN.contains(&id) || user::is_caller(cx, id) {
            true => Self::own(cx).await.map(Some),
            false => Ok(None),
        }
    }
}

/// The list has the caller's own, whether they are stored or not.
impl List for Preference {
    async fn list(cx: &Context, search: &Search) -> Result<Page<Self>> {
        search::select(vec![Self::own(cx).await?], search)
    }
}

impl Update for Preference {
    type Changes = Fields;

    async fn update(cx: &Context, _current: Self, changes: Fields) -> Result<Self> {
        let (stored, _is_new) = db::put(cx, Self::blank(cx.user_id()?), |_| ()).await?;
        let mut whole = [stored];
        Self::complete(cx, &mut whole).await?;
        let [stored] = whole;
        db::update(cx, stored, changes).await
    }
}

impl Actions for Preference {
    fn actions() -> Vec<Action<Self>> {
        vec![
            Action::collection(Verb::Get, "kinds", Need::Session, kinds)
                .doc("The kinds of notifications that `mutedKinds` can name."),
        ]
    }
}

/// Returns the zone that the caller has chosen.
async fn zone(cx: &Context) -> Result<Option<Tz>> {
    let Some(id) = cx.caller().user_id() else {
        return Ok(None);
    };
    let zones = preference::Entity::find()
        .select_only()
        .column(preference::Column::TimeZone)
        .filter(preference::Column::UserId.eq(id));
    let zones: Vec<Option<String>> = cx.db()?.select(&zones).await?;
    Ok(zones.into_iter().flatten().find_map(|it| it.parse().ok()))
}

async fn kinds(_cx: &Context, _: Arguments) -> Result<Data<Vec<&'static str>>> {
    Ok(Data(known_kinds()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_language_is_a_tag() {
        for tag in [
            "de",
            "DE",
            "pt-BR",
            "zh-Hant",
            "zh-Hant-TW",
            "es-419",
            "gsw",
            "sl-rozaj",
            "de-1996",
        ] {
            assert!(is_language(tag), "{tag}");
        }
        for tag in [
            "", "d", "german", "de-", "-de", "de_DE", "de--DE", "d3", "pt-BRA", "de-DE-DE",
            "de\u{e4}", "x-y", "de DE",
        ] {
            assert!(!is_language(tag), "{tag}");
        }
    }
}
