"""Does with SakaiPy 2.3, which others wrote, all that it can do here, and prints what it got."""
import json
import sys

from SakaiPy.SakaiSession import SakaiSession
from SakaiPy.SakaiTools import Announcement, Assignment, Calendar, Membership

base, account, password, site = json.load(sys.stdin)
session = SakaiSession(account, password, base)
announcements = Announcement.Announcement(session)
assignments = Assignment.Assignment(session)
events = Calendar.Calendar(session)
memberships = Membership.Membership(session)
got = {
    "session": session.session_id,
    "user": session.get_current_user_info(),
    "own session": session.get_session_info(),
    "announcements of the site": announcements.getAllAnnouncementsForSite(site),
    "messages of the day": announcements.getMessageOfTheDay(),
    "announcements": announcements.getMyAnnouncements(),
    "assignments": assignments.getAllMyAssignments(),
    "events": events.getAllMyEvents(),
    "memberships": memberships.getUserMembership(includeGroups=True),
    "roles": memberships.getUserRoles(),
    "members": memberships.getAllMembershipForSite(site),
}
assignment = got["assignments"]["assignment_collection"][0]
got["assignment"] = assignments.getAssignmentInfo(assignment["id"])
event = got["events"]["calendar_collection"][0]
got["event"] = events.getEventDetails(event["siteId"], event["eventId"])
groups = [it["locationReference"] for it in got["memberships"]["membership_collection"] if "/group/" in it["locationReference"]]
if groups:
    got["group"] = memberships.getAllMembershipForGroup(groups[0].split("/group/")[1])
got["end"] = session.terminate_session().status_code
json.dump(got, sys.stdout)
