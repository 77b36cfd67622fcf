//! `/direct/roster-membership`

use std::collections::BTreeSet;

use entity_providers::people::user::user;
use entity_providers::storage::db::site_parts::site_group;
use entity_providers::storage::db::{group_member, membership};
use http::StatusCode;
use lectern_testing::counting::Counter;
use sea_orm::{ActiveModelTrait, EntityTrait as _, IntoActiveModel as _, QuerySelect as _};
use serde_json::{Value, json};
use tests::{Client, TestApp, both};

use super::{id_of, list, read, text};

const MEMBERSHIP: &str = "/direct/roster-membership/biology-101/get-membership.json";

/// The members of the list, which programs of old read.
async fn members(client: &Client, query: &str) -> Vec<Value> {
    list(
        client,
        &format!("{MEMBERSHIP}?{query}"),
        "roster-membership",
    )
    .await
}

fn ids(members: &[Value], key: &str) -> BTreeSet<String> {
    members.iter().map(|it| text(it, key)).collect()
}

both! {
    async fn the_roster_tells_of_members_roles_and_groups(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let listed = members(&teacher, "").await;
        let names: Vec<_> = listed.iter().map(|it| text(it, "sortName")).collect();
        assert!(names.is_sorted() && names.len() > 10, "{names:?}");
        let site = read(&teacher, "/direct/roster-membership/biology-101/get-site.json").await;
        assert_eq!(site["userRoles"], json!(["Instructor", "Student", "Teaching Assistant"]));
        assert_eq!(site["membersTotal"].as_u64(), u64::try_from(listed.len()).ok());
        let counts = site["roleCounts"].as_object().expect("an object");
        for (role, count) in counts {
            let of_role = listed.iter().filter(|it| it["role"] == role.as_str()).count();
            assert_eq!(count.as_u64(), u64::try_from(of_role).ok(), "{role}");
        }
        let groups = site["siteGroups"].as_array().expect("a list");
        assert!(groups.len() >= 2);
        for group in groups {
            let (id, title) = (text(group, "id"), text(group, "title"));
            let inside = members(&teacher, &format!("groupId={id}")).await;
            assert!(!inside.is_empty() && inside.iter().all(|it| it["groups"][&id] == title.as_str()));
            let told = group["userIds"].as_array().expect("a list");
            let told: BTreeSet<_> = told.iter().map(|it| it.as_str().expect("an id").to_owned()).collect();
            assert_eq!(ids(&inside, "userId"), told);
            let by_member = listed.iter().filter(|it| it["groups"].get(&id).is_some());
            assert_eq!(by_member.map(|it| text(it, "userId")).collect::<BTreeSet<_>>(), told);
        }
        let one = read(&teacher, "/direct/roster-membership/biology-101.json").await;
        assert_eq!(one["id"], "biology-101");
    }

    async fn it_tells_what_the_list_of_members_tells(app: TestApp) {
        let (admin, teacher) = (app.user("admin").await, app.user("instructor1").await);
        // Somebody in a group who does not want to be seen.
        let listed = members(&teacher, "roleId=Student").await;
        let shy = listed.iter().find(|it| it["groups"].as_object().is_some_and(|it| !it.is_empty()));
        let (shy, eid) = shy.map(|it| (text(it, "userId"), text(it, "eid"))).expect("a student in a group");
        let hidden = format!("/direct/membership/{shy}::site:biology-101/hidden");
        app.user(&eid).await.put(&hidden, &json!({})).await.expect(StatusCode::NO_CONTENT);
        let grants = "Instructor:roster.viewhidden=false&Instructor:roster.viewemail=false&Instructor:roster.viewid=false";
        for (form, is_allowed) in [("", true), (grants, false)] {
            if !form.is_empty() {
                admin.post_form("/direct/site/biology-101/setPerms", form).await.expect(StatusCode::OK);
            }
            let facts = |it: &Value, keys: [&str; 5]| keys.map(|key| text(it, key));
            let roster = members(&teacher, "").await;
            let roster = roster.iter().map(|it| facts(it, ["userId", "eid", "displayName", "email", "role"]));
            let roster: Vec<_> = roster.collect();
            let told = list(&teacher, "/direct/membership/site/biology-101.json", "membership").await;
            let told = told.iter().map(|it| facts(it, ["userId", "userEid", "userDisplayName", "userEmail", "memberRole"]));
            assert_eq!(roster, told.collect::<Vec<_>>());
            let own = id_of(&teacher).await;
            for [id, eid, _, email, _] in roster.iter().filter(|it| it[0] != own) {
                assert_eq!((!eid.is_empty(), !email.is_empty()), (is_allowed, is_allowed), "{id}");
            }
            let number = u64::try_from(roster.len()).ok();
            for path in ["get-membership.json?all=true", "get-site.json"] {
                let answer = read(&teacher, &format!("/direct/roster-membership/biology-101/{path}")).await;
                assert_eq!(answer["membersTotal"].as_u64(), number, "{path}");
                assert_eq!(answer.to_string().contains(&shy), is_allowed, "{path}");
            }
        }
    }

    async fn the_roster_takes_few_parameters_and_leaves_out_who_is_not_active(app: TestApp) {
        let teacher = app.user("instructor1").await;
        for (query, status) in [
            ("groupId=none", StatusCode::NOT_FOUND),
            ("page=x", StatusCode::BAD_REQUEST),
            ("page=-1", StatusCode::BAD_REQUEST),
            ("page=99999999999", StatusCode::BAD_REQUEST),
            ("page=4294967295&pageSize=4294967295", StatusCode::OK),
            ("all=maybe", StatusCode::BAD_REQUEST),
            ("_limit=x", StatusCode::BAD_REQUEST),
            ("roleId=None", StatusCode::OK),
        ] {
            teacher.get(&format!("{MEMBERSHIP}?{query}")).await.expect(status);
        }
        let inactive = &members(&teacher, "roleId=Student").await[0];
        let path = format!("/direct/membership/{}::site:biology-101", text(inactive, "userId"));
        teacher.put(&path, &json!({"active": false})).await.expect(StatusCode::NO_CONTENT);
        let left = members(&teacher, "").await;
        assert!(!ids(&left, "userId").contains(&text(inactive, "userId")));
    }

    async fn two_thousand_members_take_few_statements_and_have_pages(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let counter = Counter::of(app.service());
        let caller = entity_core::Caller::user(id_of(&teacher).await, "instructor1");
        let cost = async |name: &str| {
            let path = format!("/roster-membership/biology-101/{name}");
            counter.read(&caller, &path, &[]).await.expect("an answer");
            counter.read(&caller, &path, &[]).await.expect("an answer")
        };
        let before = (cost("get-membership").await, cost("get-site").await);
        let few = members(&teacher, "").await.len();
        add(&app, 2_000).await;
        let after = (cost("get-membership").await, cost("get-site").await);
        assert_eq!((before.0.statements, before.1.statements), (after.0.statements, after.1.statements));
        assert!(after.0.statements <= 6 && after.1.statements <= 6, "{after:?}");
        let all = members(&teacher, "").await;
        assert_eq!(all.len(), few + 2_000);
        let mut turned = Vec::new();
        for number in 0.. {
            let page = read(&teacher, &format!("{MEMBERSHIP}?page={number}&pageSize=500")).await;
            assert_eq!(page["membersTotal"].as_u64(), u64::try_from(all.len()).ok());
            let members = page["members"].as_array().expect("a list");
            if members.is_empty() {
                assert_eq!(page["status"], "END");
                break;
            }
            assert_eq!(page["status"], Value::Null);
            turned.extend(members.iter().cloned());
        }
        assert_eq!(turned, all);
        assert_eq!(read(&teacher, &format!("{MEMBERSHIP}?page=0")).await["members"].as_array().map(Vec::len), Some(50));
        assert_eq!(members(&teacher, "_start=10&_limit=7").await, all[10..17]);
        let whole = read(&teacher, &format!("{MEMBERSHIP}?all=true")).await;
        assert_eq!(whole["members"].as_array().map(Vec::len), Some(all.len()));
    }
}

/// Adds students to the course, past the service, every tenth of them to a group.
async fn add(app: &TestApp, count: usize) {
    let writer = &app.service().storage.content.writer;
    let user = user::Entity::find().one(writer).await.expect("rows");
    let member = membership::Entity::find().one(writer).await.expect("rows");
    let group = site_group::Entity::find().select_only();
    let group = group.columns([site_group::Column::Id, site_group::Column::SiteId]);
    let group: Option<(String, String)> = group.into_tuple().one(writer).await.expect("rows");
    let (group, site) = group.expect("a group");
    let (user, member) = (user.expect("a user"), member.expect("a member"));
    let (mut users, mut members, mut inside) = (Vec::new(), Vec::new(), Vec::new());
    for number in 0..count {
        let id = format!("many-{number:05}");
        let mut user = user.clone();
        for column in [user::Column::Id, user::Column::Eid, user::Column::Email] {
            ActiveModelTrait::set(&mut user, column, id.as_str().into());
        }
        users.push(user);
        if number % 10 == 0 {
            let row = group_member::Model {
                group_id: group.clone(),
                user_id: id.clone(),
                site_id: Some(site.clone()),
            };
            inside.push(row.into_active_model());
        }
        let row = membership::Model {
            user_id: id,
            site_id: "biology-101".to_owned(),
            role: "Student".to_owned(),
            is_active: true,
            is_hidden: false,
            ..member.clone()
        };
        members.push(row.into_active_model());
    }
    for users in users.chunks(500) {
        user::Entity::insert_many(users.to_vec())
            .exec_without_returning(writer)
            .await
            .expect("users");
    }
    for members in members.chunks(500) {
        membership::Entity::insert_many(members.to_vec())
            .exec_without_returning(writer)
            .await
            .expect("members");
    }
    group_member::Entity::insert_many(inside)
        .exec_without_returning(writer)
        .await
        .expect("members of a group");
}
