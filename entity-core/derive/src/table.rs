//! Generates a complete provider over one table: `impl Table`, `impl Provider` and the requested verbs.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{DeriveInput, Ident, LitStr};

use crate::attributes::{Access, TypeAttributes};
use crate::field::Fields;

pub(crate) fn implement(
    input: &DeriveInput,
    attributes: &TypeAttributes,
    fields: &Fields,
) -> syn::Result<TokenStream> {
    let name = &input.ident;
    let table = attributes
        .table
        .as_ref()
        .map(|it| implement_table(name, it, fields));
    let Some(prefix) = &attributes.prefix else {
        return Ok(quote!(#table));
    };
    let Some(access) = &attributes.access else {
        return Err(syn::Error::new(
            prefix.span(),
            "say who may read and write: access = Public | Session | Superuser | Site(\"stem\")",
        ));
    };
    let access = to_access(access);
    let plural = attributes
        .plural
        .iter()
        .map(|it| quote!(::std::option::Option::Some(#it)));
    let verbs = attributes
        .verbs
        .iter()
        .map(|it| implement_verb(name, it, fields))
        .collect::<syn::Result<Vec<_>>>()?;
    if table.is_none() && !verbs.is_empty() {
        return Err(syn::Error::new(
            prefix.span(),
            "verbs(…) need a table = \"…\" to work on",
        ));
    }
    Ok(quote! {
        #table
        impl ::entity_core::Provider for #name {
            type Entity = Self;
            const PREFIX: &'static str = #prefix;
            #(const PLURAL: ::std::option::Option<&'static str> = #plural;)*
            const ACCESS: ::entity_core::Access = #access;
        }
        #(#verbs)*
    })
}

fn implement_table(name: &Ident, table: &LitStr, fields: &Fields) -> TokenStream {
    let idents: Vec<_> = fields.0.iter().map(|it| &it.ident).collect();
    let types: Vec<_> = fields.0.iter().map(|it| &it.ty).collect();
    let columns: Vec<_> = fields
        .0
        .iter()
        .map(crate::field::Field::column_name)
        .collect();
    quote! {
        impl ::entity_core::db::Table for #name {
            const TABLE: &'static str = #table;
            const COLUMNS: &'static [(&'static str, ::entity_core::db::ColumnType, bool)] = &[
                #((
                    #columns,
                    <#types as ::entity_core::db::Column>::TYPE,
                    <#types as ::entity_core::db::Column>::IS_NULLABLE,
                )),*
            ];
            fn values(&self) -> ::std::vec::Vec<::entity_core::sea_orm::Value> {
                ::std::vec![#(::entity_core::db::Column::to_value(&self.#idents)),*]
            }
            fn from_row(
                row: &mut ::entity_core::db::Row<'_>,
            ) -> ::std::result::Result<Self, ::entity_core::sea_orm::DbErr> {
                ::std::result::Result::Ok(Self {
                    #(#idents: row.take()?),*
                })
            }
        }
    }
}

fn to_access(access: &Access) -> TokenStream {
    match access {
        Access::Named(constant) => quote!(::entity_core::Access::#constant),
        Access::Site(stem) => quote! {
            ::entity_core::Access {
                read: ::entity_core::Need::Site(::std::concat!(#stem, ".read")),
                create: ::entity_core::Need::Site(::std::concat!(#stem, ".new")),
                update: ::entity_core::Need::SiteOrOwn(
                    ::std::concat!(#stem, ".revise.any"),
                    ::std::concat!(#stem, ".revise.own"),
                ),
                delete: ::entity_core::Need::SiteOrOwn(
                    ::std::concat!(#stem, ".delete.any"),
                    ::std::concat!(#stem, ".delete.own"),
                ),
            }
        },
    }
}

fn implement_verb(name: &Ident, verb: &Ident, fields: &Fields) -> syn::Result<TokenStream> {
    Ok(match verb.to_string().as_str() {
        "read" => quote! {
            impl ::entity_core::Read for #name {
                async fn read(cx: &::entity_core::Context, id: &str) -> ::entity_core::Result<::std::option::Option<Self>> {
                    ::entity_core::db::read(cx, id).await
                }
                async fn read_many(
                    cx: &::entity_core::Context,
                    ids: &[::std::string::String],
                ) -> ::entity_core::Result<::std::vec::Vec<Self>> {
                    ::entity_core::db::read_many(cx, ids).await
                }
            }
        },
        "list" => quote! {
            impl ::entity_core::List for #name {
                async fn list(
                    cx: &::entity_core::Context,
                    search: &::entity_core::Search,
                ) -> ::entity_core::Result<::entity_core::Page<Self>> {
                    ::entity_core::db::list(cx, search).await
                }
                async fn count(
                    cx: &::entity_core::Context,
                    search: &::entity_core::Search,
                ) -> ::entity_core::Result<::std::option::Option<u64>> {
                    ::entity_core::db::count::<Self>(cx, search).await.map(::std::option::Option::Some)
                }
            }
        },
        "create" => {
            let site = site(fields);
            quote! {
                impl ::entity_core::Create for #name {
                    type Draft = ::entity_core::Fields;
                    fn site(draft: &Self::Draft) -> ::std::option::Option<&str> {
                        #site
                    }
                    async fn create(cx: &::entity_core::Context, draft: Self::Draft) -> ::entity_core::Result<Self> {
                        ::entity_core::db::create(cx, draft).await
                    }
                }
            }
        }
        "update" => quote! {
            impl ::entity_core::Update for #name {
                type Changes = ::entity_core::Fields;
                async fn update(
                    cx: &::entity_core::Context,
                    current: Self,
                    changes: Self::Changes,
                ) -> ::entity_core::Result<Self> {
                    ::entity_core::db::update(cx, current, changes).await
                }
            }
        },
        "delete" => quote! {
            impl ::entity_core::Delete for #name {
                async fn delete(cx: &::entity_core::Context, current: Self) -> ::entity_core::Result<()> {
                    ::entity_core::db::delete(cx, current).await
                }
            }
        },
        _ => {
            return Err(syn::Error::new(
                verb.span(),
                "the verbs are read, list, create, update and delete",
            ));
        }
    })
}

fn site(fields: &Fields) -> TokenStream {
    let Some(field) = fields.role("Site") else {
        return quote!({
            let _ = draft;
            ::std::option::Option::None
        });
    };
    let wire = &field.wire;
    quote!(draft.text(#wire))
}
