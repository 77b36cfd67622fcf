//! The header `Forwarded`, RFC 7239, read from its end.
//!
//! The last element is that of the proxy nearest to us. A client that begins a quotation and leaves it open spoils what
//! it wrote itself, and nothing behind it.

/// The fields that one proxy adds about the request as it came in there.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Hop {
    /// The sender: `for`, not parsed.
    pub(super) address: Option<String>,
    /// The protocol: `proto`.
    pub(super) protocol: Option<String>,
    /// The host: `host`.
    pub(super) host: Option<String>,
}

/// The hops, the one nearest to us first.
pub(super) fn hops(list: &str) -> impl Iterator<Item = Hop> {
    from_the_end(list, ',').map(|it| hop(it).unwrap_or_default())
}

/// Parses one element of the list; `None` if it has a parameter twice, which is ambiguous.
fn hop(element: &str) -> Option<Hop> {
    let mut hop = Hop::default();
    for pair in from_the_end(element, ';') {
        let Some((name, value)) = pair.split_once('=') else {
            continue;
        };
        let place = match name.trim().to_ascii_lowercase().as_str() {
            "for" => &mut hop.address,
            "proto" => &mut hop.protocol,
            "host" => &mut hop.host,
            _ => continue,
        };
        if place.replace(unquote(value.trim())?).is_some() {
            return None;
        }
    }
    Some(hop)
}

/// The parts of `text` between separators that are not quoted, the last one first.
fn from_the_end(text: &str, separator: char) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest.take()?;
        let Some((before, after)) =
            last_separator(text, separator).and_then(|it| text.split_at_checked(it))
        else {
            return Some(text);
        };
        rest = Some(before);
        after.strip_prefix(separator)
    })
}

fn last_separator(text: &str, separator: char) -> Option<usize> {
    let mut is_quoted = false;
    let mut letters = text.char_indices().rev();
    let found = letters.find(|(at, it)| {
        if *it == '"' && !(is_quoted && is_escaped(text, *at)) {
            is_quoted = !is_quoted;
        }
        *it == separator && !is_quoted
    });
    found.map(|(at, _)| at)
}

/// Returns whether the letter at `at` stands behind an odd number of backslashes.
fn is_escaped(text: &str, at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default();
    let backslashes = before.bytes().rev().take_while(|it| *it == b'\\').count();
    !backslashes.is_multiple_of(2)
}

/// A value without its quotation marks; `None` if one of them is missing or too many.
fn unquote(value: &str) -> Option<String> {
    let Some(quoted) = value.strip_prefix('"') else {
        return (!value.contains('"')).then(|| value.to_owned());
    };
    let mut letters = quoted.strip_suffix('"')?.chars();
    let mut text = String::with_capacity(quoted.len());
    while let Some(letter) = letters.next() {
        text.push(match letter {
            '\\' => letters.next()?,
            '"' => return None,
            letter => letter,
        });
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(list: &str) -> Vec<String> {
        let text = |it: Option<String>| it.unwrap_or_else(|| "-".to_owned());
        hops(list)
            .map(|it| {
                format!(
                    "{} {} {}",
                    text(it.address),
                    text(it.protocol),
                    text(it.host)
                )
            })
            .collect()
    }

    #[test]
    fn hops_are_read_from_the_end() {
        for (list, expected) in [
            ("", &["- - -"][..]),
            (
                "for=192.0.2.60;proto=http;by=203.0.113.43",
                &["192.0.2.60 http -"],
            ),
            (
                "For=\"[2001:db8::1]:47\"; Host=\"a.b:80\"",
                &["[2001:db8::1]:47 - a.b:80"],
            ),
            ("for=a, for=b;proto=https", &["b https -", "a - -"]),
            ("for=\"a,b;c\", for=d", &["d - -", "a,b;c - -"]),
            (r#"for="a\"b\\", for=d"#, &["d - -", r#"a"b\ - -"#]),
        ] {
            assert_eq!(shown(list), expected, "{list}");
        }
    }

    #[test]
    fn what_a_client_leaves_open_spoils_its_own_word_only() {
        for list in [
            "for=\"6.6.6.6, for=192.0.2.1;proto=http",
            "for=\"6.6.6.6\\, for=192.0.2.1;proto=http",
            "\"\"\", for=192.0.2.1;proto=http",
            ";;==\"\\\"\\, for=192.0.2.1;proto=http",
        ] {
            let nearest = hops(list).next();
            let expected = hop("for=192.0.2.1;proto=http");
            assert_eq!(nearest, expected, "{list}");
        }
    }

    #[test]
    fn what_is_said_twice_is_not_said() {
        for element in ["for=a;for=b", "for=\"a", "for=a\";for=\"b", "for=a;FOR=a"] {
            assert_eq!(hops(element).next().unwrap().address, None, "{element}");
        }
    }
}
