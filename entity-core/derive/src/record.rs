//! Generates `impl Record`: how a row is read and written.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned as _;
use syn::{DeriveInput, Ident, LitStr};

use crate::attributes::TypeAttributes;
use crate::children;
use crate::computed::computing;
use crate::field::{Field, Fields, Storage};
use crate::hooks;
use crate::orm;
use crate::people;
use crate::redacted::redacted;
use crate::unique;

pub(crate) fn implement(
    input: &DeriveInput,
    table: &LitStr,
    attributes: &TypeAttributes,
    fields: &Fields,
) -> syn::Result<TokenStream> {
    let name = &input.ident;
    let key = key(name, fields)?;
    let (entity, module) = (orm::implement(input, table, key, fields), orm::module(name));
    let (key_ident, key_column) = (&key.ident, key.column_name());
    let joins = attributes.joins.concat() + &people::joins(fields)?;
    let sight = option(attributes.sight.as_ref().map(|it| quote!(#it)));
    let source = option(attributes.source.as_ref().map(|it| quote!(#it)));
    let (version, position) = (column_of_role(fields, "Version"), position(fields));
    let (columns, values) = columns(fields);
    let kind = attributes.prefix.as_ref().unwrap_or(table);
    let further_columns = further_columns(attributes, fields, kind)?;
    let select = select(fields);
    let reading = reading(fields);
    let making = making(name, fields);
    let changes = changes(fields);
    let owner = owner(fields);
    let taken = option(unique::taken(kind, fields));
    let redacted = redacted(fields)?;
    let computing = computing(fields)?;
    let facts = facts(fields, name, attributes)?;
    let groups = groups(table, fields);
    let (children, parent) = (
        children::methods(fields),
        children::parent(attributes, fields)?,
    );
    let child_types = children::types(name, fields)?;
    let maker_pays = attributes.maker_pays;
    let touch = hooks::touch(fields);
    let (settle, complete) = (hooks::settle(attributes), hooks::complete(attributes));
    let is_expression = |it: &Field| matches!(it.storage, Storage::Joined(_));
    let is_derived = attributes.complete.is_some() || fields.0.iter().any(is_expression);
    Ok(quote! {
        #entity
        impl ::entity_core::db::Record for #name {
            type Table = #module::Entity;
            const TABLE: &'static str = #table;
            const COLUMNS: &'static [(&'static str, ::entity_core::db::ColumnType, bool)] = &[#columns];
            #further_columns
            const KEY: &'static str = #key_column;
            const OWNER: ::std::option::Option<&'static str> = #owner;
            const MAKER_PAYS: bool = #maker_pays;
            const TAKEN: ::std::option::Option<&'static str> = #taken;
            const VERSION: ::std::option::Option<&'static str> = #version;
            const SOURCE: ::std::option::Option<&'static str> = #source;
            const JOINS: &'static str = #joins;
            const IS_DERIVED: bool = #is_derived #(|| <#child_types as ::entity_core::db::Record>::IS_DERIVED)*;
            const SIGHT: ::std::option::Option<::entity_core::db::RowPolicy> = #sight;
            #position
            fn select() -> &'static [&'static str] {
                &[#select]
            }
            fn from_row(
                cx: &::entity_core::Context,
                row: &mut ::entity_core::db::Row<'_>,
            ) -> ::entity_core::Result<Self> {
                #reading
            }
            fn make(
                cx: &::entity_core::Context,
                mut fields: ::entity_core::Fields,
            ) -> ::entity_core::Result<Self> {
                #making
            }
            fn change(
                &mut self,
                cx: &::entity_core::Context,
                mut fields: ::entity_core::Fields,
            ) -> ::entity_core::Result<()> {
                #changes
                ::std::result::Result::Ok(())
            }
            fn values(&self) -> ::std::vec::Vec<::entity_core::sea_orm::Value> {
                ::std::vec![#values]
            }
            fn key(&self) -> &str {
                &self.#key_ident
            }
            #redacted #computing #facts #groups #parent #children #touch #settle #complete
        }
    })
}

impl Field {
    /// Returns whether the field is text that clients write into a column.
    fn is_written_text(&self) -> bool {
        let is_text = ["Text", "Html", "List", "Object"];
        let kind = self.kind_name();
        self.is_writable() && self.is_stored() && is_text.iter().any(|it| kind.starts_with(it))
    }
}

/// Returns the field that is the key of the row: the one that is declared, or the id.
pub(crate) fn key<'a>(name: &Ident, fields: &'a Fields) -> syn::Result<&'a Field> {
    let declared = fields
        .0
        .iter()
        .find(|it| matches!(it.storage, Storage::Key));
    let id = || fields.role("Id").filter(|it| it.is_stored());
    declared.or_else(id).ok_or_else(|| {
        syn::Error::new(
            name.span(),
            "mark the field with the primary key with #[entity(key)]: the id has no column",
        )
    })
}

fn option(value: Option<TokenStream>) -> TokenStream {
    if let Some(value) = value {
        quote!(::std::option::Option::Some(#value))
    } else {
        quote!(::std::option::Option::None)
    }
}

fn column_of_role(fields: &Fields, role: &str) -> TokenStream {
    let field = fields.role(role).filter(|it| it.is_stored());
    option(field.map(Field::column_name).map(|it| quote!(#it)))
}

/// Generates the column with the entity's place, and the way to set it.
fn position(fields: &Fields) -> TokenStream {
    let is_position = |it: &&Field| matches!(it.storage, Storage::Position);
    let position = fields.0.iter().find(is_position);
    let column = option(position.map(Field::column_name).map(|it| quote!(#it)));
    let set = position.map(|it| {
        let ident = &it.ident;
        quote! {
            fn set_position(&mut self, position: i64) {
                self.#ident = position;
            }
        }
    });
    quote! {
        const POSITION: ::std::option::Option<&'static str> = #column;
        #set
    }
}

/// Generates the column with the id of the account to which an entity belongs, or which it is.
fn owner(fields: &Fields) -> TokenStream {
    let owner = fields.role("Owner").filter(|it| it.is_stored());
    let owner = owner.or_else(|| fields.0.iter().find(|it| it.is_own_owner));
    option(owner.map(Field::column_name).map(|it| quote!(#it)))
}

pub(crate) fn stored(fields: &Fields) -> impl Iterator<Item = &Field> {
    fields.0.iter().filter(|it| it.is_stored())
}

/// Returns the field with the groups that an entity is for.
fn groups_field(fields: &Fields) -> Option<(&Field, &LitStr)> {
    fields.0.iter().find_map(|it| match &it.storage {
        Storage::Groups(table) => Some((it, table)),
        _ => None,
    })
}

/// Generates the items of `COLUMNS`, and those of the list of their values.
fn columns(fields: &Fields) -> (TokenStream, TokenStream) {
    let column = |it: &Field| {
        let (name, ty) = (it.column_name(), &it.ty);
        quote_spanned! {ty.span()=>
            (
                #name,
                <#ty as ::entity_core::db::ColumnValue>::TYPE,
                <#ty as ::entity_core::db::ColumnValue>::IS_NULLABLE,
            )
        }
    };
    let value = |it: &Field| {
        let (ident, ty) = (&it.ident, &it.ty);
        quote_spanned!(ty.span()=> <#ty as ::entity_core::db::ColumnValue>::to_value(&self.#ident))
    };
    let (own_columns, own_values) = (stored(fields).map(column), stored(fields).map(value));
    let mark = groups_field(fields).map(|(field, _)| {
        let ident = &field.ident;
        (
            quote!((
                ::entity_core::db::GroupTable::MARK,
                ::entity_core::db::ColumnType::Boolean,
                false
            ),),
            quote!(::entity_core::sea_orm::Value::from(!self.#ident.is_empty()),),
        )
    });
    let (mark_column, mark_value) = mark.unzip();
    let (size_column, size_value) = children::column(fields).unzip();
    (
        quote!(#(#own_columns,)* #mark_column #size_column),
        quote!(#(#own_values,)* #mark_value #size_value),
    )
}

/// Generates what else is declared of columns: former names, removals, which are unique, which times do not
/// overlap, and which clients write.
fn further_columns(
    attributes: &TypeAttributes,
    fields: &Fields,
    kind: &LitStr,
) -> syn::Result<TokenStream> {
    let dropped = &attributes.dropped;
    let is_present = |it: &&LitStr| stored(fields).any(|field| field.column_name() == it.value());
    if let Some(present) = dropped.iter().find(is_present) {
        return Err(syn::Error::new(
            present.span(),
            "a field has this column: it would be removed at every start",
        ));
    }
    let (renamed, unique) = (renamed(fields), unique::columns(fields)?);
    let blobs = stored(fields).map(|it| {
        let (name, ty) = (it.column_name(), &it.ty);
        quote_spanned!(ty.span()=> (#name, <#ty as ::entity_core::db::ColumnValue>::IS_BLOB))
    });
    let written = fields.0.iter().filter(|it| it.is_written_text());
    let written = written.map(Field::column_name);
    let html = stored(fields).filter(|it| it.kind_name().starts_with("Html"));
    let html = html.map(Field::column_name);
    let persons = fields.0.iter().filter(|it| it.plays("person"));
    let persons = persons.map(Field::column_name);
    let accounts = fields.0.iter().filter(|it| people::names_account(it));
    let accounts = accounts.map(Field::column_name);
    let deadline = hooks::deadline(attributes, fields)?;
    let no_overlap = attributes.no_overlap.as_ref();
    let no_overlap = no_overlap.map(|it| it.constant(kind, fields)).transpose()?;
    Ok(quote! {
        #no_overlap
        #deadline
        const RENAMED: &'static [(&'static str, &'static str)] = &[#(#renamed),*];
        const UNIQUE: &'static [::entity_core::db::Unique] = &[#(#unique),*];
        const DROPPED: &'static [&'static str] = &[#(#dropped),*];
        const BLOBS: &'static [(&'static str, bool)] = &[#(#blobs),*];
        const WRITTEN: &'static [&'static str] = &[#(#written),*];
        const HTML: &'static [&'static str] = &[#(#html),*];
        const ACCOUNTS: &'static [&'static str] = &[#(#accounts),*];
        const PERSONS: &'static [&'static str] = &[#(#persons),*];
    })
}

/// Generates the former names of columns, each with the present one.
fn renamed(fields: &Fields) -> impl Iterator<Item = TokenStream> {
    stored(fields).filter_map(|it| {
        let (former, present) = (it.was.as_ref()?, it.column_name());
        Some(quote!((#former, #present)))
    })
}

/// Returns the expression that is selected for the field, if one is.
pub(crate) fn selected(field: &Field) -> Option<TokenStream> {
    match &field.storage {
        Storage::Joined(sql) => Some(quote!(#sql)),
        _ if field.is_stored() => {
            let text = format!("this.\"{}\"", field.column_name());
            Some(quote!(#text))
        }
        _ => None,
    }
}

/// Generates the items of `select`.
fn select(fields: &Fields) -> TokenStream {
    let parts = fields.0.iter().filter_map(selected);
    let mark = groups_field(fields).map(|_| quote!("this.\"is_restricted\""));
    let size = children::selection(fields).map(|it| it.0);
    let parts = parts.chain(mark).chain(size);
    quote!(#(#parts),*)
}

fn reading(fields: &Fields) -> TokenStream {
    let initial = fields.0.iter().map(|it| {
        let (ident, ty) = (&it.ident, &it.ty);
        let is_read = it.is_stored() || matches!(it.storage, Storage::Joined(_));
        if !is_read {
            return quote!(#ident: ::std::default::Default::default());
        }
        let value = quote_spanned! {ty.span()=>
            <#ty as ::entity_core::db::ColumnValue>::read(cx, row)?
        };
        quote!(#ident: #value)
    });
    let skipped = skipped(fields);
    let mark = groups_field(fields).map(|_| {
        quote! {
            let is_restricted = row.take()?;
            ::entity_core::db::Record::set_facts(
                &mut record,
                ::entity_core::db::PolicyInputs::default().restricted(is_restricted),
            );
        }
    });
    let size = children::selection(fields).map(|it| it.1);
    quote! {
        #[allow(unused_mut)]
        let mut record = Self { #(#initial,)* #skipped };
        #mark #size
        ::entity_core::db::Record::compute(&mut record, cx);
        ::std::result::Result::Ok(record)
    }
}

/// Generates the initial values of the fields that are no part of the schema.
fn skipped(fields: &Fields) -> TokenStream {
    let skipped = &fields.1;
    quote!(#(#skipped: ::std::default::Default::default(),)*)
}

fn making(name: &Ident, fields: &Fields) -> TokenStream {
    let initial = fields.0.iter().map(|it| {
        let ident = &it.ident;
        let value = initial(it);
        quote!(#ident: #value)
    });
    let skipped = skipped(fields);
    quote! {
        let _ = (cx, &mut fields);
        ::std::result::Result::Ok(#name { #(#initial,)* #skipped })
    }
}

/// Generates the value of a field in a new entity.
fn initial(field: &Field) -> TokenStream {
    let filled = filled(field);
    if field.is_writable() {
        let sent = sent(field, &TokenStream::new());
        return quote!(match #sent {
            ::std::option::Option::Some(sent) => sent,
            ::std::option::Option::None => #filled,
        });
    }
    filled
}

/// Generates the value that the service fills in by itself.
fn filled(field: &Field) -> TokenStream {
    let is = |role| field.has_role(role);
    if is("Id") && field.is_stored() || matches!(field.storage, Storage::Key) {
        let wire = &field.wire;
        return quote!(::entity_core::db::new_key(cx, &fields, #wire));
    }
    if is("Owner") {
        return quote!(::entity_core::db::owner(cx));
    }
    if is("Created") || is("Updated") {
        return quote!(cx.now().into());
    }
    if is("Version") {
        return quote!(1);
    }
    quote!(::std::default::Default::default())
}

/// Generates the expression for what a client sent for the field, as an option; `current` is what is changed, if anything.
fn sent(field: &Field, current: &TokenStream) -> TokenStream {
    let (ty, wire) = (&field.ty, &field.wire);
    if let Some(children) = children::sent(field, current) {
        return children;
    }
    if matches!(field.storage, Storage::Groups(_)) {
        return quote!(::entity_core::db::sent_list(&mut fields, #wire)?);
    }
    quote_spanned! {ty.span()=>
        <#ty as ::entity_core::db::ColumnValue>::sent(cx, &mut fields, #wire)?
    }
}

fn changes(fields: &Fields) -> TokenStream {
    let changes = fields.0.iter().filter(|it| it.is_writable()).map(|it| {
        let (ident, sent) = (&it.ident, sent(it, &quote!(self)));
        quote! {
            if let ::std::option::Option::Some(sent) = #sent {
                self.#ident = sent;
            }
        }
    });
    quote! {
        let _ = (cx, &mut fields);
        #(#changes)*
    }
}

fn facts(
    fields: &Fields,
    name: &Ident,
    attributes: &TypeAttributes,
) -> syn::Result<Option<TokenStream>> {
    let field = fields
        .0
        .iter()
        .find(|it| matches!(it.storage, Storage::PolicyInputs));
    let Some(ident) = field.map(|it| &it.ident) else {
        return match attributes.sight.is_some() || groups_field(fields).is_some() {
            true => Err(syn::Error::new(
                name.span(),
                "a type with a `sight` or with `groups` has a field for the answers about its row: \
                 #[serde(skip)] #[entity(facts)] facts: PolicyInputs",
            )),
            false => Ok(None),
        };
    };
    Ok(Some(quote! {
        fn facts(&self) -> ::entity_core::db::PolicyInputs {
            self.#ident
        }
        fn set_facts(&mut self, facts: ::entity_core::db::PolicyInputs) {
            self.#ident = facts;
        }
    }))
}

fn groups(table: &LitStr, fields: &Fields) -> TokenStream {
    let Some((field, group_table)) = groups_field(fields) else {
        return quote! {
            const GROUPS: ::std::option::Option<::entity_core::db::GroupTable> = ::std::option::Option::None;
            const GROUPS_FIELD: &'static str = "";
        };
    };
    let (ident, wire) = (&field.ident, &field.wire);
    let key = LitStr::new(&format!("{}_id", table.value()), Span::call_site());
    quote! {
        const GROUPS: ::std::option::Option<::entity_core::db::GroupTable> =
            ::std::option::Option::Some(::entity_core::db::GroupTable {
                table: #group_table,
                key: #key,
            });
        const GROUPS_FIELD: &'static str = #wire;
        fn groups(&self) -> &[::std::string::String] {
            &self.#ident
        }
        fn set_groups(&mut self, groups: ::std::vec::Vec<::std::string::String>) {
            self.#ident = groups;
        }
    }
}
