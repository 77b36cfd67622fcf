//! `#[derive(Row)]`: reading a struct from the columns of a row.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Fields};

/// Generates `FromRow`, which reads the fields in their order.
pub(crate) fn expand(input: &DeriveInput) -> syn::Result<TokenStream> {
    let no_struct = || syn::Error::new(input.ident.span(), "a row is a struct with named fields");
    let Data::Struct(data) = &input.data else {
        return Err(no_struct());
    };
    let Fields::Named(fields) = &data.fields else {
        return Err(no_struct());
    };
    let names = fields.named.iter().map(|it| &it.ident);
    let types = fields.named.iter().map(|it| &it.ty);
    let ident = &input.ident;
    let (own, of, bounds) = input.generics.split_for_impl();
    Ok(quote! {
        impl #own ::entity_core::db::FromRow for #ident #of #bounds {
            fn from_row(
                row: &mut ::entity_core::db::Row<'_>,
            ) -> ::std::result::Result<Self, ::entity_core::sea_orm::DbErr> {
                ::std::result::Result::Ok(Self {
                    #(#names: <#types as ::entity_core::db::FromRow>::from_row(row)?,)*
                })
            }
        }
    })
}
