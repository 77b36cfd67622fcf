//! Who sees a record: the rule in words, the condition of lists and counts, and the decision about one entity agree over
//! all combinations of what a row says and of what the caller holds.

use std::collections::BTreeSet;
use std::sync::Arc;

use chrono::TimeDelta;
use entity_core::db::{self, Facts, Parents, Sight, TableSpec};
use entity_core::testing::{FixedClock, KeptEvents, ToldAuthorizer, database_on, origin, shared};
use entity_core::{
    Caller, Clock as _, Context, DateTimeUtc, Dispatcher, Entity, Operation, Permit, Provider,
    Registry, Result, Scope, Search,
};
use sea_orm::{ConnectionTrait as _, DatabaseConnection};
use serde::Serialize;
use tests::{Database, both};

const SITE: &str = "s";
const CALLER: &str = "ada";

/// Something for the members of a site that not all of them see.
#[derive(Clone, Debug, Serialize, Entity)]
#[entity(prefix = "leaflet", table = "leaflet", access = Site("leaflet"), sight = SIGHT, verbs(read, list))]
struct Leaflet {
    #[entity(id)]
    id: String,
    #[entity(site)]
    site_id: String,
    #[entity(owner)]
    owner: String,
    draft: bool,
    since: Option<DateTimeUtc>,
    until: Option<DateTimeUtc>,
    #[entity(groups = "leaflet_group")]
    groups: Vec<String>,
    #[serde(skip)]
    #[entity(facts)]
    facts: Facts,
}

const SIGHT: Sight = Sight::All(&[
    Sight::Any(&[
        Sight::Not(&Sight::Is("draft")),
        Sight::Own,
        Sight::Holds("leaflet.drafts"),
    ]),
    Sight::Any(&[
        Sight::All(&[Sight::Since("since"), Sight::Until("until")]),
        Sight::Holds("leaflet.any"),
        Sight::All(&[Sight::Own, Sight::Holds("leaflet.own")]),
    ]),
    Sight::Any(&[Sight::Addressed, Sight::Holds("leaflet.groups")]),
    Sight::Sql("this.id <> 'hidden' AND {now} > 0 AND {caller} <> this.id"),
]);

/// When a leaflet appears and disappears, in hours from now, and whether it is there now.
const TIMES: [(Option<i64>, Option<i64>, bool); 7] = [
    (None, None, true),
    (Some(-1), None, true),
    (Some(0), None, true),
    (Some(-1), Some(1), true),
    (Some(1), None, false),
    (None, Some(-1), false),
    (None, Some(0), false),
];

/// What the caller holds besides the right to read.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one function, and all combine"
)]
struct Powers {
    reads_drafts: bool,
    revises_any: bool,
    revises_own: bool,
    sees_all_groups: bool,
}

impl Powers {
    fn all() -> impl Iterator<Item = Self> {
        (0..16_u8).map(|bits| Self {
            reads_drafts: bits & 1 != 0,
            revises_any: bits & 2 != 0,
            revises_own: bits & 4 != 0,
            sees_all_groups: bits & 8 != 0,
        })
    }

    fn grants(self) -> ToldAuthorizer {
        let held = [
            ("leaflet.read", true),
            ("leaflet.drafts", self.reads_drafts),
            ("leaflet.any", self.revises_any),
            ("leaflet.own", self.revises_own),
            ("leaflet.groups", self.sees_all_groups),
        ];
        let told = ToldAuthorizer::default().site(SITE);
        held.into_iter()
            .fold(told, |told, (function, is_held)| match is_held {
                true => told.grant(function, SITE),
                // A function in another site opens nothing in this one.
                false => told.grant(function, "elsewhere"),
            })
    }
}

/// The rule in words.
fn is_expected(leaflet: &Leaflet, is_out: bool, powers: Powers) -> bool {
    let is_mine = leaflet.owner == CALLER;
    if leaflet.draft && !is_mine && !powers.reads_drafts {
        return false;
    }
    let may_revise = powers.revises_any || is_mine && powers.revises_own;
    if !is_out && !may_revise {
        return false;
    }
    let is_for_me = leaflet.groups.is_empty() || leaflet.groups.iter().any(|it| it == "mine");
    (is_for_me || powers.sees_all_groups) && leaflet.id != "hidden"
}

fn leaflets(now: DateTimeUtc) -> Vec<(Leaflet, bool)> {
    let at = |hours: Option<i64>| hours.map(|it| now + TimeDelta::hours(it));
    let mut leaflets = Vec::new();
    for draft in [false, true] {
        for (since, until, is_out) in TIMES {
            for groups in [&[][..], &["mine"], &["other"], &["mine", "other"]] {
                for owner in [CALLER, "bob"] {
                    let leaflet = Leaflet {
                        id: format!("leaflet-{}", leaflets.len()),
                        site_id: SITE.to_owned(),
                        owner: owner.to_owned(),
                        draft,
                        since: at(since),
                        until: at(until),
                        groups: groups.iter().map(ToString::to_string).collect(),
                        facts: Facts::default(),
                    };
                    leaflets.push((leaflet, is_out));
                }
            }
        }
    }
    let mut hidden = leaflets[0].clone();
    "hidden".clone_into(&mut hidden.0.id);
    leaflets.push(hidden);
    leaflets
}

async fn make_tables(connection: &DatabaseConnection) {
    let backend = connection.get_database_backend();
    let spec = TableSpec::of::<Leaflet>();
    let table = spec.create_statement(backend, Parents::default());
    connection.execute(&table).await.expect("a table");
    let groups = spec
        .groups_statement(backend, Parents::default())
        .expect("groups");
    connection.execute(&groups).await.expect("a table");
    for sql in [
        "CREATE TABLE group_member (group_id TEXT NOT NULL, user_id TEXT NOT NULL)",
        "INSERT INTO group_member VALUES ('mine', 'ada'), ('other', 'bob')",
    ] {
        connection.execute_unprepared(sql).await.expect("members");
    }
}

fn dispatcher(connection: &DatabaseConnection, powers: Powers) -> Dispatcher {
    let route = entity_core::Route::of::<Leaflet>(("tests", "1.0.0"));
    Dispatcher::new(
        Arc::new(Registry::new([route.read().list().table().build()]).expect("a type")),
        Arc::new(database_on(connection.clone())),
        Arc::new(KeptEvents::default()),
        shared(powers.grants()),
    )
}

/// What the caller sees: of each entity that is read, in the list of the site, and in the list of all sites.
async fn seen(cx: &Context, ids: Vec<String>) -> Result<[BTreeSet<String>; 3]> {
    let mut by_id = BTreeSet::new();
    for id in ids {
        let leaflet: Leaflet = db::read(cx, &id).await?.expect("it is there");
        let permit = Leaflet::permits(cx, &leaflet, Operation::Read).await?;
        let written = Leaflet::permits(cx, &leaflet, Operation::Update).await?;
        match permit {
            Permit::Allowed => {
                assert_eq!(written, Permit::Allowed);
                by_id.insert(id);
            }
            other => {
                assert_eq!((other, written), (Permit::Hidden, Permit::Forbidden));
            }
        }
    }
    let mut in_site = Search::all();
    in_site.narrow_to_site::<Leaflet>(SITE)?;
    in_site.scope = Scope::Sites(vec![SITE.to_owned()]);
    let mut everywhere = Search::all();
    everywhere.scope = Scope::Sites(vec!["elsewhere".to_owned(), SITE.to_owned()]);
    let mut lists = Vec::new();
    for search in [in_site, everywhere] {
        let page = db::list::<Leaflet>(cx, &search).await?;
        let count = db::count::<Leaflet>(cx, &search).await?;
        assert_eq!(u64::try_from(page.items.len()).ok(), Some(count));
        for leaflet in &page.items {
            assert_eq!(
                Leaflet::permits(cx, leaflet, Operation::Read).await?,
                Permit::Allowed
            );
        }
        lists.push(page.items.into_iter().map(|it| it.id).collect());
    }
    let everywhere = lists.pop().unwrap_or_default();
    Ok([by_id, lists.pop().unwrap_or_default(), everywhere])
}

both! {
    async fn the_rule_the_condition_and_the_words_agree_over_all_combinations(database: Database) {
        let connection = sea_orm::Database::connect(database.url()).await.expect("it connects");
        make_tables(&connection).await;
        let leaflets = leaflets(FixedClock::default().now());
        assert_eq!(leaflets.len(), 2 * 7 * 4 * 2 + 1);
        let rows: Vec<Leaflet> = leaflets.iter().map(|it| it.0.clone()).collect();
        let ids: Vec<String> = rows.iter().map(|it| it.id.clone()).collect();
        let first = Powers::all().next().expect("one");
        let origin = origin(Caller::user(CALLER, CALLER));
        let writer = dispatcher(&connection, first);
        let written = writer.write(&origin, |cx| {
            let rows = rows.clone();
            Box::pin(async move {
                for leaflet in &rows {
                    db::insert(cx, leaflet).await?;
                }
                Ok(((), entity_core::Effect::Read))
            })
        });
        written.await.expect("rows");
        for powers in Powers::all() {
            let expected: BTreeSet<String> = leaflets
                .iter()
                .filter(|(leaflet, is_out)| is_expected(leaflet, *is_out, powers))
                .map(|it| it.0.id.clone())
                .collect();
            let dispatcher = dispatcher(&connection, powers);
            let found = dispatcher.read(&origin, |cx| Box::pin(seen(cx, ids.clone())));
            for found in found.await.expect("it reads") {
                assert_eq!(found, expected, "{powers:?}");
            }
        }
    }
}
