//! The code generated for a struct whose declaration is wrong: implementations that are never run, so that the compiler
//! says what is wrong with the declaration, and not as well that the struct is no entity.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{format_ident, quote};
use syn::{Data, DeriveInput};

use crate::compared;
use crate::orm;

pub(crate) fn stand_in(input: &DeriveInput) -> TokenStream {
    let name = &input.ident;
    let mut said = Vec::new();
    for attribute in input.attrs.iter().filter(|it| it.path().is_ident("entity")) {
        if let syn::Meta::List(list) = &attribute.meta {
            names(list.tokens.clone(), &mut said);
        }
    }
    let is_said = |word: &str| said.iter().any(|it| it == word);
    let provider = is_said("prefix").then(|| provider(name));
    let verbs = ["read", "list", "create", "update", "delete"];
    let verbs = verbs
        .into_iter()
        .filter(|it| is_said("verbs") && is_said(it));
    let verbs = verbs.map(|it| verb(name, it));
    let record = (is_said("table") || is_said("verbs")).then(|| record(input));
    let compared = compared::stand_in(input);
    quote! {
        #compared
        #[automatically_derived]
        impl ::entity_core::Entity for #name {
            fn schema() -> &'static ::entity_core::schema::Schema { ::std::unreachable!() }
            fn id(&self) -> ::std::borrow::Cow<'_, str> { ::std::unreachable!() }
        }
        #provider #(#verbs)* #record
    }
}

/// Collects the names in `tokens`, at any depth.
fn names(tokens: TokenStream, found: &mut Vec<Ident>) {
    for token in tokens {
        match token {
            TokenTree::Ident(name) => found.push(name),
            TokenTree::Group(group) => names(group.stream(), found),
            _ => {}
        }
    }
}

fn provider(name: &Ident) -> TokenStream {
    quote! {
        #[automatically_derived]
        impl ::entity_core::Provider for #name {
            type Entity = Self;
            const PREFIX: &'static str = "";
            const ACCESS: ::entity_core::Access = ::entity_core::Access::SUPERUSER;
        }
    }
}

fn verb(name: &Ident, verb: &str) -> TokenStream {
    let cx = quote!(_: &::entity_core::Context);
    match verb {
        "read" => quote! {
            #[automatically_derived]
            impl ::entity_core::Read for #name {
                async fn read(#cx, _: &str) -> ::entity_core::Result<::std::option::Option<Self>> {
                    ::std::unreachable!()
                }
            }
        },
        "list" => quote! {
            #[automatically_derived]
            impl ::entity_core::List for #name {
                async fn list(
                    #cx,
                    _: &::entity_core::Search,
                ) -> ::entity_core::Result<::entity_core::Page<Self>> {
                    ::std::unreachable!()
                }
            }
        },
        "create" => quote! {
            #[automatically_derived]
            impl ::entity_core::Create for #name {
                type Draft = ::entity_core::Fields;
                fn site(_: &Self::Draft) -> ::std::option::Option<&str> { ::std::unreachable!() }
                async fn create(#cx, _: Self::Draft) -> ::entity_core::Result<Self> {
                    ::std::unreachable!()
                }
            }
        },
        "update" => quote! {
            #[automatically_derived]
            impl ::entity_core::Update for #name {
                type Changes = ::entity_core::Fields;
                async fn update(#cx, _: Self, _: Self::Changes) -> ::entity_core::Result<Self> {
                    ::std::unreachable!()
                }
            }
        },
        _ => quote! {
            #[automatically_derived]
            impl ::entity_core::Delete for #name {
                async fn delete(#cx, _: Self) -> ::entity_core::Result<()> { ::std::unreachable!() }
            }
        },
    }
}

fn record(input: &DeriveInput) -> TokenStream {
    let (vis, name) = (&input.vis, &input.ident);
    let module = orm::module(name);
    let mut columns: Vec<Ident> = match &input.data {
        Data::Struct(data) => data
            .fields
            .iter()
            .flat_map(|it| &it.ident)
            .map(orm::column)
            .collect(),
        _ => Vec::new(),
    };
    if columns.is_empty() {
        columns.push(format_ident!("Id"));
    }
    let key = columns.first();
    let none = quote!(::std::option::Option::None);
    let fields = quote!(_: &::entity_core::Context, _: ::entity_core::Fields);
    quote! {
        ::entity_core::sea_orm_entity! {
            #vis mod #module of #name, "", key #key, columns { #(#columns ""),* }, parents {}
        }
        #[automatically_derived]
        impl ::entity_core::db::Record for #name {
            type Table = #module::Entity;
            const TABLE: &'static str = "";
            const COLUMNS: &'static [(&'static str, ::entity_core::db::ColumnType, bool)] = &[];
            const WRITTEN: &'static [&'static str] = &[];
            const KEY: &'static str = "";
            const OWNER: ::std::option::Option<&'static str> = #none;
            const TAKEN: ::std::option::Option<&'static str> = #none;
            const VERSION: ::std::option::Option<&'static str> = #none;
            const JOINS: &'static str = "";
            const IS_DERIVED: bool = false;
            const SIGHT: ::std::option::Option<::entity_core::db::RowPolicy> = #none;
            const REDACTED: &'static [::entity_core::db::RedactedField] = &[];
            const GROUPS: ::std::option::Option<::entity_core::db::GroupTable> = #none;
            const GROUPS_FIELD: &'static str = "";
            const POSITION: ::std::option::Option<&'static str> = #none;
            fn select() -> &'static [&'static str] { &[] }
            fn from_row(
                _: &::entity_core::Context,
                _: &mut ::entity_core::db::Row<'_>,
            ) -> ::entity_core::Result<Self> {
                ::std::unreachable!()
            }
            fn make(#fields) -> ::entity_core::Result<Self> { ::std::unreachable!() }
            fn change(&mut self, #fields) -> ::entity_core::Result<()> { ::std::unreachable!() }
            fn values(&self) -> ::std::vec::Vec<::entity_core::sea_orm::Value> { ::std::unreachable!() }
            fn key(&self) -> &str { ::std::unreachable!() }
        }
    }
}
