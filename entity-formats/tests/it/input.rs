//! The input that the parsers read, and all that they refuse.

use entity_core::ErrorKind;
use entity_formats::{parse_pairs, standard};
use proptest::prelude::*;
use serde_json::{Value, json};

fn parse(name: &str, body: impl AsRef<[u8]>) -> Option<Value> {
    let formats = standard().unwrap();
    match formats.parser_named(name).unwrap().parse(body.as_ref()) {
        Ok(input) => Some(Value::Object(input.fields)),
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::BadRequest, "{error}");
            None
        }
    }
}

#[test]
fn a_form_is_read_strictly() {
    assert_eq!(
        parse("form", "a=1&b=x+y%26&a=2&c&%C3%BC=%e2%82%ac&d=e=f"),
        Some(json!({"a": ["1", "2"], "b": "x y&", "c": "", "ü": "€", "d": "e=f"}))
    );
    assert_eq!(
        parse("form", "a[]=1&b[]=&c%5B%5D=1&c[]=2&d=1&d[]=2&[]=1"),
        Some(json!({"a": ["1"], "b": [], "c": ["1", "2"], "d": ["1", "2"], "[]": "1"}))
    );
    for refused in ["a=%", "a=%f", "a=%zz", "a=%ff", "%c3=1", "a=%+1"] {
        assert_eq!(parse("form", refused), None, "{refused}");
    }
    assert_eq!(
        parse_pairs("a=1&".repeat(6_000).as_bytes()).unwrap().len(),
        6_000
    );
    assert!(parse_pairs("a=1&".repeat(6_001).as_bytes()).is_err());
    let long = format!("a={}", "x".repeat(3 << 20));
    assert_eq!(
        parse_pairs(long.as_bytes()).unwrap_err().kind(),
        ErrorKind::TooLarge
    );
}

#[test]
fn json_is_read_strictly() {
    assert_eq!(
        parse(
            "json",
            r#" {"a":{"b":[1,-2,2.5,18446744073709551615,null,true,"\u00e4"]}} "#
        ),
        Some(json!({"a": {"b": [1, -2, 2.5, u64::MAX, null, true, "ä"]}}))
    );
    assert_eq!(parse("json", ""), Some(json!({})));
    assert_eq!(parse("json", "\u{feff}{\"a\":1}"), Some(json!({"a": 1})));
    assert_eq!(parse("json", "\u{feff}\u{feff}{}"), None);
    for refused in [
        " ",
        "[]",
        "1",
        "null",
        "{",
        r#"{"a":1}x"#,
        r#"{"a":1}{}"#,
        r#"{"a":1,"a":2}"#,
        r#"{"x":{"a":1,"a":2}}"#,
        r#"{"a":1e999}"#,
        r#"{"a":NaN}"#,
        "{a:1}",
        r#"{"a":"\ud800"}"#,
        "{\"a\":\"\n\"}",
    ] {
        assert_eq!(parse("json", refused), None, "{refused}");
    }
    assert_eq!(parse("json", b"{\"a\":\"\xff\"}"), None);
    let nested = |depth: usize| {
        format!(
            "{{\"a\":{}1{}}}",
            "[".repeat(depth - 1),
            "]".repeat(depth - 1)
        )
    };
    assert!(parse("json", nested(32)).is_some());
    assert!(parse("json", nested(33)).is_none());
    assert!(parse("json", nested(100_000)).is_none());
}

#[test]
fn a_json_error_says_where_and_nothing_of_the_parser() {
    let formats = standard().unwrap();
    let message = |body: &str| {
        formats
            .parser_named("json")
            .unwrap()
            .parse(body.as_bytes())
            .unwrap_err()
            .message()
            .to_owned()
    };
    assert_eq!(
        message("{\"a\":\n x}"),
        "the body is not well-formed JSON at line 2 column 2"
    );
    assert_eq!(
        message("{\"a\":1,\"a\":2}"),
        "the key `a` must not occur twice in one object at line 1 column 10"
    );
}

#[test]
fn xml_is_read_by_its_type_attributes() {
    let body = "\u{feff}<?xml version='1.0' encoding='utf-8'?><!-- c --><note><id type='number'>123</id><thing>A &amp; &#x5A;<![CDATA[<b>]]></thing>
        <draft type='boolean'>true</draft><due type='date' date='x'>5</due><iso type='date'>2026-11-21T10:00:00Z</iso><none type='number'/><empty/>
        <map type='map' size='1'><a>1</a></map><list type='collection'><string>x</string></list><same><e>1</e><e>2</e></same><n:s xmlns:n='u'>y</n:s></note>";
    assert_eq!(
        parse("xml", body),
        Some(json!({
            "id": 123, "thing": "A & Z<b>", "draft": true, "due": 5, "iso": "2026-11-21T10:00:00Z", "none": null, "empty": "",
            "map": {"a": "1"}, "list": ["x"], "same": ["1", "2"], "s": "y",
        }))
    );
    assert_eq!(parse("xml", ""), Some(json!({})));
}

#[test]
fn nil_is_null_and_has_nothing_inside() {
    let body = |inside: &str| {
        format!("<note xmlns:i='http://www.w3.org/2001/XMLSchema-instance'>{inside}</note>")
    };
    let nil =
        "<a i:nil='true'/><b i:nil='1'> </b><c i:nil='false'>x</c><d type='map' i:nil='true'/>";
    assert_eq!(
        parse("xml", body(nil)),
        Some(json!({"a": null, "b": null, "c": "x", "d": null}))
    );
    for refused in [
        "<a i:nil='true'>x</a>",
        "<a i:nil='true'><b/></a>",
        "<a i:nil='perhaps'/>",
        "<a xsi:nil='true'/>",
        "<a xmlns:q='u' q:nil='true'/>",
    ] {
        assert_eq!(parse("xml", body(refused)), None, "{refused}");
    }
}

#[test]
fn a_prefix_is_declared_where_it_is_used_or_further_out() {
    let note = |inside: &str| parse("xml", format!("<note xmlns:n='u'>{inside}</note>"));
    assert!(note("<n:a>x</n:a><b xmlns:m='v'><m:c>x</m:c></b>").is_some());
    for refused in [
        "<q:a>x</q:a>",
        "<a xmlns:m='v'/><m:c>x</m:c>",
        "<a q:type='string'>x</a>",
        "<xmlns:a>x</xmlns:a>",
    ] {
        assert_eq!(note(refused), None, "{refused}");
    }
    assert_eq!(parse("xml", "<q:note><a>x</a></q:note>"), None);
}

#[test]
fn xml_says_what_it_tells_of_and_may_have_attributes_that_say_nothing() {
    let body = "<n:note xmlns:n='u' xmlns='v' xml:lang='en' xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance' xsi:schemaLocation='w' type='bean' size='1'>\
        <words type='array' length='1' class='java.util.List' component='String'><s>x</s></words></n:note>";
    let formats = standard().unwrap();
    let input = formats
        .parser_named("xml")
        .unwrap()
        .parse(body.as_bytes())
        .unwrap();
    assert_eq!(input.root.as_deref(), Some("note"));
    assert_eq!(Value::Object(input.fields), json!({"words": ["x"]}));
}

fn attributes(count: usize) -> String {
    let all: Vec<_> = (0..count).map(|it| format!(" xml:a{it}='1'")).collect();
    all.concat()
}

#[test]
fn hostile_xml_is_refused() {
    let few_attributes = attributes(65);
    let many_attributes = attributes(80_000);
    let bomb = "<!DOCTYPE d [<!ENTITY a 'x'><!ENTITY b '&a;&a;'>]><d>&b;</d>";
    let corpus = [
        "<!DOCTYPE d><d/>".to_owned(),
        bomb.to_owned(),
        "<!DOCTYPE d SYSTEM 'file:///etc/passwd'><d/>".to_owned(),
        "<d/><!DOCTYPE d>".to_owned(),
        "<?php x?><d/>".to_owned(),
        "<d><?x y?></d>".to_owned(),
        "<?xml version='1.0'?><?xml version='1.0'?><d/>".to_owned(),
        " <?xml version='1.0'?><d/>".to_owned(),
        "<?xml version='1.0' encoding='utf-16'?><d/>".to_owned(),
        "<?xml version='1.0' encoding='utf-7'?><d/>".to_owned(),
        "<?xml version='1.1'?><d/>".to_owned(),
        "<d/>junk".to_owned(),
        "junk<d/>".to_owned(),
        "<d/><d/>".to_owned(),
        "<d/>&amp;".to_owned(),
        "<d/><![CDATA[x]]>".to_owned(),
        "<d>".to_owned(),
        "<d></e>".to_owned(),
        "</d>".to_owned(),
        "<d".to_owned(),
        "   ".to_owned(),
        "<d>&#1;</d>".to_owned(),
        "<d>&#0;</d>".to_owned(),
        "<d>&#xFFFE;</d>".to_owned(),
        "<d>&#xD800;</d>".to_owned(),
        "<d>&#99999999999;</d>".to_owned(),
        "<d>&x;</d>".to_owned(),
        "<d>&nbsp;</d>".to_owned(),
        "<d>a & b</d>".to_owned(),
        "<d>]]></d>".to_owned(),
        "<d>\u{1}</d>".to_owned(),
        "<d>\u{0}</d>".to_owned(),
        "<d>\u{fffe}</d>".to_owned(),
        "<d class='&#1;'/>".to_owned(),
        "<d class='&x;'/>".to_owned(),
        "<d class='<'/>".to_owned(),
        "<d class='1' class='2'/>".to_owned(),
        "<d class=1/>".to_owned(),
        "<d class/>".to_owned(),
        "<1d/>".to_owned(),
        "<d title='x'/>".to_owned(),
        "<d><a value='x'/></d>".to_owned(),
        "<d x:type='number'/>".to_owned(),
        "<d><a class/></d>".to_owned(),
        "<d><a:b:c/></d>".to_owned(),
        "<d><!-- a -- b --></d>".to_owned(),
        "<d><a>1</a><a>2</a></d>".to_owned(),
        "<d><x><a>1</a><a>2</a><b/></x></d>".to_owned(),
        "<d><x type='bean'><a/><a/></x></d>".to_owned(),
        "<d>text<a/></d>".to_owned(),
        "<d><a type='number'>x</a></d>".to_owned(),
        "<d><a type='number'>NaN</a></d>".to_owned(),
        "<d><a type='number'>1e999</a></d>".to_owned(),
        "<d><a type='number'><b/></a></d>".to_owned(),
        "<d><a type='boolean'>yes</a></d>".to_owned(),
        "<d><a type='java.lang.Runtime'>x</a></d>".to_owned(),
        format!("<d{few_attributes}/>"),
        format!("<d{many_attributes}/>"),
        format!("<d>{}</d>", "<e/>".repeat(10_000)),
        format!("{}{}", "<d>".repeat(34), "</d>".repeat(34)),
        "<d>".repeat(100_000),
    ];
    for body in &corpus {
        assert_eq!(
            parse("xml", body),
            None,
            "{}",
            body.chars().take(80).collect::<String>()
        );
    }
    assert_eq!(parse("xml", b"<d>\xff</d>"), None);
    assert_eq!(parse("xml", b"\xff\xfe<\0d\0/\0>\0"), None);
}

proptest! {
    #[test]
    fn no_body_makes_a_parser_panic(body in proptest::collection::vec(any::<u8>(), 0..60), text in "[<>/a=\"'&;#!?\\[\\]x -]{0,40}") {
        for name in ["form", "json", "xml"] {
            parse(name, &body);
            parse(name, &text);
        }
    }

    #[test]
    fn what_a_browser_sends_reads_back(pairs in proptest::collection::vec((".{1,8}", ".{0,8}"), 0..5)) {
        let encode = |text: &str| text.bytes().map(|it| format!("%{it:02X}")).collect::<Vec<_>>().concat();
        let encoded: Vec<_> = pairs.iter().map(|(name, value)| format!("{}={}", encode(name), encode(value))).collect();
        prop_assert_eq!(parse_pairs(encoded.join("&").as_bytes()).unwrap(), pairs);
    }
}
