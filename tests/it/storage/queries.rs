//! Queries for records that are written with sea-orm.

use std::sync::Arc;

use chrono::TimeZone as _;
use entity_core::db::{self, Parents, TableSpec};
use entity_core::engine::Dispatcher;
use entity_core::reply::Effect;
use entity_core::testing::{KeptEvents, ToldAuthorizer, database_on, origin, shared};
use entity_core::wire::Millis;
use entity_core::{Caller, Context, DateTimeUtc, Entity, Registry, Result};
use sea_orm::sea_query::{Expr, ExprTrait as _};
use sea_orm::{
    ColumnTrait as _, ConnectionTrait as _, EntityTrait, JoinType, ModelTrait as _,
    PaginatorTrait as _, QueryFilter as _, QueryOrder as _, QuerySelect as _, QueryTrait as _,
    RelationTrait as _, Value,
};
use serde::Serialize;
use tests::{Database, both};

/// A shelf.
#[derive(Clone, Debug, Serialize, Entity)]
#[entity(table = "shelf")]
struct Shelf {
    #[entity(id)]
    id: String,
    #[entity(title)]
    name: String,
}

/// A book that somebody borrows.
#[derive(Clone, Debug, PartialEq, Serialize, Entity)]
#[entity(table = "borrowed_book")]
struct BorrowedBook {
    #[entity(id)]
    id: String,
    #[entity(parent = Shelf)]
    shelf_id: String,
    #[entity(title, column = "heading")]
    title: String,
    due: DateTimeUtc,
    returned: Option<Millis>,
    pages: i64,
    weight: f64,
    is_rare: bool,
}

fn at(day: u32) -> DateTimeUtc {
    let time = chrono::Utc.with_ymd_and_hms(2026, 3, day, 12, 0, 0);
    time.single().expect("a time")
}

/// Books that are due one after the other; every second one is rare, every third one has come back.
fn books() -> Vec<BorrowedBook> {
    let book = |number: u32| BorrowedBook {
        id: format!("b{number}"),
        shelf_id: (if number < 4 { "s1" } else { "s2" }).to_owned(),
        title: format!("Book {number}"),
        due: at(number),
        returned: number.is_multiple_of(3).then(|| Millis(at(20))),
        pages: i64::from(number) * 100,
        weight: 0.5,
        is_rare: number.is_multiple_of(2),
    };
    (1..=6).map(book).collect()
}

fn ids(found: &[BorrowedBook]) -> Vec<&str> {
    found.iter().map(|it| it.id.as_str()).collect()
}

async fn fill(cx: &Context) -> Result<()> {
    for (id, name) in [("s1", "Novels"), ("s2", "Maps")] {
        let (id, name) = (id.to_owned(), name.to_owned());
        db::insert(cx, &Shelf { id, name }).await?;
    }
    for book in &books() {
        db::insert(cx, book).await?;
    }
    Ok(())
}

async fn ask(cx: &Context) -> Result<()> {
    use borrowed_book::{Column, Entity, Relation};
    let all = books();
    // Instants are compared as columns hold them, and null is told apart.
    let late = Entity::find()
        .filter(Column::Due.lt(at(5)))
        .filter(Column::Returned.is_null())
        .order_by_desc(Column::Due)
        .limit(2);
    let found: Vec<BorrowedBook> = db::load(cx, late).await?;
    assert_eq!(ids(&found), ["b4", "b2"]);
    assert_eq!(found.first(), all.get(3));
    // The column has another name than the field, and its values hold what ends a text in SQL.
    let named = Column::Title.is_in(["Book 1", "\"borrowed_book\".\"heading\"", "' OR 1 = 1"]);
    let found: Vec<BorrowedBook> = db::load(cx, Entity::find().filter(named)).await?;
    assert_eq!(ids(&found), ["b1"]);
    let among = db::among(cx, Column::Id.into_expr(), &["b6", "b5", "b9"])?;
    let either = among.or(Column::Weight.gt(1.0)).or(Column::Pages.eq(100));
    let found = Entity::find().filter(either).order_by_asc(Column::Pages);
    let found: Vec<BorrowedBook> = db::find(cx, found).await?;
    assert_eq!(ids(&found), ["b1", "b5", "b6"]);
    // Another table is joined by the declared relation.
    let maps = Entity::find()
        .join(JoinType::InnerJoin, Relation::ShelfId.def())
        .filter(shelf::Column::Name.eq("Maps"))
        .filter(Column::IsRare.eq(true))
        .order_by_asc(Column::Id);
    let found: Vec<BorrowedBook> = db::load(cx, maps).await?;
    assert_eq!(ids(&found), ["b4", "b6"]);
    // A subquery that would be about the same row, although it looks as if it were about all, is refused.
    let earliest = Entity::find()
        .select_only()
        .expr(Column::Due.min())
        .filter(Column::IsRare.eq(true));
    let first = Column::Due.in_subquery(earliest.into_query());
    let refused = db::load::<BorrowedBook>(cx, Entity::find().filter(first)).await;
    assert!(refused.is_err());
    Ok(())
}

async fn ask_without_records(cx: &Context) -> Result<()> {
    use borrowed_book::{Column, Entity, PrimaryKey};
    let db = cx.db()?;
    let rare = Entity::find().filter(Column::IsRare.eq(true));
    assert_eq!(rare.clone().count(db).await?, 3);
    let sums = rare
        .select_only()
        .column(Column::ShelfId)
        .column_as(Column::Pages.sum().cast_as("bigint"), "pages")
        .group_by(Column::ShelfId)
        .order_by_asc(Column::ShelfId);
    let sums: Vec<(String, i64)> = sums.into_tuple().all(db).await?;
    assert_eq!(sums, [("s1".to_owned(), 200), ("s2".to_owned(), 1_000)]);
    let row = Entity::find_by_id("b3")
        .one(db)
        .await?
        .expect("it is there");
    assert_eq!(row.get(Column::Title), Value::from("Book 3"));
    assert_eq!(row.get(Column::Due), Value::from(at(3).timestamp_millis()));
    assert_eq!(
        row.get(Column::Returned),
        Value::from(at(20).timestamp_millis())
    );
    assert_eq!(row.get(Column::Weight), Value::from(0.5));
    assert_eq!(row.get(Column::IsRare), Value::from(false));
    assert_eq!(PrimaryKey::default(), PrimaryKey::Id);
    Ok(())
}

async fn change(cx: &Context) -> Result<()> {
    use borrowed_book::{Column, Entity};
    let db = cx.db()?;
    let changed = Entity::update_many()
        .col_expr(Column::Pages, Column::Pages.into_expr().add(1))
        .col_expr(Column::Returned, Expr::val(at(21).timestamp_millis()))
        .filter(Column::Due.lte(at(2)))
        .exec(db)
        .await?;
    assert_eq!(changed.rows_affected, 2);
    let gone = Entity::delete_many().filter(Column::ShelfId.eq("s2"));
    assert_eq!(gone.exec(db).await?.rows_affected, 3);
    let left = Entity::find().order_by_asc(Column::Id);
    let left: Vec<BorrowedBook> = db::load(cx, left).await?;
    let left: Vec<_> = left.iter().map(|it| (it.pages, it.returned)).collect();
    let (first, last) = (Some(Millis(at(21))), Some(Millis(at(20))));
    assert_eq!(left, [(101, first), (201, first), (300, last)]);
    Ok(())
}

both! {
    async fn records_are_found_by_queries_of_sea_orm(database: Database) {
        let connection = sea_orm::Database::connect(database.url()).await.expect("it connects");
        for spec in [TableSpec::of::<Shelf>(), TableSpec::of::<BorrowedBook>()] {
            let table = spec.create_statement(connection.get_database_backend(), Parents::default());
            connection.execute(&table).await.expect("a table");
        }
        let dispatcher = Dispatcher::new(
            Arc::new(Registry::new([]).expect("no types")),
            Arc::new(database_on(connection)),
            Arc::new(KeptEvents::default()),
            shared(ToldAuthorizer::default()),
        );
        let origin = origin(Caller::user("ada", "ada"));
        let written = dispatcher.write(&origin, |cx| {
            Box::pin(async move {
                fill(cx).await?;
                ask(cx).await?;
                ask_without_records(cx).await?;
                change(cx).await?;
                Ok(((), Effect::Read))
            })
        });
        written.await.expect("it asks and writes");
    }
}
