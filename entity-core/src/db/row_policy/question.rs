//! The questions about a row, or about the row of its parent, in SQL.

use super::cause::{CAUSE, Cause, Following};
use crate::contract::context::Context;
use crate::db::Sql;
use crate::db::expression::expression;
use crate::db::rule::RowPolicy;
use crate::db::sql::Variables;
use crate::model::schema::{Field, Role, Schema};
use crate::model::table::ColumnType;
use crate::primitives::error::{Error, Result};
use crate::{
    db::record::constants::Constants,
    db::record::definition::{PARENT, THIS},
    model::table::{GroupTable, Parent},
};

/// The row that a question is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Of {
    /// The entity's own row.
    Row,
    /// The row of its parent.
    Parent,
}

/// The names under which a rule finds a row and its columns.
#[derive(Clone, Copy)]
pub(super) struct Names {
    row: &'static str,
    schema: &'static Schema,
    /// All columns, those of hidden fields among them; none for a parent.
    columns: &'static [(&'static str, ColumnType, bool)],
    owner: Option<&'static str>,
    key: &'static str,
    groups: Option<GroupTable>,
    parent: Option<Parent>,
}

/// The names for a rule, and the caller for whom it asks.
pub(in crate::db) struct Asking<'a> {
    names: Names,
    members: Option<&'static str>,
    caller: Option<&'a str>,
    variables: Variables<'a>,
    following: Option<Following<'a>>,
}

impl Names {
    pub(super) fn of(of: &Constants) -> Self {
        Self {
            row: THIS,
            schema: of.schema(),
            columns: of.columns,
            owner: of.owner,
            key: of.key,
            groups: of.groups,
            parent: of.parent,
        }
    }

    /// Returns the names of the row that the field declared as `parent` names, if it is joined and always there.
    pub(super) fn parent(&self) -> Option<Self> {
        let parent = self.parent.filter(|it| it.is_joined && !it.is_optional)?;
        Some(Self {
            row: PARENT,
            schema: (parent.schema)(),
            columns: &[],
            owner: parent.owner,
            key: parent.key,
            groups: parent.groups,
            parent: None,
        })
    }

    /// Returns the names of a row of the same type that another row follows. Its parent is not joined there.
    pub(super) fn of_cause(self) -> Self {
        Self {
            row: CAUSE,
            parent: None,
            ..self
        }
    }

    /// Returns the reason why this question can't be asked, if there is one.
    pub(super) fn fault(&self, question: &RowPolicy) -> Option<String> {
        match question {
            RowPolicy::Own if self.owner.is_none() => {
                Some("asks for the owner, and no field is declared as `owner`".to_owned())
            }
            RowPolicy::Addressed if self.groups.is_none() => {
                Some("asks for groups, and no field is declared as `groups`".to_owned())
            }
            RowPolicy::Parent(_) => {
                Some("asks for the parent of the parent, which is not joined".to_owned())
            }
            RowPolicy::Follows(..) if self.row == CAUSE => {
                Some("follows another entity itself".to_owned())
            }
            RowPolicy::Follows(_, column) if !self.has_column(column) => {
                Some(format!("asks what `{column}` names, which is no column"))
            }
            RowPolicy::Follows(..) => Cause::fault(),
            RowPolicy::Is(name) | RowPolicy::Since(name) | RowPolicy::Until(name)
                if self.schema.field(name).and_then(|it| it.column).is_none() =>
            {
                Some(format!(
                    "asks for `{name}`, which is no field with a column"
                ))
            }
            RowPolicy::Is(name) | RowPolicy::Since(name) | RowPolicy::Until(name)
                if self.row != THIS && self.field(name).is_ok_and(|it| it.sql.is_some()) =>
            {
                let row = self.row;
                Some(format!(
                    "asks for `{name}` of the {row}, which is no column of its table"
                ))
            }
            _ => None,
        }
    }

    /// Returns whether the id that clients see is the key of the row.
    pub(super) fn has_key_as_id(&self) -> bool {
        let id = self.schema.role(Role::Id).and_then(|it| it.column);
        id == Some(self.key)
    }

    fn has_column(&self, name: &str) -> bool {
        let mut fields = self.schema.fields.iter();
        self.columns.iter().any(|it| it.0 == name) || fields.any(|it| it.column == Some(name))
    }

    fn field(&self, name: &str) -> Result<&'static Field> {
        let missing = || Error::internal(format!("a rule asks for `{name}`, which is no field"));
        self.schema.field(name).ok_or_else(missing)
    }
}

impl<'a> Asking<'a> {
    /// Asks by `rules` about rows of this type of any site, or about those of `site` alone.
    pub(in crate::db) async fn of(
        of: &Constants,
        cx: &'a Context,
        rules: &[RowPolicy],
        site: Option<&'a str>,
    ) -> Result<Self> {
        let mut asking = Self::about(cx, Names::of(of));
        if rules.iter().any(RowPolicy::follows) {
            // Without a column of their own, nothing ties what rows follow to their site.
            let site = site.filter(|_| asking.site_column().is_some());
            asking.following = Some(Following::of(cx, site).await?);
        }
        Ok(asking)
    }

    /// Asks about rows of these names, which follow nothing.
    pub(super) fn about(cx: &'a Context, names: Names) -> Self {
        Self {
            names,
            members: cx.authorizer().group_members(),
            caller: cx.caller().user_id(),
            variables: Variables::of(cx),
            following: None,
        }
    }

    /// Returns the same questions about the row of the parent.
    pub(super) fn of_parent(&self) -> Result<Self> {
        let missing = || Error::internal("a rule asks for a parent that is not joined");
        Ok(Self {
            names: self.names.parent().ok_or_else(missing)?,
            following: self.following.clone(),
            ..*self
        })
    }

    /// Returns the same questions about the row `row`, which has no parent beside it.
    pub(super) fn about_row(&self, row: &'static str) -> Self {
        Self {
            names: Names {
                row,
                parent: None,
                ..self.names
            },
            following: self.following.clone(),
            ..*self
        }
    }

    /// Returns the field with the id of the site.
    pub(super) fn site(&self) -> Option<&'static Field> {
        self.names.schema.role(Role::Site)
    }

    /// Returns that field if it is a column of the row.
    fn site_column(&self) -> Option<&'static Field> {
        self.site()
            .filter(|it| it.column.is_some() && it.sql.is_none())
    }

    /// Appends the expression for `field`.
    pub(super) fn write_field<'s>(&self, sql: &'s mut Sql, field: &Field) -> &'s mut Sql {
        sql.expression(&expression(field, self.names.row), self.variables)
    }

    /// Appends `question` as a condition.
    pub(super) fn write(&self, sql: &mut Sql, question: &RowPolicy) -> Result<()> {
        let row = self.names.row;
        match question {
            RowPolicy::Own => match (self.names.owner, self.caller) {
                // NULL where nobody owns the row: an index serves nothing but the plain comparison.
                (Some(owner), Some(caller)) => {
                    sql.column(row, owner).push(" = ").bind(caller);
                }
                _ => drop(sql.push("FALSE")),
            },
            RowPolicy::Is(name) => {
                self.write_field(sql.push("coalesce("), self.names.field(name)?)
                    .push(", FALSE)");
            }
            RowPolicy::Since(name) => self.write_instant(sql, name, " <= ")?,
            RowPolicy::Until(name) => self.write_instant(sql, name, " > ")?,
            RowPolicy::Addressed => self.write_addressed(sql)?,
            RowPolicy::Sql(text) if row == THIS => {
                let text = sql.push("(").expression(text, self.variables);
                text.push(")");
            }
            RowPolicy::Sql(text) => {
                let text = text.replace("this.", &format!("{row}."));
                sql.push("(").expression(&text, self.variables).push(")");
            }
            RowPolicy::Follows(telling, column) => {
                let missing = || Error::internal("a rule asks what a row follows unprepared");
                let following = self.following.as_ref().ok_or_else(missing)?;
                let site = self.site_column().map(|it| expression(it, row));
                following.write(sql, *telling, (row, column), site.as_deref())?;
            }
            _ => return Err(Error::internal("a rule that is no question about a row")),
        }
        Ok(())
    }

    fn write_instant(&self, sql: &mut Sql, name: &str, operator: &str) -> Result<()> {
        let field = self.names.field(name)?;
        self.write_field(sql.push("("), field).push(" IS NULL OR ");
        self.write_field(sql, field).push(operator);
        sql.bind(self.variables.now).push(")");
        Ok(())
    }

    fn write_addressed(&self, sql: &mut Sql) -> Result<()> {
        let (row, groups) = (self.names.row, self.names.groups);
        let groups = groups.ok_or_else(|| Error::internal("a rule about groups without groups"))?;
        sql.push("(NOT ").column(row, GroupTable::MARK);
        if let (Some(members), Some(caller)) = (self.members, self.caller) {
            sql.push(" OR EXISTS (SELECT 1 FROM ").push(groups.table);
            sql.push(" g JOIN ").push(members);
            sql.push(" m ON m.group_id = g.group_id WHERE ");
            sql.column("g", groups.key)
                .push(" = ")
                .column(row, self.names.key);
            sql.push(" AND m.user_id = ").bind(caller).push(")");
        }
        sql.push(")");
        Ok(())
    }
}
