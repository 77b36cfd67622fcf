//! Relative addresses in HTML, which mean something only on its own page: most has none, and is sent as it is.

/// The attributes that hold addresses, as they are written by what sanitises HTML.
const ATTRIBUTES: [&str; 3] = ["href=", "src=", "cite="];

/// Returns whether sanitised HTML has such an address.
pub(super) fn occurs_in(html: &str) -> bool {
    let quoted = html.split('"');
    let mut values = quoted.clone().zip(quoted.skip(1));
    values.any(|(before, value)| {
        ATTRIBUTES.iter().any(|it| before.ends_with(it)) && is_relative(value)
    })
}

/// Returns whether `address` has no scheme.
fn is_relative(address: &str) -> bool {
    let end = address.find([':', '/', '?', '#']);
    !end.and_then(|it| address.get(it..))
        .is_some_and(|it| it.starts_with(':'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_without_a_scheme_is_relative() {
        for (html, expected) in [
            ("<p>no address: /at/all</p>", false),
            ("<a href=\"https://a.example/b\">x</a>", false),
            ("<a href=\"mailto:a@b.example\">x</a>", false),
            ("<a href=\"/rel\">x</a>", true),
            ("<a href=\"//a.example\">x</a>", true),
            ("<a href=\"\">x</a>", true),
            ("<a href=\"#part:1\">x</a>", true),
            (
                "<a href=\"https://a.example\">x</a><img src=\"pic.png\">",
                true,
            ),
            ("<q cite=\"a/b:c\">x</q>", true),
        ] {
            assert_eq!(occurs_in(html), expected, "{html}");
        }
    }
}
