//! Generates the table of a record as an entity of sea-orm.

use heck::{ToSnakeCase as _, ToUpperCamelCase as _};
use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::ext::IdentExt as _;
use syn::{DeriveInput, Ident, LitStr};

use crate::field::{Field, Fields};
use crate::record::stored;
use crate::types::last_segment;

/// Generates the module that is called as the struct is, in small letters.
pub(crate) fn implement(
    input: &DeriveInput,
    table: &LitStr,
    key: &Field,
    fields: &Fields,
) -> TokenStream {
    let (vis, name) = (&input.vis, &input.ident);
    let (module, key) = (module(name), column(&key.ident));
    let columns = stored(fields).map(|it| {
        let (column, name) = (column(&it.ident), it.column_name());
        quote!(#column #name)
    });
    let parent = fields.0.iter().find_map(|it| {
        let parent = it.parent.as_ref()?;
        let is_own = last_segment(parent).is_some_and(|it| it == "Self");
        let reference = column(&it.ident);
        let parent = if is_own {
            quote!(#name)
        } else {
            quote!(#parent)
        };
        Some(quote!(#parent, #reference))
    });
    quote! {
        ::entity_core::sea_orm_entity! {
            #vis mod #module of #name, #table, key #key,
            columns { #(#columns),* },
            parents { #parent }
        }
    }
}

/// Returns the name of the module of the type `name`.
pub(crate) fn module(name: &Ident) -> Ident {
    to_ident(&name.unraw().to_string().to_snake_case(), name.span())
}

/// Returns the name of the column of the field `name` in Rust.
pub(crate) fn column(name: &Ident) -> Ident {
    to_ident(&name.unraw().to_string().to_upper_camel_case(), name.span())
}

/// Returns `name` as an identifier, even where it is a keyword.
fn to_ident(name: &str, span: Span) -> Ident {
    match syn::parse_str::<Ident>(name) {
        Ok(_) => Ident::new(name, span),
        Err(_) => Ident::new_raw(name, span),
    }
}
