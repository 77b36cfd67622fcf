//! Times as people read them in the text of a feed's entry, which has no time zone of its reader.

use chrono::TimeZone as _;
use entity_core::DateTimeUtc;
use entity_core::recurrence::Tz;

/// Returns a paragraph of HTML that says `word` and the time from `start` to `end` in `zone`, whose name it tells.
pub(crate) fn paragraph(word: &str, start: DateTimeUtc, end: DateTimeUtc, zone: Tz) -> String {
    let local = |it: DateTimeUtc| zone.from_utc_datetime(&it.naive_utc());
    let (first, last) = (local(start), local(end));
    let until = match (end <= start, first.date_naive() == last.date_naive()) {
        (true, _) => String::new(),
        (false, true) => last.format(" to %H:%M").to_string(),
        (false, false) => last.format(" to %A, %-d %B %Y, %H:%M").to_string(),
    };
    let from = first.format("%A, %-d %B %Y, %H:%M");
    format!("<p>{word}: {from}{until} ({})</p>", zone.name())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_told_with_its_day_and_its_zone() {
        let at = |text: &str| text.parse::<DateTimeUtc>().unwrap();
        for (start, end, zone, text) in [
            (
                "2027-01-05T08:00:00Z",
                "2027-01-05T09:30:00Z",
                Tz::Europe__Berlin,
                "<p>When: Tuesday, 5 January 2027, 09:00 to 10:30 (Europe/Berlin)</p>",
            ),
            (
                "2027-07-05T22:30:00Z",
                "2027-07-06T22:30:00Z",
                Tz::Europe__Berlin,
                "<p>When: Tuesday, 6 July 2027, 00:30 to Wednesday, 7 July 2027, 00:30 (Europe/Berlin)</p>",
            ),
            (
                "2027-01-05T08:00:00Z",
                "2027-01-05T08:00:00Z",
                Tz::UTC,
                "<p>When: Tuesday, 5 January 2027, 08:00 (UTC)</p>",
            ),
        ] {
            assert_eq!(paragraph("When", at(start), at(end), zone), text);
        }
    }
}
