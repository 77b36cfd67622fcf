//! Tests of the waits, and of the number of guesses that they leave.

use super::*;
use crate::base::config::Config;

const HOUR: i64 = 3_600_000;

fn instant(millis: i64) -> DateTime<Utc> {
    DateTime::from_timestamp_millis(millis).unwrap()
}

/// Counts the failures within `time` of a client that tries again as soon as it may, and rests every `pause` tries.
fn guesses(subject: &Subject, time: i64, pause: u32, rest: i64) -> u32 {
    let throttle = Throttle::new(&Config::with(&[]).login);
    let (mut now, mut row, mut count) = (0, None, 0);
    while now < time {
        row = Some(throttle.counted(subject, row, instant(now)));
        count += 1;
        if count % pause == 0 {
            now += rest;
        }
        let left = throttle.left(subject.kind, row.as_ref().unwrap(), instant(now));
        now += left.map_or(0, |it| it.num_milliseconds());
    }
    count
}

fn address() -> IpAddr {
    "192.0.2.1".parse().unwrap()
}

#[test]
fn the_wait_doubles_from_the_fifth_failure_on_up_to_a_quarter_of_an_hour() {
    let throttle = Throttle::new(&Config::with(&[]).login);
    let seconds = |failures| throttle.pause(failures) / 1000;
    let account: Vec<_> = (0..18).map(seconds).collect();
    assert_eq!(
        account,
        [
            0, 0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900, 900
        ]
    );
    assert_eq!(seconds(i64::MAX), 900);
}

#[test]
fn auth_4_an_account_leaves_17_guesses_in_an_hour_and_13_in_each_of_many() {
    let account = Subject::account("ada", address());
    assert_eq!(guesses(&account, HOUR, u32::MAX, 0), 17);
    // Whoever waits until all is forgotten begins anew: no number of tries between the rests yields more.
    let best = (1..30).map(|it| guesses(&account, 100 * HOUR, it, HOUR + 1));
    let best = best.max().unwrap();
    assert!((12 * 100..=13 * 100).contains(&best), "{best}");
}

#[test]
fn auth_4_a_network_leaves_700_guesses_in_the_first_hour_and_600_in_each_other() {
    let network = Subject::address(address());
    assert_eq!(guesses(&network, HOUR + 1, u32::MAX, 0), 700);
    assert_eq!(guesses(&network, 2 * HOUR + 1, u32::MAX, 0), 1300);
}

#[test]
fn a_full_network_waits_for_one_failure_to_fade_and_no_longer() {
    let throttle = Throttle::new(&Config::with(&[]).login);
    let network = Subject::address(address());
    let count = |row, now| Some(throttle.counted(&network, row, instant(now)));
    let left = |row: &Option<Model>, now| {
        let left = throttle.left(network.kind, row.as_ref().unwrap(), instant(now));
        left.map(|it| it.num_milliseconds())
    };
    let mut row = None;
    for _ in 0..99 {
        row = count(row, 0);
    }
    assert_eq!(left(&row, 0), None);
    // More than there is room for, as tries at the same time may be, make nobody wait longer.
    for _ in 0..50 {
        row = count(row, 0);
    }
    assert_eq!(left(&row, 0), Some(6_000));
    assert_eq!(left(&row, 5_999), Some(1));
    assert_eq!(left(&row, 6_000), None);
    row = count(row, 6_000);
    assert_eq!(left(&row, 6_000), Some(6_000));
    // What was begun to fade goes on fading.
    assert_eq!(left(&count(row.clone(), 16_000), 16_000), Some(2_000));
    assert_eq!(count(row, 606_000), count(None, 606_000));
}

#[test]
fn a_household_is_one_network() {
    let of = |it: &str| Subject::account("a", it.parse().unwrap());
    assert_eq!(of("2001:db8::1"), of("2001:db8::ffff"));
    assert_ne!(of("2001:db8::1"), of("2001:db8:0:1::1"));
    assert_ne!(of("192.0.2.1"), of("192.0.2.2"));
    assert_eq!(of("192.0.2.1"), of("::ffff:192.0.2.1"));
    assert_eq!(
        Subject::account(" Ada ", address()),
        Subject::account("ada", address())
    );
}

#[test]
fn auth_4_a_clock_that_is_set_back_locks_nobody_out() {
    let throttle = Throttle::new(&Config::with(&[]).login);
    let years = 10 * 365 * 24 * HOUR;
    for subject in [
        Subject::account("ada", address()),
        Subject::address(address()),
    ] {
        let mut row = None;
        for _ in 0..200 {
            row = Some(throttle.counted(&subject, row, instant(years)));
        }
        let waits = |now| throttle.left(subject.kind, row.as_ref().unwrap(), instant(now));
        assert!(waits(years).is_some() && waits(years - 1_000).is_some());
        assert_eq!(waits(0), None, "{subject:?}");
        // It is counted as the first one.
        assert_eq!(
            throttle.counted(&subject, row.clone(), instant(0)).failures,
            1
        );
    }
}
