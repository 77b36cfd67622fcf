//! The sites of the demo university: two courses, a project and a public one, with pages, tools, groups and members.

use chrono::TimeDelta;
use entity_core::wire::Millis;
use entity_core::{Context, Result, db};

use super::people::{Cast, Person};
use super::terms::Half;
use super::{ago, insert};
use crate::base::university::{BIOLOGY, FIELD_TRIP, HISTORY, LAB_A, LAB_B, NEWS};
use crate::people::invitation::{EXPIRY, Invitation};
use crate::people::site::Site;
use crate::people::site::claim_ids;
use crate::people::site::id::ADMIN_SITE;
use crate::storage::db::site_parts::{SiteGroup, SitePage, SiteTool};
use crate::storage::db::{group_member, membership};

/// A page with one tool: title and tool.
type Page = (&'static str, &'static str);

const COURSE_PAGES: &[Page] = &[
    ("Syllabus", "sakai.syllabus"),
    ("Announcements", "sakai.announcements"),
    ("Calendar", "sakai.schedule"),
    ("Lessons", "sakai.lessonbuildertool"),
    ("Resources", "sakai.resources"),
    ("Assignments", "sakai.assignment.grades"),
    ("Tests & Quizzes", "sakai.samigo"),
    ("Gradebook", "sakai.gradebookng"),
    ("Discussions", "sakai.forums"),
    ("Conversations", "sakai.conversations"),
    ("People", "sakai.siteinfo"),
];
const NEWS_PAGES: &[Page] = &[("Announcements", "sakai.announcements")];
const PROJECT_PAGES: &[Page] = &[
    ("Announcements", "sakai.announcements"),
    ("Calendar", "sakai.schedule"),
    ("Resources", "sakai.resources"),
    ("Discussions", "sakai.forums"),
    ("People", "sakai.siteinfo"),
];

/// The parts of which a site is made.
struct Plan {
    id: &'static str,
    title: &'static str,
    kind: &'static str,
    short_description: &'static str,
    description: &'static str,
    owner: &'static str,
    joiner_role: &'static str,
    is_joinable: bool,
    is_pub_view: bool,
    pages: &'static [Page],
}

const PLANS: [Plan; 4] = [
    Plan {
        id: BIOLOGY,
        title: "Biology 101: Cells and Life",
        kind: "course",
        short_description: "An introduction to cells, genes and evolution",
        description: "<p>What is alive, and how does it work? Two lectures and one lab a week.</p>",
        owner: "instructor1",
        joiner_role: "Student",
        is_joinable: false,
        is_pub_view: false,
        pages: COURSE_PAGES,
    },
    Plan {
        id: HISTORY,
        title: "History 210: Cities of the Baltic",
        kind: "course",
        short_description: "Trade, guilds and towns from 1150 to 1650",
        description: "<p>How merchants built cities, and cities built states.</p>",
        owner: "instructor2",
        joiner_role: "Student",
        is_joinable: false,
        is_pub_view: false,
        pages: COURSE_PAGES,
    },
    Plan {
        id: FIELD_TRIP,
        title: "Field Trip to the Salt Marsh",
        kind: "project",
        short_description: "Planning the excursion in spring",
        description: "<p>Who drives, who cooks, who counts the birds.</p>",
        owner: "instructor1",
        joiner_role: "access",
        is_joinable: true,
        is_pub_view: false,
        pages: PROJECT_PAGES,
    },
    Plan {
        id: NEWS,
        title: "News of the University",
        kind: "project",
        short_description: "What everybody may know",
        description: "<p>Open days, concerts and lectures for everybody.</p>",
        owner: "admin",
        joiner_role: "access",
        is_joinable: false,
        is_pub_view: true,
        pages: NEWS_PAGES,
    },
];

/// Makes the sites; answers their ids, and title and id of each group.
pub(super) async fn fill(
    cx: &Context,
    cast: &Cast,
) -> Result<(Vec<String>, Vec<(String, String)>)> {
    let sites = PLANS
        .iter()
        .map(|plan| plan.site(cx, cast))
        .collect::<Result<Vec<_>>>()?;
    let ids: Vec<_> = sites.iter().map(|it| it.id.clone()).collect();
    db::insert_many(cx, &sites).await?;
    claim_ids(cx, &ids).await?;
    let (mut pages, mut tools) = (Vec::new(), Vec::new());
    for plan in &PLANS {
        plan.add_pages(cx, &mut pages, &mut tools);
    }
    db::insert_many(cx, &pages).await?;
    db::insert_many(cx, &tools).await?;
    insert(cx, members(cx, cast)?).await?;
    db::insert_many(cx, &invitations(cx, cast)?).await?;
    Ok((ids, fill_groups(cx, cast).await?))
}

impl Plan {
    fn site(&self, cx: &Context, cast: &Cast) -> Result<Site> {
        let owner = cast.person(self.owner)?;
        let created = Millis(cx.now() - TimeDelta::days(50));
        let is_course = self.kind == "course";
        let half = Half::of(cx.now());
        Ok(Site {
            id: self.id.to_owned(),
            title: self.title.to_owned(),
            r#type: Some(self.kind.to_owned()),
            short_description: Some(self.short_description.to_owned()),
            description: Some(self.description.to_owned()),
            contact_name: Some(owner.name.clone()),
            contact_email: Some(format!("{}@example.edu", owner.eid)),
            published: true,
            pub_view: self.is_pub_view,
            joinable: self.is_joinable,
            joiner_role: Some(self.joiner_role.to_owned()),
            owner: Some(owner.id.clone()),
            term: is_course.then(|| half.year()),
            term_eid: is_course.then(|| half.id()),
            created_date: created,
            modified_date: created,
            version: 1,
            ..Site::default()
        })
    }

    fn add_pages(&self, cx: &Context, pages: &mut Vec<SitePage>, tools: &mut Vec<SiteTool>) {
        for ((title, tool_id), position) in self.pages.iter().zip(1..) {
            let page_id = cx.new_id();
            pages.push(SitePage {
                id: page_id.clone(),
                site_id: self.id.to_owned(),
                title: (*title).to_owned(),
                position,
                layout: 0,
            });
            tools.push(SiteTool {
                id: cx.new_id(),
                page_id,
                site_id: self.id.to_owned(),
                tool_id: (*tool_id).to_owned(),
                title: (*title).to_owned(),
                position: 1,
            });
        }
    }
}

fn members(cx: &Context, cast: &Cast) -> Result<Vec<membership::Model>> {
    let created = ago(cx, TimeDelta::days(45));
    let member = |person: &Person, site_id: &str, role: &str| membership::Model {
        user_id: person.id.clone(),
        site_id: site_id.to_owned(),
        role: role.to_owned(),
        is_active: true,
        is_provided: false,
        is_pinned: site_id != ADMIN_SITE,
        pinned_position: None,
        created,
        is_hidden: false,
        origin: membership::Origin::Mandate,
    };
    let mut members = vec![
        member(cast.person("admin")?, ADMIN_SITE, "admin"),
        member(cast.person("instructor1")?, BIOLOGY, "Instructor"),
        member(cast.person("ta1")?, BIOLOGY, "Teaching Assistant"),
        member(cast.person("instructor2")?, HISTORY, "Instructor"),
        member(cast.person("instructor1")?, FIELD_TRIP, "maintain"),
        member(cast.person("ta1")?, FIELD_TRIP, "access"),
    ];
    for (students, site_id, role) in [
        (cast.students(1, 20)?, BIOLOGY, "Student"),
        (cast.students(11, 20)?, HISTORY, "Student"),
        (cast.students(1, 4)?, FIELD_TRIP, "access"),
    ] {
        members.extend(students.into_iter().map(|it| member(it, site_id, role)));
    }
    Ok(members)
}

/// The invitations to the field trip: one by external id, one by address.
fn invitations(cx: &Context, cast: &Cast) -> Result<Vec<Invitation>> {
    let host = cast.person("instructor1")?;
    let created = cx.now() - TimeDelta::days(1);
    let guests = ["student5", "instructor2@example.edu"];
    let rows = guests.map(|invitee| Invitation {
        id: cx.new_id(),
        site_id: FIELD_TRIP.to_owned(),
        member_role: "access".to_owned(),
        invitee: invitee.to_owned(),
        invitee_lower: invitee.to_owned(),
        invited_by: host.id.clone(),
        created,
        expires: created + EXPIRY,
        ..Invitation::default()
    });
    Ok(rows.into())
}

async fn fill_groups(cx: &Context, cast: &Cast) -> Result<Vec<(String, String)>> {
    // The teaching assistant grades the first group.
    let mut of_lab_a = cast.students(1, 10)?;
    of_lab_a.push(cast.person("ta1")?);
    let plans = [
        (LAB_A, "Mondays at ten", of_lab_a),
        (LAB_B, "Thursdays at two", cast.students(11, 20)?),
    ];
    let (mut groups, mut members, mut made) = (Vec::new(), Vec::new(), Vec::new());
    for (title, description, students) in plans {
        let id = cx.new_id();
        members.extend(students.into_iter().map(|it| group_member::Model {
            group_id: id.clone(),
            user_id: it.id.clone(),
            site_id: Some(BIOLOGY.to_owned()),
        }));
        groups.push(SiteGroup {
            id: id.clone(),
            site_id: BIOLOGY.to_owned(),
            title: title.to_owned(),
            description: Some(description.to_owned()),
            modified: ago(cx, TimeDelta::days(44)),
        });
        made.push((title.to_owned(), id));
    }
    db::insert_many(cx, &groups).await?;
    insert(cx, members).await?;
    Ok(made)
}
