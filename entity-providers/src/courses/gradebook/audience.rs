//! Permissions in a gradebook: the people who see and grade each part of it.

use entity_core::db::{RowPolicy, Sql, Telling, Variables, WrittenRowPolicy};
use entity_core::{Context, Decision, Error, Permit, Result, Scope};

use super::item::GradebookItem;
use crate::people::authorizer;

/// The function that everybody who may enter the site holds.
pub(super) const MEMBER: &str = "site.visit";
/// The function to make and change items and categories.
pub(super) const EDIT: &str = "gradebook.editAssignments";
/// The function to see and grade all students.
pub(super) const GRADE_ALL: &str = "gradebook.gradeAll";
/// The function to see and grade the students of one's own groups.
pub(super) const GRADE_SECTION: &str = "gradebook.gradeSection";
/// The function to see one's own released scores.
pub(super) const VIEW_OWN: &str = "gradebook.viewOwnGrades";
/// Members with a role that holds it are graded.
const STUDENT: &str = "section.role.student";

/// Categories are for everybody who sees anything of a gradebook.
pub(super) const SEES_GRADEBOOK: RowPolicy = RowPolicy::Any(&[
    RowPolicy::Holds(EDIT),
    RowPolicy::Holds(GRADE_ALL),
    RowPolicy::Holds(GRADE_SECTION),
    RowPolicy::Holds(VIEW_OWN),
]);

/// The column of an item with the reference of what it belongs to.
const CAUSE: &str = "external_reference";
/// An item of an assignment is as hidden as the assignment.
const SEES_CAUSE: RowPolicy = RowPolicy::Follows(Telling::Results, CAUSE);
/// Students see an item that is released and whose scores are not withheld by what it belongs to.
const IS_SHOWN: RowPolicy = RowPolicy::Sql("this.released AND NOT this.withheld");

const GRADES: RowPolicy =
    RowPolicy::Any(&[RowPolicy::Holds(GRADE_ALL), RowPolicy::Holds(GRADE_SECTION)]);

/// Items that students don't see are for those who grade or change items.
pub(super) const SEES_ITEM: RowPolicy = RowPolicy::All(&[
    SEES_CAUSE,
    RowPolicy::Any(&[
        RowPolicy::Holds(EDIT),
        GRADES,
        RowPolicy::All(&[RowPolicy::Holds(VIEW_OWN), IS_SHOWN]),
    ]),
]);

/// Grades in an item that students don't see are for those who grade.
const SEES_GRADES: RowPolicy = RowPolicy::All(&[SEES_CAUSE, RowPolicy::Any(&[GRADES, IS_SHOWN])]);

/// Scores are for those who grade the student, and for the student who sees the item.
pub(super) const SEES_SCORE: RowPolicy = RowPolicy::All(&[
    RowPolicy::Parent(&SEES_CAUSE),
    RowPolicy::Any(&[
        RowPolicy::Holds(GRADE_ALL),
        RowPolicy::All(&[
            RowPolicy::Holds(GRADE_SECTION),
            RowPolicy::Sql(IN_OWN_GROUP),
        ]),
        RowPolicy::All(&[
            RowPolicy::Holds(VIEW_OWN),
            RowPolicy::Sql("this.user_id = {caller}"),
            RowPolicy::Parent(&IS_SHOWN),
        ]),
    ]),
]);

/// The history of scores is for those who grade the student.
pub(crate) const SEES_CHANGE: RowPolicy = RowPolicy::Any(&[
    RowPolicy::Holds(GRADE_ALL),
    RowPolicy::All(&[
        RowPolicy::Holds(GRADE_SECTION),
        RowPolicy::Sql(IN_OWN_GROUP),
    ]),
]);

/// The user of the row `this` is in a group of its site in which the caller is, too, and is somebody else.
const IN_OWN_GROUP: &str = "EXISTS (SELECT 1 FROM group_member gc \
    JOIN site_group gs ON gs.id = gc.group_id \
    JOIN group_member gm ON gm.group_id = gc.group_id \
    WHERE gc.user_id = {caller} AND gs.site_id = this.site_id AND gm.user_id = this.user_id \
    AND gm.user_id <> gc.user_id)";

/// The students whose scores the caller sees in a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Audience {
    /// All of them.
    All,
    /// The students in the groups that the caller is in.
    OwnGroups,
    /// The caller alone, as far as items are released.
    Oneself,
}

impl Audience {
    /// Each function with what its holders see, the most first.
    const BY_FUNCTION: [(&str, Self); 3] = [
        (GRADE_ALL, Self::All),
        (GRADE_SECTION, Self::OwnGroups),
        (VIEW_OWN, Self::Oneself),
    ];

    /// Returns what the caller sees in `site`, if anything.
    pub(super) async fn of(cx: &Context, site: &str) -> Result<Option<Self>> {
        for (function, audience) in Self::BY_FUNCTION {
            match cx.authorizer().decide(cx, function, site).await? {
                Decision::Granted => return Ok(Some(audience)),
                Decision::Denied => {}
                Decision::UnknownSite => return Err(Error::not_found()),
            }
        }
        Ok(None)
    }

    /// Returns what the caller sees in `site`.
    ///
    /// # Errors
    /// Returns an error if that is nothing, or if there is no such site.
    pub(super) async fn demand(cx: &Context, site: &str) -> Result<Self> {
        Self::of(cx, site).await?.ok_or_else(Error::forbidden)
    }

    /// Returns what the caller grades in `site`.
    ///
    /// # Errors
    /// Returns an error if that is nothing, or if there is no such site.
    pub(super) async fn demand_grader(cx: &Context, site: &str) -> Result<Self> {
        let audience = Self::demand(cx, site).await?;
        match audience.is_grader() {
            true => Ok(audience),
            false => Err(Error::forbidden()),
        }
    }

    /// Returns what the caller sees in each of those own sites in which that is anything, sorted by site.
    pub(super) async fn of_own_sites(cx: &Context) -> Result<Vec<(String, Self)>> {
        let mut scopes = Vec::new();
        for (function, audience) in Self::BY_FUNCTION {
            scopes.push((cx.authorizer().scope(cx, function).await?, audience));
        }
        let audience_in = |site: &str| {
            let found = scopes
                .iter()
                .find(|it: &&(Scope, Self)| it.0.contains(site));
            found.map(|it| it.1)
        };
        let sites = cx.authorizer().own_sites(cx).await?;
        let seen = sites.into_iter();
        Ok(seen
            .filter_map(|site| audience_in(&site).map(|it| (site, it)))
            .collect())
    }

    /// Returns whether the caller sees scores of others, and grades them.
    pub(super) fn is_grader(self) -> bool {
        self != Self::Oneself
    }

    /// Decides about a change of the score of `user`, which the caller sees.
    pub(super) fn permit(self, cx: &Context, user: &str) -> Permit {
        let is_oneself = cx.caller().user_id() == Some(user);
        match self {
            Self::All => Permit::Allowed,
            // What they see of themselves, they see as students.
            Self::OwnGroups if !is_oneself => Permit::Allowed,
            Self::OwnGroups | Self::Oneself => Permit::Forbidden,
        }
    }

    /// Appends the condition that the user of the row `this` is one whom the caller sees.
    pub(super) fn write(self, cx: &Context, sql: &mut Sql) {
        let caller = cx.caller().user_id().unwrap_or_default();
        match self {
            Self::All => drop(sql.push("TRUE")),
            Self::Oneself => drop(sql.push("this.user_id = ").bind(caller)),
            Self::OwnGroups => {
                sql.expression(IN_OWN_GROUP, Variables::of(cx));
            }
        }
    }
}

/// Returns the rule about the items in which the caller sees grades, for statements that are written out and select items of
/// these sites.
pub(super) async fn sees_grades<'a>(
    cx: &'a Context,
    sites: &[&'a str],
) -> Result<WrittenRowPolicy<'a>> {
    match sites {
        [site] => WrittenRowPolicy::in_site::<GradebookItem>(cx, SEES_GRADES, site).await,
        _ => WrittenRowPolicy::of::<GradebookItem>(cx, SEES_GRADES).await,
    }
}

/// Returns the roles of `site` whose members are graded.
pub(crate) async fn student_roles(cx: &Context, site: &str) -> Result<Vec<String>> {
    let facts = authorizer::of(cx)?.site(cx, site).await?;
    let facts = (*facts).as_ref().ok_or_else(Error::not_found)?;
    let mut roles = facts.role_names();
    roles.retain(|it| facts.role_holds(it, STUDENT));
    Ok(roles)
}

/// Appends the condition that the membership `this` is one of a student whom the caller sees in one of `sites`.
///
/// Databases find these memberships by an index, and what belongs to them from there: so the table of memberships comes
/// first, and is joined by `CROSS JOIN`, whose order SQLite keeps.
pub(super) async fn write_classes(
    cx: &Context,
    sql: &mut Sql,
    sites: Vec<(&str, Audience)>,
) -> Result<()> {
    if sites.is_empty() {
        sql.push("FALSE");
        return Ok(());
    }
    // Follows from the rest: SQLite may take the order of an index of all memberships for less than the conditions of many
    // sites.
    let ids: Vec<&str> = sites.iter().map(|it| it.0).collect();
    sql.push("this.site_id").bind_few(&ids)?.push(" AND ");
    if sites.iter().all(|it| it.1 == Audience::Oneself) {
        Audience::Oneself.write(cx, sql);
        sql.push(" AND ");
    }
    let mut before = "(";
    for (site, audience) in sites {
        write_students(cx, sql.push(before), site, audience).await?;
        before = " OR ";
    }
    sql.push(")");
    Ok(())
}

/// Appends the condition that the membership `this` is one of a student of `site` whom the caller sees.
pub(super) async fn write_students(
    cx: &Context,
    sql: &mut Sql,
    site: &str,
    audience: Audience,
) -> Result<()> {
    sql.push("(this.site_id = ").bind(site);
    sql.push(" AND this.is_active AND this.role");
    sql.bind_list(&student_roles(cx, site).await?)?;
    audience.write(cx, sql.push(" AND "));
    sql.push(")");
    Ok(())
}
