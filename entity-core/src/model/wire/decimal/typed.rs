//! Numbers as people, phones and calculators write them.

use super::{Decimal, NO_NUMBER};

/// The digits 0 of the scripts in which people type numbers.
const ZEROS: [char; 6] = ['0', '٠', '۰', '०', '০', '０'];
/// The digits as exponents, in order.
const RAISED: &str = "⁰¹²³⁴⁵⁶⁷⁸⁹";
/// Signs, each group with what it means.
const SIGNS: [(&str, &str); 9] = [
    ("−‐‑‒–﹣－", "-"),
    ("⁻", "^-"),
    ("＋", "+"),
    ("٫．", "."),
    ("，", ","),
    ("٬’", "'"),
    ("EＥｅᴇ⏨", "e"),
    ("×✕xX·⋅∙•", "*"),
    // Marks that nobody sees, as phones paste them.
    (
        "\u{200b}\u{200e}\u{200f}\u{202a}\u{202c}\u{2060}\u{2066}\u{2068}\u{2069}\u{feff}",
        "",
    ),
];

impl Decimal {
    /// Parses a number as people, phones and calculators write it: `1,5`, `.5`, `−3`, `1 234,5`, `1,234.5`, `1.234,5`,
    /// `2e3`, `2×10^3`, `2·10³`, with digits of any script. It is rounded to the nearest ten-thousandth.
    ///
    /// A single point is the decimal sign; a sign that stands between groups of three digits separates groups if it
    /// occurs twice or another decimal sign follows. `1,500` alone may be either, and is refused.
    ///
    /// # Errors
    /// Returns a message that continues the name of the field if the text is no number, is ambiguous or too large.
    pub fn typed(text: &str) -> Result<Self, String> {
        if let Ok(number) = Self::parse(text) {
            return Ok(number);
        }
        let plain = plain(text);
        let (mantissa, exponent) = match plain.split_once("*10^") {
            Some(halves) => halves,
            None => match plain.strip_prefix("10^") {
                Some(exponent) => ("1", exponent),
                None => plain.split_once('e').unwrap_or((&plain, "0")),
            },
        };
        let exponent = exponent.replace('^', "");
        let is_whole = exponent.parse::<i32>().is_ok();
        let number = number(mantissa)?.filter(|_| is_whole);
        let number = number.ok_or_else(|| NO_NUMBER.to_owned())?;
        let number: f64 = format!("{number}e{exponent}")
            .parse()
            .map_err(|_unreadable| NO_NUMBER.to_owned())?;
        Self::parse(&format!("{:.4}", number.clamp(-1e12, 1e12)))
    }
}

/// Returns the text in ASCII: `*` multiplies, `^` raises, `'` separates groups of digits.
fn plain(text: &str) -> String {
    let plain: String = text.chars().map(sign).collect();
    let plain = plain.replace("**", "^");
    // A space separates groups between digits only.
    let is_digit = |at: usize| plain.as_bytes().get(at).is_some_and(u8::is_ascii_digit);
    let is_kept = |(at, it): &(usize, char)| {
        *it != '\'' || (is_digit(at.wrapping_sub(1)) && is_digit(at.saturating_add(1)))
    };
    let kept = plain.char_indices().filter(is_kept);
    kept.map(|it| it.1).collect()
}

/// Returns a sign in ASCII.
fn sign(sign: char) -> String {
    let of = |zero: &char| u32::from(sign).checked_sub(u32::from(*zero));
    let digit = ZEROS.iter().filter_map(of).find(|it| *it < 10);
    let raised = RAISED.chars().position(|it| it == sign);
    let plain = SIGNS.iter().find(|it| it.0.contains(sign));
    match (digit, raised, plain) {
        (Some(digit), ..) => digit.to_string(),
        (_, Some(digit), _) => format!("^{digit}"),
        (.., Some((_, plain))) => (*plain).to_owned(),
        _ if sign.is_whitespace() => "'".to_owned(),
        _ => sign.to_string(),
    }
}

/// Returns the digits of a number without an exponent, with a point as the decimal sign; `None` if it is no number.
///
/// # Errors
/// Returns an error if it may be two numbers.
fn number(text: &str) -> Result<Option<String>, String> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    let is_number = |it: &str| it.bytes().all(|it| it.is_ascii_digit());
    let last = digits.chars().rfind(|it| matches!(it, '.' | ','));
    let halves = last.filter(|it| digits.matches(*it).count() == 1);
    let (whole, part) = halves
        .and_then(|it| digits.split_once(it))
        .unwrap_or((digits, ""));
    let separator = whole.chars().find(|it| matches!(it, '.' | ',' | '\''));
    let mut groups = whole.split(|it| Some(it) == separator);
    let first = groups.next().unwrap_or_default();
    let is_short = (1..=3).contains(&first.len());
    let is_whole = is_number(first)
        && (separator.is_none() || is_short)
        && groups.all(|it| it.len() == 3 && is_number(it));
    let (whole, part) = (whole.replace(['.', ',', '\''], ""), part.replace('\'', ""));
    if !is_whole || !is_number(&part) || (whole.is_empty() && part.is_empty()) {
        return Ok(None);
    }
    let may_group = is_short && separator.is_none() && !whole.starts_with('0');
    match halves == Some(',') && part.len() == 3 && may_group {
        true => Err(format!(
            "may be {whole}{part} or {whole}.{part}: write one of these"
        )),
        false => Ok(Some(format!("{sign}{whole}.{part}0"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn y5_whatever_people_phones_and_calculators_write_is_a_number() {
        for (text, expected) in [
            ("1,5", "1.5"),
            ("-1,5", "-1.5"),
            ("+1,5", "1.5"),
            ("0,500", "0.5"),
            ("1,50", "1.5"),
            ("1234,567", "1234.567"),
            ("2e3", "2000.0"),
            ("2E3", "2000.0"),
            ("2e+3", "2000.0"),
            ("2.5e-3", "0.0025"),
            ("1,5e2", "150.0"),
            ("5ᴇ2", "500.0"),
            ("2×10^3", "2000.0"),
            ("2 × 10 ^ 3", "2000.0"),
            ("2x10^3", "2000.0"),
            ("2*10^-3", "0.002"),
            ("2·10³", "2000.0"),
            ("2⋅10⁻³", "0.002"),
            ("2*10**3", "2000.0"),
            ("10^3", "1000.0"),
            ("1,5 × 10³", "1500.0"),
            ("12×10²", "1200.0"),
            ("−3", "-3.0"),
            ("–3", "-3.0"),
            ("- 3", "-3.0"),
            ("2×10^−3", "0.002"),
            ("1 234", "1234.0"),
            ("1\u{a0}234,5", "1234.5"),
            ("1\u{202f}234\u{202f}567", "1234567.0"),
            ("1\u{2009}234.5", "1234.5"),
            ("1'234.5", "1234.5"),
            ("1’234", "1234.0"),
            ("3.141 592", "3.1416"),
            ("1,234.5", "1234.5"),
            ("1.234,5", "1234.5"),
            ("1,234,567", "1234567.0"),
            ("1.234.567", "1234567.0"),
            ("1,500.", "1500.0"),
            ("１２．５", "12.5"),
            ("－１，５", "-1.5"),
            ("٣٫٥", "3.5"),
            ("۱۲", "12.0"),
            ("१२", "12.0"),
            (".5", "0.5"),
            (",5", "0.5"),
            ("5.", "5.0"),
            ("-.5", "-0.5"),
            ("\u{200e}5\u{2069}", "5.0"),
            ("3.14159265359", "3.1416"),
            ("0.33333333333333333333", "0.3333"),
            ("1.500", "1.5"),
            (" 7 ", "7.0"),
            ("1e-400", "0.0"),
        ] {
            assert_eq!(
                Decimal::typed(text).map(|it| it.to_string()).as_deref(),
                Ok(expected),
                "{text}"
            );
        }
    }

    #[test]
    fn y5_what_is_no_number_or_two_is_refused_and_never_misread() {
        for text in ["1,500", "-2,125", "12,345", "1,500e3"] {
            assert!(
                Decimal::typed(text).unwrap_err().starts_with("may be "),
                "{text}"
            );
        }
        for text in [
            "",
            " ",
            "-",
            ".",
            ",",
            "many",
            "5 m",
            "5%",
            "1/2",
            "1 2",
            "12 34",
            "1 23",
            "1,2,3",
            "1,23,456",
            "1.2.3",
            "1,5.2",
            "1.5,2.3",
            "1 234,567.8",
            "--3",
            "+-3",
            "3-",
            "e3",
            "2e",
            "2e1.5",
            "2e3e4",
            "2×10",
            "2×103",
            "2^3",
            "5²",
            "×10^3",
            "NaN",
            "inf",
            "infinity",
            "0x1F",
            "1_000",
            "ab10^3",
            "2*10^3^4^x",
            "10^",
            "½",
            "(3)",
        ] {
            assert_eq!(Decimal::typed(text).unwrap_err(), NO_NUMBER, "{text}");
        }
        for text in ["6.02e23", "1e999", "-1e10", "9999999999"] {
            assert!(
                Decimal::typed(text)
                    .unwrap_err()
                    .starts_with("must be between"),
                "{text}"
            );
        }
    }
}
