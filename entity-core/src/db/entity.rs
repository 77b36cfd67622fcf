//! The table of a record as an entity of sea-orm, in which a type's own queries and conditions are written.

use std::marker::PhantomData;

use sea_orm::sea_query::{ArrayType, ColumnType as Kind, Expr};
use sea_orm::{
    ActiveModelBehavior, ActiveModelTrait, ActiveValue, ColumnDef, ColumnTrait,
    ColumnTypeTrait as _, DbErr, EntityTrait, FromQueryResult, IdenStatic as _, Iterable as _,
    ModelTrait, PrimaryKeyToColumn as _, QueryResult, RelationDef, Value,
};

use crate::db::Record;
use crate::model::table::ColumnType;

/// A row of a record's table as sea-orm knows it: a value for each column. Records themselves are read by
/// [`load`](crate::db::load) and [`find`](crate::db::find), and written by the functions of [`db`](crate::db), which
/// check them.
#[derive(Clone, Debug)]
pub struct Values<E> {
    /// In the order of the columns.
    values: Vec<ActiveValue<Value>>,
    entity: PhantomData<fn() -> E>,
}

impl<E: EntityTrait> Values<E> {
    fn empty() -> Self {
        Self {
            values: E::Column::iter().map(|_| ActiveValue::NotSet).collect(),
            entity: PhantomData,
        }
    }

    fn place(&mut self, column: E::Column) -> Option<&mut ActiveValue<Value>> {
        self.values.get_mut(place_of::<E>(column))
    }

    fn value(&self, column: E::Column) -> ActiveValue<Value> {
        let found = self.values.get(place_of::<E>(column));
        found.cloned().unwrap_or(ActiveValue::NotSet)
    }
}

fn place_of<E: EntityTrait>(column: E::Column) -> usize {
    let found = E::Column::iter().position(|it| it.as_str() == column.as_str());
    found.unwrap_or(usize::MAX)
}

impl<E> FromQueryResult for Values<E>
where
    E: EntityTrait,
{
    fn from_query_result(row: &QueryResult, prefix: &str) -> Result<Self, DbErr> {
        let mut found = Self::empty();
        for (column, value) in E::Column::iter().zip(&mut found.values) {
            let name = column.as_str();
            *value = ActiveValue::Unchanged(match column.def().get_column_type() {
                Kind::BigInteger => row.try_get::<Option<i64>>(prefix, name)?.into(),
                Kind::Double => row.try_get::<Option<f64>>(prefix, name)?.into(),
                Kind::Boolean => row.try_get::<Option<bool>>(prefix, name)?.into(),
                _ => row.try_get::<Option<String>>(prefix, name)?.into(),
            });
        }
        Ok(found)
    }
}

impl<E: EntityTrait> ModelTrait for Values<E> {
    type Entity = E;

    fn get(&self, column: E::Column) -> Value {
        self.value(column)
            .into_value()
            .unwrap_or(Value::String(None))
    }

    fn get_value_type(column: E::Column) -> ArrayType {
        match column.def().get_column_type() {
            Kind::BigInteger => ArrayType::BigInt,
            Kind::Double => ArrayType::Double,
            Kind::Boolean => ArrayType::Bool,
            _ => ArrayType::String,
        }
    }

    fn try_set(&mut self, column: E::Column, value: Value) -> Result<(), DbErr> {
        if let Some(place) = self.place(column) {
            *place = ActiveValue::Set(value);
        }
        Ok(())
    }
}

impl<E: EntityTrait> ActiveModelTrait for Values<E> {
    type Entity = E;

    fn take(&mut self, column: E::Column) -> ActiveValue<Value> {
        let place = self.place(column).map(ActiveValue::take);
        place
            .flatten()
            .map_or(ActiveValue::NotSet, ActiveValue::Set)
    }

    fn get(&self, column: E::Column) -> ActiveValue<Value> {
        self.value(column)
    }

    fn set_if_not_equals(&mut self, column: E::Column, value: Value) {
        if let Some(place) = self.place(column) {
            place.set_if_not_equals(value);
        }
    }

    fn try_set(&mut self, column: E::Column, value: Value) -> Result<(), DbErr> {
        ModelTrait::try_set(self, column, value)
    }

    fn not_set(&mut self, column: E::Column) {
        if let Some(place) = self.place(column) {
            *place = ActiveValue::NotSet;
        }
    }

    fn is_not_set(&self, column: E::Column) -> bool {
        self.value(column).is_not_set()
    }

    fn default() -> Self {
        Self::empty()
    }

    fn default_values() -> Self {
        Self::empty()
    }

    fn reset(&mut self, column: E::Column) {
        if let Some(place) = self.place(column) {
            place.reset();
        }
    }
}

impl<E: EntityTrait> ActiveModelBehavior for Values<E> {}

/// Returns the definition of the column `name` of a record.
#[doc(hidden)]
pub fn column_def<T: Record>(name: &str) -> ColumnDef {
    let found = T::COLUMNS.iter().find(|it| it.0 == name);
    let (kind, is_nullable) = match found {
        Some((_, ColumnType::Integer, is_nullable)) => (Kind::BigInteger, *is_nullable),
        Some((_, ColumnType::Number, is_nullable)) => (Kind::Double, *is_nullable),
        Some((_, ColumnType::Boolean, is_nullable)) => (Kind::Boolean, *is_nullable),
        Some((_, ColumnType::Text, is_nullable)) => (Kind::Text, *is_nullable),
        None => (Kind::Text, true),
    };
    let def = kind.def();
    match is_nullable {
        true => def.nullable(),
        false => def,
    }
}

/// Returns the relation of rows to those of the table `P`, to whose key the column `reference` refers.
#[doc(hidden)]
pub fn to_parent<E, P>(reference: E::Column) -> RelationDef
where
    E: EntityTrait,
    P: EntityTrait<PrimaryKey: Default>,
{
    let key = P::PrimaryKey::default().into_column();
    let relation = E::belongs_to(P::default()).from(reference);
    relation.to(key).into()
}

/// Returns a value as columns hold it: an instant is a number of milliseconds since 1970.
#[doc(hidden)]
pub fn to_stored(value: Expr) -> Expr {
    match value {
        Expr::Value(Value::ChronoDateTimeUtc(instant)) => {
            Expr::Value(instant.map(|it| it.timestamp_millis()).into())
        }
        other => other,
    }
}

/// Writes the table of a record as an entity of sea-orm: the module `$module` with `Entity`, `Column`, `PrimaryKey` and
/// `Relation`. `#[derive(Entity)]` calls it.
#[doc(hidden)]
#[macro_export]
macro_rules! sea_orm_entity {
    (
        $vis:vis mod $module:ident of $record:ident, $table:literal, key $key:ident,
        columns { $($column:ident $name:literal),* $(,)? },
        parents { $($parent:ty, $reference:ident)? }
    ) => {
        #[doc = ::std::concat!("The table `", $table, "` as an entity of sea-orm: for queries and conditions.")]
        #[allow(clippy::module_inception, dead_code, unreachable_pub)]
        $vis mod $module {
            /// The table.
            #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
            pub struct Entity;

            /// A column of the table.
            #[derive(Clone, Copy, Debug)]
            pub enum Column {
                $(
                    #[doc = ::std::concat!("The column `", $name, "`.")]
                    $column,
                )*
            }

            /// The primary key of the table.
            #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
            pub enum PrimaryKey {
                /// The column that is the key.
                #[default]
                $key,
            }

            /// The parent of the row, if the type has one.
            #[derive(Clone, Copy, Debug, PartialEq, Eq)]
            pub enum Relation {
                $(
                    /// The row that this one belongs to.
                    $reference,
                )?
            }
        }

        const _: () = {
            use $crate::db::entity as core;
            use $crate::sea_orm as orm;
            use orm::{ColumnTrait as _, IdenStatic as _, PrimaryKeyToColumn as _};

            impl orm::Iden for $module::Entity {
                fn unquoted(&self) -> &str {
                    $table
                }
            }

            impl orm::IdenStatic for $module::Entity {
                fn as_str(&self) -> &'static str {
                    $table
                }
            }

            impl orm::EntityName for $module::Entity {
                fn table_name(&self) -> &'static str {
                    $table
                }
            }

            impl orm::EntityTrait for $module::Entity {
                type Model = core::Values<Self>;
                type ModelEx = core::Values<Self>;
                type ActiveModel = core::Values<Self>;
                type ActiveModelEx = core::Values<Self>;
                type Column = $module::Column;
                type Relation = $module::Relation;
                type PrimaryKey = $module::PrimaryKey;
            }

            impl orm::Iden for $module::Column {
                fn unquoted(&self) -> &str {
                    self.as_str()
                }
            }

            impl orm::IdenStatic for $module::Column {
                fn as_str(&self) -> &'static str {
                    match self {
                        $(Self::$column => $name,)*
                    }
                }
            }

            impl orm::Iterable for $module::Column {
                type Iterator = ::std::iter::Copied<::std::slice::Iter<'static, Self>>;
                fn iter() -> Self::Iterator {
                    const ALL: &[$module::Column] = &[$($module::Column::$column),*];
                    ALL.iter().copied()
                }
            }

            impl ::std::str::FromStr for $module::Column {
                type Err = orm::ColumnFromStrErr;
                fn from_str(name: &str) -> ::std::result::Result<Self, Self::Err> {
                    let found = <Self as orm::Iterable>::iter().find(|it| it.as_str() == name);
                    found.ok_or_else(|| orm::ColumnFromStrErr(name.into()))
                }
            }

            impl orm::ColumnTrait for $module::Column {
                type EntityName = $module::Entity;
                fn def(&self) -> orm::ColumnDef {
                    core::column_def::<$record>(self.as_str())
                }
                fn select_as(&self, expr: orm::sea_query::Expr) -> orm::sea_query::Expr {
                    expr
                }
                fn save_as(&self, value: orm::sea_query::Expr) -> orm::sea_query::Expr {
                    core::to_stored(value)
                }
            }

            impl orm::Iden for $module::PrimaryKey {
                fn unquoted(&self) -> &str {
                    self.as_str()
                }
            }

            impl orm::IdenStatic for $module::PrimaryKey {
                fn as_str(&self) -> &'static str {
                    self.into_column().as_str()
                }
            }

            impl orm::Iterable for $module::PrimaryKey {
                type Iterator = ::std::array::IntoIter<Self, 1>;
                fn iter() -> Self::Iterator {
                    [Self::$key].into_iter()
                }
            }

            impl orm::PrimaryKeyTrait for $module::PrimaryKey {
                type ValueType = ::std::string::String;
                fn auto_increment() -> bool {
                    false
                }
            }

            impl orm::PrimaryKeyToColumn for $module::PrimaryKey {
                type Column = $module::Column;
                fn into_column(self) -> $module::Column {
                    $module::Column::$key
                }
                fn from_column(column: $module::Column) -> ::std::option::Option<Self> {
                    match column {
                        $module::Column::$key => ::std::option::Option::Some(Self::$key),
                        #[allow(unreachable_patterns)]
                        _ => ::std::option::Option::None,
                    }
                }
            }

            impl orm::Iterable for $module::Relation {
                type Iterator = ::std::iter::Copied<::std::slice::Iter<'static, Self>>;
                fn iter() -> Self::Iterator {
                    const ALL: &[$module::Relation] = &[$($module::Relation::$reference)?];
                    ALL.iter().copied()
                }
            }

            impl orm::RelationTrait for $module::Relation {
                fn def(&self) -> orm::RelationDef {
                    match *self {
                        $(Self::$reference => core::to_parent::<
                            $module::Entity,
                            <$parent as $crate::db::Record>::Table,
                        >($module::Column::$reference),)?
                    }
                }
            }
        };
    };
}
