//! `#[standard(…)]`: fields that many records have, and that no client sees.

use proc_macro2::TokenStream;
use quote::{ToTokens as _, quote};
use syn::parse::Parser as _;
use syn::punctuated::Punctuated;
use syn::{Data, DeriveInput, Field, Fields, Ident, Token, Visibility};

/// The message about an argument that names no field.
const KNOWN: &str = "expected `version` or `facts`";
/// The message about something else than a struct with named fields.
const NO_STRUCT: &str = "`standard` adds fields to a struct with named fields";

/// Adds the fields that `arguments` name to the end of the struct. They are as visible as the struct.
pub(crate) fn expand(arguments: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    let names = Punctuated::<Ident, Token![,]>::parse_terminated.parse2(arguments)?;
    let mut input: DeriveInput = syn::parse2(item)?;
    let no_struct = syn::Error::new(input.ident.span(), NO_STRUCT);
    let Data::Struct(data) = &mut input.data else {
        return Err(no_struct);
    };
    let Fields::Named(fields) = &mut data.fields else {
        return Err(no_struct);
    };
    for name in names {
        fields.named.push(field(&name, &input.vis)?);
    }
    Ok(input.into_token_stream())
}

fn field(name: &Ident, visibility: &Visibility) -> syn::Result<Field> {
    let tokens = match name.to_string().as_str() {
        "version" => quote! {
            /// The number of its changes.
            #[serde(skip)]
            #[entity(version, hidden)]
            #visibility #name: i64
        },
        "facts" => quote! {
            /// The answers about its row to the rule about who sees it.
            #[serde(skip)]
            #[entity(facts)]
            #visibility #name: ::entity_core::db::Facts
        },
        _ => return Err(syn::Error::new(name.span(), KNOWN)),
    };
    Field::parse_named.parse2(tokens)
}
