//! The table of the people of a course: roles in its rows, groups by ticks, by size and by file.

use http::StatusCode;
use serde_json::{Value, json};
use tests::{Answer, Client, TestApp, both};

use super::{browser, form, list, read, text};

const LIST: &str = "/direct/membership/site/biology-101";
const TABLE: &str = "/direct/membership/people/biology-101";
const FILE: &str = "/direct/membership/grouping/biology-101.json";
const ADD: &str = "/direct/membership/add/field-trip";

async fn table(client: &Client) -> Value {
    read(client, &format!("{TABLE}.json")).await
}

/// The cells of somebody, in order.
fn cells(table: &Value, name: &str) -> Vec<Value> {
    let rows = table["rows"].as_array().expect("rows");
    let found = rows.iter().find(|it| it["title"] == name);
    let cells = found.expect("a row")["cells"].as_array();
    cells.expect("cells").clone()
}

/// The name of the prompt in a column of somebody's row, and the answers that are chosen there.
fn prompt(table: &Value, name: &str, column: &str) -> (String, Vec<String>) {
    let columns = table["columns"].as_array().expect("columns");
    let place = columns
        .iter()
        .position(|it| it == column)
        .expect("a column");
    let prompt = &cells(table, name)[place - 1]["prompt"];
    let choices = prompt["choices"].as_array().expect("choices").iter();
    let chosen = choices
        .filter(|it| it["isChosen"] == true)
        .map(|it| text(it, "value"));
    (text(prompt, "name"), chosen.collect())
}

async fn role_of(client: &Client, name: &str) -> Vec<String> {
    prompt(&table(client).await, name, "Role").1
}

async fn save(client: &Client, sent: &Value) -> Answer {
    client.post(&format!("{TABLE}.json"), sent).await
}

/// The numbers of people in the groups, by title.
async fn sizes(client: &Client) -> Vec<(String, usize)> {
    let site = read(client, "/direct/site/biology-101").await;
    let mut sizes = Vec::new();
    for group in site["siteGroups"].as_array().expect("groups") {
        let path = format!("/direct/membership/group/{}.json", text(group, "id"));
        sizes.push((
            text(group, "title"),
            list(client, &path, "membership").await.len(),
        ));
    }
    sizes
}

both! {
    async fn roles_are_chosen_in_rows_and_saved_by_one_button(app: TestApp) {
        let teacher = browser(&app, "instructor1").await;
        let page = teacher.get(&format!("{LIST}.html")).await.expect(StatusCode::OK).text().to_owned();
        for part in ["<select", "Role, Ada Moreau", "Lab A, Ada Moreau", "Name of the group", "Add people", "Groups from a file"] {
            assert!(page.contains(part), "{part}: {page}");
        }
        let data = app.user("instructor1").await;
        let before = table(&data).await;
        let (ada, _) = prompt(&before, "Ada Moreau", "Role");
        let (ben, _) = prompt(&before, "Benjamin Osei", "Role");
        let held = json!({ ada.as_str(): "Student", ben.as_str(): "Student" }).to_string();
        let sent = [(ada.as_str(), "Teaching Assistant"), (ben.as_str(), "Student"), ("before", held.as_str())];
        let answer = teacher.post_form(&format!("{TABLE}.html"), &form(&sent)).await;
        answer.expect(StatusCode::SEE_OTHER);
        assert!(answer.header("location").is_some_and(|it| it.ends_with(&format!("{LIST}.html"))));
        assert_eq!(role_of(&data, "Ada Moreau").await, ["Teaching Assistant"]);
        assert_eq!(role_of(&data, "Benjamin Osei").await, ["Student"]);
    }

    async fn the_search_of_the_list_finds_rows_of_the_table(app: TestApp) {
        let teacher = browser(&app, "instructor1").await;
        for word in ["jim%C3%A9nez", "JIMENEZ", "carla%20j"] {
            let page = teacher.get(&format!("{LIST}.html?_search={word}")).await.expect(StatusCode::OK).text().to_owned();
            assert!(page.contains("Role, Carla Jiménez") && !page.contains("Ada Moreau"), "{page}");
            assert!(page.contains("name=\"_search\""), "{page}");
        }
        let page = teacher.get(&format!("{LIST}.html?memberRole=Instructor")).await.expect(StatusCode::OK).text().to_owned();
        assert!(page.contains("Role, Maria Okafor") && !page.contains("Ada Moreau"), "{page}");
    }

    async fn nothing_is_saved_if_one_cell_is_wrong_and_it_is_named(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let before = table(&teacher).await;
        let name = |who: &str| prompt(&before, who, "Role").0;
        let (ada, own) = (name("Ada Moreau"), name("Maria Okafor"));
        for (cell, role) in [(name("Benjamin Osei"), "Emperor"), (own.clone(), "Student")] {
            let sent = json!({ ada.as_str(): "Teaching Assistant", cell.as_str(): role });
            let answer = save(&teacher, &sent).await;
            answer.expect(StatusCode::BAD_REQUEST);
            assert!(answer.text().contains(&cell), "{}", answer.text());
            assert_eq!(table(&teacher).await, before, "{role}");
        }
    }

    async fn a_refused_table_comes_back_with_what_was_sent(app: TestApp) {
        let teacher = browser(&app, "instructor1").await;
        let (own, _) = prompt(&table(&app.user("instructor1").await).await, "Maria Okafor", "Role");
        let sent = [(own.as_str(), "Student"), ("title", "Lab <C>")];
        let page = teacher.post_form(&format!("{TABLE}.html"), &form(&sent)).await;
        let page = page.expect(StatusCode::BAD_REQUEST).text().to_owned();
        for part in ["nobody would be left", "value=\"Lab &#60;C&#62;\"", "Role, Ada Moreau"] {
            assert!(page.contains(part), "{part}: {page}");
        }
    }

    async fn what_another_one_wrote_meanwhile_is_not_taken_back(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let (ada, _) = prompt(&table(&teacher).await, "Ada Moreau", "Role");
        save(&teacher, &json!({ ada.as_str(): "Teaching Assistant" })).await.expect(StatusCode::OK);
        let before = json!({ ada.as_str(): "Student" }).to_string();
        save(&teacher, &json!({ ada.as_str(): "Student", "before": before })).await.expect(StatusCode::OK);
        assert_eq!(role_of(&teacher, "Ada Moreau").await, ["Teaching Assistant"]);
        let refused = save(&teacher, &json!({ ada.as_str(): "Instructor", "before": before })).await;
        assert!(refused.expect(StatusCode::BAD_REQUEST).text().contains("in the meantime"));
    }

    async fn who_may_not_change_people_is_shown_the_list(app: TestApp) {
        let student = app.user("student1").await;
        student.get(&format!("{TABLE}.json")).await.expect(StatusCode::FORBIDDEN);
        save(&student, &json!({ "title": "Mine" })).await.expect(StatusCode::FORBIDDEN);
        student.post(FILE, &json!({ "csv": "Student ID,Group\nstudent1,Mine" })).await.expect(StatusCode::FORBIDDEN);
        // One who only changes groups may not open the roster.
        let helper = app.user("ta1").await;
        helper.get(&format!("{TABLE}.json")).await.expect(StatusCode::FORBIDDEN);
        helper.post(FILE, &json!({ "csv": "Student ID,Group\nstudent1,Mine" })).await.expect(StatusCode::FORBIDDEN);
    }

    async fn ticks_put_people_into_groups_and_take_them_out(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let found = table(&teacher).await;
        let [(a, was_in), (b, _)] = ["Lab A", "Lab B"].map(|it| prompt(&found, "Ada Moreau", it));
        assert_eq!(was_in, ["true"]);
        let sizes_before = sizes(&teacher).await;
        let sent = [(a.as_str(), ""), (b.as_str(), ""), (b.as_str(), "true"), ("title", "Lab C")];
        let answer = browser(&app, "instructor1").await.post_form(&format!("{TABLE}.html"), &form(&sent)).await;
        answer.expect(StatusCode::SEE_OTHER);
        let found = table(&teacher).await;
        assert_eq!(prompt(&found, "Ada Moreau", "Lab A").1, [""; 0]);
        assert_eq!(prompt(&found, "Ada Moreau", "Lab B").1, ["true"]);
        let expected = [("Lab A", sizes_before[0].1 - 1), ("Lab B", sizes_before[1].1 + 1), ("Lab C", 0)];
        assert_eq!(sizes(&teacher).await, expected.map(|(title, size)| (title.to_owned(), size)));
        let answer = save(&teacher, &json!({ "title": "Lab C" })).await;
        assert!(answer.expect(StatusCode::BAD_REQUEST).text().contains("title"));
    }

    async fn a_group_is_renamed_and_deleted_in_the_table(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let site = read(&teacher, "/direct/site/biology-101").await;
        let [lab_a, lab_b] = [0, 1].map(|it| text(&site["siteGroups"][it], "id"));
        let before = sizes(&teacher).await;
        for (sent, wrong) in [
            (json!({ "group": lab_a }), "title"),
            (json!({ "group": lab_a, "title": "Lab B" }), "title"),
            (json!({ "group": "lab-of-nobody", "title": "Lab D" }), "group"),
            (json!({ "delete": "true" }), "group"),
        ] {
            let answer = save(&teacher, &sent).await;
            assert!(answer.expect(StatusCode::BAD_REQUEST).text().contains(wrong), "{sent}");
        }
        assert_eq!(sizes(&teacher).await, before);
        let sent = [("group", lab_a.as_str()), ("title", "Lab D"), ("delete", "false")];
        let answer = browser(&app, "instructor1").await.post_form(&format!("{TABLE}.html"), &form(&sent)).await;
        answer.expect(StatusCode::SEE_OTHER);
        let sent = [("group", lab_b.as_str()), ("title", ""), ("delete", "false"), ("delete", "true")];
        let answer = browser(&app, "instructor1").await.post_form(&format!("{TABLE}.html"), &form(&sent)).await;
        answer.expect(StatusCode::SEE_OTHER);
        assert_eq!(sizes(&teacher).await, [("Lab D".to_owned(), before[0].1)]);
    }

    async fn groups_by_size_have_all_students_and_are_even(app: TestApp) {
        let teacher = app.user("instructor1").await;
        for (title, size, wrong) in [("", "3", "title"), ("Team", "0", "size"), ("Team", "many", "size"), (&"x".repeat(120), "3", "title")] {
            let answer = save(&teacher, &json!({ "title": title, "size": size })).await;
            assert!(answer.expect(StatusCode::BAD_REQUEST).text().contains(wrong), "{title} {size}");
        }
        save(&teacher, &json!({ "title": "Team", "size": "6" })).await.expect(StatusCode::OK);
        let made = sizes(&teacher).await.split_off(2);
        let titles: Vec<_> = made.iter().map(|it| it.0.as_str()).collect();
        assert_eq!(titles, ["Team 1", "Team 2", "Team 3", "Team 4"]);
        let counts: Vec<_> = made.iter().map(|it| it.1).collect();
        assert_eq!(counts, [5, 5, 5, 5]);
        assert_eq!(prompt(&table(&teacher).await, "Maria Okafor", "Team 1").1, [""; 0]);
    }

    async fn groups_come_from_a_file_all_or_nothing(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let csv = "Student ID;Group\r\nstudent1;Lab A\r\nSTUDENT1;Lab B\r\nstudent2;Field team\r\nstudent2;Field team\r\n";
        let before = sizes(&teacher).await;
        let report = teacher.post(FILE, &json!({ "csv": csv, "preview": true })).await;
        let report = report.expect(StatusCode::OK).json();
        assert_eq!(report["changes"], json!(["Ada Moreau: Lab B", "Benjamin Osei: Field team"]));
        assert_eq!(sizes(&teacher).await, before);
        let wrong = format!("{csv}nobody;Lab A\r\nstudent3;\r\n");
        let answer = teacher.post(FILE, &json!({ "csv": wrong })).await.expect(StatusCode::BAD_REQUEST).text().to_owned();
        assert!(answer.contains("line 6, column 1") && answer.contains("line 7, column 2"), "{answer}");
        teacher.post(FILE, &json!({ "csv": "Who,Group\nstudent1,Lab A" })).await.expect(StatusCode::BAD_REQUEST);
        assert_eq!(sizes(&teacher).await, before);
        teacher.post(FILE, &json!({ "csv": csv })).await.expect(StatusCode::OK);
        let after = sizes(&teacher).await;
        assert_eq!((after[0].clone(), after[2].1), (("Field team".to_owned(), 1), before[1].1 + 1));
        let again = teacher.post(FILE, &json!({ "csv": csv })).await.expect(StatusCode::OK).json();
        assert_eq!(again["changed"], 0);
    }

    async fn groups_may_come_as_a_file(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let file = "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"groups.csv\"\r\n\r\nStudent ID,Group\nstudent1,Lab C\n\r\n--x--\r\n";
        let send = async |client: &Client| {
            client.send(http::Method::POST, FILE, "multipart/form-data; boundary=x", file.into()).await
        };
        send(&app.user("student1").await).await.expect(StatusCode::FORBIDDEN);
        send(&teacher).await.expect(StatusCode::OK);
        let made = sizes(&teacher).await;
        assert!(made.contains(&("Lab C".to_owned(), 1)), "{made:?}");
    }

    async fn who_adds_people_is_told_whom(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let sent = json!({ "userSearchValues": "student9, student10@example.edu, student1, nobody", "memberRole": "access" });
        let told = teacher.post(&format!("{ADD}.json"), &sent).await.expect(StatusCode::OK).json();
        let expected = json!({ "added": 2, "invited": 0, "alreadyMembers": ["student1"], "notFound": ["nobody"] });
        assert_eq!(told, expected);
        let page = browser(&app, "instructor1").await.post_form(&format!("{ADD}.html"), &form(&[("userSearchValues", "student11")])).await;
        let page = page.expect(StatusCode::OK).text().to_owned();
        assert!(page.contains("Added Keiko Tanaka as access."), "{page}");
        assert!(page.contains("href=\"/direct/membership/site/field-trip.html\""), "{page}");
    }

    async fn who_may_only_invite_is_told_what_was_typed(app: TestApp) {
        let owner = app.user("student1").await;
        let club = json!({ "id": "club", "title": "Chess Club", "type": "project" });
        owner.post("/direct/site", &club).await.expect(StatusCode::CREATED);
        let sent = json!({ "userSearchValues": "student9,Student9,nobody", "memberRole": "access" });
        let told = owner.post("/direct/membership/add/club.json", &sent).await.expect(StatusCode::OK).json();
        assert_eq!((&told["added"], &told["invited"]), (&json!(0), &json!(2)));
        let form = form(&[("userSearchValues", "student10,nobody2"), ("memberRole", "access")]);
        let page = owner.post_form("/direct/membership/add/club.html", &form).await;
        assert!(page.text().contains("Invited nobody2 and student10 as access."), "{}", page.text());
    }

    async fn who_makes_accounts_finds_the_form_among_the_people(app: TestApp) {
        let (admin, teacher) = (browser(&app, "admin").await, browser(&app, "instructor1").await);
        for (client, is_there) in [(admin, true), (teacher, false)] {
            let page = client.get(&format!("{LIST}.html")).await.expect(StatusCode::OK).text().to_owned();
            assert_eq!(page.contains("href=\"/direct/user/new.html\">Make an account<"), is_there, "{page}");
        }
    }
}
