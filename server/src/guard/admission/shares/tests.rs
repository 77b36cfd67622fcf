//! Tests of turns, waits and refusals.

use super::*;

const LIMITS: Limits = Limits {
    places: 2,
    queue: 8,
    wait: Duration::from_millis(500),
    of_group: (1, 4),
    of_member: (1, 4),
    counts_time: false,
};

fn shares() -> Shares<&'static str> {
    Shares::new(LIMITS)
}

fn wait(shares: &mut Shares<&'static str>, group: u64, ticket: &'static str) -> u64 {
    ask(shares, ClientKey::group(group), ticket).unwrap().0
}

/// Ends a request of `who`, which held its place for so long.
fn end(shares: &mut Shares<&'static str>, who: ClientKey, held: Duration) {
    let since = Instant::now();
    shares.end(who, since, since + held);
}

/// Lets `who` wait if they may.
fn ask(
    shares: &mut Shares<&'static str>,
    who: ClientKey,
    ticket: &'static str,
) -> Result<(u64, Option<&'static str>), Refused> {
    shares
        .check(who)
        .map(|()| shares.wait(who, Duration::ZERO, ticket))
}

#[test]
fn one_group_has_neither_all_places_nor_the_whole_queue() {
    let mut shares = shares();
    assert!(shares.start(ClientKey::group(1)));
    assert!(
        !shares.start(ClientKey::group(1)),
        "one place is for others"
    );
    for _ in 0..4 {
        wait(&mut shares, 1, "a");
    }
    assert_eq!(
        ask(&mut shares, ClientKey::group(1), "a").err(),
        Some(Refused::Share),
        "a half of the queue is for others"
    );
    assert!(shares.start(ClientKey::group(2)), "which is still free");
    wait(&mut shares, 2, "b");
    let exempt = ClientKey {
        is_exempt: true,
        ..ClientKey::group(1)
    };
    assert!(ask(&mut shares, exempt, "a").is_ok());
}

#[test]
fn turns_go_round() {
    let mut shares = Shares::new(Limits {
        places: 1,
        ..LIMITS
    });
    assert!(shares.start(ClientKey::group(1)));
    for (group, ticket) in [
        (1, "a1"),
        (1, "a2"),
        (1, "a3"),
        (2, "b1"),
        (2, "b2"),
        (3, "c"),
    ] {
        wait(&mut shares, group, ticket);
    }
    let mut order = Vec::new();
    let mut running = ClientKey::group(1);
    while shares.running() > 0 {
        end(&mut shares, running, Duration::ZERO);
        if let Some((who, ticket)) = shares.next(Instant::now()) {
            order.push(ticket);
            running = who;
        }
    }
    assert_eq!(order, ["b1", "c", "a1", "b2", "a2", "a3"]);
    assert!(
        shares.groups.all.is_empty(),
        "nothing is kept of who is gone"
    );
    assert_eq!(shares.groups.waiting, 0);
}

#[test]
fn members_take_turns_within_their_group() {
    let mut shares = Shares::new(Limits {
        places: 1,
        of_member: (1, 2),
        ..LIMITS
    });
    let member = |member| ClientKey {
        member: Some(member),
        ..ClientKey::group(1)
    };
    assert!(shares.start(member(1)));
    for _ in 0..2 {
        assert!(ask(&mut shares, member(1), "a").is_ok());
    }
    assert_eq!(ask(&mut shares, member(1), "a").err(), Some(Refused::Share));
    assert!(ask(&mut shares, member(2), "b").is_ok());
    end(&mut shares, member(1), Duration::ZERO);
    assert_eq!(shares.next(Instant::now()).unwrap().1, "b");
}

#[test]
fn a_full_queue_gives_way_to_who_has_less_of_it() {
    let mut shares = Shares::new(Limits { queue: 4, ..LIMITS });
    assert!(shares.start(ClientKey::group(1)) && shares.start(ClientKey::group(2)));
    for _ in 0..3 {
        wait(&mut shares, 1, "a");
    }
    wait(&mut shares, 2, "b");
    let (_, gone) = ask(&mut shares, ClientKey::group(3), "c").unwrap();
    assert_eq!(gone, Some("a"), "the newest of the greediest goes");
    assert_eq!(shares.waiting(), 4);
    assert_eq!(
        ask(&mut shares, ClientKey::group(2), "b").err(),
        Some(Refused::Full),
        "two for each: nobody has more"
    );
}

#[test]
fn who_would_wait_too_long_is_told_at_once() {
    let mut shares = shares();
    for _ in 0..100 {
        assert!(shares.start(ClientKey::group(1)));
        end(&mut shares, ClientKey::group(1), Duration::from_millis(450));
    }
    assert!(shares.start(ClientKey::group(1)) && shares.start(ClientKey::group(2)));
    // Two places, 450 ms each: the first one waits 225 ms, the second one 450 ms, the third one 675 ms.
    wait(&mut shares, 1, "a");
    wait(&mut shares, 1, "a");
    assert_eq!(shares.check(ClientKey::group(1)), Err(Refused::Full));
    assert_eq!(
        shares.check(ClientKey::group(3)),
        Ok(()),
        "whose turn is next but one"
    );
}

#[test]
fn who_leaves_is_forgotten() {
    let mut shares = shares();
    assert!(shares.start(ClientKey::group(1)));
    let number = wait(&mut shares, 1, "a");
    shares.leave(number);
    shares.leave(number);
    assert_eq!(shares.waiting(), 0);
    end(&mut shares, ClientKey::group(1), Duration::ZERO);
    assert!(shares.next(Instant::now()).is_none());
    assert!(shares.groups.all.is_empty());
}

#[test]
fn who_waits_is_not_overtaken_by_everybody_who_comes() {
    let mut shares = Shares::new(Limits {
        places: 1,
        ..LIMITS
    });
    assert!(shares.start(ClientKey::group(0)));
    wait(&mut shares, 0, "again");
    let mut running = ClientKey::group(0);
    // Before each turn there is somebody new.
    let turns = (1..=100).position(|newcomer| {
        wait(&mut shares, newcomer, "new");
        end(&mut shares, running, Duration::ZERO);
        let (who, ticket) = shares.next(Instant::now()).unwrap();
        running = who;
        ticket == "again"
    });
    assert_eq!(turns, Some(1), "one newcomer is first, and then it goes on");
}

/// One place, for whose order the time counts for which it was held.
fn by_time() -> Shares<&'static str> {
    Shares::new(Limits {
        places: 1,
        queue: usize::MAX,
        of_group: (1, usize::MAX),
        of_member: (1, usize::MAX),
        counts_time: true,
        ..LIMITS
    })
}

#[test]
fn dos_7_who_held_the_place_least_lately_is_next_and_of_equals_the_first() {
    let (mut shares, begin) = (by_time(), Instant::now());
    let after = |millis| begin + Duration::from_millis(millis);
    assert!(shares.start(ClientKey::group(1)));
    for (group, ticket) in [(1, "again"), (2, "other"), (3, "third"), (2, "other again")] {
        wait(&mut shares, group, ticket);
    }
    let mut ended = 0;
    let mut order = Vec::new();
    for (group, held) in [(1, 1_000), (2, 5), (3, 50), (2, 5), (1, 5)] {
        let since = after(ended);
        ended += held;
        shares.end(ClientKey::group(group), since, after(ended));
        order.extend(shares.next(after(ended)).map(|it| it.1));
    }
    assert_eq!(order, ["other", "third", "other again", "again"]);
    assert!(shares.groups.all.is_empty());
}

#[test]
fn dos_7_a_short_request_comes_before_long_ones_of_those_who_held_the_place_as_briefly() {
    let (mut shares, begin) = (by_time(), Instant::now());
    let long = Duration::from_millis(250);
    let brief = Duration::from_millis(20);
    shares.held.as_mut().unwrap().note(4, brief, begin);
    assert!(shares.start(ClientKey::group(1)));
    for (group, expected, ticket) in [
        (2, long, "a batch"),
        (4, Duration::ZERO, "short"),
        (4, Duration::ZERO, "short again"),
    ] {
        shares.wait(ClientKey::group(group), expected, ticket);
    }
    shares.end(ClientKey::group(1), begin, begin);
    assert_eq!(shares.next(begin).unwrap().1, "short");
    // A client that writes for long all in all comes after a batch, however briefly at a time.
    shares.end(ClientKey::group(4), begin, begin + long);
    assert_eq!(shares.next(begin + long).unwrap().1, "a batch");
}

#[test]
fn dos_7_who_is_brief_waits_for_one_who_takes_long_and_not_for_the_next_one() {
    let (mut shares, begin) = (by_time(), Instant::now());
    let (second, none) = (Duration::from_secs(1), Duration::ZERO);
    let over = begin + second;
    shares.held.as_mut().unwrap().note(2, none, begin);
    assert!(shares.start(ClientKey::group(1)));
    shares.wait(ClientKey::group(3), second, "a batch");
    shares.end(ClientKey::group(1), begin, over);
    assert!(shares.next(over).is_none());
    assert_eq!(shares.resume_after(over), Some(second));
    assert_eq!(shares.resume_after(over), None, "somebody comes back then");
    assert!(shares.may_start(ClientKey::group(2), none, over));
    assert!(!shares.may_start(ClientKey::group(1), none, over));
    assert!(shares.start(ClientKey::group(2)));
    shares.resume();
    assert_eq!(shares.resume_after(over), None, "the place is taken");
    shares.end(ClientKey::group(2), over, over);
    assert_eq!(shares.next(over + second).unwrap().1, "a batch");
}
