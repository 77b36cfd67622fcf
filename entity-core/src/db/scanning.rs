//! Connections for statements that may look at any number of rows.

use async_trait::async_trait;
use sea_orm::{ConnectionTrait, DbBackend, DbErr, ExecResult, QueryResult, Statement};

use super::session::Session;

/// A connection for statements that may look at any number of rows, made by [`Session::scanning`].
#[derive(Debug)]
pub struct Scanning<'a>(&'a Session);

impl Session {
    /// Returns a connection to the same data for statements that may look at any number of rows: the counterpart of
    /// [`Session::scan`] for statements that sea-orm runs.
    pub fn scanning(&self) -> Scanning<'_> {
        Scanning(self)
    }
}

#[async_trait]
impl ConnectionTrait for Scanning<'_> {
    fn get_database_backend(&self) -> DbBackend {
        self.0.get_database_backend()
    }

    async fn execute_raw(&self, statement: Statement) -> Result<ExecResult, DbErr> {
        self.0.execute_raw(statement).await
    }

    async fn execute_unprepared(&self, sql: &str) -> Result<ExecResult, DbErr> {
        self.0.execute_unprepared(sql).await
    }

    async fn query_one_raw(&self, statement: Statement) -> Result<Option<QueryResult>, DbErr> {
        Ok(self.query_all_raw(statement).await?.into_iter().next())
    }

    async fn query_all_raw(&self, statement: Statement) -> Result<Vec<QueryResult>, DbErr> {
        let Some(pool) = self.0.query_pools().and_then(|it| it.scans.as_ref()) else {
            return self.0.query_all_raw(statement).await;
        };
        // As other reads: once more when the connection to the server is lost.
        let first = pool.query_all(statement.clone()).await;
        match first {
            Err(error) if self.0.has_lost(&error) => pool.query_all(statement).await,
            done => done,
        }
    }
}
