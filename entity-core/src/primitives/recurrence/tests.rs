//! Rules whose meaning is known, and rules that mean harm.

use std::time::{Duration, Instant};

use super::*;

fn at(text: &str) -> DateTimeUtc {
    text.parse().unwrap()
}

fn series(rule: &str, first: &str, zone: &str) -> Result<Series, String> {
    let zone = super::zone(zone).unwrap();
    Series::parse(&canonical(rule, zone), at(first), zone)
}

/// The first instants of the series.
fn starts(rule: &str, first: &str, zone: &str, most: usize) -> Vec<String> {
    let series = series(rule, first, zone).unwrap();
    let starts = series.starts(at(first)).take(most);
    starts.map(|it| it.format("%F %R").to_string()).collect()
}

/// The first instant from `begin` on that the rule names.
fn first_of(rule: &str, begin: &str, zone: &str) -> String {
    let series = series(rule, begin, zone).unwrap();
    series.starts(at(begin)).next().unwrap().to_rfc3339()
}

/// A rule, the zone in which it is meant, and the first instants of its series: the one from which it begins, and those
/// that follow.
type Case = (&'static str, &'static str, &'static [&'static str]);

#[track_caller]
fn assert_starts(cases: &[Case]) {
    for (rule, zone, expected) in cases {
        let first = format!("{}:00Z", expected[0].replace(' ', "T"));
        assert_eq!(
            starts(rule, &first, zone, expected.len()),
            *expected,
            "{rule} in {zone}"
        );
    }
}

#[test]
fn an_event_keeps_its_time_of_day_when_the_clocks_change() {
    assert_starts(&[
        (
            "FREQ=WEEKLY",
            "Europe/Berlin",
            &["2026-10-18 07:00", "2026-10-25 08:00", "2026-11-01 08:00"],
        ),
        (
            "FREQ=DAILY",
            "America/New_York",
            &["2027-03-13 14:00", "2027-03-14 13:00"],
        ),
    ]);
}

#[test]
fn a_time_that_the_clocks_skip_is_counted_from_before_and_one_that_is_twice_is_the_first() {
    // 02:30 in Berlin: skipped on 28 March 2027, and there twice on 31 October.
    assert_starts(&[
        (
            "FREQ=DAILY",
            "Europe/Berlin",
            &["2027-03-27 01:30", "2027-03-28 01:30", "2027-03-29 00:30"],
        ),
        (
            "FREQ=DAILY",
            "Europe/Berlin",
            &["2027-10-30 00:30", "2027-10-31 00:30", "2027-11-01 01:30"],
        ),
    ]);
}

#[test]
fn months_without_the_day_are_left_out() {
    assert_starts(&[
        (
            "FREQ=MONTHLY",
            "UTC",
            &["2027-01-31 10:00", "2027-03-31 10:00", "2027-05-31 10:00"],
        ),
        (
            "FREQ=YEARLY",
            "UTC",
            &["2024-02-29 10:00", "2028-02-29 10:00"],
        ),
        (
            "FREQ=MONTHLY;BYDAY=-1FR",
            "UTC",
            &["2027-01-29 10:00", "2027-02-26 10:00"],
        ),
    ]);
}

#[test]
fn an_expansion_from_the_middle_is_a_part_of_the_whole() {
    for rule in [
        "FREQ=DAILY;INTERVAL=3",
        "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU,TH;WKST=SU",
        "FREQ=MONTHLY;INTERVAL=5;BYMONTHDAY=31",
        "FREQ=YEARLY;INTERVAL=2;BYMONTH=3,8;BYMONTHDAY=31",
    ] {
        let begin = "2024-08-01T22:00:00.250Z";
        let first = first_of(rule, begin, "Asia/Kathmandu");
        let series = series(rule, &first, "Asia/Kathmandu").unwrap();
        let whole: Vec<_> = series.starts(at(&first)).take(60).collect();
        for pair in whole.windows(2) {
            assert_eq!(series.starts(pair[0]).next(), Some(pair[0]), "{rule}");
            let behind = pair[0] + TimeDelta::milliseconds(1);
            assert_eq!(series.starts(behind).next(), Some(pair[1]), "{rule}");
        }
    }
}

#[test]
fn the_end_of_a_series_is_known() {
    let end = |rule| {
        series(rule, "2026-11-25T10:00:00Z", "Europe/Berlin")
            .unwrap()
            .check()
    };
    for (rule, expected) in [
        ("FREQ=DAILY;COUNT=1", Some("2026-11-25T10:00:00Z")),
        ("rrule:freq=daily;count=3", Some("2026-11-27T10:00:00Z")),
        ("FREQ=DAILY;UNTIL=20261201", Some("2026-12-01T22:59:59Z")),
        (
            "FREQ=DAILY;UNTIL=20261201T110000",
            Some("2026-12-01T10:00:00Z"),
        ),
        ("FREQ=DAILY", None),
    ] {
        assert_eq!(end(rule), Ok(expected.map(at)), "{rule}");
    }
    assert!(end("FREQ=DAILY;COUNT=1000").is_ok_and(|it| it.is_some()));
}

#[test]
fn hostile_rules_are_refused_in_little_time() {
    let begun = Instant::now();
    for rule in [
        "FREQ=SECONDLY",
        "FREQ=MINUTELY;BYSECOND=1",
        "FREQ=HOURLY",
        "FREQ=DAILY;BYHOUR=1,2,3",
        "FREQ=DAILY;COUNT=100000",
        "FREQ=DAILY;COUNT=0",
        "FREQ=DAILY;COUNT=-1",
        "FREQ=DAILY;COUNT=5;UNTIL=20270101",
        "FREQ=DAILY;INTERVAL=0",
        "FREQ=DAILY;INTERVAL=65535",
        "FREQ=YEARLY;INTERVAL=1000",
        "FREQ=DAILY;UNTIL=20200101",
        "FREQ=DAILY;UNTIL=99999999",
        "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30",
        "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30",
        "FREQ=YEARLY;BYMONTH=11;BYMONTHDAY=25;BYWEEKNO=1",
        "FREQ=DAILY;BYMONTH=11;BYMONTHDAY=25;BYDAY=WE;BYYEARDAY=329;INTERVAL=1000",
        "FREQ=DAILY;FREQ=WEEKLY",
        "FREQ=WEEKLY;BYDAY=1MO",
        "FREQ=DAILY;BYDAY=XX",
        "FREQ=DAILY;X=1",
        "FREQ=DAILY\nDTSTART=20200101",
        "FREQ=",
        "COUNT=3",
        "FREQ",
        "daily",
        "FREQ=DAILY;BYMONTHDAY=999999999999999999999",
        "FREQ=DAILY;BYSETPOS=1",
        "FREQ=MONTHLY;BYDAY=MO;BYSETPOS=400",
    ] {
        let made = series(rule, "2026-11-25T10:00:00Z", "UTC").and_then(|it| it.check());
        assert!(made.is_err(), "{rule}: {made:?}");
    }
    assert!(
        begun.elapsed() < Duration::from_mins(1),
        "{:?}",
        begun.elapsed()
    );
}

#[test]
fn an_old_series_costs_no_more_than_a_new_one() {
    for rule in [
        "FREQ=DAILY",
        "FREQ=DAILY;BYDAY=MO",
        "FREQ=MONTHLY;BYDAY=-1SU",
        "FREQ=YEARLY",
    ] {
        let first = first_of(rule, "1900-01-01T10:00:00Z", "UTC");
        let old = series(rule, &first, "UTC").unwrap();
        let begun = Instant::now();
        for _ in 0..100 {
            assert!(old.starts(at("2199-12-01T00:00:00Z")).take(3).count() == 3);
        }
        assert!(
            begun.elapsed() < Duration::from_mins(1),
            "{rule}: {:?}",
            begun.elapsed()
        );
    }
}

proptest::proptest! {
    #[test]
    fn no_text_is_a_panic(text in "(FREQ=(DAILY|WEEKLY|MONTHLY|YEARLY)|INTERVAL=[0-9]{1,4}|COUNT=[0-9]{1,4}|BYDAY=[-+0-9]{0,3}(MO|FR|SU)|BYMONTHDAY=-?[0-9]{1,3}|BYYEARDAY=-?[0-9]{1,3}|BYWEEKNO=-?[0-9]{1,2}|BYMONTH=[0-9]{1,2}|BYSETPOS=-?[0-9]{1,3}|WKST=(MO|SU)|.{0,9}|;){0,9}", day in 0_i64..80_000) {
        let first = at("1950-01-01T09:30:00Z") + TimeDelta::days(day);
        if let Ok(series) = Series::parse(&canonical(&text, Tz::Europe__Berlin), first, Tz::Europe__Berlin)
            && series.check().is_ok()
        {
            let starts: Vec<_> = series.starts(first).take(5).collect();
            proptest::prop_assert!(starts.is_sorted_by(|a, b| a < b), "{text}");
        }
    }
}

#[test]
fn x7_a_rule_is_written_as_readers_of_calendars_want_it() {
    for (sent, written) in [
        ("COUNT=3;FREQ=WEEKLY", "FREQ=WEEKLY;COUNT=3"),
        ("freq=weekly;count=3;", "FREQ=WEEKLY;COUNT=3"),
        (" RRULE:FREQ=DAILY;;COUNT=2 ", "FREQ=DAILY;COUNT=2"),
        (
            "WKST=SU;BYDAY=MO,FR;INTERVAL=2;FREQ=WEEKLY",
            "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,FR;WKST=SU",
        ),
        // A day counts as a whole, a local time is one of the zone, and an instant stays one.
        (
            "FREQ=DAILY;UNTIL=20270131",
            "FREQ=DAILY;UNTIL=20270131T225959Z",
        ),
        (
            "UNTIL=20270701T120000;FREQ=DAILY",
            "FREQ=DAILY;UNTIL=20270701T100000Z",
        ),
        (
            "FREQ=DAILY;UNTIL=20270131T120000Z",
            "FREQ=DAILY;UNTIL=20270131T120000Z",
        ),
        ("FREQ=DAILY;UNTIL=SOON", "FREQ=DAILY;UNTIL=SOON"),
        ("every day", "EVERY DAY"),
    ] {
        let found = canonical(sent, Tz::Europe__Berlin);
        assert_eq!(found, written, "{sent}");
        assert_eq!(canonical(&found, Tz::Europe__Berlin), written, "{sent}");
    }
}

#[test]
fn days_have_ten_characters_and_count_on() {
    let range = |first, last| {
        let named = |name, it: &'static str| Some((name, it)).filter(|_| !it.is_empty());
        Range::of_days(named("firstDate", first), named("lastDate", last))
            .ok()
            .flatten()
    };
    for (first, last, from, to) in [
        ("2026-11-01", "2026-11-30", "2026-11-01", "2026-12-01"),
        ("2026-11-01", "2026-11-32", "2026-11-01", "2026-12-03"),
        ("2026-13-01", "2027-02-30", "2027-01-01", "2027-03-03"),
        ("2026-11-01", "", "2026-11-01", "2027-11-01"),
    ] {
        let midnight = |day: &str| at(&format!("{day}T00:00:00Z"));
        let expected = Range {
            from: midnight(from),
            to: midnight(to),
        };
        assert_eq!(range(first, last), Some(expected), "{first} to {last}");
    }
    for wrong in [
        "2026-11-1",
        "2026-11-001",
        "26-11-0001",
        "2026-11-0x",
        "2026-00-01",
        "2026-11-00",
        "２026-1-1",
    ] {
        assert_eq!(range(wrong, "2026-11-30"), None, "{wrong}");
    }
}

#[test]
fn x48_the_steps_of_a_rule_are_counted_and_few_lead_to_the_next_occurrence() {
    let steps_to_second = |rule: &str, from: &str| {
        let series = series(rule, from, "UTC").unwrap();
        let mut all = Vec::new();
        let found = series.starts_while(at(from), |steps| {
            all.push(steps);
            true
        });
        assert_eq!(found.take(2).count(), 2, "{rule}");
        assert_eq!((all.len(), all[0], all[2]), (4, 0, 0), "{rule}");
        all[3]
    };
    for (rule, from, steps) in [
        ("FREQ=DAILY", "2026-11-25T10:00:00Z", 2),
        ("FREQ=WEEKLY;INTERVAL=2", "2026-11-25T10:00:00Z", 2),
        ("FREQ=YEARLY", "2026-11-25T10:00:00Z", 2),
        ("FREQ=DAILY;BYDAY=WE", "2026-11-25T10:00:00Z", 8),
        (
            "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=29",
            "2028-02-29T10:00:00Z",
            1462,
        ),
    ] {
        assert_eq!(steps_to_second(rule, from), steps, "{rule}");
    }
    let bomb = series(
        "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=29",
        "2028-02-29T10:00:00Z",
        "UTC",
    );
    let bomb = bomb.unwrap();
    assert!(bomb.check().is_err());
    let mut left = 3000_u64;
    let found = bomb.starts_while(at("2028-02-29T10:00:00Z"), |steps| {
        left = left.saturating_sub(steps);
        left > 0
    });
    assert_eq!(found.count(), 4);
    for (rule, from) in [
        (
            "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29",
            "2028-02-29T10:00:00Z",
        ),
        ("FREQ=DAILY;BYMONTH=1", "2027-01-01T10:00:00Z"),
        ("FREQ=DAILY;BYMONTH=1;COUNT=900", "2027-01-01T10:00:00Z"),
        ("FREQ=WEEKLY;BYMONTH=2;BYDAY=SA", "2027-02-06T10:00:00Z"),
    ] {
        assert!(series(rule, from, "UTC").unwrap().check().is_ok(), "{rule}");
    }
}
