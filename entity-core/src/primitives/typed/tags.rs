//! Tags in typed text: which of them are markup.

use std::collections::HashMap;

/// The elements that have two tags.
const PAIRED: &str = "a abbr acronym address applet article aside audio b bdi bdo big blockquote body button canvas caption \
    center cite code colgroup data datalist dd del details dfn dialog dir div dl dt em fieldset figcaption figure font footer \
    form frameset h1 h2 h3 h4 h5 h6 head header hgroup html i iframe ins kbd label legend li main map mark marquee math menu \
    meter nav nobr noembed noframes noscript object ol optgroup option output p picture pre progress q rb rp rt rtc ruby s \
    samp script search section select small span strike strong style sub summary sup svg table tbody td template textarea \
    tfoot th thead time title tr tt u ul var video xmp";
/// The elements that may have one tag, and show that they are markup by what stands before it.
const UNCLOSED: &str = "area col img p li dt dd tr td th thead tbody tfoot colgroup option optgroup rt rp html head body";
/// The elements that have one tag.
const SINGLE: &str = "br hr wbr";
/// The elements that mean nothing with one tag and no attribute.
const WITH_ATTRIBUTES: &str = "area audio base col embed iframe img input link math meta object param script source svg track \
    video";
/// The attributes that stand alone.
const BARE: &str = "allowfullscreen alt async autofocus autoplay checked compact controls default defer disabled download hidden \
    inert ismap itemscope loop multiple muted nomodule noshade novalidate nowrap open playsinline readonly required reversed \
    selected";
/// The prefixes of elements that office programs write.
const OFFICE: &str = "m o st1 v w x";
/// The beginnings of what is never shown, each with its end.
const UNSEEN: [(&str, &str); 5] = [
    ("!--", "-->"),
    ("!doctype", ">"),
    ("![if", ">"),
    ("![endif", ">"),
    ("?xml", ">"),
];
/// The bytes that are looked through, at most, for each byte of text, and for any text. What is behind is text.
const EFFORT: (usize, usize) = (32, 1 << 16);

/// A tag, or something that is never shown.
#[derive(Default)]
pub(super) struct Piece<'t> {
    pub(super) begin: usize,
    pub(super) end: usize,
    /// The element of a tag.
    pub(super) name: Option<&'static str>,
    attributes: &'t str,
    pub(super) is_end: bool,
    pub(super) is_markup: bool,
    /// Where the other tag of its element is.
    pub(super) other: Option<usize>,
}

/// Returns what may be markup in `text`, and which of it is.
pub(super) fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = scan(text);
    pair(&mut pieces, text);
    pieces
}

/// Finds what may be markup.
fn scan(text: &str) -> Vec<Piece<'_>> {
    let (each, all) = EFFORT;
    let mut effort = text.len().saturating_mul(each).saturating_add(all);
    let (mut pieces, mut at) = (Vec::new(), 0);
    while let Some((before, rest)) = text.get(at..).and_then(|it| it.split_once('<')) {
        let begin = before.len().saturating_add(at);
        at = begin.saturating_add(1);
        if let Some(piece) = tag(rest, &mut effort).or_else(|| unseen(rest, &mut effort)) {
            let end = piece.end.saturating_add(at);
            at = end;
            pieces.push(Piece {
                begin,
                end,
                ..piece
            });
        }
    }
    pieces
}

/// Returns what begins with `<` and `rest` and is never shown: a comment, or an instruction to a program.
fn unseen<'t>(rest: &'t str, effort: &mut usize) -> Option<Piece<'t>> {
    let begins = |it: &&(&str, &str)| {
        rest.get(..it.0.len())
            .is_some_and(|own| own.eq_ignore_ascii_case(it.0))
    };
    let (_, end) = UNSEEN.iter().find(begins)?;
    spend(effort, rest.len())?;
    let end = rest.find(end)?.saturating_add(end.len());
    Some(Piece {
        end,
        is_markup: true,
        ..Piece::default()
    })
}

/// Returns the tag that begins with `<` and `rest`, if it is whole.
fn tag<'t>(rest: &'t str, effort: &mut usize) -> Option<Piece<'t>> {
    let inner = rest.strip_prefix('/');
    let (is_end, inner) = (inner.is_some(), inner.unwrap_or(rest));
    let length = inner.find(|c: char| !c.is_ascii_alphanumeric() && c != ':')?;
    let (name, attributes) = inner.split_at_checked(length)?;
    let name = element(name)?;
    if !attributes.starts_with(|c| is_between(c) || c == '>') {
        return None;
    }
    let mut behind = attributes.trim_start_matches(is_between);
    while !behind.starts_with('>') {
        behind = attribute(behind, effort)?.2;
    }
    let end = rest.len().checked_sub(behind.len())?;
    Some(Piece {
        end: end.saturating_add(1),
        name: Some(name),
        attributes: attributes.get(..attributes.len().checked_sub(behind.len())?)?,
        is_end,
        ..Piece::default()
    })
}

/// Returns the name of the element that is called so.
fn element(name: &str) -> Option<&'static str> {
    if let Some((prefix, rest)) = name.split_once(':') {
        let is_office = has(OFFICE, prefix) && rest.starts_with(|c: char| c.is_ascii_alphabetic());
        return is_office.then_some("office");
    }
    let mut known = [PAIRED, SINGLE, WITH_ATTRIBUTES]
        .into_iter()
        .flat_map(str::split_ascii_whitespace);
    known.find(|it| it.eq_ignore_ascii_case(name))
}

/// Splits the first attribute off the inside of a tag: its name, its value, and what comes next.
fn attribute<'t>(rest: &'t str, effort: &mut usize) -> Option<(&'t str, &'t str, &'t str)> {
    let is_sign = |c: char| c.is_ascii_alphanumeric() || "-_:.@".contains(c);
    let length = rest.find(|c| !is_sign(c)).unwrap_or(rest.len());
    let (name, behind) = rest.split_at_checked(length)?;
    if name.is_empty() {
        return None;
    }
    let value = behind.trim_start_matches(|c: char| c.is_ascii_whitespace());
    let Some(value) = value.strip_prefix('=') else {
        let is_bare = name.contains('-') || has(BARE, name);
        return is_bare.then(|| (name, "", behind.trim_start_matches(is_between)));
    };
    let value = value.trim_start_matches(|c: char| c.is_ascii_whitespace());
    let quote = value
        .starts_with(['"', '\''])
        .then(|| value.split_at_checked(1));
    let (value, next) = if let Some((quote, value)) = quote.flatten() {
        let length = value.find(quote).unwrap_or(value.len());
        spend(effort, length)?;
        let (value, behind) = value.split_at_checked(length)?;
        (value, behind.strip_prefix(quote)?)
    } else {
        let length = value.find(|c: char| c.is_ascii_whitespace() || "<>\"'`".contains(c));
        value.split_at_checked(length.unwrap_or(value.len()))?
    };
    Some((name, value, next.trim_start_matches(is_between)))
}

fn spend(effort: &mut usize, by: usize) -> Option<()> {
    *effort = effort.checked_sub(by)?;
    Some(())
}

fn is_between(c: char) -> bool {
    c.is_ascii_whitespace() || c == '/'
}

fn has(words: &str, name: &str) -> bool {
    words
        .split_ascii_whitespace()
        .any(|it| it.eq_ignore_ascii_case(name))
}

/// Finds out which tags are markup.
fn pair(pieces: &mut [Piece<'_>], text: &str) {
    let mut open: HashMap<&str, Vec<usize>> = HashMap::new();
    let mut pairs = Vec::new();
    for (index, piece) in pieces.iter_mut().enumerate() {
        let Some(name) = piece.name else {
            continue;
        };
        let tags = open.entry(name).or_default();
        if !piece.is_end {
            // Directly behind a word it is an argument, as in `Vec<P>`.
            let before = text
                .get(..piece.begin)
                .and_then(|it| it.chars().next_back());
            let is_apart = before.is_none_or(|it| !it.is_alphanumeric() && it != '_');
            piece.is_markup = has(SINGLE, name)
                || has(WITH_ATTRIBUTES, name) && !piece.attributes.is_empty()
                || has(UNCLOSED, name) && is_apart;
            tags.push(index);
        } else if let Some(first) = tags.pop() {
            pairs.push((first, index));
        }
    }
    for (first, last) in pairs {
        for (own, other) in [(first, last), (last, first)] {
            if let Some(piece) = pieces.get_mut(own) {
                piece.is_markup = true;
                piece.other = Some(other);
            }
        }
    }
}

impl<'t> Piece<'t> {
    /// Returns the value of an attribute, in which references are not resolved.
    pub(super) fn value(&self, name: &str) -> Option<&'t str> {
        let mut rest = self.attributes.trim_start_matches(is_between);
        let mut effort = rest.len();
        while let Some((own, value, behind)) = attribute(rest, &mut effort) {
            if own.eq_ignore_ascii_case(name) {
                return Some(value);
            }
            rest = behind;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sec_a_hostile_text_takes_little_effort() {
        for piece in [
            "<b x=\"",
            "<b x='a' ",
            "<!--",
            "<b ",
            "<p a=\"<p b='",
            "<![if ",
            "</",
        ] {
            let text = piece.repeat(200_000 / piece.len());
            assert!(pieces(&text).is_empty(), "{piece}");
            let mut effort = 10_000;
            for (at, _) in text.match_indices('<') {
                let rest = text.split_at(at + 1).1;
                let _ = tag(rest, &mut effort).or_else(|| unseen(rest, &mut effort));
            }
            let rest = text.trim_start_matches('<');
            assert!(tag(rest, &mut effort).is_none(), "{piece}");
        }
    }
}
