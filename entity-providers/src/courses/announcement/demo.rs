//! The news of the demo university: something of every kind that the first course can have.

use chrono::TimeDelta;
use entity_core::db;
use entity_core::file::Files;
use entity_core::wire::Millis;
use entity_core::{Context, Demo, Result};

use super::{Announcement, MOTD_SITE, channel_of};
use crate::base::university::{BIOLOGY, FIELD_TRIP, HISTORY, LAB_A, NEWS};
use crate::courses::content::demo::attach;

/// One announcement. Hours count back from now: those of the future are negative.
struct Story {
    site: &'static str,
    author: &'static str,
    title: &'static str,
    body: &'static str,
    hours: i64,
    kind: Kind,
}

/// The feature of it.
enum Kind {
    Plain,
    Highlighted,
    WithFiles(&'static [&'static str]),
    Draft,
    /// It appears so many hours from now.
    Scheduled(i64),
    /// It disappeared so many hours ago.
    Retracted(i64),
    /// It is for the group with this title.
    For(&'static str),
}

const FILES: &[&str] = &["Lab safety rules.txt", "map.pdf"];

const STORIES: &[Story] = &[
    Story {
        site: BIOLOGY,
        author: "instructor1",
        title: "Welcome to Biology 101",
        body: "<p>Welcome! Please read the <strong>lab safety rules</strong> and find the lab on the map before Monday.</p>",
        hours: 9 * 24,
        kind: Kind::WithFiles(FILES),
    },
    Story {
        site: BIOLOGY,
        author: "instructor1",
        title: "The library closes early this week",
        body: "<p>Until Friday the science library closes at six.</p>",
        hours: 8 * 24,
        kind: Kind::Retracted(2 * 24),
    },
    Story {
        site: BIOLOGY,
        author: "instructor1",
        title: "Wednesday's lecture moves to Room 204",
        body: "<p>The heating in the old lecture hall is being repaired. We meet in <em>Room 204</em>.</p>",
        hours: 3 * 24,
        kind: Kind::Plain,
    },
    Story {
        site: BIOLOGY,
        author: "instructor1",
        title: "Lab A: bring your microscopy sheets",
        body: "<p>We compare your drawings of onion cells on Monday.</p>",
        hours: 30,
        kind: Kind::For(LAB_A),
    },
    Story {
        site: BIOLOGY,
        author: "instructor1",
        title: "Quiz on cell membranes next week",
        body: "<p>Twenty minutes, chapters three and four. The reading list is under <em>Resources</em>.</p>",
        hours: 5,
        kind: Kind::Highlighted,
    },
    Story {
        site: BIOLOGY,
        author: "instructor1",
        title: "How the midterm went",
        body: "<p>Not finished: add the distribution of the grades.</p>",
        hours: 2,
        kind: Kind::Draft,
    },
    Story {
        site: BIOLOGY,
        author: "instructor1",
        title: "Guest lecture on coral reefs",
        body: "<p>Dr. Amaru Quispe speaks about bleaching and recovery.</p>",
        hours: 4,
        kind: Kind::Scheduled(3 * 24),
    },
    Story {
        site: HISTORY,
        author: "instructor2",
        title: "Reading for the first seminar",
        body: "<p>Chapters one and two on Lübeck, please, and one question each.</p>",
        hours: 6 * 24,
        kind: Kind::Plain,
    },
    Story {
        site: HISTORY,
        author: "instructor2",
        title: "Office hours move to Tuesday",
        body: "<p>From this week on: Tuesdays, two to four.</p>",
        hours: 26,
        kind: Kind::Plain,
    },
    Story {
        site: FIELD_TRIP,
        author: "instructor1",
        title: "Dates for the salt marsh",
        body: "<p>Two weekends are possible. Please say in the discussion which suits you.</p>",
        hours: 50,
        kind: Kind::Plain,
    },
    Story {
        site: NEWS,
        author: "admin",
        title: "Open day in the botanical garden",
        body: "<p>Everybody is welcome on Saturday from ten to five. The greenhouses are open, too.</p>",
        hours: 30,
        kind: Kind::Plain,
    },
    Story {
        site: MOTD_SITE,
        author: "admin",
        title: "Maintenance on Sunday",
        body: "<p>The service is out of reach on Sunday between four and five in the morning.</p>",
        hours: 20,
        kind: Kind::Plain,
    },
];

/// Adds the announcements and returns their number.
pub(super) async fn fill(cx: &Context, demo: &Demo) -> Result<usize> {
    for (story, position) in STORIES.iter().zip(1..) {
        let author = demo.person(story.author)?;
        let mut announcement = story.announcement(cx, author, position);
        if let Kind::WithFiles(names) = story.kind {
            announcement.attachments = attach(cx, story.site, author, names).await?;
        }
        if let Kind::For(title) = story.kind {
            announcement.groups.push(demo.group(title)?.to_owned());
        }
        db::insert(cx, &announcement).await?;
    }
    Ok(STORIES.len())
}

impl Story {
    fn announcement(&self, cx: &Context, author: &str, position: i64) -> Announcement {
        let written = ago(cx, TimeDelta::hours(self.hours));
        let release_date = match self.kind {
            Kind::Scheduled(hours) => Some(ago(cx, TimeDelta::hours(-hours))),
            _ => None,
        };
        Announcement {
            announcement_id: cx.new_id(),
            title: self.title.to_owned(),
            body: self.body.to_owned(),
            channel: channel_of(self.site).to_owned(),
            site_id: self.site.to_owned(),
            created_by: author.to_owned(),
            created_on: release_date.unwrap_or(written),
            modified_on: written,
            highlight: matches!(self.kind, Kind::Highlighted).then_some(true),
            draft: matches!(self.kind, Kind::Draft),
            release_date,
            retract_date: match self.kind {
                Kind::Retracted(hours) => Some(ago(cx, TimeDelta::hours(hours))),
                _ => None,
            },
            attachments: Files::default(),
            written,
            position,
            version: 1,
            ..Announcement::default()
        }
    }
}

fn ago(cx: &Context, before: TimeDelta) -> Millis {
    Millis(
        cx.now()
            .checked_sub_signed(before)
            .unwrap_or_else(|| cx.now()),
    )
}
