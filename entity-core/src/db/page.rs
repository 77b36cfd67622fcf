//! Reading a part of a list, row by row, until it has as many entities or as many bytes as an answer may.

use std::pin::pin;

use futures::TryStreamExt as _;
use sea_orm::sea_query::SelectStatement;
use sea_orm::{
    ConnectionTrait as _, DatabaseConnection, DbErr, FromQueryResult, QueryResult, Statement,
    StreamTrait as _,
};

use super::{Row, Session, Take};
use crate::context::Context;
use crate::error::Result;
use crate::search::{Page, Search};

/// How much of what a statement finds is read.
#[derive(Clone, Copy, Debug)]
pub struct Measure {
    /// How many entities at most.
    pub items: u64,
    /// How many bytes of text and numbers at most; one entity is read whatever it takes.
    pub bytes: usize,
    /// Whether the statement finds its rows by an index: see [`Session::rows`].
    pub is_short: bool,
}

impl Context {
    /// How much is read of what `search` asks for.
    pub fn measure(&self, search: &Search) -> Measure {
        self.measure_items(search.limit)
    }

    /// How much is read where up to `items` entities are wanted.
    ///
    /// What was read is in memory once more while it is prepared for some formats, and all of it beside what is
    /// written: together, no more than twice what an answer may have.
    pub fn measure_items(&self, items: u64) -> Measure {
        Measure {
            items,
            bytes: self.answer_bytes().div_euclid(3),
            is_short: false,
        }
    }
}

impl Measure {
    /// The same for a statement that finds its rows by an index, if `is_short`.
    #[must_use]
    pub fn short(self, is_short: bool) -> Self {
        Self { is_short, ..self }
    }
}

/// What was read so far.
struct Collected<T> {
    items: Vec<T>,
    bytes: usize,
    measure: Measure,
    end: End,
}

/// Why reading ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// There was nothing left.
    Whole,
    /// There are as many entities as were wanted.
    Items,
    /// There are as many bytes as there may be.
    Bytes,
}

impl<T> Collected<T> {
    fn new(measure: Measure) -> Self {
        Self {
            items: Vec::new(),
            bytes: 0,
            measure,
            end: End::Whole,
        }
    }

    /// Takes in what `read` makes of the next row, which says too how many bytes that took. Whether to go on.
    fn take(&mut self, read: impl FnOnce() -> Result<(T, usize)>) -> Result<bool> {
        if u64::try_from(self.items.len()).is_ok_and(|it| it >= self.measure.items) {
            self.end = End::Items;
            return Ok(false);
        }
        let (item, bytes) = read()?;
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > self.measure.bytes && !self.items.is_empty() {
            self.end = End::Bytes;
            return Ok(false);
        }
        self.items.push(item);
        Ok(true)
    }

    fn into_page(self) -> Page<T> {
        match self.end {
            End::Whole => Page::whole(self.items),
            End::Items => Page {
                has_more: true,
                ..Page::whole(self.items)
            },
            End::Bytes => Page::ended(self.items),
        }
    }
}

impl Session {
    /// The part of a list that `read` makes of the rows that answer `statement`, which selects one more than
    /// are wanted if there are more. It is run as [`Session::rows`] or [`Session::scan`] would run it.
    ///
    /// # Errors
    /// The database can't be read, or `read` fails.
    pub async fn page<T: Send>(
        &self,
        statement: Statement,
        measure: Measure,
        mut read: impl FnMut(&mut Row<'_>) -> Result<T> + Send,
    ) -> Result<Page<T>> {
        let mut read = |row: &mut Row<'_>| {
            let item = read(row)?;
            Ok((item, row.bytes()))
        };
        let mut is_short = measure.is_short;
        if let (Some(file), true) = (self.file(), is_short) {
            let mut collected = Collected::new(measure);
            if file.each(&statement, |row| collected.take(|| read(row)))? {
                return Ok(collected.into_page());
            }
            is_short = false;
        }
        self.collect(statement, measure.short(is_short), |row| {
            read(&mut Row::of(row))
        })
        .await
    }

    /// The same with rows that sea-orm reads.
    ///
    /// # Errors
    /// The database can't be read.
    pub async fn models<M: FromQueryResult + Send>(
        &self,
        select: &SelectStatement,
        measure: Measure,
    ) -> Result<Page<M>> {
        let statement = self.get_database_backend().build(select);
        self.collect(statement, measure, |row| {
            Ok((M::from_query_result(row, "")?, bytes(row)))
        })
        .await
    }

    /// Reads as other reads do: once more when the connection to the server is lost.
    async fn collect<T: Send>(
        &self,
        statement: Statement,
        measure: Measure,
        mut read: impl FnMut(&QueryResult) -> Result<(T, usize)> + Send,
    ) -> Result<Page<T>> {
        let first = self.attempt(&statement, measure, &mut read).await;
        let done = match first {
            Err(error) if self.has_lost(&error) => {
                self.attempt(&statement, measure, &mut read).await
            }
            done => done,
        };
        Ok(done??.into_page())
    }

    async fn attempt<T: Send>(
        &self,
        statement: &Statement,
        measure: Measure,
        read: &mut (impl FnMut(&QueryResult) -> Result<(T, usize)> + Send),
    ) -> Result<Result<Collected<T>>, DbErr> {
        let mut collected = Collected::new(measure);
        let mut failed = None;
        let mut take = |row: QueryResult| match collected.take(|| read(&row)) {
            Ok(is_more_wanted) => is_more_wanted,
            Err(error) => {
                failed = Some(error);
                false
            }
        };
        let lane = self.lanes().and_then(|lanes| match measure.is_short {
            true => lanes.reads.as_ref(),
            false => lanes.scans.as_ref().or(lanes.reads.as_ref()),
        });
        match (lane, self) {
            (Some(lane), _) => lane.each(statement.clone(), &mut take).await?,
            (None, Self::Reader(reader)) => {
                each(&reader.connection, statement.clone(), &mut take).await?;
            }
            (None, Self::Writer(transaction)) => transaction.each(statement, &mut take).await?,
        }
        Ok(failed.map_or(Ok(collected), Err))
    }
}

/// Reads row after row, until `take` wants no more.
async fn each(
    db: &DatabaseConnection,
    statement: Statement,
    take: &mut Take<'_>,
) -> Result<(), DbErr> {
    let mut rows = pin!(db.stream_raw(statement).await?);
    while let Some(row) = rows.try_next().await? {
        if !take(row) {
            break;
        }
    }
    Ok(())
}

/// How many bytes of text a row has.
fn bytes(row: &QueryResult) -> usize {
    let texts = row.column_names().into_iter().enumerate();
    let length = |(index, _)| {
        let text: Option<String> = row.try_get_by_index(index).ok()?;
        Some(text?.len())
    };
    texts.filter_map(length).sum()
}
