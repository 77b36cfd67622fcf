//! `#[derive(Entity)]`: a struct's fields become a schema and, where it says so, a whole provider over a table.
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

/// Implements `entity_core::Entity`, and a table-backed provider where the struct names a prefix and a table.
///
/// On the struct, `#[entity(…)]`:
///
/// | attribute | meaning |
/// |---|---|
/// | `prefix = "poll"` | the type's prefix; makes the struct its own provider |
/// | `table = "poll"` | the table that the service makes and looks after |
/// | `access = Site("poll")` | `Public`, `Session`, `Superuser`, or the functions of a stem in the entity's site |
/// | `verbs(read, list, create, update, delete)` | the verbs that are written for you; leave one out to write it by hand |
/// | `feed = path` | a `fn(&Self) -> FeedEntry`; without it a title, an `updated` field and a table make one |
/// | `event = path` | a `fn(&Self) -> EventEntry`; with it calendars show the entities |
/// | `version = path` | a `fn(&Self) -> Version`; without it a field with the role `version` is used |
/// | `plural = "People"` | what people call several of them; without it, it is made of the prefix |
///
/// On a field:
///
/// | attribute | meaning |
/// |---|---|
/// | `id`, `title`, `site`, `owner`, `created`, `updated`, `version`, `content` | the part it plays; `id, site` for an entity that is a site itself |
/// | `required` | an entity can't be created without it |
/// | `writable`, `on_create`, `read_only` | when clients may write it; fields of a table are writable unless they play a part that the service fills |
/// | `search` | `_search` looks into it |
/// | `html` | sanitised HTML; the provider sanitises it on the way in |
/// | `max = 200` | most characters |
/// | `email`, `address`, `password`, `new_password` | what its text is for: forms and pages treat it accordingly |
/// | `choices("course", "project")` | the only texts that clients may write into it |
/// | `default = "true"` | what new entities have in it, as text, if the client says nothing |
/// | `kind = Millis` | the kind, where the type does not tell |
/// | `sent = Vec<NewFile>` | the type of what clients send for a list or an object, where it is not the field's own; it needs `schemars::JsonSchema` |
/// | `column`, `column = "name"` | lists can be filtered and ordered by it; every field of a table is a column |
/// | `references = "user"` | it holds the id of an entity of this prefix, which `_expand` shows beside it |
/// | `skip` | it is no part of the schema |
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
