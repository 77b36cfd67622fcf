//! Generates `impl Entity`, which every entity has, with or without a table.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{DeriveInput, LitStr};

use crate::attributes::TypeAttributes;
use crate::compared;
use crate::field::{Field, Fields, Storage};
use crate::look;

pub(crate) fn implement(
    input: &DeriveInput,
    attributes: &TypeAttributes,
    fields: &Fields,
) -> syn::Result<TokenStream> {
    let name = &input.ident;
    let doc = &attributes.doc;
    let is_prose = |it: &Field| it.prose == Some("Html") || it.has_role("Content");
    let is_unclear = |it: &&Field| is_prose(it) != it.prose.is_some();
    if let Some(content) = fields.0.iter().find(is_unclear) {
        return Err(syn::Error::new(
            content.ident.span(),
            "feeds show a `content` as HTML or as plain text: add `html` or `plain`, and `plain` to no other field",
        ));
    }
    let shown = fields.0.iter().filter(|it| it.is_shown());
    let schema = shown.map(Field::to_schema);
    let feed = feed(attributes, fields);
    let has_feed = feed.is_some();
    let event = attributes.event.as_ref().map(event);
    let has_events = event.is_some();
    let id = fields.role("Id").map(|it| &it.ident).ok_or_else(|| {
        syn::Error::new(
            name.span(),
            "mark the field that is the id with #[entity(id)]",
        )
    })?;
    let title = fields.role("Title").map(title);
    let own_site = || fields.0.iter().find(|it| it.is_own_site);
    let site = fields
        .role("Site")
        .or_else(own_site)
        .map(|it| borrowed(it, &quote!(site)));
    let has_site = site.is_some();
    let own_account = || fields.0.iter().find(|it| it.is_own_owner);
    let owner = fields
        .role("Owner")
        .or_else(own_account)
        .map(|it| borrowed(it, &quote!(owner)));
    let listed = listed(attributes, fields)?;
    let layout = look::layout(attributes.layout.as_ref())?;
    let icon = attributes
        .icon
        .as_ref()
        .map_or_else(String::new, LitStr::value);
    let (comparisons, compared) = compared::implement(input, fields);
    let version = version(attributes, fields);
    let updated = updated(fields);
    let told_once = attributes.told_once.as_ref().map(told_once);
    let asked = attributes.asked.as_ref().map(asked);
    let removal = attributes.removal.as_ref().map(removal);
    Ok(quote! {
        #comparisons
        const _: () = {
            static SCHEMA: ::entity_core::schema::Schema = ::entity_core::schema::Schema {
                doc: #doc,
                fields: &[#(#schema),*],
                has_feed: #has_feed,
                has_events: #has_events,
                has_site: #has_site,
                look: ::entity_core::schema::Look {
                    layout: ::entity_core::schema::Layout::#layout,
                    icon: #icon,
                    listed: &[#(#listed),*],
                },
            };
            impl ::entity_core::Entity for #name {
                fn schema() -> &'static ::entity_core::schema::Schema {
                    &SCHEMA
                }
                fn id(&self) -> ::std::borrow::Cow<'_, str> {
                    ::std::borrow::Cow::Borrowed(&self.#id)
                }
                #title #site #owner #version #updated #told_once #asked #removal #feed #event
            }
            #compared
        };
    })
}

/// Checks that the type has the fields that the page of a list is to show.
fn listed<'a>(attributes: &'a TypeAttributes, fields: &Fields) -> syn::Result<&'a [LitStr]> {
    let is_shown = |name: &LitStr| {
        let mut shown = fields.0.iter().filter(|it| it.is_shown());
        shown.any(|it| it.wire == name.value())
    };
    match attributes.listed.iter().find(|it| !is_shown(it)) {
        Some(unknown) => Err(syn::Error::new(
            unknown.span(),
            "no field has this name: write the names that clients see",
        )),
        None => Ok(&attributes.listed),
    }
}

fn title(field: &Field) -> TokenStream {
    let ident = &field.ident;
    let value = if field.is_optional {
        quote!(self.#ident.as_deref().map(::std::borrow::Cow::Borrowed))
    } else {
        quote!(::std::option::Option::Some(::std::borrow::Cow::Borrowed(&self.#ident)))
    };
    quote! {
        fn title(&self) -> ::std::option::Option<::std::borrow::Cow<'_, str>> {
            #value
        }
    }
}

fn borrowed(field: &Field, method: &TokenStream) -> TokenStream {
    let ident = &field.ident;
    let value = if field.is_optional {
        quote!(self.#ident.as_deref())
    } else {
        quote!(::std::option::Option::Some(&self.#ident))
    };
    quote! {
        fn #method(&self) -> ::std::option::Option<&str> {
            #value
        }
    }
}

fn version(attributes: &TypeAttributes, fields: &Fields) -> Option<TokenStream> {
    let value = match (
        &attributes.version,
        fields.role("Version"),
        fields.role("Updated"),
    ) {
        (Some(path), ..) => quote!(#path(self)),
        (None, Some(field), _) | (None, None, Some(field)) => {
            let (ident, id) = (&field.ident, fields.role("Id").map(|it| &it.ident));
            let joined = fields.0.iter();
            // Neither counts as a change of the row.
            let is_apart =
                |it: &&Field| matches!(it.storage, Storage::Joined(_)) || it.sight.is_some();
            let joined = joined.filter(is_apart);
            let joined = joined.map(|it| &it.ident);
            quote!(::entity_core::Version::of(&(&self.#id, &self.#ident, #(&self.#joined),*)))
        }
        (None, None, None) => return None,
    };
    Some(quote! {
        fn version(&self) -> ::std::option::Option<::entity_core::Version> {
            ::std::option::Option::Some(#value)
        }
    })
}

fn updated(fields: &Fields) -> Option<TokenStream> {
    let ident = &fields.role("Updated")?.ident;
    Some(quote! {
        fn updated(&self) -> ::std::option::Option<::entity_core::DateTimeUtc> {
            ::entity_core::wire::Instant::instant(&self.#ident)
        }
    })
}

fn told_once(path: &syn::Path) -> TokenStream {
    quote! {
        fn is_told_once(&self) -> bool {
            #path(self)
        }
    }
}

fn removal(path: &syn::Path) -> TokenStream {
    quote! {
        fn removal(&self, caller: ::std::option::Option<&str>) -> ::std::option::Option<&'static str> {
            ::std::option::Option::Some(#path(self, caller))
        }
    }
}

fn asked(path: &syn::Path) -> TokenStream {
    quote! {
        fn is_asked(
            entity: ::std::option::Option<&Self>,
            caller: ::std::option::Option<&str>,
            field: &str,
        ) -> bool {
            #path(entity, caller, field)
        }
    }
}

/// Generates the entry in feeds: by the function of the attribute, or from a title and a time.
fn feed(attributes: &TypeAttributes, fields: &Fields) -> Option<TokenStream> {
    let value = match (
        &attributes.feed,
        fields.role("Title"),
        fields.role("Updated").or_else(|| fields.role("Created")),
    ) {
        (Some(path), ..) => quote!(#path(self)),
        (None, Some(title), Some(updated)) if !title.is_optional && !updated.is_optional => {
            made(fields, title, updated)
        }
        _ => return None,
    };
    Some(quote! {
        fn feed_entry(&self) -> ::std::option::Option<::entity_core::FeedEntry> {
            ::std::option::Option::Some(#value)
        }
    })
}

/// Generates the entry in calendars, by the function of the attribute.
fn event(path: &syn::Path) -> TokenStream {
    quote! {
        fn event_entry(&self) -> ::std::option::Option<::entity_core::EventEntry> {
            ::std::option::Option::Some(#path(self))
        }
    }
}

fn made(fields: &Fields, title: &Field, updated: &Field) -> TokenStream {
    let (title, updated) = (&title.ident, &updated.ident);
    let published = match fields.role("Created") {
        Some(created) if !created.is_optional => {
            let created = &created.ident;
            quote!(::entity_core::wire::Instant::instant(&self.#created))
        }
        _ => quote!(::std::option::Option::None),
    };
    let content = if let Some(content) = fields.role("Content") {
        let ident = &content.ident;
        let kind = format_ident!("{}", content.prose.unwrap_or("Text"));
        let text = if content.is_optional {
            quote!(self.#ident.clone())
        } else {
            quote!(::std::option::Option::Some(self.#ident.clone()))
        };
        quote!(#text.map(::entity_core::Content::#kind))
    } else {
        quote!(::std::option::Option::None)
    };
    let part = |part: &str| {
        fields
            .0
            .iter()
            .find(|it| it.plays(part))
            .map(|it| &it.ident)
    };
    let author = if let Some(name) = part("author") {
        quote!(::std::option::Option::Some(self.#name.clone()).filter(|it| !it.is_empty()))
    } else {
        quote!(::std::option::Option::None)
    };
    let in_reply_to = if let Some(above) = part("reply") {
        quote! {
            self.#above.as_ref().map(|it| ::entity_core::Reference::entity(
                <Self as ::entity_core::Provider>::PREFIX,
                ::std::string::ToString::to_string(it),
            ))
        }
    } else {
        quote!(::std::option::Option::None)
    };
    let category = part("category").into_iter();
    let enclosures = if let Some(files) = part("files") {
        quote!(self.#files.to_enclosures())
    } else {
        quote!(::std::vec::Vec::new())
    };
    quote! {
        {
            let updated = ::entity_core::wire::Instant::instant(&self.#updated).unwrap_or_default();
            let mut entry = ::entity_core::FeedEntry::new(self.#title.clone(), updated);
            entry.published = #published;
            entry.author = #author;
            entry.content = #content;
            entry.categories = ::std::vec![#(self.#category.clone()),*];
            entry.enclosures = #enclosures;
            entry.in_reply_to = #in_reply_to;
            entry
        }
    }
}
