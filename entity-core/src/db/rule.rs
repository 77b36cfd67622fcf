//! Row policies, the rules about who sees an entity or a field of it, as types declare them.

/// A row policy: the rule about who sees an entity, besides the permission to read the type. It is named by
/// `#[entity(sight = …)]`.
///
/// The rule is evaluated in one form only: the database answers the questions about the row, and the authorizer those
/// about functions. A list has the rule in its condition. When one entity is read, the same statement also selects the
/// answers about the row, and the rule combines them.
///
/// ```
/// use entity_core::db::RowPolicy;
///
/// /// A draft is for its author, and for those who may read drafts.
/// const SIGHT: RowPolicy = RowPolicy::Any(&[
///     RowPolicy::Not(&RowPolicy::Is("draft")),
///     RowPolicy::Own,
///     RowPolicy::Holds("essay.read.drafts"),
/// ]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowPolicy {
    /// All of these rules admit the caller.
    All(&'static [Self]),
    /// At least one of these rules admits the caller.
    Any(&'static [Self]),
    /// The rule does not admit the caller.
    Not(&'static Self),
    /// The caller holds this function in the entity's site; for an entity without a site, at the level of the account.
    Holds(&'static str),
    /// The caller owns the entity.
    Own,
    /// This field, a boolean, is true.
    Is(&'static str),
    /// The instant in this field has come, or there is none.
    Since(&'static str),
    /// The instant in this field has not come yet, or there is none.
    Until(&'static str),
    /// The entity is for everybody, or for a group of which the caller is a member: the field declared as `groups` says
    /// which.
    Addressed,
    /// This rule admits the caller to the parent: to the row that the field declared as `parent` names, whose type is one
    /// with a rule of its own. That row is joined under the name `parent`.
    Parent(&'static Self),
    /// The caller sees what the row follows, by the rule of that entity's own type: the entity whose reference, such as
    /// `/assignment/7`, is in this column. That entity is in the site of the row: one of another site is not shown. It admits
    /// everybody where there is no reference, and where the type is not registered by
    /// [`register_cause!`](crate::register_cause).
    Follows(Telling, &'static str),
    /// This SQL condition holds. The row is called `this`, and `{caller}` stands for the internal id of the caller,
    /// which is empty for an anonymous one, and `{now}` for the present instant in milliseconds since 1970. Neither
    /// outcome may be NULL.
    Sql(&'static str),
}

impl RowPolicy {
    /// Returns the conditions in SQL on the own row.
    pub(super) fn conditions(&self) -> Vec<&'static str> {
        match self {
            Self::All(rules) | Self::Any(rules) => {
                rules.iter().flat_map(Self::conditions).collect()
            }
            Self::Not(rule) => rule.conditions(),
            Self::Sql(text) => vec![text],
            _ => Vec::new(),
        }
    }
}

/// The answers about the row of one entity, for the caller who read it. An entity that was made and not read is seen by
/// nobody.
///
/// A record with a [`RowPolicy`] has a field of this type: `#[serde(skip)] #[entity(facts)] facts: PolicyInputs`.
#[derive(Clone, Copy, Debug, Default)]
pub struct PolicyInputs {
    /// The answers, one bit for each question about the row, in the order in which the rule asks them.
    pub(super) answers: u64,
    /// True if the rule was part of the condition of the statement, as it is in lists.
    pub(super) is_seen: bool,
    /// True if the entity is for some groups only.
    pub(super) is_restricted: bool,
}

/// The inputs are no part of an entity: any two are equal, so that entities are compared without them.
impl PartialEq for PolicyInputs {
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}

impl Eq for PolicyInputs {}

/// The extent to which a row reveals its cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Telling {
    /// That it exists, and what it is.
    Entity,
    /// The results that somebody has in it, which may be shown for longer.
    Results,
}

/// A redacted field, which some callers do not see. `#[entity(sight = …)]` on a field declares it.
#[derive(Clone, Copy, Debug)]
pub struct RedactedField {
    /// The name of the field, as clients see it.
    pub field: &'static str,
    /// The expression that is selected for the field.
    pub expression: &'static str,
    /// The SQL literal for those who do not see the field.
    pub blank: &'static str,
    /// The rule about who sees the field.
    pub sight: RowPolicy,
}
