//! Decimal numbers in columns.

use sea_orm::{DbErr, Value};
use serde_json::Number;

use crate::contract::context::Context;
use crate::db::{ColumnType, ColumnValue, FromRow, Row};
use crate::model::wire::Decimal;
use crate::model::wire::decimal::NO_NUMBER;
use crate::primitives::error::Result;

fn receive(sent: &Number) -> Result<Decimal, String> {
    // Written without an exponent.
    let number = sent.as_f64().ok_or(NO_NUMBER)?;
    Decimal::parse(&number.to_string())
}

impl ColumnValue for Decimal {
    type Sent = Number;
    const TYPE: ColumnType = ColumnType::Integer;
    const IS_NULLABLE: bool = false;

    fn receive(_cx: &Context, sent: Number) -> Result<Self, String> {
        receive(&sent)
    }

    fn to_value(&self) -> Value {
        self.units().into()
    }

    fn read(_cx: &Context, row: &mut Row<'_>) -> Result<Self> {
        Ok(Self::of_units(row.take()?))
    }
}

impl FromRow for Decimal {
    fn from_row(row: &mut Row<'_>) -> Result<Self, DbErr> {
        row.take().map(Self::of_units)
    }
}

impl FromRow for Option<Decimal> {
    fn from_row(row: &mut Row<'_>) -> Result<Self, DbErr> {
        Ok(row.take::<Option<i64>>()?.map(Decimal::of_units))
    }
}

impl ColumnValue for Option<Decimal> {
    type Sent = Option<Number>;
    const TYPE: ColumnType = ColumnType::Integer;
    const IS_NULLABLE: bool = true;

    fn receive(_cx: &Context, sent: Option<Number>) -> Result<Self, String> {
        sent.as_ref().map(receive).transpose()
    }

    fn to_value(&self) -> Value {
        self.map(Decimal::units).into()
    }

    fn read(_cx: &Context, row: &mut Row<'_>) -> Result<Self> {
        Ok(row.take::<Option<i64>>()?.map(Decimal::of_units))
    }
}
