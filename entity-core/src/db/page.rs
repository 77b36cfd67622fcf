//! Reads of a part of a list, row by row, until it has as many entities or as many bytes as an answer may have.

use std::pin::pin;

use futures::TryStreamExt as _;
use sea_orm::{DatabaseConnection, DbErr, QueryResult, Statement, StreamTrait as _};

use super::{Row, RowVisitor};
use crate::contract::context::Context;
use crate::contract::search::{Page, Search};
use crate::db::session::Session;
use crate::db::sink::{Made, Sink};
use crate::primitives::error::Result;
use crate::primitives::read_budget::{ReadBudget, SMALL};

/// The limits on how much of a statement's result is read.
#[derive(Clone, Debug)]
pub struct ReadLimit {
    /// The maximum number of entities.
    pub items: u64,
    /// The maximum number of bytes of text and numbers; the first entity is read whatever its size.
    pub bytes: usize,
    /// True if the statement finds its rows by an index: see [`Session::rows`].
    pub is_short: bool,
    /// The account of how much the request has read already.
    pub read_budget: ReadBudget,
}

impl Context {
    /// Returns the limits for reading what `search` asks for.
    pub fn read_limit(&self, search: &Search) -> ReadLimit {
        self.read_limit_of(search.limit)
    }

    /// Returns the limits for reading up to `items` entities.
    ///
    /// The limit of bytes is a third of what an answer may have. For some formats the entities are in memory a second
    /// time while they are prepared, and all of that beside what is written: together, no more than twice what an
    /// answer may have.
    pub fn read_limit_of(&self, items: u64) -> ReadLimit {
        ReadLimit {
            items,
            bytes: self.answer_bytes().div_euclid(3),
            is_short: false,
            read_budget: self.origin().read_budget.clone(),
        }
    }
}

impl ReadLimit {
    /// Returns the same limits, for a statement that finds its rows by an index if `is_short`.
    #[must_use]
    pub fn short(self, is_short: bool) -> Self {
        Self { is_short, ..self }
    }

    /// Returns the same limits with no more than `bytes` bytes.
    fn within(&self, bytes: usize) -> Self {
        Self {
            bytes: self.bytes.min(bytes),
            ..self.clone()
        }
    }

    /// Waits until the request has the turn to make an answer of the size that was read. Returns why reading ended.
    async fn accept(&self, collected: Collected) -> Result<End> {
        self.read_budget.take(collected.bytes).await?;
        Ok(collected.end)
    }
}

/// The account of what was read so far.
struct Collected {
    /// The number of entities.
    items: usize,
    bytes: usize,
    /// The number of bytes that the request may read before it needs a turn.
    left: usize,
    limit: ReadLimit,
    end: End,
}

/// The reason why reading ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// No rows were left.
    Whole,
    /// The maximum number of entities was reached.
    Items,
    /// The maximum number of bytes was reached.
    Bytes,
}

impl End {
    /// Returns the page of `items`, which were read.
    pub(super) fn page<T>(self, items: Vec<T>) -> Page<T> {
        match self {
            Self::Whole => Page::whole(items),
            Self::Items => Page {
                has_more: true,
                ..Page::whole(items)
            },
            Self::Bytes => Page::ended(items),
        }
    }
}

impl Collected {
    fn new(limit: ReadLimit) -> Self {
        Self {
            items: 0,
            bytes: 0,
            left: limit.read_budget.left(),
            limit,
            end: End::Whole,
        }
    }

    /// Passes the next row to `sink`. Returns whether to continue.
    fn take(&mut self, row: &mut Row<'_>, sink: &mut dyn Sink) -> Result<bool> {
        if u64::try_from(self.items).is_ok_and(|it| it >= self.limit.items) {
            self.end = End::Items;
            return Ok(false);
        }
        sink.take(row)?;
        let before = self.bytes;
        self.bytes = before.saturating_add(row.bytes());
        if before <= self.left && self.bytes > self.left {
            // A refusal here saves reading the rest in vain.
            self.limit.read_budget.check(self.bytes)?;
        }
        if self.bytes > self.limit.bytes && self.items > 0 {
            self.end = End::Bytes;
            sink.cut(self.items);
            return Ok(false);
        }
        self.items = self.items.saturating_add(1);
        Ok(true)
    }

    /// Returns whether reading ended because of the limit of bytes, and that limit is lower than `bytes`.
    fn is_cut_below(&self, bytes: usize) -> bool {
        self.end == End::Bytes && self.limit.bytes < bytes
    }
}

impl Session {
    /// Runs `statement` and returns the part of a list that `read` makes of its rows. The statement must select one row
    /// more than are wanted, if there are more. It is run as [`Session::rows`] or [`Session::scan`] would run it.
    ///
    /// # Errors
    /// Returns an error if the database can't be read or `read` fails.
    pub async fn page<T: Send>(
        &self,
        statement: Statement,
        limit: ReadLimit,
        read: impl FnMut(&mut Row<'_>) -> Result<T> + Send,
    ) -> Result<Page<T>> {
        let mut made = Made::by(read);
        let end = self.page_into(statement, limit, &mut made).await?;
        Ok(end.page(made.items))
    }

    /// Runs `statement` as [`page`](Self::page) does, and passes the rows to `sink`.
    pub(super) async fn page_into(
        &self,
        statement: Statement,
        limit: ReadLimit,
        sink: &mut dyn Sink,
    ) -> Result<End> {
        let mut is_short = limit.is_short;
        if let (Some(file), true) = (self.file(), is_short) {
            // A large part is not read in the thread that asks.
            let mut collected = Collected::new(limit.within(SMALL));
            let is_done = file.each(&statement, &mut |row| collected.take(row, sink))?;
            if is_done && !collected.is_cut_below(limit.bytes) {
                return limit.accept(collected).await;
            }
            sink.cut(0);
            // The connections for what may be much read few rows ahead of whoever takes them.
            is_short = false;
        }
        let part = limit.clone().short(is_short);
        let collected = self.collect(&statement, part, sink).await?;
        limit.accept(collected).await
    }

    /// Runs `statement`, which may look at any number of rows, and returns what `read` makes of each. Unlike for
    /// [`Session::scan`], the rows themselves are never in memory all at once. What they have counts as
    /// [read](ReadBudget) for the answer.
    ///
    /// # Errors
    /// Returns an error if the database can't be read or `read` fails.
    pub async fn each<T: Send>(
        &self,
        cx: &Context,
        statement: Statement,
        read: impl FnMut(&mut Row<'_>) -> Result<T> + Send,
    ) -> Result<Vec<T>> {
        let all = ReadLimit {
            bytes: usize::MAX,
            ..cx.read_limit_of(u64::MAX)
        };
        Ok(self.page(statement, all, read).await?.items)
    }

    /// Reads rows and, as for other reads, tries once more when the connection to the server is lost.
    async fn collect(
        &self,
        statement: &Statement,
        limit: ReadLimit,
        sink: &mut dyn Sink,
    ) -> Result<Collected> {
        let first = self.attempt(statement, limit.clone(), sink).await;
        let done = match first {
            Err(error) if self.has_lost(&error) => {
                sink.cut(0);
                self.attempt(statement, limit, sink).await
            }
            done => done,
        };
        done?
    }

    async fn attempt(
        &self,
        statement: &Statement,
        limit: ReadLimit,
        sink: &mut dyn Sink,
    ) -> Result<Result<Collected>, DbErr> {
        let is_short = limit.is_short;
        let mut collected = Collected::new(limit);
        let mut failed = None;
        let mut take = |row: QueryResult| match collected.take(&mut Row::of(&row), sink) {
            Ok(is_more_wanted) => is_more_wanted,
            Err(error) => {
                failed = Some(error);
                false
            }
        };
        let pool = self.query_pools().and_then(|query_pools| match is_short {
            true => query_pools.reads.as_ref().or(query_pools.scans.as_ref()),
            // Their connections can be told to send no more: one without that would be sent all that is left before it
            // serves again.
            false => query_pools.scans.as_ref().or(query_pools.reads.as_ref()),
        });
        match (pool, self) {
            (Some(pool), _) => pool.each(statement.clone(), &mut take).await?,
            (None, Self::Reader(reader)) => {
                each(&reader.connection, statement.clone(), &mut take).await?;
            }
            (None, Self::Writer(transaction)) => transaction.each(statement, &mut take).await?,
        }
        Ok(failed.map_or(Ok(collected), Err))
    }
}

/// Passes the rows of `statement` to `take` one by one, until `take` wants no more.
async fn each(
    db: &DatabaseConnection,
    statement: Statement,
    take: &mut RowVisitor<'_>,
) -> Result<(), DbErr> {
    let mut rows = pin!(db.stream_raw(statement).await?);
    while let Some(row) = rows.try_next().await? {
        if !take(row) {
            break;
        }
    }
    Ok(())
}
