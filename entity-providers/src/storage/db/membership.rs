//! `membership`: the members of sites, with their roles.

use entity_core::DateTimeUtc;
use entity_core::db::{self, ColumnType, Row};
use sea_orm::entity::prelude::{
    ActiveEnum, ActiveModelBehavior, DeriveActiveEnum, DeriveEntityModel, DerivePrimaryKey,
    DeriveRelation, EntityTrait, EnumIter, PrimaryKeyTrait,
};
use sea_orm::{DbErr, Value};

/// The origin of a membership.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "String", db_type = "Text")]
pub enum Origin {
    /// They joined a site that is open to it.
    #[sea_orm(string_value = "joined")]
    Joined,
    /// They accepted an invitation.
    #[sea_orm(string_value = "accepted")]
    Accepted,
    /// Somebody enrolled them who may do that without asking.
    #[sea_orm(string_value = "mandate")]
    Mandate,
    /// The student system did.
    #[sea_orm(string_value = "provided")]
    Provided,
    /// They made the site.
    #[sea_orm(string_value = "creation")]
    Creation,
}

impl Origin {
    /// Returns whether the site's roster may tell the e-mail address, the external id and the last login of such a
    /// member: they agreed to it by accepting an invitation, or the institution put them there.
    pub fn is_told(self) -> bool {
        matches!(self, Self::Accepted | Self::Mandate | Self::Provided)
    }
}

impl db::Column for Origin {
    const TYPE: ColumnType = ColumnType::Text;

    fn to_value(&self) -> Value {
        ActiveEnum::to_value(self).into()
    }

    fn read(row: &mut Row<'_>) -> Result<Self, DbErr> {
        Self::try_from_value(&db::Column::read(row)?)
    }
}

/// One row.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel, Row)]
#[sea_orm(table_name = "membership")]
pub struct Model {
    /// The internal id of the user.
    #[sea_orm(primary_key, auto_increment = false)]
    pub user_id: String,
    /// The site.
    #[sea_orm(primary_key, auto_increment = false)]
    pub site_id: String,
    /// The role, such as `Student`.
    pub role: String,
    /// True if it counts.
    pub is_active: bool,
    /// True if the student system made it.
    pub is_provided: bool,
    /// True if the user keeps the site at hand.
    pub is_pinned: bool,
    /// Its place among the sites kept at hand.
    pub pinned_position: Option<i64>,
    /// When it came into being, in milliseconds.
    pub created: i64,
    /// True if the user does not want to be seen in the site.
    pub is_hidden: bool,
    /// The origin of the membership.
    pub origin: Origin,
}

impl Model {
    /// A membership of `user` in `site` that counts, which came about at `now`: whoever gets a new site finds it at hand.
    pub fn new(user: &str, site: &str, role: &str, now: DateTimeUtc, origin: Origin) -> Self {
        Self {
            user_id: user.to_owned(),
            site_id: site.to_owned(),
            role: role.to_owned(),
            is_active: true,
            is_provided: false,
            is_pinned: true,
            pinned_position: None,
            created: now.timestamp_millis(),
            is_hidden: false,
            origin,
        }
    }
}

/// None: what belongs together is joined where it is asked for.
#[derive(Clone, Copy, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
