//! Tests of the parser of queries; `tests/it/query.rs` of the integration tests checks their results.

use super::*;
use crate::model::schema::{Field, Kind};

static SCHEMA: Schema = Schema {
    doc: "",
    fields: &[
        Field::new("id", Kind::Text(99), "")
            .column("id")
            .role(Role::Id),
        Field::new("title", Kind::Text(99), "")
            .column("title")
            .searchable(),
        Field::new("points", Kind::Integer, "").column("points"),
        Field::new("isOpen", Kind::Boolean, "").column("is_open"),
        Field::new("text", Kind::Html(99), "")
            .column("text")
            .searchable(),
        Field::new("due", Kind::Instant, "").column("due"),
        Field::new("body", Kind::Text(99), ""),
    ],
    has_feed: false,
    has_events: false,
    has_site: false,
    look: crate::model::look::Look::PLAIN,
};

fn grammar() -> Grammar {
    Grammar {
        prefix: "thing",
        schema: &SCHEMA,
        parameters: vec!["select"],
        order: Order::declared("", &SCHEMA).unwrap(),
        over: None,
        max: 500,
    }
}

fn parse(query: &[(&str, &str)]) -> Result<Search> {
    let query: Vec<_> = query
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    grammar().parse(&query)
}

#[test]
fn the_window_has_two_spellings() {
    for (query, expected) in [
        (&[][..], (0, 500)),
        (&[("_limit", "0")], (0, 500)),
        (&[("_limit", "50"), ("_start", "50")], (50, 50)),
        (&[("_limit", "9999")], (0, 500)),
        (&[("_page", "3"), ("_perpage", "5")], (10, 5)),
    ] {
        let search = parse(query).unwrap();
        assert_eq!((search.start, search.limit), expected, "{query:?}");
    }
}

#[test]
fn filters_and_order_are_of_declared_fields() {
    let search = parse(&[
        ("points", "5"),
        ("select", "access"),
        ("_order", "title,points_desc,title_desc"),
        ("_", "1"),
    ])
    .unwrap();
    assert_eq!(search.filter("points"), Some(&Cell::Integer(5)));
    assert_eq!(search.parameter("select"), Some("access"));
    assert!(search.is_ordered_by(&[("title", false), ("points", true), ("id", false)]));
}

#[test]
fn an_order_ends_with_what_tells_all_apart() {
    for (asked, expected) in [
        ("", &[("id", false)][..]),
        ("id_desc", &[("id", true)]),
        ("id,title", &[("id", false)]),
        ("title_reverse", &[("title", true), ("id", false)]),
    ] {
        let search = parse(&[("_order", asked)]).unwrap();
        assert!(
            search.is_ordered_by(expected),
            "{asked}: {:?}",
            search.order
        );
    }
}

#[test]
fn a_field_may_be_asked_for_by_several_operators() {
    let search = parse(&[
        ("points[ge]", "5"),
        ("points[lt]", "9"),
        ("title[in]", "a,b,"),
        ("text[like]", "%"),
        ("due[null]", "true"),
        ("due[gt]", "1970-01-01"),
        ("title[ne]", ""),
    ])
    .unwrap();
    let text = |it: &str| Cell::Text(it.to_owned());
    let tests: Vec<_> = search.filters.into_iter().map(|it| it.test).collect();
    let expected = [
        Test::GreaterOrEqual(Cell::Integer(5)),
        Test::Less(Cell::Integer(9)),
        Test::In(vec![text("a"), text("b"), text("")]),
        Test::Like("%".to_owned()),
        Test::Null(true),
        Test::Greater(Cell::Integer(0)),
        Test::NotEqual(text("")),
    ];
    assert_eq!(tests, expected);
}

#[test]
fn what_is_wrong_is_named() {
    let many = vec!["1"; 101].join(",");
    let long = "x".repeat(201);
    let foreign: String = ('à'..='ſ').filter(|it| it.is_lowercase()).collect();
    for (query, name) in [
        (&[("nonsense", "1")][..], "nonsense"),
        (&[("body", "1")], "body"),
        (&[("body[ne]", "1")], "body[ne]"),
        (&[("points", "x")], "points"),
        (&[("points[gt]", "x")], "points[gt]"),
        (&[("points[like]", "1")], "points[like]"),
        (&[("points[in]", &many)], "points[in]"),
        (&[("isOpen[gt]", "true")], "isOpen[gt]"),
        (&[("text[lt]", "a")], "text[lt]"),
        (&[("title[near]", "a")], "title[near]"),
        (&[("title[like]", &long)], "title[like]"),
        (&[("id[like]", &foreign)], "id[like]"),
        (&[("title[like]", "a\0")], "title[like]"),
        (&[("title[null]", "maybe")], "title[null]"),
        (&[("title", "a"), ("title[eq]", "a")], "title"),
        (&[("title[gt]", "a"), ("title[gt]", "b")], "title[gt]"),
        (&[("select", "a"), ("select", "b")], "select"),
        (&[("_order", "title"), ("_order", "title")], "_order"),
        (&[("_limit", "-1")], "_limit"),
        (&[("_order", "nonsense")], "_order"),
        (&[("_order", "text")], "_order"),
        (&[("_search", "a b c d e f")], "_search"),
        (&[("_page", "0")], "_page"),
        (&[("_start", "99999999999999999999")], "_start"),
        (&[("_count", "roughly")], "_count"),
        (&[("_cursor", "nonsense")], "_cursor"),
        (&[("_cursor", ""), ("_start", "1")], "_cursor"),
    ] {
        let error = parse(query).unwrap_err();
        assert_eq!(error.field_errors()[0].name, name, "{error}");
    }
}

#[test]
fn what_is_kept_folded_may_be_looked_into_for_any_letters() {
    let foreign: String = ('à'..='ſ').filter(|it| it.is_lowercase()).collect();
    parse(&[("title[like]", &foreign), ("text[like]", &foreign)]).unwrap();
}

#[test]
fn a_cursor_belongs_to_one_question() {
    let with = |cursor: &str, more: &[(&'static str, &'static str)]| {
        let mut query = vec![
            ("_cursor", cursor),
            ("_order", "points_desc"),
            ("title[gt]", "a"),
        ];
        query.extend(more);
        parse(&query)
    };
    let keys = [Cell::Integer(5), Cell::Text("i".to_owned())];
    let begun = with("", &[]).unwrap();
    assert_eq!(begun.after(), None);
    let cursor = begun
        .cursor
        .unwrap()
        .behind(keys.to_vec(), 1)
        .write()
        .unwrap();
    let window = [("_limit", "7"), ("_count", "exact"), ("_", "1")];
    for more in [&[][..], &window] {
        assert_eq!(with(&cursor, more).unwrap().after(), Some(&keys[..]));
    }
    assert!(with(&cursor, &[("points", "5")]).is_err());
    let other = parse(&[
        ("_cursor", &cursor),
        ("_order", "points"),
        ("title[gt]", "a"),
    ]);
    assert!(other.is_err());
}

#[test]
fn a_forged_cursor_is_refused() {
    let begun = parse(&[("_cursor", ""), ("_order", "points")]).unwrap();
    let cursor = begun.cursor.unwrap();
    let text = |it: &str| Cell::Text(it.to_owned());
    for keys in [
        &[Cell::Integer(5)][..],
        &[text("5"), text("i")],
        &[Cell::Integer(5), text("\0")],
    ] {
        let forged = cursor.behind(keys.to_vec(), 1).write().unwrap();
        let refused = parse(&[("_cursor", &forged), ("_order", "points")]);
        assert_eq!(refused.unwrap_err().field_errors()[0].name, "_cursor");
    }
}

#[test]
fn a_list_without_anything_to_search_says_so() {
    static PLAIN: Schema = Schema {
        doc: "",
        fields: &[Field::new("id", Kind::Text(9), "").role(Role::Id)],
        has_feed: false,
        has_events: false,
        has_site: false,
        look: crate::model::look::Look::PLAIN,
    };
    let grammar = Grammar {
        schema: &PLAIN,
        order: Order::declared("", &PLAIN).unwrap(),
        ..grammar()
    };
    for name in ["_search", "_cursor"] {
        let query = [(name.to_owned(), String::new())];
        assert_eq!(
            grammar.parse(&query).unwrap_err().field_errors()[0].name,
            name
        );
    }
}
