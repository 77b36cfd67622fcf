//! The addresses of actions that write.

use super::content;
use super::subject::{SPARE_ROLE, Subject};

/// Returns the path behind the prefix of an action that writes, with all that it needs.
pub(super) fn behind(kind: &str, operation: &str, subject: &Subject) -> String {
    let Subject {
        id,
        site,
        group,
        user,
        ..
    } = subject;
    let name = operation.split_once(':').map_or("", |it| it.1);
    match (kind, operation) {
        ("invitation", "POST:claim") => format!("{name}/{id}"),
        ("session", _) | ("poll-vote", "POST:vote") => name.to_owned(),
        ("membership", "POST:join" | "POST:unjoin") | ("lessons", "POST:orderPages") => {
            format!("{name}/{site}")
        }
        ("membership", "POST:site") => format!("site/{site}?userSearchValues={user}"),
        ("membership", "POST:add") => format!("add/{site}?userSearchValues={user}"),
        ("membership", "POST:sitebyjson") => {
            format!("sitebyjson/{site}?json=%5B%7B%22id%22:%22{user}%22%7D%5D")
        }
        ("membership", "POST:people") => format!("people/{site}"),
        ("membership", "POST:grouping") => {
            format!("grouping/{site}?csv=Student%20ID,Group")
        }
        ("syllabus", "POST:bulk") => {
            format!("bulk/{site}?title=Week&firstDate=2026-12-01&lastDate=2026-12-02")
        }
        ("calendar", "POST:import") => format!(
            "import/{site}?ics=BEGIN:VCALENDAR%0D%0ABEGIN:VEVENT%0D%0AUID:{user}%0D%0ADTSTART:20261210%0D%0AEND:VEVENT\
             %0D%0AEND:VCALENDAR%0D%0A"
        ),
        ("content", _) => content::behind(name, subject),
        ("assignment", "POST:import") => format!("{id}/{name}?csv=Student%20ID,Grade"),
        ("assignment", "POST:setGrade") => format!("{name}?gradableId={id}&studentId={user}"),
        ("membership", "POST:group") => format!("group/{group}?action=add&userIds={user}"),
        ("site", "PUT:group") => format!("{id}/group?groupTitle=Rowers"),
        ("site", "POST:group") => format!("{id}/group/{group}?groupTitle=Rowers"),
        ("site", "DELETE:group") => format!("{id}/group/{group}"),
        ("site", "POST:copy") => format!("{id}/copy?title=Copy"),
        ("site", "POST:role") => format!("{id}/role/Guest"),
        ("site", "DELETE:role") => format!("{id}/role/{SPARE_ROLE}"),
        ("site", "POST:setPerms" | "PUT:setPerms") => {
            format!("{id}/setPerms?{SPARE_ROLE}%3Aannc.read=true")
        }
        _ => format!("{id}/{name}"),
    }
}

/// The query without which this action answers nothing about the subject.
pub(super) fn query(action: &str, subject: &Subject) -> String {
    let Subject {
        id, user, group, ..
    } = subject;
    match action {
        "withPerm" => "?permission=site.visit".to_owned(),
        "gradable" | "itemSubmission" | "getGrade" => {
            format!("?gradableId={id}&studentId={user}")
        }
        "htmlForRef" => format!("?ref=/content{group}"),
        "fullSubmissions" => format!("?gradableId={id}&submissionIds=none"),
        _ => String::new(),
    }
}
