//! Functions of accounts by their type: only teaching staff makes courses and enrols people outright.
//!
//! No account changes its type here. Before, everybody could make a course, so being the instructor of one says
//! nothing about who teaches: an administrator gives the type `maintain` to those who do.

use super::Tables;

pub(super) const STEP: Tables = Tables {
    name: "m20261121_000010_account_types",
    statements: &[
        "DELETE FROM realm_grant
            WHERE realm = '!user.template' AND role = '.auth' AND function = 'site.add.course'",
        "INSERT INTO realm_grant (realm, role, function, is_granted) VALUES
            ('!user.template.maintain', '.auth', 'site.add.course', TRUE),
            ('!user.template.maintain', '.auth', 'user.enrol', TRUE)",
    ],
};
