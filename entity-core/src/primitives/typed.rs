//! The conversion of typed text to HTML, and back, without loss.
//!
//! A tag is markup if it is one of an element of HTML, is closed by `>`, and has the other tag of its element where that
//! needs one. Everything else is text: `x<y`, `<ada@example.org>`, `List<Object>`, half a tag. Text without markup is plain
//! text, whose line breaks are kept and whose addresses become links. What no page may show, such as a film or a formula,
//! leaves its address or its text.

mod tags;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::text::{plain_lines, plain_text};
use super::web::is_web_address;
use tags::{Piece, pieces};

/// A typed text as HTML that is still to be sanitised.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Typed {
    /// The HTML.
    pub html: String,
    /// The elements of which only the address or the text is left.
    pub replaced: BTreeSet<&'static str>,
    is_plain: bool,
}

/// Converts what was typed, which may have markup, to HTML.
pub fn to_html(text: &str) -> Typed {
    let pieces = pieces(text);
    if pieces.iter().any(|it| it.name.is_some() && it.is_markup) {
        write_markup(text, &pieces)
    } else {
        Typed {
            html: of_plain(text),
            replaced: BTreeSet::new(),
            is_plain: true,
        }
    }
}

/// Converts plain text to HTML that shows it, with its line breaks. Addresses become links.
pub fn of_plain(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let text = text.trim_end_matches('\n');
    let mut html = String::with_capacity(text.len().saturating_add(7));
    for (index, line) in text.split('\n').enumerate() {
        html.push_str(if index == 0 { "" } else { "<br>" });
        write_line(&mut html, line);
    }
    match html == text {
        true => html,
        false => format!("<p>{}</p>", html.replace("<br><br>", "</p><p>")),
    }
}

/// Returns sanitised HTML in such a way that it is never taken for plain text when it is sent back.
pub(crate) fn to_markup(html: String) -> String {
    match html.contains('&') && !html.contains('<') {
        true => format!("<p>{html}</p>"),
        false => html,
    }
}

/// Returns what is typed to get the stored `html`: plain text, if it shows no more than that, or else itself.
pub fn to_typed(html: &str) -> Cow<'_, str> {
    let bare = html
        .strip_prefix("<p>")
        .and_then(|it| it.strip_suffix("</p>"));
    let bare = bare.unwrap_or(html);
    let bare = bare.replace("</p><p>", "\n\n").replace("<br>", "\n");
    let mut tags = bare.split('<');
    let mut typed = tags.next().unwrap_or_default().to_owned();
    for tag in tags {
        match tag.split_once('>') {
            Some((link, text)) if link == "/a" || link.starts_with("a href=") => {
                typed.push_str(text);
            }
            _ => return Cow::Borrowed(html),
        }
    }
    for (sign, reference) in SIGNS.iter().rev() {
        typed = typed.replace(reference, &sign.to_string());
    }
    let again = to_html(&typed);
    // Texts of earlier versions have no element around them.
    let is_earlier = !html.contains('<') && again.is_plain;
    match is_earlier || again.html == html {
        true => Cow::Owned(typed),
        false => Cow::Borrowed(html),
    }
}

/// Returns the text of `html` with its lines: as it was typed, if it was plain, or else a line for each block.
pub fn to_text(html: &str) -> Cow<'_, str> {
    match to_typed(html) {
        Cow::Borrowed(html) if html.contains(['<', '&']) => Cow::Owned(plain_lines(html)),
        typed => typed,
    }
}

/// Writes text with the markup in it.
fn write_markup(text: &str, pieces: &[Piece<'_>]) -> Typed {
    let mut typed = Typed::default();
    let (mut at, mut index) = (0, 0);
    while let Some(piece) = pieces.get(index) {
        index = index.saturating_add(1);
        if !piece.is_markup {
            continue;
        }
        typed.write_text(text.get(at..piece.begin).unwrap_or_default());
        at = piece.end;
        let last = piece.other.filter(|_| !piece.is_end);
        let end = last.and_then(|it| pieces.get(it));
        let inside = end.and_then(|it| text.get(at..it.begin));
        match (typed.replace(piece, inside), last, end) {
            (Replaced::Element, Some(last), Some(end)) => {
                (index, at) = (last.saturating_add(1), end.end);
            }
            (Replaced::Nothing, ..) if piece.name.is_some() => {
                let tag = text.get(piece.begin..piece.end);
                typed.html.push_str(tag.unwrap_or_default());
            }
            _ => {}
        }
    }
    typed.write_text(text.get(at..).unwrap_or_default());
    typed
}

/// The part of an element that is written in another way, or left out.
enum Replaced {
    Nothing,
    Tag,
    /// Both tags, with all that is between them.
    Element,
}

impl Typed {
    fn write_text(&mut self, text: &str) {
        self.html.push_str(&text.replace('<', "&lt;"));
    }

    /// Writes what is left of an element that no page shows; `inside` is what its tags enclose.
    fn replace(&mut self, tag: &Piece<'_>, inside: Option<&str>) -> Replaced {
        match (tag.name.unwrap_or_default(), inside) {
            ("style", Some(_)) => return Replaced::Element,
            ("math", Some(inside)) => match tex(inside) {
                // It is HTML already.
                Some(tex) => self.write_text(tex),
                None => self.html.push_str(&escape(&plain_text(inside))),
            },
            ("svg", Some(inside)) => self.html.push_str(&escape(&plain_text(inside))),
            ("img", _) if !tag.value("src").is_some_and(|it| it.starts_with("data:")) => {
                return Replaced::Nothing;
            }
            ("script", _) | ("img" | "math" | "svg", None) => {}
            ("iframe" | "embed" | "video" | "audio" | "source" | "object", _) => {
                self.write_address(tag);
            }
            _ => return Replaced::Nothing,
        }
        self.replaced.extend(tag.name);
        match tag.name {
            Some("img") => Replaced::Nothing,
            Some("script" | "math" | "svg" | "iframe") => Replaced::Element,
            _ => Replaced::Tag,
        }
    }

    fn write_address(&mut self, tag: &Piece<'_>) {
        let Some(address) = tag.value("src").or_else(|| tag.value("data")) else {
            return;
        };
        let scheme = if address.starts_with("//") {
            "https:"
        } else {
            ""
        };
        let address = format!("{scheme}{}", address.trim()).replace('<', "&lt;");
        if is_web_address(&address) || !address.contains(':') {
            let href = address.replace('"', "&quot;");
            // Writing to a text does not fail.
            let _ = write!(self.html, "<a href=\"{href}\">{address}</a>");
        }
    }
}

/// Returns the source of a formula that `MathML` carries with it, as HTML.
fn tex(inside: &str) -> Option<&str> {
    let (_, annotation) = inside.split_once("application/x-tex")?;
    let (_, tex) = annotation.split_once('>')?;
    Some(tex.split_once("</annotation")?.0.trim())
}

/// Writes a line of plain text.
fn write_line(html: &mut String, line: &str) {
    for word in line.split_inclusive(|c: char| c.is_whitespace() || "<>\"".contains(c)) {
        let is_end = |c: char| c.is_whitespace() || "<>\".,:;!?'…]}".contains(c);
        let begin = word.trim_start_matches(['(', '[', '{', '\'']);
        let address = begin.trim_end_matches(|c| is_end(c) || c == ')' && !begin.contains('('));
        let scheme = match address {
            it if is_web_address(it) => "",
            it if is_mail(it) => "mailto:",
            _ => {
                html.push_str(&escape(word));
                continue;
            }
        };
        let (before, behind) = (word.strip_suffix(begin), begin.strip_prefix(address));
        let shown = escape(address);
        for part in [
            &escape(before.unwrap_or_default()),
            "<a href=\"",
            scheme,
            &shown,
            "\" rel=\"noopener noreferrer nofollow\">",
            &shown,
            "</a>",
            &escape(behind.unwrap_or_default()),
        ] {
            html.push_str(part);
        }
    }
}

/// Returns whether `text` is an address of mail, such as people write in a text.
fn is_mail(text: &str) -> bool {
    let is_sign = |c: char| c.is_ascii_alphanumeric() || "._%+-".contains(c);
    text.split_once('@').is_some_and(|(local, domain)| {
        let is_label =
            |it: &str| !it.is_empty() && it.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
        !local.is_empty()
            && local.chars().all(is_sign)
            && domain.contains('.')
            && domain.split('.').all(is_label)
    })
}

/// The signs that are written otherwise in HTML.
const SIGNS: [(char, &str); 4] = [
    ('&', "&amp;"),
    ('<', "&lt;"),
    ('>', "&gt;"),
    ('\u{a0}', "&nbsp;"),
];

/// Returns the HTML that shows `text`, in one line.
pub fn escape(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    for c in text.chars() {
        match SIGNS.iter().find(|it| it.0 == c) {
            Some((_, reference)) => html.push_str(reference),
            None => html.push(c),
        }
    }
    html
}

#[cfg(test)]
mod tests;
