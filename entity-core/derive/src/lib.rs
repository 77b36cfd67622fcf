//! `#[derive(Entity)]`: generates a schema from the fields of a struct and, if declared, a provider over a table.
//!
//! The attributes are listed at [`Entity`](derive@Entity).

mod attributes;
mod entity;
mod field;
mod table;

use proc_macro::TokenStream;
use quote::quote;
use syn::{DeriveInput, parse_macro_input};

use crate::attributes::TypeAttributes;
use crate::field::Fields;

/// Implements `entity_core::Entity`, and a table-backed provider if the struct names a prefix and a table.
///
/// On the struct, `#[entity(…)]`:
///
/// | attribute | meaning |
/// |---|---|
/// | `prefix = "poll"` | the type's prefix; makes the struct its own provider |
/// | `table = "poll"` | the table, which the service creates and maintains |
/// | `access = Site("poll")` | `Public`, `Session`, `Superuser`, or the functions of a stem in the entity's site |
/// | `verbs(read, list, create, update, delete)` | the verbs to implement; leave one out to implement it by hand |
/// | `feed = path` | a `fn(&Self) -> FeedEntry`; without it, the entry is made from a title and an `updated` or `created` field, if neither is an `Option` |
/// | `event = path` | a `fn(&Self) -> EventEntry`; with it, calendars show the entities |
/// | `version = path` | a `fn(&Self) -> Version`; without it, the version is made from the id and the field with the role `version` or, without one, `updated` |
/// | `plural = "People"` | the label for several entities; without it, the label is made from the prefix |
///
/// On a field:
///
/// | attribute | meaning |
/// |---|---|
/// | `id`, `title`, `site`, `owner`, `created`, `updated`, `version`, `content` | the role of the field; `id, site` for an entity that is a site itself |
/// | `required` | an entity can't be created without this field |
/// | `writable`, `on_create`, `read_only` | when clients may write the field; by default, fields of a table are writable (the `site` on creation only) unless they have a role that the service fills |
/// | `search` | `_search` looks into this field |
/// | `html` | HTML, which the service sanitises on the way in |
/// | `max = 200` | the maximum number of characters |
/// | `email`, `address`, `password`, `new_password` | the meaning of the text: forms and pages treat it accordingly |
/// | `choices("course", "project")` | the only texts that clients may write |
/// | `default = "true"` | the value of new entities, as text, if the client sends none |
/// | `kind = Millis` | the kind of the field, where its type does not tell |
/// | `sent = Vec<NewFile>` | the type of the value that clients send for a list or an object, if it is not the field's own type; the type must implement `schemars::JsonSchema` |
/// | `column`, `column = "name"` | lists can be filtered and ordered by this field; every field of a table is a column |
/// | `references = "user"` | the field holds the id of an entity of this prefix, which `_expand` shows beside the field |
/// | `skip` | the field is no part of the schema |
#[proc_macro_derive(Entity, attributes(entity))]
pub fn derive_entity(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    expand(&input)
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}

fn expand(input: &DeriveInput) -> syn::Result<proc_macro2::TokenStream> {
    let attributes = TypeAttributes::parse(input)?;
    let fields = Fields::parse(input, &attributes)?;
    let entity = entity::implement(input, &attributes, &fields)?;
    let table = table::implement(input, &attributes, &fields)?;
    Ok(quote! { #entity #table })
}
