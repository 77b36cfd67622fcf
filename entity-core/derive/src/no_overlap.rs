//! `no_overlap(item, start, end, only = "…")`: the time of rows of which no two are at once.

use proc_macro2::TokenStream;
use quote::quote;
use syn::meta::ParseNestedMeta;
use syn::parse::Parse as _;
use syn::{Ident, LitStr, Token, parenthesized};

use crate::field::{Field, Fields};

/// The fields in the order in which they are written, and the condition with which a row counts.
pub(crate) struct NoOverlap {
    fields: Vec<Ident>,
    only: Option<LitStr>,
}

impl NoOverlap {
    pub(crate) fn parse(meta: &ParseNestedMeta<'_>) -> syn::Result<Self> {
        let content;
        parenthesized!(content in meta.input);
        let (mut fields, mut only) = (Vec::new(), None);
        while !content.is_empty() {
            let name = Ident::parse(&content)?;
            if name == "only" && content.peek(Token![=]) {
                content.parse::<Token![=]>()?;
                only = Some(content.parse()?);
            } else {
                fields.push(name);
            }
            if !content.is_empty() {
                content.parse::<Token![,]>()?;
            }
        }
        match fields.len() {
            0..3 => Err(meta.error(
                "name the fields in which entities agree that must not overlap, that with the beginning and that with the end: \
                 no_overlap(item, start, end)",
            )),
            _ => Ok(Self { fields, only }),
        }
    }

    /// Generates the constant of the record.
    pub(crate) fn constant(&self, kind: &LitStr, fields: &Fields) -> syn::Result<TokenStream> {
        let mut columns = Vec::new();
        for name in &self.fields {
            let field = fields.0.iter().find(|it| it.ident == *name);
            let column = field.filter(|it| it.is_stored());
            columns.push(column.map(Field::column_name).ok_or_else(|| {
                syn::Error::new(name.span(), "no field of this name has a column")
            })?);
        }
        let end = columns.pop();
        let start = columns.pop();
        let only = self.only.as_ref().map(LitStr::value);
        let only = only.map_or_else(String::new, |it| format!(" AND ({it})"));
        let message = format!("its time overlaps with that of another {}", kind.value());
        Ok(quote! {
            const NO_OVERLAP: ::std::option::Option<::entity_core::db::NoOverlap> =
                ::std::option::Option::Some(::entity_core::db::NoOverlap {
                    same: &[#(#columns),*],
                    start: #start,
                    end: #end,
                    only: #only,
                    message: #message,
                });
        })
    }
}
