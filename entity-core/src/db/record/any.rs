//! Records of any type: the differences are behind `dyn`, so that the code that reads and writes records is compiled
//! once for all of them.

use std::any::Any;

use futures::future::BoxFuture;
use sea_orm::Value;

use super::constants::{Constants, Declared as _};
use super::definition::Record;
use crate::DateTimeUtc;
use crate::contract::context::Context;
use crate::db::row::Row;
use crate::db::rule::PolicyInputs;
use crate::model::entity::Entity;
use crate::primitives::error::{Error, Result};

/// The object-safe part of [`Record`], implemented once for every type.
pub(crate) trait AnyRecord: Send + Sync {
    fn constants(&self) -> &'static Constants;
    fn any(&self) -> &dyn Any;
    fn any_mut(&mut self) -> &mut dyn Any;
    fn key(&self) -> &str;
    fn site(&self) -> Option<&str>;
    fn owner(&self) -> Option<&str>;
    fn title(&self) -> String;
    fn deadline(&self) -> Option<DateTimeUtc>;
    fn values(&self) -> Vec<Value>;
    fn facts(&self) -> PolicyInputs;
    fn set_facts(&mut self, facts: PolicyInputs);
    fn groups(&self) -> &[String];
    fn set_groups(&mut self, groups: Vec<String>);
    fn set_position(&mut self, position: i64);
    fn redact(&mut self, field: &str);
    fn compute(&mut self, cx: &Context);
    fn touch(&mut self, cx: &Context);
    fn arrange_children(&mut self);
    fn settle<'a>(
        &'a mut self,
        cx: &'a Context,
        before: Option<&'a dyn AnyRecord>,
    ) -> BoxFuture<'a, Result<()>>;
    fn removed<'a>(&'a self, cx: &'a Context) -> BoxFuture<'a, Result<()>>;
    fn store_children<'a>(
        &'a self,
        cx: &'a Context,
        former: Option<&'a dyn AnyRecord>,
    ) -> BoxFuture<'a, Result<()>>;
}

/// Returns `record` as one of the type `T`.
///
/// # Errors
/// Returns an error if it is of another type: a defect of the service. It must not pass for none.
fn as_type<T: Record>(record: Option<&dyn AnyRecord>) -> Result<Option<&T>> {
    let mistaken = || Error::internal("a record is of another type");
    let cast = record.map(|it| it.any().downcast_ref().ok_or_else(mistaken));
    cast.transpose()
}

impl<T: Record> AnyRecord for T {
    fn constants(&self) -> &'static Constants {
        T::CONSTANTS
    }
    fn any(&self) -> &dyn Any {
        self
    }
    fn any_mut(&mut self) -> &mut dyn Any {
        self
    }
    fn key(&self) -> &str {
        Record::key(self)
    }
    fn site(&self) -> Option<&str> {
        Entity::site(self)
    }
    fn owner(&self) -> Option<&str> {
        Entity::owner(self)
    }
    fn title(&self) -> String {
        Entity::title(self).unwrap_or_default().into_owned()
    }
    fn deadline(&self) -> Option<DateTimeUtc> {
        Record::deadline(self)
    }
    fn values(&self) -> Vec<Value> {
        Record::values(self)
    }
    fn facts(&self) -> PolicyInputs {
        Record::facts(self)
    }
    fn set_facts(&mut self, facts: PolicyInputs) {
        Record::set_facts(self, facts);
    }
    fn groups(&self) -> &[String] {
        Record::groups(self)
    }
    fn set_groups(&mut self, groups: Vec<String>) {
        Record::set_groups(self, groups);
    }
    fn set_position(&mut self, position: i64) {
        Record::set_position(self, position);
    }
    fn redact(&mut self, field: &str) {
        Record::redact(self, field);
    }
    fn compute(&mut self, cx: &Context) {
        Record::compute(self, cx);
    }
    fn touch(&mut self, cx: &Context) {
        Record::touch(self, cx);
    }
    fn arrange_children(&mut self) {
        Record::arrange_children(self);
    }
    fn settle<'a>(
        &'a mut self,
        cx: &'a Context,
        before: Option<&'a dyn AnyRecord>,
    ) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move { Record::settle(self, cx, as_type(before)?).await })
    }
    fn removed<'a>(&'a self, cx: &'a Context) -> BoxFuture<'a, Result<()>> {
        Box::pin(Record::removed(self, cx))
    }
    fn store_children<'a>(
        &'a self,
        cx: &'a Context,
        former: Option<&'a dyn AnyRecord>,
    ) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move { Record::store_children(self, cx, as_type(former)?).await })
    }
}

/// Records of one type, whichever it is. The list is behind `dyn` and not each record, so that none of them is boxed.
pub(crate) trait Rows: Send + Sync {
    /// Adds the record of the next row.
    fn add(&mut self, cx: &Context, row: &mut Row<'_>) -> Result<&mut dyn AnyRecord>;
    /// Forgets all records but the first `length`.
    fn cut(&mut self, length: usize);
    fn length(&self) -> usize;
    fn at(&self, index: usize) -> Option<&dyn AnyRecord>;
    fn at_mut(&mut self, index: usize) -> Option<&mut dyn AnyRecord>;
    /// Adds the children, and the fields that the type computes.
    fn complete<'a>(&'a mut self, cx: &'a Context) -> BoxFuture<'a, Result<()>>;
    /// Moves the last record to the place of `record`, which is of the same type. Returns whether there is one.
    fn move_last(&mut self, record: &mut dyn AnyRecord) -> bool;
}

impl<T: Record> Rows for Vec<T> {
    fn add(&mut self, cx: &Context, row: &mut Row<'_>) -> Result<&mut dyn AnyRecord> {
        self.push(T::from_row(cx, row)?);
        let last = self.last_mut().map(|it| -> &mut dyn AnyRecord { it });
        last.ok_or_else(|| Error::internal("a row that was read is not there"))
    }
    fn cut(&mut self, length: usize) {
        self.truncate(length);
    }
    fn length(&self) -> usize {
        self.len()
    }
    fn at(&self, index: usize) -> Option<&dyn AnyRecord> {
        self.get(index).map(|it| -> &dyn AnyRecord { it })
    }
    fn at_mut(&mut self, index: usize) -> Option<&mut dyn AnyRecord> {
        self.get_mut(index).map(|it| -> &mut dyn AnyRecord { it })
    }
    fn complete<'a>(&'a mut self, cx: &'a Context) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            T::read_children(cx, self).await?;
            T::complete(cx, self).await
        })
    }
    fn move_last(&mut self, record: &mut dyn AnyRecord) -> bool {
        let place = record.any_mut().downcast_mut::<T>();
        let moved = place.zip(self.pop()).map(|(place, it)| *place = it);
        moved.is_some()
    }
}
