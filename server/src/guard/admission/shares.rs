//! The fair scheduler of one class: the requests that run and wait, counted by client, and the order of turns.
//!
//! A client is a group, an account or a network, and perhaps a member of it. No group and no member may have all places or
//! the whole queue. The next turn goes to the group with the fewest running requests, of these to the one whose last
//! turn was longest ago, and within it by the same rule to a member: a client that sends rarely is served before one that
//! sends always. A new client counts as if it had had the last turn but one: it comes before the client that had that, and
//! not before all that wait already.
//!
//! Where the [time](HeldTime) counts for which clients held places, it comes before the turns.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;
use std::time::{Duration, Instant};

use super::held_time::HeldTime;

/// The client on which a request is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ClientKey {
    /// The account or the network.
    pub(crate) group: u64,
    /// The member of the group, where members are told apart.
    pub(crate) member: Option<u64>,
    /// True if it may have all that there is.
    pub(crate) is_exempt: bool,
}

impl ClientKey {
    /// All of a group.
    pub(crate) fn group(group: u64) -> Self {
        Self {
            group,
            member: None,
            is_exempt: false,
        }
    }
}

/// The limits of a class, and the part of them that one client may have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// The number of requests that run at once.
    pub(crate) places: usize,
    /// The number of requests that wait.
    pub(crate) queue: usize,
    /// The time for which one waits at most.
    pub(crate) wait: Duration,
    /// The number of places and of waiting requests that one group may have.
    pub(crate) of_group: (usize, usize),
    /// The same for one member.
    pub(crate) of_member: (usize, usize),
    /// True if the time for which clients held places decides who is next.
    pub(crate) counts_time: bool,
}

/// Why somebody gets no place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// The queue is full, or the turn would come too late.
    Full,
    /// They have all that one may have.
    Share,
}

/// The requests of one client.
#[derive(Clone, Copy, Debug, Default)]
struct Share {
    running: usize,
    waiting: usize,
    /// When it last got a turn or, before that, when it came; counted in turns.
    last: u64,
}

impl Share {
    fn is_nothing(self) -> bool {
        self.running == 0 && self.waiting == 0
    }
}

/// The shares of the clients that have requests, by key.
#[derive(Debug, Default)]
struct Ledger<K> {
    all: HashMap<K, Share>,
    /// The number of clients that wait.
    waiting: usize,
}

impl<K: Copy + Eq + Hash> Ledger<K> {
    fn get(&self, key: K) -> Share {
        self.all.get(&key).copied().unwrap_or_default()
    }

    /// Changes what `key` has, which is `new` if it had nothing.
    fn change(&mut self, key: K, new: Share, change: impl Fn(&mut Share)) {
        let share = self.all.entry(key).or_insert(new);
        let did_wait = share.waiting > 0;
        change(share);
        let (waits, is_nothing) = (share.waiting > 0, share.is_nothing());
        self.waiting = self
            .waiting
            .saturating_add(usize::from(waits))
            .saturating_sub(usize::from(did_wait));
        if is_nothing {
            self.all.remove(&key);
        }
    }
}

/// A waiting request, with the ticket by which it is told that its turn has come.
struct Waiter<T> {
    who: ClientKey,
    /// The time for which it is expected to hold its place beyond that of others.
    expected: Duration,
    number: u64,
    ticket: T,
}

/// The running and waiting requests of one class.
pub(crate) struct Shares<T> {
    limits: Limits,
    running: usize,
    waiters: VecDeque<Waiter<T>>,
    groups: Ledger<u64>,
    members: Ledger<(u64, u64)>,
    held: Option<HeldTime>,
    /// True if somebody comes back when the pause is over.
    will_resume: bool,
    turns: u64,
    numbers: u64,
    /// The time for which a place is held, on average.
    service: Duration,
}

impl<T> Shares<T> {
    pub(crate) fn new(limits: Limits) -> Self {
        Self {
            limits,
            running: 0,
            waiters: VecDeque::new(),
            groups: Ledger::default(),
            members: Ledger::default(),
            held: limits.counts_time.then(HeldTime::default),
            will_resume: false,
            turns: 0,
            numbers: 0,
            service: Duration::ZERO,
        }
    }

    /// The number of requests that wait.
    pub(crate) fn waiting(&self) -> usize {
        self.waiters.len()
    }

    /// The number of requests that run.
    pub(crate) fn running(&self) -> usize {
        self.running
    }

    /// Gives `who` a place at once, if there is one for them.
    pub(crate) fn start(&mut self, who: ClientKey) -> bool {
        let may = self.may_run(who);
        if may {
            self.turns = self.turns.saturating_add(1);
            self.running = self.running.saturating_add(1);
            let turn = self.turns;
            self.change(who, |it| {
                it.running = it.running.saturating_add(1);
                it.last = turn;
            });
        }
        may
    }

    /// Returns whether `who` would be refused if they asked now.
    pub(crate) fn check(&self, who: ClientKey) -> Result<(), Refused> {
        let (group, member) = self.shares(who);
        if self.has_place() && self.is_within(who, group, member) {
            return Ok(());
        }
        let is_beyond =
            group.waiting >= self.limits.of_group.1 || member.waiting >= self.limits.of_member.1;
        if is_beyond && !who.is_exempt {
            return Err(Refused::Share);
        }
        let own = if who.member.is_some() { member } else { group };
        if self.expected_wait(own, who.member.is_some()) > self.limits.wait {
            return Err(Refused::Full);
        }
        match self.waiters.len() < self.limits.queue || self.greediest(group).is_some() {
            true => Ok(()),
            false => Err(Refused::Full),
        }
    }

    /// Lets `who` wait, whom [`Shares::check`] lets, with a request that is `expected` to take so much longer than
    /// others; answers the number of their place in the queue. If the queue is full, the newest of the group that has
    /// most of it goes, and their ticket is answered too.
    pub(crate) fn wait(
        &mut self,
        who: ClientKey,
        expected: Duration,
        ticket: T,
    ) -> (u64, Option<T>) {
        let gone = match self.waiters.len() < self.limits.queue {
            true => None,
            false => self.evict(self.shares(who).0),
        };
        self.numbers = self.numbers.saturating_add(1);
        let number = self.numbers;
        self.change(who, |it| it.waiting = it.waiting.saturating_add(1));
        self.waiters.push_back(Waiter {
            who,
            expected,
            number,
            ticket,
        });
        (number, gone)
    }

    /// Forgets whoever waits at `number`, if they still do.
    pub(crate) fn leave(&mut self, number: u64) {
        let at = self.waiters.iter().position(|it| it.number == number);
        if let Some(waiter) = at.and_then(|it| self.waiters.remove(it)) {
            self.change(waiter.who, |it| it.waiting = it.waiting.saturating_sub(1));
        }
    }

    /// Takes back a place of `who`, who held it since `since`.
    pub(crate) fn end(&mut self, who: ClientKey, since: Instant, now: Instant) {
        let held = now.saturating_duration_since(since);
        if let Some(all) = &mut self.held {
            all.note(who.group, held, now);
        }
        self.running = self.running.saturating_sub(1);
        self.change(who, |it| it.running = it.running.saturating_sub(1));
        self.service = (self.service.saturating_mul(7).saturating_add(held)) / 8;
    }

    /// Returns the time after which somebody waits for nothing else than its end, if a place is free and nobody has been
    /// told to come back then.
    pub(crate) fn resume_after(&mut self, now: Instant) -> Option<Duration> {
        let pause = self.held.as_ref()?.pause(now)?;
        if self.will_resume || self.waiters.is_empty() || !self.has_place() {
            return None;
        }
        self.will_resume = true;
        Some(pause)
    }

    /// Notes that the time of [`resume_after`](Self::resume_after) is over.
    pub(crate) fn resume(&mut self) {
        self.will_resume = false;
    }

    /// Gives a place to whoever's turn it is; nothing if nobody can have one.
    pub(crate) fn next(&mut self, now: Instant) -> Option<(ClientKey, T)> {
        if !self.has_place() {
            return None;
        }
        let eligible = self.waiters.iter().enumerate().filter_map(|(at, it)| {
            let (group, member) = self.shares(it.who);
            let time = self.held.as_ref().map(|held| held.of(it.who.group, now));
            let time = time.unwrap_or_default().saturating_add(it.expected);
            let order = (group.running, time, group.last, member.running, member.last);
            let is_eligible =
                self.is_within(it.who, group, member) && self.may_start(it.who, it.expected, now);
            is_eligible.then_some((order, it.number, at))
        });
        let (.., at) = eligible.min()?;
        let waiter = self.waiters.remove(at)?;
        self.start(waiter.who);
        self.change(waiter.who, |it| it.waiting = it.waiting.saturating_sub(1));
        Some((waiter.who, waiter.ticket))
    }

    /// Returns whether the time for which `who` held places lets them start, with a request that is `expected` to take so
    /// much longer than others.
    pub(crate) fn may_start(&self, who: ClientKey, expected: Duration, now: Instant) -> bool {
        let held = self.held.as_ref();
        held.is_none_or(|it| it.may_start(who.group, expected, now))
    }

    fn may_run(&self, who: ClientKey) -> bool {
        let (group, member) = self.shares(who);
        self.has_place() && self.is_within(who, group, member)
    }

    /// Returns whether a place is free.
    pub(crate) fn has_place(&self) -> bool {
        self.running < self.limits.places
    }

    /// Returns whether `who`, who has this, may have one more place.
    fn is_within(&self, who: ClientKey, group: Share, member: Share) -> bool {
        let is_within =
            group.running < self.limits.of_group.0 && member.running < self.limits.of_member.0;
        is_within || who.is_exempt
    }

    /// The shares of the group of `who`, and of the member.
    fn shares(&self, who: ClientKey) -> (Share, Share) {
        let member = who.member.map(|it| self.members.get((who.group, it)));
        (self.groups.get(who.group), member.unwrap_or_default())
    }

    fn change(&mut self, who: ClientKey, change: impl Fn(&mut Share)) {
        let new = Share {
            last: self.turns.saturating_sub(1),
            ..Share::default()
        };
        self.groups.change(who.group, new, &change);
        if let Some(member) = who.member {
            self.members.change((who.group, member), new, &change);
        }
    }

    /// Returns the time for which one more would wait who has `own`: each other one that waits has a turn before their next one.
    fn expected_wait(&self, own: Share, is_member: bool) -> Duration {
        let all = match is_member {
            true => self.members.waiting,
            false => self.groups.waiting,
        };
        let others = all.saturating_sub(usize::from(own.waiting > 0));
        let ahead = own
            .waiting
            .saturating_add(1)
            .saturating_mul(others.saturating_add(1));
        let ahead = ahead.min(self.waiters.len().saturating_add(1));
        let places = u32::try_from(self.limits.places).unwrap_or(u32::MAX).max(1);
        let ahead = u32::try_from(ahead).unwrap_or(u32::MAX);
        self.service.saturating_mul(ahead) / places
    }

    /// The group that has more of the queue than `group` would have with one more.
    fn greediest(&self, group: Share) -> Option<u64> {
        let most = self.groups.all.iter().max_by_key(|(_, it)| it.waiting)?;
        (most.1.waiting > group.waiting.saturating_add(1)).then_some(*most.0)
    }

    fn evict(&mut self, group: Share) -> Option<T> {
        let greediest = self.greediest(group)?;
        let at = self
            .waiters
            .iter()
            .rposition(|it| it.who.group == greediest)?;
        let waiter = self.waiters.remove(at)?;
        self.change(waiter.who, |it| it.waiting = it.waiting.saturating_sub(1));
        Some(waiter.ticket)
    }
}

#[cfg(test)]
mod tests;
