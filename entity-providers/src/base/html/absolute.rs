//! Addresses in sanitised HTML, made absolute for readers elsewhere, in one pass and without a parser.
//!
//! The sanitiser writes HTML in one way only: `<`, `>` and `&` are written so in tags and references alone, values
//! stand in double quotes behind `="`, and no element holds anything but such HTML. So what begins with `<` is a
//! tag, and its attributes are found by their quotes. What is not written so is left as it is.

use ammonia::Url;

/// The attributes that hold addresses.
const ATTRIBUTES: [&str; 3] = ["href", "src", "cite"];
/// The characters that are written otherwise in values.
const ESCAPES: [(char, &str); 5] = [
    ('"', "&quot;"),
    ('<', "&lt;"),
    ('>', "&gt;"),
    ('\u{a0}', "&nbsp;"),
    ('&', "&amp;"),
];

/// `html`, which was sanitised, with addresses as they are seen from `base`, all absolute.
pub fn absolute(html: &str, base: &str) -> String {
    let Ok(base) = Url::parse(base) else {
        return html.to_owned();
    };
    let mut written = String::with_capacity(html.len());
    let mut rest = html;
    while let Some((text, tag)) = rest.split_once('<') {
        written.push_str(text);
        written.push('<');
        rest = write_tag(&mut written, tag, &base);
    }
    written.push_str(rest);
    written
}

/// Writes the tag that `rest` goes on with, and answers what is behind it. If it is not written as the sanitiser
/// writes tags, it is written as it is from there on.
fn write_tag<'h>(written: &mut String, rest: &'h str, base: &Url) -> &'h str {
    let mut rest = rest;
    while let Some((head, value, behind)) = attribute(rest) {
        written.push_str(head);
        let name = head.trim_end_matches("=\"").trim_start_matches(is_no_space);
        match ATTRIBUTES.contains(&name.trim_start()) {
            true => written.push_str(&seen_from(value, base)),
            false => written.push_str(value),
        }
        written.push('"');
        rest = behind;
    }
    rest
}

/// The next attribute of a tag that goes on with `rest`: everything up to its value, the value, and what is behind.
fn attribute(rest: &str) -> Option<(&str, &str, &str)> {
    let end = rest.find(['"', '<', '>'])?;
    let start = end.checked_add(1)?;
    let (head, behind) = rest.split_at_checked(start)?;
    let (value, behind) = head.ends_with("=\"").then(|| behind.split_once('"'))??;
    Some((head, value, behind))
}

fn is_no_space(it: char) -> bool {
    it != ' '
}

/// The value `written` of an attribute, as an address that is seen from `base`.
fn seen_from(written: &str, base: &Url) -> String {
    let address = ESCAPES
        .iter()
        .fold(written.to_owned(), |address, (sign, escape)| {
            address.replace(escape, &sign.to_string())
        });
    match (Url::parse(&address), base.join(&address)) {
        (Err(ammonia::url::ParseError::RelativeUrlWithoutBase), Ok(url)) => {
            url.as_str().replace('&', "&amp;").replace('"', "&quot;")
        }
        _ => written.to_owned(),
    }
}
