//! The form by which a list is searched and filtered. Made from the schema.

use entity_core::format::View;
use entity_core::schema::{Field, Kind, Meaning, Role, Schema};

use crate::html::control::{Control, Widget};
use crate::html::query::{LIMIT, Query, SEARCH, is_about_list};
use crate::html::words::label_of;
use crate::render::paging::view_url;

/// The page sizes that the form offers.
const LIMITS: [&str; 4] = ["10", "25", "50", "100"];

/// The form.
pub(super) struct Filter {
    /// Where it is sent.
    pub(super) action: String,
    /// The words that are looked for, if the list can be searched by words.
    pub(super) words: Option<String>,
    /// The controls for the values of fields.
    pub(super) controls: Vec<Control>,
    /// The other parameters of the address, which the form keeps.
    pub(super) kept: Vec<(String, String)>,
    /// True if the list shows only what a filter lets through.
    pub(super) is_filtered: bool,
    /// The list without search and filter.
    pub(super) whole_href: String,
}

impl Filter {
    /// The form for lists of entities with this schema, if they can be searched at all.
    pub(super) fn of(schema: &'static Schema, view: &View<'_>) -> Option<Self> {
        let query = Query::of(view).at_start();
        let is_searchable = schema.fields.iter().any(|it| it.is_searchable);
        let mut controls: Vec<_> = schema
            .fields
            .iter()
            .filter(|it| it.column.is_some() && !is_id(it))
            .flat_map(|it| controls(it, &query))
            .collect();
        if controls.is_empty() && !is_searchable {
            return None;
        }
        controls.push(limit(&query));
        let is_asked = |name: &str| {
            controls.iter().any(|it| it.name == name) || (is_searchable && name == SEARCH)
        };
        let address = view_url(view, Some("html"));
        // In a course, its list is the whole one.
        let site = schema.role(Role::Site).map(|it| it.name);
        let site = site.filter(|_| view.allowed_actions.site.is_some());
        Some(Self {
            words: is_searchable.then(|| query.get(SEARCH).to_owned()),
            kept: query.clone().only(|it| !is_asked(it)).pairs().to_vec(),
            is_filtered: query
                .pairs()
                .iter()
                .any(|(it, _)| !is_about_list(it) && Some(it.as_str()) != site),
            whole_href: query
                .only(|it| is_about_list(it) || Some(it) == site)
                .behind(&address),
            action: address,
            controls,
        })
    }
}

/// Returns whether nobody knows the values of the field: those that name something for programs.
fn is_id(field: &Field) -> bool {
    let is_own = matches!(field.role, Some(Role::Id | Role::Version));
    let is_measure = matches!(field.meaning, Some(Meaning::Length(_) | Meaning::Seconds));
    is_own
        || is_measure
        || field.is_for_programs
        || field.refers_to().is_some()
        || field.name.ends_with("Id")
}

/// The controls that ask for one field: two for an instant, which nobody knows to the second.
fn controls(field: &Field, query: &Query) -> Vec<Control> {
    let control = |name: String, label: String, widget: Widget| {
        let value = query.get(&name).to_owned();
        Control::of_filter(name, label, &value, widget)
    };
    let one = |widget| vec![control(field.name.to_owned(), label_of(field), widget)];
    match field.kind {
        Kind::Text(_) if !field.choices.is_empty() => one(Widget::of_choices(field, "any")),
        Kind::Text(max) => one(Widget::line("text", Some(max))),
        Kind::Html(_) | Kind::List | Kind::Object => Vec::new(),
        Kind::Integer => one(Widget::stepped("number", "1")),
        Kind::Number => one(Widget::stepped("number", "any")),
        Kind::Boolean => one(Widget::yes_or_no("any")),
        Kind::Instant | Kind::Millis | Kind::Moment => [("ge", "from"), ("le", "until")]
            .map(|(operator, word)| {
                control(
                    format!("{}[{operator}]", field.name),
                    format!("{} {word} (UTC)", label_of(field)),
                    Widget::stepped("datetime-local", "1"),
                )
            })
            .into(),
    }
}

/// The control that asks how many entities a page shows.
fn limit(query: &Query) -> Control {
    let present = query.get(LIMIT);
    let own = [present]
        .into_iter()
        .filter(|it| !it.is_empty() && !LIMITS.contains(it));
    let numbers = LIMITS.into_iter().chain(own);
    let options = std::iter::once((String::new(), "all".to_owned()))
        .chain(numbers.map(|it| (it.to_owned(), it.to_owned())))
        .collect();
    Control::of_filter(
        LIMIT.to_owned(),
        "On one page".to_owned(),
        present,
        Widget::Choice(options),
    )
}
