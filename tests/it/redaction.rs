//! Fields that some callers do not see: they are empty in every answer, and change no filter, search, order or count, on
//! both databases and whatever the caller holds where.

use std::sync::Arc;

use entity_core::db::{self, Parents, RowPolicy, TableSpec};
use entity_core::engine::Dispatcher;
use entity_core::reply::Effect;
use entity_core::search::Grammar;
use entity_core::testing::{KeptEvents, ToldAuthorizer, database_on, origin, shared};
use entity_core::{Caller, Context, Entity, ErrorKind, Fields, Registry, Result, Scope, Version};
use sea_orm::{ConnectionTrait as _, DatabaseConnection, EntityTrait as _};
use serde::Serialize;
use serde_json::json;
use tests::{Database, both};

const CALLER: &str = "ada";

/// Somebody with things that not everybody sees.
#[derive(Clone, Debug, Serialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(prefix = "pupil", table = "pupil", access = Site("pupil"), verbs(read, list, update))]
struct Pupil {
    #[entity(id)]
    id: String,
    #[entity(site)]
    site_id: String,
    #[entity(owner)]
    owner: String,
    #[entity(search, sight = PHONE)]
    phone: Option<String>,
    #[entity(optional, search, sight = RowPolicy::Holds("pupil.remarks"))]
    remark: String,
    #[entity(sight = RowPolicy::All(&[]))]
    shoe: Option<i64>,
    #[entity(computed = |it, _| it.remark.to_uppercase())]
    shouted: String,
    #[entity(version)]
    version: i64,
}

const PHONE: RowPolicy = RowPolicy::Any(&[RowPolicy::Own, RowPolicy::Holds("pupil.phones")]);

fn pupils() -> Vec<Pupil> {
    let rows = [("a", "s", CALLER), ("b", "s", "bob"), ("c", "t", "bob")];
    let pupil = |(id, site, owner): (&str, &str, &str)| Pupil {
        id: id.to_owned(),
        site_id: site.to_owned(),
        owner: owner.to_owned(),
        phone: Some(format!("555{id}")),
        remark: format!("remark{id}"),
        shoe: Some(40),
        shouted: String::new(),
        version: 1,
    };
    rows.into_iter().map(pupil).collect()
}

/// The sites in which the caller holds the functions for phones and for remarks.
type Held = (&'static [&'static str], &'static [&'static str]);

const HELD: [Held; 6] = [
    (&[], &[]),
    (&["s"], &[]),
    (&[], &["s"]),
    (&["t"], &["s"]),
    (&["s", "t"], &["t"]),
    (&["s", "t"], &["s", "t"]),
];

/// The phone and the remark of a pupil, as the caller sees them.
type Seen = (Option<String>, String);

/// The pupil as the caller sees it, by the rules in words.
fn seen(pupil: &Pupil, (phones, remarks): Held) -> Seen {
    let site = pupil.site_id.as_str();
    let has_phone = pupil.owner == CALLER || phones.contains(&site);
    let remark = match remarks.contains(&site) {
        true => pupil.remark.clone(),
        false => String::new(),
    };
    (pupil.phone.clone().filter(|_| has_phone), remark)
}

fn dispatcher(connection: &DatabaseConnection, (phones, remarks): Held) -> Dispatcher {
    let mut told = ToldAuthorizer::default().site("s").site("t");
    for (function, sites) in [
        ("pupil.read", &["s", "t"][..]),
        ("pupil.phones", phones),
        ("pupil.remarks", remarks),
    ] {
        for site in sites {
            told = told.grant(function, site);
        }
    }
    let route = entity_core::engine::Route::of::<Pupil>(("tests", "1.0.0"));
    Dispatcher::new(
        Arc::new(Registry::new([route.read().list().table().build()]).expect("a type")),
        Arc::new(database_on(connection.clone())),
        Arc::new(KeptEvents::default()),
        shared(told),
    )
}

/// The ids that a list finds, whose count agrees.
async fn ids(cx: &Context, query: &[(&str, &str)], held: Held) -> Result<Vec<String>> {
    let pairs = query.iter().map(|it| (it.0.to_owned(), it.1.to_owned()));
    let mut search = Grammar::of::<Pupil>()?.parse(&pairs.collect::<Vec<_>>())?;
    search.scope = Scope::Sites(vec!["s".to_owned(), "t".to_owned()]);
    let page = db::list::<Pupil>(cx, &search).await?;
    let count = db::count::<Pupil>(cx, &search).await?;
    assert_eq!(u64::try_from(page.items.len()).ok(), Some(count));
    for pupil in &page.items {
        check(pupil, held);
    }
    Ok(page.items.into_iter().map(|it| it.id).collect())
}

fn check(pupil: &Pupil, held: Held) {
    let whole = pupils().into_iter().find(|it| it.id == pupil.id);
    let expected = seen(&whole.expect("one of them"), held);
    assert_eq!((pupil.phone.clone(), pupil.remark.clone()), expected);
    assert_eq!(pupil.shouted, pupil.remark.to_uppercase());
    assert_eq!(pupil.shoe, Some(40));
}

async fn check_all(cx: &Context, held: Held) -> Result<()> {
    let known: Vec<_> = pupils()
        .into_iter()
        .map(|it| (seen(&it, held), it))
        .collect();
    let expect = |is_found: &dyn Fn(&Seen) -> bool| -> Vec<String> {
        let found = known.iter().filter(|it| is_found(&it.0));
        found.map(|it| it.1.id.clone()).collect()
    };
    for letter in ["a", "b", "c"] {
        let (phone, remark) = (format!("555{letter}"), format!("remark{letter}"));
        let has_phone = expect(&|it| it.0.as_ref() == Some(&phone));
        let has_remark = expect(&|it| it.1 == remark);
        for query in [
            ("phone", &phone),
            ("phone[like]", &phone),
            ("_search", &phone),
        ] {
            assert_eq!(ids(cx, &[(query.0, query.1)], held).await?, has_phone);
        }
        for query in [
            ("remark", &remark),
            ("remark[like]", &remark),
            ("_search", &remark),
        ] {
            assert_eq!(ids(cx, &[(query.0, query.1)], held).await?, has_remark);
        }
        let other = expect(&|it| it.0.as_ref() != Some(&phone));
        assert_eq!(ids(cx, &[("phone[ne]", &phone)], held).await?, other);
        let in_site = [("siteId", "s"), ("_search", phone.as_str())];
        let found = has_phone.iter().filter(|it| *it != "c").cloned();
        assert_eq!(ids(cx, &in_site, held).await?, found.collect::<Vec<_>>());
    }
    let without = expect(&|it| it.0.is_none());
    assert_eq!(ids(cx, &[("phone[null]", "true")], held).await?, without);
    let mut ordered = known.clone();
    ordered.sort_by(|one, other| other.0.0.cmp(&one.0.0).then(one.1.id.cmp(&other.1.id)));
    let ordered: Vec<String> = ordered.into_iter().map(|it| it.1.id).collect();
    assert_eq!(
        ids(cx, &[("_order", "phone_desc,id")], held).await?,
        ordered
    );
    let all = ["a", "b", "c"].map(ToOwned::to_owned);
    let mut many: Vec<Pupil> = db::read_many(cx, &all).await?;
    many.extend(db::read::<Pupil>(cx, "a").await?);
    assert_eq!(many.len(), 4);
    for pupil in &many {
        check(pupil, held);
    }
    // What the service itself reads is whole.
    let whole = db::load::<Pupil>(cx, pupil::Entity::find_by_id("c")).await?;
    assert_eq!(whole.first().map(|it| it.remark.as_str()), Some("remarkc"));
    Ok(())
}

/// Nobody overwrites a field that they do not see: what they send for it is refused, and left out if it is empty.
async fn overwrite(cx: &Context, held: Held) -> Result<()> {
    for whole in pupils() {
        let (phone, remark) = seen(&whole, held);
        let id = whole.id.as_str();
        assert_eq!(
            sends(cx, id, json!({"phone": "new"})).await,
            phone.is_some()
        );
        assert_eq!(
            sends(cx, id, json!({"remark": "new"})).await,
            !remark.is_empty()
        );
        assert!(sends(cx, id, json!({"phone": null, "remark": "", "shoe": 40})).await);
        let stored = db::load::<Pupil>(cx, pupil::Entity::find_by_id(id)).await?;
        let stored = stored.into_iter().next().expect("it is there");
        assert_eq!(stored.phone.is_none(), phone.is_some());
        assert_eq!(stored.remark.is_empty(), !remark.is_empty());
        // The next one finds what it was.
        let former = Pupil {
            version: stored.version,
            ..whole
        };
        db::store(cx, stored, former).await?;
    }
    Ok(())
}

/// Returns whether a change of the pupil `id` is taken, which is refused with 403 otherwise.
async fn sends(cx: &Context, id: &str, sent: serde_json::Value) -> bool {
    let current = db::read::<Pupil>(cx, id).await.expect("it reads");
    let fields = Fields(sent.as_object().cloned().unwrap_or_default());
    match db::update(cx, current.expect("it is there"), fields).await {
        Ok(_changed) => true,
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::Forbidden, "{error:?}");
            false
        }
    }
}

/// A change by somebody who does not see all of it leaves the rest as it is.
async fn change(cx: &Context, number: i64) -> Result<Option<Version>> {
    let current = db::read::<Pupil>(cx, "b").await?.expect("it is there");
    let version = current.version();
    let fields = json!({"shoe": number}).as_object().cloned();
    db::update(cx, current, Fields(fields.unwrap_or_default())).await?;
    let fields = json!({"shoe": 40}).as_object().cloned();
    let current = db::read::<Pupil>(cx, "b").await?.expect("it is there");
    let changed = db::update(cx, current, Fields(fields.unwrap_or_default())).await?;
    assert!(changed.version() != version);
    Ok(changed.version())
}

both! {
    async fn a_field_that_the_caller_does_not_see_has_no_effect(database: Database) {
        let connection = sea_orm::Database::connect(database.url()).await.expect("it connects");
        let spec = TableSpec::of::<Pupil>();
        let table = spec.create_statement(connection.get_database_backend(), Parents::default());
        connection.execute(&table).await.expect("a table");
        let origin = origin(Caller::user(CALLER, CALLER));
        let writer = dispatcher(&connection, HELD[0]);
        let written = writer.write(&origin, |cx| {
            Box::pin(async move {
                for pupil in &pupils() {
                    db::insert(cx, pupil).await?;
                }
                Ok(((), Effect::Read))
            })
        });
        written.await.expect("rows");
        for held in HELD {
            let dispatcher = dispatcher(&connection, held);
            let found = dispatcher.read(&origin, |cx| Box::pin(check_all(cx, held)));
            found.await.expect("it reads");
            let changed = dispatcher.write(&origin, |cx| {
                Box::pin(async move {
                    overwrite(cx, held).await?;
                    Ok((change(cx, 41).await?, Effect::Read))
                })
            });
            assert!(changed.await.expect("it writes").is_some());
        }
    }
}
