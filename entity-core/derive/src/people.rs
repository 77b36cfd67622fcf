//! The names of people: fields that show the name of the account whose id another field holds.

use syn::ext::IdentExt as _;
use syn::{Expr, Ident, parse_quote};

use crate::field::{Field, Fields};

/// The expression for the name of the account in the field `account`; empty if there is none.
pub(crate) fn name(account: &Ident) -> Expr {
    let row = row_of(account);
    let name = format!("coalesce(trim({row}.first_name || ' ' || {row}.last_name), '')");
    parse_quote!(#name)
}

/// Returns the joins of the accounts whose names are shown, with one space before each.
pub(crate) fn joins(fields: &Fields) -> syn::Result<String> {
    let shown = fields.0.iter().filter_map(|it| it.name_of.as_ref());
    let join = |account: &Ident| {
        let field = fields.0.iter().find(|it| it.ident == *account);
        let Some(field) = field.filter(|it| names_account(it)) else {
            return Err(syn::Error::new(
                account.span(),
                format!("`{account}` is no field that is a column and has `references = \"user\"`"),
            ));
        };
        let (row, column) = (row_of(account), field.column_name());
        Ok(format!(
            " LEFT JOIN user_account {row} ON {row}.id = this.\"{column}\""
        ))
    };
    shown.map(join).collect()
}

/// Returns whether the field is a column with the id of an account.
pub(crate) fn names_account(field: &Field) -> bool {
    let prefix = field.references.as_ref();
    field.is_stored() && prefix.is_some_and(|it| it.value() == "user")
}

/// The name of the row of the account in the field `account`, in statements.
fn row_of(account: &Ident) -> String {
    format!("{}_account", account.unraw())
}
