//! `#[derive(Entity)]`: generates a schema from the fields of a struct and, if declared, a provider over a table.
//! `#[standard(…)]`: adds fields that many records have.
//! `#[derive(View)]`: generates the conversion of an entity to a view of it.
//!
//! The attributes are listed at [`Entity`](derive@Entity) and [`View`](derive@View). The module `entity_core::guide`
//! explains them in steps.

mod attributes;
mod children;
mod choice;
mod choices;
mod compared;
mod computed;
mod entity;
mod field;
mod hooks;
mod look;
mod names;
mod no_overlap;
mod orm;
mod people;
mod record;
mod redacted;
mod row;
mod sound;
mod stand_in;
mod standard;
mod storage;
mod table;
mod types;
mod unique;
mod view;

use proc_macro::TokenStream;
use quote::quote;
use syn::{DeriveInput, parse_macro_input};

use crate::attributes::TypeAttributes;
use crate::field::Fields;

/// Implements `entity_core::Entity`, and a table-backed provider if the struct names a prefix and a table.
///
/// The constant `FIELD` of the struct has the fields that lists compare, each with the type of its values: functions narrow
/// and order lists by `Poll::FIELD.closes.lt(cx.now())` and `Poll::FIELD.closes.desc()`.
///
/// On the struct, `#[entity(…)]`:
///
/// | attribute | meaning |
/// |---|---|
/// | `prefix = "poll"` | the type's prefix; makes the struct its own provider |
/// | `table = "poll"` | the table: each entity is a row of it. The service creates the table and adds the columns that it lacks; rows go with their site. The module `poll`, called as the struct is, in small letters, is the table as an entity of sea-orm, for queries and conditions |
/// | `no_overlap(item, start, end)` | of the entities that have the same `item`, no two are at once: another one is refused as a conflict, also one that somebody else writes at the same moment. The last two fields are the instants at which the time begins and is over; a null end is none. With `only = "state <> 'refused'"`, a condition in SQL, other rows do not count |
/// | `dropped("hint")` | columns that the type had in a former version: the service removes them with what is in them |
/// | `join = "site s ON s.id = this.site_id"`, `left_join = "…"` | a table that is joined in every statement; the own row is called `this`, that of a `parent` is there as `parent`, and `{caller}` and `{now}` stand for the caller's internal id and for the present instant in milliseconds |
/// | `source = QUERY` | a constant text with the query whose rows are read in the place of a table; without `prefix`, and for reading alone |
/// | `access = Site("poll")` | `Public`, `Session`, `Superuser`, the functions of a stem in the entity's site, `PublicSite("poll")` for the same where the public reads what a site shows it, or a constant of the type `Access` |
/// | `sight = SIGHT` | an `entity_core::db::RowPolicy`: who sees an entity, besides the permission to read the type |
/// | `permits = path` | an `async fn(cx: &Context, &Self, Operation) -> Result<Permit>`, which decides about one entity where no `sight` does |
/// | `check_archived = path` | a `fn(&Map<String, Value>, &str) -> Result<(), String>`: whether a row that comes with the archive of a site is one that the type could have stored (`Provider::check_archived`) |
/// | `maker_pays` | an entity counts for the account that made it, for a type whose entities belong to nobody |
/// | `done = path` | an `async fn(&Self, cx: &Context) -> Result<bool>`: whether the caller has done what the entity asks for, such as handing in work (`Provider::is_done`) |
/// | `check = path` | a `fn(&mut Self, cx: &Context, before: Option<&Self>) -> Result<()>`, called before an entity is written: it refuses what contradicts itself, and sets the fields that follow from others. `before` is the former state of a changed entity |
/// | `settle = path` | the same as an `async fn`, which may ask the database |
/// | `complete = path` | an `async fn(cx: &Context, entities: &mut [Self]) -> Result<()>`, called with the entities that one statement has read: it sets the fields declared as `computed` |
/// | `verbs(read, list, create, update, delete)` | the verbs to implement; leave one out to implement it by hand |
/// | `order = "created_desc,id"` | the order of lists, which ends with a field of which each entity has another value; without it, lists are ordered by the id |
/// | `max = 500` | the maximum number of entities in a list |
/// | `parameters = PARAMETERS` | the type's own parameters of lists, each with its meaning |
/// | `narrow = path` | an `async fn(cx: &Context, &mut Search) -> Result<()>`, which refuses a list or narrows it, by the type's own parameters for example |
/// | `feed = path` | a `fn(&Self) -> FeedEntry`; without it, the entry is made from a title and an `updated` or `created` field, if neither is an `Option` |
/// | `event = path` | a `fn(&Self) -> EventEntry`; with it, calendars show the entities |
/// | `version = path` | a `fn(&Self) -> Version`; without it, the version is made from the id and the field with the role `version` or, without one, `updated` |
/// | `for_holders("kind", …)` | the kinds of events of the type that only those are told who hold the function of this name in the site, because they say more than the entity shows yet (`Provider::FOR_HOLDERS`) |
/// | `told_once = path` | a `fn(&Self) -> bool`, which returns whether this value carries something that is shown only in one answer, such as a new secret |
/// | `asked = path` | a `fn(Option<&Self>, caller: Option<&str>, field: &str) -> bool`, which returns whether the form to change the entity, or to make one, asks the caller, an internal id, for the field |
/// | `deadline = answer_by` | the calendar of the site shows the instant in this field, as long as there is one, to those who see the entity; the type has a prefix, and its `access` asks for a function in the site to read it |
/// | `removed = path` | an `async fn(&Self, cx: &Context) -> Result<()>`, called before the entity is deleted by a client or by code; not where it is deleted with its site, its parent or its account |
/// | `removal = path` | a `fn(&Self, caller: Option<&str>) -> &'static str`: the label of the button by which the caller, an internal id, deletes the entity, such as `Leave the course` |
/// | `listed("status", "dueTime")` | the fields that the page of a list shows beside the title, in this order; without it, the first ones that are short |
/// | `layout = article` | the shape of the pages of the type: `plain`, `article`, `thread`, `work`, `folder`, `people` or `agenda` (`entity_core::schema::Layout`); without it, `plain` |
/// | `icon = "task"` | the icon of the type in menus and lists: one of `home`, `news`, `calendar`, `page`, `steps`, `task`, `tick`, `grades`, `talk`, `folder`, `people`, `bell`, `lock`, `search`, `menu`, `box`; without it, that of the layout |
/// | `own = "me"` | the path of the callers' own entities, below the prefix; empty for the list itself. The start page leads there |
/// | `tool = "example.loans"` | the tool of a site that shows the entities: where a site has it, the menu of the site leads to their list. Without it, the tool is called as the prefix |
/// | `unlisted` | the list of all is for few: pages do not lead to it |
/// | `unarchived` | the rows are no part of the archive of their site: those that only people here can use |
/// | `plural = "People"` | the label for several entities; without it, the label is made from the prefix |
/// | `singular = "Person"` | the label for one entity; without it, the label is made from the prefix |
///
/// On a field:
///
/// | attribute | meaning |
/// |---|---|
/// | `id`, `title`, `site`, `owner`, `created`, `updated`, `version`, `content` | the role of the field; `id, site` for an entity that is a site itself, `id, owner` for one that is an account itself |
/// | `required` | an entity can't be created without this field, as it is by default with a text, number or date of a table that is no `Option` |
/// | `optional` | an entity can be created without this field, which is then empty |
/// | `writable`, `on_create`, `read_only` | when clients may write the field; by default, fields of a table are writable (the `site` on creation only) unless they have a role that the service fills |
/// | `search` | `_search` looks into this field |
/// | `html` | HTML, which the service sanitises on the way in |
/// | `plain` | a `content` that is plain text and no HTML |
/// | `max = 200` | the maximum number of characters |
/// | `email`, `address`, `password`, `new_password` | the meaning of the text: forms and pages treat it accordingly |
/// | `zone` | the name of a time zone: times without an offset are by its clock, in all instants that clients write |
/// | `milliseconds`, `seconds` | a length of time in this unit: forms ask for minutes |
/// | `since_1970` | an instant in seconds since 1970 |
/// | `recurrence` | the value of an iCalendar `RRULE`, by the clock of the `zone`: forms ask how often and until when |
/// | `choices("course", "project")`, `choices = KINDS` | the only texts that clients may write, as they are or as a constant array; `"AFTER_DUE" = "After the due time"` says the words for one |
/// | `words("DRAFT" = "Draft")` | the words that people read for values of a field that clients don't write |
/// | `label = "Due"` | the label of the field for people; without it, the label is made from the name |
/// | `hint = "Leave it empty for the usual length"` | what a form says about the field to people; the doc comment speaks to programs |
/// | `absent = "never"` | the word that people read where the field is null |
/// | `offered = "group"` | the options that forms offer for the field, which holds an id or ids: a name of `register_options!`; a field that refers to another type is offered its entities |
/// | `due` | the instant until which something is to be done: pages tell it below the title and in lists, with how long there is |
/// | `fact`, `fact = "{} points"` | pages tell the field below the title and in lists, in these words |
/// | `badge`, `badge = warn` | a boolean that is a badge with its label while it is true, in the colour `good`, `warn`, `bad` or `info`. In a type without such a field, all that clients may write are badges |
/// | `for_programs` | the field says nothing to people that others don't say: pages show it among the details for programs, as they do with fields that [`standard`](macro@standard) adds |
/// | `default = "true"` | the value of new entities, as text, if the client sends none |
/// | `kind = Millis` | the kind of the field, where its type does not tell |
/// | `sent = Vec<NewFile>` | the type of the value that clients send for a list or an object, if it is not the field's own type; the type must implement `schemars::JsonSchema` |
/// | `pivot = TABLE` | an `entity_core::schema::Pivot`: how a list of objects is told as a table |
/// | `column`, `column = "name"` | lists can be filtered and ordered by this field; every field of a table is a column |
/// | `was = "question"` | the name that the column had in a former version: the service renames it |
/// | `references = "user"` | the field holds the id of an entity of this prefix, which `_expand` shows beside the field |
/// | `sql = "s.title"` | the field is read from the joined tables, by this expression, and never written; the expression names rows and values as joins do; with `#[serde(skip)]` clients do not see it; with `column`, lists can be filtered and ordered by it |
/// | `folded = "s.title_folded"` | the expression of the folded text of a field with `sql`: `_search` finds its letters in either case, with and without accents |
/// | `name_of = creator` | the field is read and never written: the name of the person whose id the field `creator` holds, which has `references = "user"`; empty if there is none |
/// | `hidden` | the field is a column that clients neither see nor write; it also needs `#[serde(skip)]` |
/// | `key` | the field is the primary key, where that is not the id |
/// | `shown = "{site_id}:{number}"` | the id is composed of other fields, the last of which is the key |
/// | `position` | a hidden number: the entity's place among those of its site, given when the entity is created; it also needs `#[serde(skip)]` |
/// | `groups = "poll_group"` | the field, a `Vec<String>`, holds the groups that an entity is for: those in this table, which has the columns `poll_id`, `group_id` and `site_id`; the own table has the column `is_restricted` |
/// | `children`, `children, max = 20` | the field, a `Vec` of another record, holds the rows of that record's table that belong to the entity, in their order; they are written with it. Without `max` there are at most 100 |
/// | `parent = Poll` | the field holds the key of a record of the type `Poll`, with which the row is deleted, and whose row is joined |
/// | `facts` | the field, an `entity_core::db::PolicyInputs`, has the inputs of the entity's row policy; it also needs `#[serde(skip)]` |
/// | `computed`, `computed = path` | the field is shown and not stored; it has what the `fn(&Self, &Context) -> T` computes from the other fields, or what the function named by `complete` sets, or else the default value of its type |
/// | `sight = RULE` | an `entity_core::db::RowPolicy`: who sees the field. For others it is empty, in answers as well as for filters, words and order; `before` in `check` and `settle` lacks it too |
/// | `unique` | no two entities have the same value: another one is refused as a conflict. A managed table has a unique index for the column; a migration makes it in any other table |
/// | `unique_in_site` | no two entities of a site have the same value: another one is refused as a conflict that names the field. Rows are indexed as with `unique` |
/// | `person` | the row is about the account whose internal id the column has: it is deleted with the account |
/// | `uncompared` | lists can't be filtered and ordered by the field |
/// | `reply` | an optional field: the id of the entity of the same type that this one answers, which Atom tells (`thr:in-reply-to`, RFC 4685) |
/// | `over` | the instant at which the entity is over: where a calendar has no room for all, it leaves out what has been over longest |
/// | `author`, `category`, `files` | the part that the field plays in the entry in feeds; `files` is of the type `entity_core::file::Files` |
/// | `skip` | the field is no part of the schema, and not stored |
#[proc_macro_derive(Entity, attributes(entity))]
pub fn derive_entity(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    let expanded = expand(&input).unwrap_or_else(|error| {
        let (error, stand_in) = (error.into_compile_error(), stand_in::stand_in(&input));
        quote! { #error #stand_in }
    });
    expanded.into()
}

fn expand(input: &DeriveInput) -> syn::Result<proc_macro2::TokenStream> {
    let attributes = TypeAttributes::parse(input)?;
    let fields = Fields::parse(input, &attributes)?;
    let entity = entity::implement(input, &attributes, &fields)?;
    let table = table::implement(input, &attributes, &fields)?;
    Ok(quote! { #entity #table })
}

/// Generates `fn of`, which converts an entity to a view of it: a struct with some of the entity's fields, perhaps under
/// other names and as other types.
///
/// On the struct, `#[view(…)]`:
///
/// | attribute | meaning |
/// |---|---|
/// | `of = Poll` | the type of the entity, which is the first argument of `of` |
/// | `beside(url: String)` | values that the entity does not have, for the fields of these names and for what is computed; they are the further arguments |
/// | `with(is_open = it.closes > now)` | values that are computed from the entity `it`, from those beside it and from those before in the list: for the fields of these names, or for others that are computed |
///
/// On a field:
///
/// | attribute | meaning |
/// |---|---|
/// | `of = poll_id` | the field of the entity that the value comes from; without it, the one of the same name |
/// | `as = iso` | the conversion of the value: a function of `entity_core::view`, which are `iso`, `millis` and `unwrap_or_default` |
///
/// Several fields may show the same field of the entity, whose type must then be `Clone`.
#[proc_macro_derive(View, attributes(view))]
pub fn derive_view(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    view::expand(&input)
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}

/// Makes an enum a choice: a field of an entity that is one of a few texts. See `entity_core::Choice`.
///
/// The text of a variant is its name with a small letter first, and its words for people are its name with spaces, unless
/// `#[choice(name = "no", words = "Not now")]` on the variant says otherwise. The enum also derives `Default`.
#[proc_macro_derive(Choice, attributes(choice))]
pub fn derive_choice(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    choice::implement(&input)
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}

/// Generates `entity_core::db::FromRow`, which reads the columns of a row into the fields of the struct, in their order.
/// Each field is a column, a tuple of columns or a struct with this derive.
#[proc_macro_derive(Row)]
pub fn derive_row(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    row::expand(&input)
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}

/// Adds fields to the end of a struct that derives [`Entity`](derive@Entity): those that many records have, and those that
/// only repeat another field or never change, because other programs read them. The attribute stands in front of
/// `#[derive(…)]`.
///
/// | argument | field |
/// |---|---|
/// | `version` | `version: i64`, the number of the changes, from which the version of the entity is made |
/// | `facts` | `facts: PolicyInputs`, the answers to the questions of a `sight`, by which one entity is decided about |
/// | `alias(author = creator)` | `author`, which is always the same as the field `creator` |
/// | `iso(due_string = due)` | `due_string: String`, the instant in the field `due` as ISO 8601 text; empty if there is none |
/// | `seconds(due_seconds = due)` | `due_seconds: i64`, the instant in the field `due` in seconds since 1970; 0 if there is none |
/// | `constant(section = "", content = null)` | `section: String`, `content: Option<String>`: a text, a whole number, `true`, `false` or `null` |
///
/// Clients see the fields of the last four and never write them. Each may have a doc comment, which tells more than that it
/// repeats another field, and a name by `#[serde(rename = "…")]`:
///
/// ```ignore
/// #[standard(version, constant(
///     /// Always false: students don't grade each other.
///     allow_peer_assessment = false,
/// ))]
/// ```
#[proc_macro_attribute]
pub fn standard(arguments: TokenStream, item: TokenStream) -> TokenStream {
    standard::expand(arguments.into(), item.into())
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}
