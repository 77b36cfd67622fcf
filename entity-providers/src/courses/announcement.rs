//! `/direct/announcement`: news for the members of a site.

#[cfg(test)]
mod tests;
pub(crate) mod view;

use chrono::TimeDelta;
use entity_core::db::{self, Migration, RowPolicy};
use entity_core::file::Files;
use entity_core::wire::Millis;
use entity_core::{
    Action, Actions, Arguments, Audience, Context, Entity, Error, Need, Notice, Provider as _,
    Result, Search, Verb, flag, standard,
};
use serde::Serialize;

/// The site whose announcements are the messages of the day.
pub const MOTD_SITE: &str = "!site";

/// A draft is for its author and for those who read drafts. What is not yet released, or is retracted, is for those who
/// may revise it. What is for groups is for their members and for those who see all groups.
const SIGHT: RowPolicy = RowPolicy::All(&[
    RowPolicy::Any(&[
        RowPolicy::Not(&RowPolicy::Is("draft")),
        RowPolicy::Own,
        RowPolicy::Holds("annc.read.drafts"),
    ]),
    RowPolicy::Any(&[
        RowPolicy::All(&[
            RowPolicy::Since("releaseDate"),
            RowPolicy::Until("retractDate"),
        ]),
        RowPolicy::Holds("annc.revise.any"),
        RowPolicy::All(&[RowPolicy::Own, RowPolicy::Holds("annc.revise.own")]),
    ]),
    RowPolicy::Any(&[RowPolicy::Addressed, RowPolicy::Holds("annc.all.groups")]),
]);

/// News for the members of a site.
#[standard(version, facts)]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(tool = "sakai.announcements", layout = article)]
#[entity(prefix = "announcement", access = PublicSite("annc"), sight = SIGHT)]
#[entity(table = "announcement", check = Self::check)]
#[entity(join = "site s ON s.id = this.site_id")]
#[entity(
    verbs(read, list, create, update, delete),
    order = "createdOn_desc,announcementId"
)]
pub struct Announcement {
    /// Site, channel and announcement, joined by colons.
    #[entity(id, shown = "{site_id}:{channel}:{announcement_id}")]
    pub id: String,
    /// Its id within the channel; no other announcement of the service has it.
    #[entity(key, column = "id")]
    pub announcement_id: String,
    /// The headline.
    #[entity(title, search)]
    pub title: String,
    /// The text.
    #[entity(content, optional, search, html)]
    pub body: String,
    /// Where in the site it is: `main`, or `motd` for messages of the day.
    #[entity(read_only, for_programs)]
    pub channel: String,
    /// The site.
    #[entity(site, references = "site")]
    pub site_id: String,
    /// The title of the site.
    #[entity(sql = "s.title", category)]
    pub site_title: String,
    /// The internal id of the author.
    #[entity(owner, references = "user", label = "Author")]
    pub created_by: String,
    /// The name of the author.
    #[entity(name_of = created_by, author)]
    pub created_by_display_name: String,
    /// When it came out: when it was released or, without a release, written.
    #[entity(created, column = "published", label = "Came out")]
    pub created_on: Millis,
    /// When it last changed.
    #[entity(updated, column = "modified", label = "Last changed")]
    pub modified_on: Millis,
    /// True if it is shown with emphasis.
    #[entity(label = "Important", badge = info)]
    pub highlight: Option<bool>,
    /// The roles it is for: none means all.
    #[entity(computed, label = "For the roles")]
    pub selected_roles: Option<Vec<String>>,
    /// True if it is not finished; then only its author and other editors see it.
    #[entity(column = "is_draft", badge = warn)]
    pub draft: bool,
    /// When it appears.
    #[entity(column = "release_at", label = "Appears")]
    pub release_date: Option<Millis>,
    /// When it disappears.
    #[entity(column = "retract_at", label = "Disappears")]
    pub retract_date: Option<Millis>,
    /// The ids of the groups it is for; none means everybody in the site.
    #[entity(groups = "announcement_group", label = "For the groups")]
    #[entity(hint = "Those who see it. Without any, everybody in the site sees it.")]
    pub groups: Vec<String>,
    /// Its files, each with `name`, `url` and perhaps `type` and `size`.
    #[entity(files, label = "Files")]
    pub attachments: Files,
    /// When it was written.
    #[serde(skip)]
    #[entity(hidden, column = "created")]
    pub written: Millis,
    /// Its place among the announcements of the site.
    #[serde(skip)]
    #[entity(position)]
    pub position: i64,
}

entity_core::register!(
    Announcement,
    migrations(INDEXES),
    demo = include_str!("../../demo/announcement.json")
);

/// The newest announcements of a site and of all sites are found in their order, and the last place of a site.
const INDEXES: Migration = Migration::of_tables(
    "announcement_indexes",
    &[
        "DROP INDEX announcement_by_site",
        "CREATE INDEX announcement_by_site ON announcement (site_id, published DESC, id)",
        "CREATE INDEX announcement_by_time ON announcement (published DESC, id)",
        "CREATE INDEX announcement_by_position ON announcement (site_id, position)",
        "CREATE INDEX announcement_group_by_group ON announcement_group (group_id)",
    ],
);

entity_core::register_notice!(Notice {
    event: "annc.new",
    kind: "annc.new",
    tool: "sakai.announcements",
    audience: Audience::Site,
    text: "",
});

impl Announcement {
    fn check(&mut self, cx: &Context, before: Option<&Self>) -> Result<()> {
        if let (Some(release), Some(retract)) = (self.release_date, self.retract_date)
            && retract < release
        {
            return Err(Error::disordered("releaseDate", "retractDate"));
        }
        self.written = before.map_or(Millis(cx.now()), |it| it.written);
        self.created_on = self.release_date.unwrap_or(self.written);
        channel_of(&self.site_id).clone_into(&mut self.channel);
        Ok(())
    }
}

/// The channel of a site's announcements.
pub(crate) fn channel_of(site_id: &str) -> &'static str {
    match site_id {
        MOTD_SITE => "motd",
        _ => "main",
    }
}

/// The parameters by which existing clients shorten a list of announcements.
const CUT: &[(&str, &str)] = &[
    ("n", "how many at most; 0 or none for all"),
    ("d", "how many days back; 0 or none for all"),
    (
        "a",
        "1 for the oldest first, unless `_order` says otherwise",
    ),
];

impl Actions for Announcement {
    fn actions() -> Vec<Action<Self>> {
        let read = Self::ACCESS.read;
        vec![
            Action::list("site", read, of_one_site)
                .doc("The announcements of a site, newest first; without a session, what it shows to the public.")
                .argument("siteId", "The site.")
                .parameters(CUT),
            Action::list("user", Need::Public, of_user)
                .doc("The announcements of all sites of the caller, newest first; without a session, the messages of the day.")
                .parameters(CUT),
            Action::list("motd", Need::Public, of_the_day)
                .doc("The messages of the day, newest first.")
                .parameters(CUT),
            Action::collection(Verb::Get, "message", read, message)
                .doc("One announcement, by its site and its id within the channel.")
                .argument("siteId", "The site.")
                .argument("announcementId", "Its id within the channel."),
            Action::collection(Verb::Get, "msg", read, message)
                .doc("One announcement, by its site, its channel and its id within the channel.")
                .argument("siteId", "The site.")
                .argument("channel", "The channel: `main`, or `motd` for messages of the day.")
                .argument("announcementId", "Its id within the channel."),
        ]
    }
}

async fn of_one_site(cx: &Context, arguments: Arguments) -> Result<Search> {
    let mut search = asked(cx, &arguments)?;
    search.narrow_to_site::<Announcement>(arguments.argument("siteId")?)?;
    Ok(search)
}

async fn of_user(cx: &Context, arguments: Arguments) -> Result<Search> {
    if cx.caller().is_anonymous() {
        return of_the_day(cx, arguments).await;
    }
    let mut search = asked(cx, &arguments)?;
    search.narrow_to_sites::<Announcement>(cx.authorizer().own_sites(cx).await?)?;
    Ok(search)
}

async fn of_the_day(cx: &Context, arguments: Arguments) -> Result<Search> {
    let mut search = asked(cx, &arguments)?;
    search.narrow_to_site::<Announcement>(MOTD_SITE)?;
    Ok(search)
}

async fn message(cx: &Context, arguments: Arguments) -> Result<Announcement> {
    let site = arguments.argument("siteId")?;
    let channel = arguments.optional("channel");
    let found = db::read(cx, arguments.argument("announcementId")?).await?;
    let is_there = |it: &Announcement| {
        it.site_id == site && channel.is_none_or(|channel| it.channel == channel)
    };
    found.filter(is_there).ok_or_else(Error::not_found)
}

/// Parses the query, with the numbers by which existing clients shorten lists. They send these in many ways: a value
/// that is no number, or 0, counts as absent.
fn asked(cx: &Context, arguments: &Arguments) -> Result<Search> {
    let number = |name: &str| {
        let number = arguments.parameter(name)?.trim().parse().ok();
        number.filter(|it: &u64| *it > 0)
    };
    let mut search = arguments.search()?.clone();
    let days = number("d").and_then(|it| TimeDelta::try_days(i64::try_from(it).ok()?));
    if let Some(since) = days.and_then(|it| cx.now().checked_sub_signed(it)) {
        search.narrow(Announcement::FIELD.created_on.gte(since));
    }
    if let Some(most) = number("n") {
        search.cut(most);
    }
    let is_turned = arguments
        .parameter("a")
        .map_or(Ok(false), |it| flag("a", it))?;
    if is_turned && arguments.parameter("_order").is_none_or(str::is_empty) {
        search.reverse();
    }
    Ok(search)
}
