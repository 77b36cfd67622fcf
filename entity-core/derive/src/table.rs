//! Generates a complete provider over one table: `impl Record`, `impl Provider` and the requested verbs.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{DeriveInput, Ident, LitStr};

use crate::attributes::{Access, TypeAttributes};
use crate::field::{Field, Fields};
use crate::record;

pub(crate) fn implement(
    input: &DeriveInput,
    attributes: &TypeAttributes,
    fields: &Fields,
) -> syn::Result<TokenStream> {
    let name = &input.ident;
    let is_redacted = |it: &&Field| it.sight.is_some();
    if attributes.table.is_none()
        && let Some(field) = fields.0.iter().find(is_redacted)
    {
        return Err(syn::Error::new(
            field.ident.span(),
            "a rule about who sees a field needs a table = \"…\"",
        ));
    }
    let table = attributes
        .table
        .as_ref()
        .map(|it| record::implement(input, it, attributes, fields))
        .transpose()?;
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
    let by_sight = attributes
        .sight
        .as_ref()
        .map(|_| quote!(::entity_core::db::permits));
    let done = attributes.done.iter().map(is_done);
    let check_archived = attributes.check_archived.iter().map(check_archived);
    let for_holders = &attributes.for_holders;
    let by_function = attributes.permits.as_ref().map(|it| quote!(#it));
    let permits = by_function.or(by_sight).as_ref().map(permits);
    let some = |it| quote!(::std::option::Option::Some(#it));
    let plural = attributes.plural.iter().map(some);
    let singular = attributes.singular.iter().map(some);
    let own = attributes.own.iter().map(some);
    let tool = attributes.tool.iter();
    let verbs = attributes
        .verbs
        .iter()
        .map(|it| implement_verb(name, it, attributes, fields))
        .collect::<syn::Result<Vec<_>>>()?;
    if table.is_none() && !verbs.is_empty() {
        return Err(syn::Error::new(
            prefix.span(),
            "verbs(…) need a table = \"…\" to work on",
        ));
    }
    let unarchived = attributes.is_unarchived.then(|| {
        quote!(
            const IS_ARCHIVED: bool = false;
        )
    });
    let unlisted = attributes.is_unlisted.then(|| {
        quote!(
            const IS_UNLISTED: bool = true;
        )
    });
    let cause = attributes.deadline.as_ref().map(|_| cause(name));
    Ok(quote! {
        #table
        #cause
        impl ::entity_core::Provider for #name {
            type Entity = Self;
            const PREFIX: &'static str = #prefix;
            #(const PLURAL: ::std::option::Option<&'static str> = #plural;)*
            #(const OWN: ::std::option::Option<&'static str> = #own;)*
            #(const TOOL: &'static str = #tool;)*
            #(const SINGULAR: ::std::option::Option<&'static str> = #singular;)*
            const ACCESS: ::entity_core::Access = #access;
            const FOR_HOLDERS: &'static [&'static str] = &[#(#for_holders),*];
            #unarchived #unlisted
            #permits
            #(#done)*
            #(#check_archived)*
        }
        #(#verbs)*
    })
}

/// Generates the decision about one entity by this function.
fn permits(function: &TokenStream) -> TokenStream {
    quote! {
        async fn permits(
            cx: &::entity_core::Context,
            entity: &Self,
            operation: ::entity_core::Operation,
        ) -> ::entity_core::Result<::entity_core::Permit> {
            #function(cx, entity, operation).await
        }
    }
}

/// Generates the answer of this function whether the caller has done what an entity asks for.
fn is_done(function: &syn::Path) -> TokenStream {
    quote! {
        async fn is_done(
            cx: &::entity_core::Context,
            entity: &Self,
        ) -> ::entity_core::Result<::std::option::Option<bool>> {
            #function(entity, cx).await.map(::std::option::Option::Some)
        }
    }
}

/// Generates the check of a row that comes with an archive by this function.
fn check_archived(function: &syn::Path) -> TokenStream {
    quote! {
        fn check_archived(
            row: &::entity_core::serde_json::Map<::std::string::String, ::entity_core::serde_json::Value>,
            site: &str,
        ) -> ::std::result::Result<(), ::std::string::String> {
            #function(row, site)
        }
    }
}

fn to_access(access: &Access) -> TokenStream {
    match access {
        Access::Named(constant) => quote!(::entity_core::Access::#constant),
        Access::Value(value) => quote!(#value),
        Access::Site(stem) => in_site(
            stem,
            &quote!(::entity_core::Need::Site(::std::concat!(#stem, ".read"))),
        ),
        Access::PublicSite(stem) => in_site(
            stem,
            &quote! {
                ::entity_core::Need::PublicView(
                    ::std::concat!(#stem, ".read"),
                    &::entity_core::Need::Site(::std::concat!(#stem, ".read")),
                )
            },
        ),
    }
}

fn in_site(stem: &LitStr, read: &TokenStream) -> TokenStream {
    quote! {
        ::entity_core::Access {
            read: #read,
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
    }
}

fn implement_verb(
    name: &Ident,
    verb: &Ident,
    attributes: &TypeAttributes,
    fields: &Fields,
) -> syn::Result<TokenStream> {
    Ok(match verb.to_string().as_str() {
        "read" => read(name, attributes),
        "list" => list(name, attributes, fields),
        "create" => create(name, attributes, fields)?,
        "update" => update(name, attributes),
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

/// Generates the reading of one entity, with the fields that only a single one has, and of several.
fn read(name: &Ident, attributes: &TypeAttributes) -> TokenStream {
    let whole = attributes.whole.as_ref().map(|path| {
        quote! {
            let mut found = found;
            if let ::std::option::Option::Some(entity) = &mut found {
                #path(entity, cx).await?;
            }
        }
    });
    quote! {
        impl ::entity_core::Read for #name {
            async fn read(cx: &::entity_core::Context, id: &str) -> ::entity_core::Result<::std::option::Option<Self>> {
                let found: ::std::option::Option<Self> = ::entity_core::db::read(cx, id).await?;
                #whole
                ::std::result::Result::Ok(found)
            }
            async fn read_many(
                cx: &::entity_core::Context,
                ids: &[::std::string::String],
            ) -> ::entity_core::Result<::std::vec::Vec<Self>> {
                ::entity_core::db::read_many(cx, ids).await
            }
        }
    }
}

/// Generates the creation of an entity, which draws its number if it has one.
fn create(name: &Ident, attributes: &TypeAttributes, fields: &Fields) -> syn::Result<TokenStream> {
    let site = site(fields);
    let number = match attributes.is_numbered {
        true => {
            let wire = &record::key(name, fields)?.wire;
            Some(quote! {
                let mut draft = draft;
                let number = ::entity_core::db::new_number::<Self>(cx).await?;
                draft.0.insert(#wire.into(), number.into());
            })
        }
        false => None,
    };
    Ok(quote! {
        impl ::entity_core::Create for #name {
            type Draft = ::entity_core::Fields;
            fn site(draft: &Self::Draft) -> ::std::option::Option<&str> {
                #site
            }
            async fn create(cx: &::entity_core::Context, draft: Self::Draft) -> ::entity_core::Result<Self> {
                #number
                ::entity_core::db::create(cx, draft).await
            }
        }
    })
}

/// Generates the change of an entity. The answer has the fields that only a single entity has.
fn update(name: &Ident, attributes: &TypeAttributes) -> TokenStream {
    let changed = if let Some(path) = &attributes.whole {
        quote! {
            let changed = ::std::boxed::Box::pin(::entity_core::db::update(cx, current, changes));
            let mut changed: Self = changed.await?;
            #path(&mut changed, cx).await?;
            ::std::result::Result::Ok(changed)
        }
    } else {
        quote!(::entity_core::db::update(cx, current, changes).await)
    };
    quote! {
        impl ::entity_core::Update for #name {
            type Changes = ::entity_core::Fields;
            async fn update(
                cx: &::entity_core::Context,
                current: Self,
                changes: Self::Changes,
            ) -> ::entity_core::Result<Self> {
                #changed
            }
        }
    }
}

/// Generates the list and its count.
fn list(name: &Ident, attributes: &TypeAttributes, fields: &Fields) -> TokenStream {
    let order = attributes.order.iter();
    let max = attributes.max.iter();
    let parameters = attributes.parameters.iter();
    let narrowed = attributes.narrow.as_ref().map(|it| {
        quote! {
            let mut search = search.clone();
            #it(cx, &mut search).await?;
            let search = &search;
        }
    });
    let over = fields.0.iter().find(|it| it.plays("over")).map(|it| {
        let name = it.column_name();
        let sql = format!("CASE WHEN this.\"{name}\" < {{now}} THEN this.\"{name}\" ELSE {{now}} END");
        quote!(::entity_core::schema::Field::new("", ::entity_core::schema::Kind::Millis, "").joined(#sql))
    });
    let over = over.iter();
    quote! {
    impl ::entity_core::List for #name {
        #(const OVER: ::std::option::Option<&'static ::entity_core::schema::Field> = ::std::option::Option::Some(&#over);)*
        #(const ORDER: &'static str = #order;)*
        #(const MAX: u64 = #max;)*
        #(const PARAMETERS: &'static [(&'static str, &'static str)] = #parameters;)*
        async fn list(
            cx: &::entity_core::Context,
            search: &::entity_core::Search,
        ) -> ::entity_core::Result<::entity_core::Page<Self>> {
            #narrowed
            ::entity_core::db::list(cx, search).await
        }
        async fn count(
            cx: &::entity_core::Context,
            search: &::entity_core::Search,
        ) -> ::entity_core::Result<::std::option::Option<u64>> {
            #narrowed
            ::entity_core::db::count::<Self>(cx, search).await.map(::std::option::Option::Some)
        }
    }
    }
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

/// Lets the deadline in the calendar be as hidden as its entity.
fn cause(name: &Ident) -> TokenStream {
    quote!(::entity_core::register_cause!(#name);)
}
