//! Row policies: the rule in words, the condition of lists and counts, and the decision about one entity agree over all
//! combinations of facts of a row and permissions of the caller.

mod people;

use std::collections::BTreeSet;
use std::sync::Arc;

use chrono::TimeDelta;
use entity_core::context::Clock as _;
use entity_core::db::{self, Parents, PolicyInputs, RowPolicy, TableSpec, Telling};
use entity_core::engine::Dispatcher;
use entity_core::search::Grammar;
use entity_core::testing::{FixedClock, KeptEvents, ToldAuthorizer, database_on, origin, shared};
use entity_core::{
    Caller, Context, DateTimeUtc, Entity, Operation, Permit, Provider, Registry, Result, Scope,
    Search,
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
    facts: PolicyInputs,
}

const SIGHT: RowPolicy = RowPolicy::All(&[
    INHERITED,
    RowPolicy::Sql("this.id <> 'hidden' AND {now} > 0 AND {caller} <> this.id"),
]);

/// The part of the rule that remarks inherit.
const INHERITED: RowPolicy = RowPolicy::All(&[
    RowPolicy::Any(&[
        RowPolicy::Not(&RowPolicy::Is("draft")),
        RowPolicy::Own,
        RowPolicy::Holds("leaflet.drafts"),
    ]),
    RowPolicy::Any(&[
        RowPolicy::All(&[RowPolicy::Since("since"), RowPolicy::Until("until")]),
        RowPolicy::Holds("leaflet.any"),
        RowPolicy::All(&[RowPolicy::Own, RowPolicy::Holds("leaflet.own")]),
    ]),
    RowPolicy::Any(&[RowPolicy::Addressed, RowPolicy::Holds("leaflet.groups")]),
]);

/// A remark about a leaflet: whoever sees the leaflet sees it, unless it is crossed out.
#[derive(Clone, Debug, Serialize, Entity)]
#[entity(prefix = "remark", table = "remark", access = Site("leaflet"), verbs(read, list))]
#[entity(sight = RowPolicy::All(&[RowPolicy::Parent(&INHERITED), RowPolicy::Not(&RowPolicy::Is("crossed_out"))]))]
#[entity(left_join = "bookmark b ON b.leaflet_id = this.leaflet_id AND b.user_id = {caller}")]
struct Remark {
    #[entity(id)]
    id: String,
    #[entity(site)]
    site_id: String,
    #[entity(owner)]
    owner: String,
    #[entity(parent = Leaflet)]
    leaflet_id: String,
    crossed_out: bool,
    /// True if the caller has marked the leaflet.
    #[entity(sql = "b.user_id IS NOT NULL", column)]
    is_marked: bool,
    #[entity(sql = STATE, column)]
    state: String,
    #[serde(skip)]
    #[entity(facts)]
    facts: PolicyInputs,
}

entity_core::register_cause!(Leaflet);

/// An entity that follows a leaflet, or something that nobody asks for.
#[derive(Clone, Debug, Serialize, Entity)]
#[entity(prefix = "echo", table = "echo", access = Site("leaflet"), verbs(read, list))]
#[entity(sight = RowPolicy::Follows(Telling::Entity, "about"))]
struct Echo {
    #[entity(id)]
    id: String,
    #[entity(site)]
    site_id: String,
    #[serde(skip)]
    #[entity(hidden)]
    about: Option<String>,
    #[serde(skip)]
    #[entity(facts)]
    facts: PolicyInputs,
}

/// One echo of each leaflet, and some of other things.
fn echoes(leaflets: &[Leaflet]) -> Vec<Echo> {
    let echo = |id: &str, about: Option<&str>| Echo {
        id: id.to_owned(),
        site_id: SITE.to_owned(),
        about: about.map(ToOwned::to_owned),
        facts: PolicyInputs::default(),
    };
    let of_leaflet = |it: &Leaflet| echo(&it.id, Some(&format!("/leaflet/{}", it.id)));
    let mut echoes: Vec<_> = leaflets.iter().map(of_leaflet).collect();
    echoes.push(echo("gone", Some("/leaflet/gone")));
    for (id, about) in ELSEWHERE {
        echoes.push(echo(id, about));
    }
    echoes
}

/// Echoes that everybody sees.
const ELSEWHERE: [(&str, Option<&str>); 4] = [
    ("nothing", None),
    ("other", Some("/booklet/7")),
    ("alike", Some("/leaflets/leaflet-0")),
    ("capital", Some("/LEAFLET/leaflet-0")),
];

const STATE: &str = "CASE WHEN parent.since > {now} THEN 'NOT_OPEN' WHEN parent.until <= {now} THEN 'CLOSED' \
                     ELSE 'OPEN' END";

/// Two remarks about each leaflet, one of them crossed out.
fn remarks(leaflets: &[Leaflet]) -> Vec<Remark> {
    let remark = |leaflet: &Leaflet, crossed_out| Remark {
        id: format!("{}-{crossed_out}", leaflet.id),
        site_id: SITE.to_owned(),
        owner: "carl".to_owned(),
        leaflet_id: leaflet.id.clone(),
        crossed_out,
        is_marked: false,
        state: String::new(),
        facts: PolicyInputs::default(),
    };
    let both = |it| [remark(it, false), remark(it, true)];
    leaflets.iter().flat_map(both).collect()
}

/// The hours from now after which a leaflet appears and disappears, and whether it is there now.
const TIMES: [(Option<i64>, Option<i64>, bool); 7] = [
    (None, None, true),
    (Some(-1), None, true),
    (Some(0), None, true),
    (Some(-1), Some(1), true),
    (Some(1), None, false),
    (None, Some(-1), false),
    (None, Some(0), false),
];

/// The permissions that the caller holds besides the right to read.
#[derive(Clone, Copy, Debug)]
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
                        facts: PolicyInputs::default(),
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
    let remarks = TableSpec::of::<Remark>().create_statement(backend, Parents::default());
    connection.execute(&remarks).await.expect("a table");
    let echoes = TableSpec::of::<Echo>().create_statement(backend, Parents::default());
    connection.execute(&echoes).await.expect("a table");
    for sql in [
        "CREATE TABLE bookmark (leaflet_id TEXT NOT NULL, user_id TEXT NOT NULL)",
        "INSERT INTO bookmark VALUES ('leaflet-2', 'ada'), ('leaflet-3', 'bob')",
        "CREATE TABLE group_member (group_id TEXT NOT NULL, user_id TEXT NOT NULL)",
        "INSERT INTO group_member VALUES ('mine', 'ada'), ('other', 'bob')",
    ] {
        connection.execute_unprepared(sql).await.expect("members");
    }
}

fn dispatcher(connection: &DatabaseConnection, powers: Powers) -> Dispatcher {
    let leaflets = entity_core::engine::Route::of::<Leaflet>(("tests", "1.0.0"));
    let remarks = entity_core::engine::Route::of::<Remark>(("tests", "1.0.0"));
    let echoes = entity_core::engine::Route::of::<Echo>(("tests", "1.0.0"));
    let leaflets = leaflets.read().list().table().build();
    let remarks = remarks.read().list().table().build();
    let echoes = echoes.read().list().table().build();
    let registry = Arc::new(Registry::new([leaflets, remarks, echoes]).expect("types"));
    let mut shared = shared(powers.grants());
    shared.services.insert(Arc::clone(&registry));
    Dispatcher::new(
        registry,
        Arc::new(database_on(connection.clone())),
        Arc::new(KeptEvents::default()),
        shared,
    )
}

/// Returns the entities that the caller sees: read one by one, in the list of the site, and in the list of all sites.
async fn seen<T>(cx: &Context, ids: Vec<String>) -> Result<[BTreeSet<String>; 3]>
where
    T: db::Record + Provider<Entity = T>,
{
    let mut by_id = BTreeSet::new();
    for id in ids {
        let entity: T = db::read(cx, &id).await?.expect("it is there");
        let permit = T::permits(cx, &entity, Operation::Read).await?;
        let written = T::permits(cx, &entity, Operation::Update).await?;
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
    in_site.narrow_to_site::<T>(SITE)?;
    in_site.scope = Scope::Sites(vec![SITE.to_owned()]);
    let mut everywhere = Search::all();
    everywhere.scope = Scope::Sites(vec!["elsewhere".to_owned(), SITE.to_owned()]);
    let mut lists = Vec::new();
    for search in [in_site, everywhere] {
        let page = db::list::<T>(cx, &search).await?;
        let count = db::count::<T>(cx, &search).await?;
        assert_eq!(u64::try_from(page.items.len()).ok(), Some(count));
        for entity in &page.items {
            assert_eq!(
                T::permits(cx, entity, Operation::Read).await?,
                Permit::Allowed
            );
        }
        lists.push(page.items.iter().map(|it| it.id().into_owned()).collect());
    }
    let everywhere = lists.pop().unwrap_or_default();
    Ok([by_id, lists.pop().unwrap_or_default(), everywhere])
}

/// The ids of the remarks that a list finds by `query`.
async fn listed(cx: &Context, query: &[(&str, &str)]) -> Result<Vec<String>> {
    let pairs = query.iter().map(|it| (it.0.to_owned(), it.1.to_owned()));
    let mut search = Grammar::of::<Remark>()?.parse(&pairs.collect::<Vec<_>>())?;
    search.scope = Scope::Sites(vec![SITE.to_owned()]);
    let page = db::list::<Remark>(cx, &search).await?;
    let count = db::count::<Remark>(cx, &search).await?;
    assert_eq!(u64::try_from(page.items.len()).ok(), Some(count));
    Ok(page.items.into_iter().map(|it| it.leaflet_id).collect())
}

/// The caller's own row and the states that follow from times are fields that lists are filtered and ordered by.
async fn agree_on_own_rows_and_states(cx: &Context) -> Result<()> {
    let leaflets = leaflets(cx.now());
    assert_eq!(listed(cx, &[("is_marked", "true")]).await?, ["leaflet-2"]);
    let now = cx.now();
    let state = |it: &Leaflet| match (it.since, it.until) {
        (Some(since), _) if since > now => "NOT_OPEN",
        (_, Some(until)) if until <= now => "CLOSED",
        _ => "OPEN",
    };
    let mut all = listed(cx, &[("_order", "state_desc,id")]).await?;
    let states: Vec<_> = all
        .iter()
        .filter_map(|id| leaflets.iter().find(|it| it.0.id == *id))
        .map(|it| state(&it.0))
        .collect();
    assert!(states.is_sorted_by(|one, other| one >= other));
    all.sort();
    let mut found = Vec::new();
    for wanted in ["OPEN", "CLOSED", "NOT_OPEN"] {
        let expected = all.iter().filter(|id| {
            let leaflet = leaflets.iter().find(|it| it.0.id == **id);
            leaflet.is_some_and(|it| state(&it.0) == wanted)
        });
        let expected: Vec<_> = expected.cloned().collect();
        assert!(!expected.is_empty());
        let mut listed = listed(cx, &[("state", wanted)]).await?;
        listed.sort();
        assert_eq!(listed, expected);
        found.extend(listed);
    }
    found.sort();
    assert_eq!(found, all);
    Ok(())
}

both! {
    async fn the_rule_the_condition_and_the_words_agree_over_all_combinations(database: Database) {
        let connection = sea_orm::Database::connect(database.url()).await.expect("it connects");
        make_tables(&connection).await;
        let leaflets = leaflets(FixedClock::default().now());
        assert_eq!(leaflets.len(), 2 * 7 * 4 * 2 + 1);
        let rows: Vec<Leaflet> = leaflets.iter().map(|it| it.0.clone()).collect();
        let ids: Vec<String> = rows.iter().map(|it| it.id.clone()).collect();
        let remarks = remarks(&rows);
        let remark_ids: Vec<String> = remarks.iter().map(|it| it.id.clone()).collect();
        let echoes = echoes(&rows);
        let echo_ids: Vec<String> = echoes.iter().map(|it| it.id.clone()).collect();
        let first = Powers::all().next().expect("one");
        let origin = origin(Caller::user(CALLER, CALLER));
        let writer = dispatcher(&connection, first);
        let written = writer.write(&origin, |cx| {
            let (rows, remarks, echoes) = (rows.clone(), remarks.clone(), echoes.clone());
            Box::pin(async move {
                for leaflet in &rows {
                    db::insert(cx, leaflet).await?;
                }
                for remark in &remarks {
                    db::insert(cx, remark).await?;
                }
                for echo in &echoes {
                    db::insert(cx, echo).await?;
                }
                Ok(((), entity_core::reply::Effect::Read))
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
            let found = dispatcher.read(&origin, |cx| Box::pin(seen::<Leaflet>(cx, ids.clone())));
            for found in found.await.expect("it reads") {
                assert_eq!(found, expected, "{powers:?}");
            }
            let followed = expected.iter().cloned();
            let followed: BTreeSet<String> = followed.chain(ELSEWHERE.map(|it| it.0.to_owned())).collect();
            let found = dispatcher.read(&origin, |cx| Box::pin(seen::<Echo>(cx, echo_ids.clone())));
            for found in found.await.expect("it reads") {
                assert_eq!(found, followed, "{powers:?}");
            }
            // What is hidden by its own id is no matter of the inherited part.
            let of_hidden = leaflets.iter().filter(|it| it.0.id == "hidden");
            let of_hidden = of_hidden.filter(|it| {
                let twin = Leaflet { id: "leaflet-0".to_owned(), ..it.0.clone() };
                is_expected(&twin, it.1, powers)
            });
            let of_hidden = of_hidden.map(|_| "hidden-false".to_owned());
            let inherited = expected.iter().map(|it| format!("{it}-false"));
            let inherited: BTreeSet<String> = inherited.chain(of_hidden).collect();
            let found = dispatcher.read(&origin, |cx| {
                Box::pin(seen::<Remark>(cx, remark_ids.clone()))
            });
            for found in found.await.expect("it reads") {
                assert_eq!(found, inherited, "{powers:?}");
            }
            if powers.sees_all_groups && powers.revises_any && powers.reads_drafts {
                let agreed = dispatcher.read(&origin, |cx| {
                    Box::pin(agree_on_own_rows_and_states(cx))
                });
                agreed.await.expect("they agree");
            }
        }
    }
}
