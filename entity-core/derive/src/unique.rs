//! The fields in which no two entities have the same value.

use proc_macro2::TokenStream;
use quote::quote;
use syn::LitStr;

use crate::field::{Field, Fields};

/// Generates the message when the value of a unique field is taken.
pub(crate) fn taken(kind: &LitStr, fields: &Fields) -> Option<TokenStream> {
    let unique = fields.0.iter().find(|it| it.is_unique);
    unique.map(|it| {
        let message = format!("there is already a {} with this {}", kind.value(), it.wire);
        quote!(#message)
    })
}

/// Generates the columns in which no two rows have the same value.
pub(crate) fn columns(fields: &Fields) -> syn::Result<Vec<TokenStream>> {
    let has_site = fields.role("Site").is_some();
    let within_site = |it: &&Field| it.is_unique_in_site;
    if let (false, Some(field)) = (has_site, fields.0.iter().find(within_site)) {
        return Err(syn::Error::new(
            field.ident.span(),
            "no field is the site in which this is unique: mark it with #[entity(site)], or write `unique`",
        ));
    }
    let unique = fields.0.iter();
    let unique = unique.filter(|it| it.is_unique || it.is_unique_in_site);
    let unique = unique.map(|it| {
        let (column, field, is_within_site) = (it.column_name(), &it.wire, it.is_unique_in_site);
        quote!(::entity_core::db::Unique {
            column: #column,
            field: #field,
            is_within_site: #is_within_site,
        })
    });
    Ok(unique.collect())
}
