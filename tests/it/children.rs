//! Children: rows of further tables that clients read and write as lists inside an entity, at any depth.

use entity_core::engine::Route;
use entity_core::{Access, Entity, Need};
use http::{Method, StatusCode};
use serde::Serialize;
use serde_json::{Value, json};
use tests::{Answer, Backend, Client, OnBackend, TestApp, both};

use tests::rows::{databases, texts};

const ACCESS: Access = Access {
    read: Need::Session,
    create: Need::Session,
    update: Need::Session,
    delete: Need::Session,
};

/// A recipe of a meal.
#[derive(Clone, Debug, Serialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(prefix = "recipe", table = "recipe", access = ACCESS)]
#[entity(verbs(read, list, create, update, delete))]
struct Recipe {
    #[entity(id)]
    id: String,
    #[entity(title)]
    name: String,
    #[entity(optional, site)]
    site_id: Option<String>,
    /// The steps, in this order.
    #[entity(children, max = 5)]
    steps: Vec<Step>,
    #[entity(version)]
    version: i64,
}

/// One step.
#[derive(Clone, Debug, Serialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(table = "recipe_step")]
struct Step {
    #[entity(id)]
    id: String,
    #[serde(skip)]
    #[entity(hidden, parent = Recipe)]
    recipe_id: String,
    #[serde(skip)]
    #[entity(position)]
    position: i64,
    #[entity(max = 20)]
    title: String,
    #[entity(html, optional)]
    text: String,
    minutes: Option<i64>,
    #[entity(choices("low", "high"), optional)]
    heat: String,
    /// The tools that it needs.
    #[entity(children)]
    tools: Vec<Tool>,
}

/// Something that a step needs.
#[derive(Clone, Debug, Serialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(table = "recipe_tool")]
struct Tool {
    #[entity(id)]
    id: String,
    #[serde(skip)]
    #[entity(hidden, parent = Step)]
    step_id: String,
    #[serde(skip)]
    #[entity(position)]
    position: i64,
    name: String,
}

struct Kitchen {
    app: TestApp,
    cook: Client,
}

impl OnBackend for Kitchen {
    async fn on_backend(backend: Backend) -> Option<Self> {
        let recipes = Route::of::<Recipe>(("tests", "1.0.0"));
        let recipes = recipes.read().list().create().update().delete().table();
        let app = TestApp::with_type(backend, recipes.build()).await?;
        let cook = app.user("student1").await;
        Some(Self { app, cook })
    }
}

impl Kitchen {
    /// Makes a recipe with these steps and returns it.
    async fn make(&self, steps: Value) -> Value {
        let body = json!({"name": "Bread", "siteId": "biology-101", "steps": steps});
        let made = self.cook.post("/direct/recipe", &body).await;
        made.expect(StatusCode::CREATED).json()
    }

    async fn read(&self, recipe: &Value) -> Value {
        let path = address(recipe);
        let read = self.cook.get(&path).await;
        read.expect(StatusCode::OK).json()
    }

    async fn patch(&self, recipe: &Value, patch: &Value) -> Answer {
        let media_type = "application/json-patch+json";
        let body = patch.to_string().into();
        self.cook
            .send(Method::PATCH, &address(recipe), media_type, body)
            .await
    }

    /// The number of rows of a table.
    async fn rows(&self, table: &str) -> String {
        let sql = format!("SELECT CAST(count(*) AS text) AS line FROM {table}");
        let connections = databases(&self.app).await;
        let connection = connections.first().expect("a database");
        texts(connection, &sql).await.remove(0)
    }
}

fn address(recipe: &Value) -> String {
    format!("/direct/recipe/{}", text(&recipe["id"]))
}

fn text(value: &Value) -> &str {
    value.as_str().expect("text")
}

fn titles(recipe: &Value) -> Vec<&str> {
    let steps = recipe["steps"].as_array().expect("steps");
    steps.iter().map(|it| text(&it["title"])).collect()
}

fn step(title: &str, tools: &[&str]) -> Value {
    let tools: Vec<_> = tools.iter().map(|it| json!({"name": it})).collect();
    json!({"title": title, "tools": tools})
}

/// Asserts that a write to `path` is refused because of the field `name`.
async fn refused(kitchen: &Kitchen, path: &str, steps: Value, name: &str) {
    let answer = kitchen.cook.put(path, &json!({"steps": steps})).await;
    let error = answer.expect(StatusCode::BAD_REQUEST).json();
    let named = error["error"]["fields"][0]["name"].clone();
    assert_eq!(named, name, "{error}");
}

both! {
    async fn children_are_written_and_read_with_their_parent(kitchen: Kitchen) {
        let steps = json!([step("Knead", &["bowl", "scale"]), step("Bake", &["oven"])]);
        let made = kitchen.make(steps).await;
        assert_eq!(titles(&made), ["Knead", "Bake"]);
        let read = kitchen.read(&made).await;
        assert_eq!(read["steps"], made["steps"]);
        assert_eq!(read["steps"][0]["tools"][1]["name"], "scale");
        let expected = json!({
            "id": read["steps"][1]["id"], "title": "Bake", "text": "", "minutes": null, "heat": "",
            "tools": [{"id": read["steps"][1]["tools"][0]["id"], "name": "oven"}],
        });
        assert_eq!(read["steps"][1], expected);
        let list = kitchen.cook.get("/direct/recipe.json").await;
        assert_eq!(list.json()["recipe_collection"][0]["steps"], made["steps"]);
        let part = kitchen.cook.get("/direct/recipe.json?_fields=steps").await;
        assert_eq!(part.json()["recipe_collection"][0]["steps"], made["steps"]);
        let xml = kitchen.cook.get(&format!("{}.xml", address(&made))).await;
        assert!(xml.text().contains("<title>Bake</title>"), "{}", xml.text());
        let page = kitchen.cook.get(&format!("{}.html", address(&made))).await;
        assert!(page.expect(StatusCode::OK).text().contains("Knead"));
    }

    async fn long_html_of_children_is_sanitised_and_stays(kitchen: Kitchen) {
        let long = |word: &str| format!("<p onclick=x>{word}</p>\n").repeat(200);
        let texts = |it: &Value| it["steps"].as_array().expect("steps").iter().map(|it| it["text"].clone()).collect::<Vec<_>>();
        let stored = |word: &str| json!(format!("<p>{word}</p>\n").repeat(200));
        let made = kitchen.make(json!([{"title": "Knead", "text": long("a")}, {"title": "Bake"}])).await;
        assert_eq!(texts(&made), [stored("a"), json!("")]);
        let patch = json!([{"op": "add", "path": "/steps/1/text", "value": long("b")}, {"op": "replace", "path": "/name", "value": "c"}]);
        assert!(kitchen.patch(&made, &patch).await.status.is_success());
        let title = json!([{"op": "replace", "path": "/steps/0/title", "value": "Rest"}]);
        assert!(kitchen.patch(&made, &title).await.status.is_success());
        let read = kitchen.read(&made).await;
        assert_eq!((titles(&read), texts(&read)), (vec!["Rest", "Bake"], vec![stored("a"), stored("b")]));
        let step = |word: &str| json!({"title": word, "text": long(word)}).to_string();
        let steps = format!("{}\n{}", step("d"), step("e")).replace('<', "%3C").replace('>', "%3E");
        let form = format!("_method=PUT&name=c&steps={steps}");
        let answer = kitchen.cook.post_form(&address(&made), &form).await;
        assert!(answer.status.is_success(), "{}", answer.text());
        assert_eq!(texts(&kitchen.read(&made).await), [stored("d"), stored("e")]);
    }

    async fn a_list_that_is_sent_takes_the_place_of_the_former_one(kitchen: Kitchen) {
        let made = kitchen.make(json!([step("a", &["x"]), step("b", &["y"]), step("c", &[])])).await;
        let path = address(&made);
        let former = made["steps"].as_array().expect("steps").clone();
        // What was read can be sent back: nothing changes.
        let answer = kitchen.cook.put(&path, &json!({"steps": former})).await;
        answer.expect(StatusCode::NO_CONTENT);
        assert_eq!(kitchen.read(&made).await["steps"], made["steps"]);
        // In another order, one gone, one changed, one new.
        let mut changed = former[0].clone();
        changed["title"] = json!("A");
        changed["minutes"] = json!(7);
        let sent = json!([former[2], step("new", &["z"]), changed]);
        let answer = kitchen.cook.put(&path, &json!({"steps": sent})).await;
        answer.expect(StatusCode::NO_CONTENT);
        let read = kitchen.read(&made).await;
        assert_eq!(titles(&read), ["c", "new", "A"]);
        assert_eq!(read["steps"][0], former[2]);
        assert_eq!(read["steps"][2]["id"], former[0]["id"]);
        assert_eq!(read["steps"][2]["tools"], former[0]["tools"]);
        assert_eq!(kitchen.rows("recipe_step").await, "3");
        assert_eq!(kitchen.rows("recipe_tool").await, "2");
        // What is left out of an entry becomes empty; other fields of the recipe stay.
        let short = json!([{"id": former[0]["id"], "title": "A"}]);
        let answer = kitchen.cook.put(&path, &json!({"steps": short})).await;
        answer.expect(StatusCode::NO_CONTENT);
        let read = kitchen.read(&made).await;
        assert_eq!((&read["steps"][0]["minutes"], &read["name"]), (&Value::Null, &json!("Bread")));
        assert_eq!(kitchen.rows("recipe_tool").await, "0");
        let answer = kitchen.cook.put(&path, &json!({"name": "Rolls"})).await;
        answer.expect(StatusCode::NO_CONTENT);
        assert_eq!(titles(&kitchen.read(&made).await), ["A"]);
        let answer = kitchen.cook.put(&path, &json!({"steps": null})).await;
        answer.expect(StatusCode::NO_CONTENT);
        assert_eq!(kitchen.read(&made).await["steps"], json!([]));
    }

    async fn a_patch_and_xml_write_children_too(kitchen: Kitchen) {
        let made = kitchen.make(json!([step("a", &["x"])])).await;
        let path = address(&made);
        let patch = json!([
            {"op": "add", "path": "/steps/-", "value": step("b", &[])},
            {"op": "replace", "path": "/steps/0/tools/0/name", "value": "pan"},
        ]);
        kitchen.patch(&made, &patch).await.expect(StatusCode::NO_CONTENT);
        let read = kitchen.read(&made).await;
        assert_eq!(titles(&read), ["a", "b"]);
        assert_eq!(read["steps"][0]["tools"][0], json!({"id": made["steps"][0]["tools"][0]["id"], "name": "pan"}));
        let xml = kitchen.cook.get(&format!("{path}.xml")).await;
        let sent = xml.text().replace(">pan<", ">pot<").into_bytes();
        let answer = kitchen.cook.send(Method::PUT, &path, "application/xml", sent.into()).await;
        answer.expect(StatusCode::NO_CONTENT);
        let again = kitchen.read(&made).await;
        assert_eq!(again["steps"][0]["tools"][0]["name"], "pot");
        assert_eq!(again["steps"][0]["id"], read["steps"][0]["id"]);
        let form = kitchen.cook.get(&format!("{path}/edit")).await;
        assert!(form.expect(StatusCode::OK).text().contains("pot"));
    }

    async fn what_is_wrong_with_a_child_is_named(kitchen: Kitchen) {
        let made = kitchen.make(json!([step("a", &["x"])])).await;
        let other = kitchen.make(json!([step("b", &["y"])])).await;
        let path = address(&made);
        let own = &made["steps"][0];
        refused(&kitchen, &path, json!([{"tools": []}]), "steps[0].title").await;
        refused(&kitchen, &path, json!([step("a", &[]), {"title": "x".repeat(21)}]), "steps[1].title").await;
        refused(&kitchen, &path, json!([{"title": "a", "minutes": "long"}]), "steps[0].minutes").await;
        refused(&kitchen, &path, json!([{"title": "a", "heat": "none"}]), "steps[0].heat").await;
        refused(&kitchen, &path, json!([{"title": "a", "oven": 1}]), "steps[0].oven").await;
        refused(&kitchen, &path, json!([{"title": "a", "tools": [{}]}]), "steps[0].tools[0].name").await;
        refused(&kitchen, &path, json!(vec![step("a", &[]); 6]), "steps").await;
        refused(&kitchen, &path, json!("a"), "steps").await;
        refused(&kitchen, &path, json!([own, own]), "steps[1].id").await;
        // Nobody takes a child from another entity.
        refused(&kitchen, &path, json!([other["steps"][0]]), "steps[0].id").await;
        let taken = json!([{"id": own["id"], "title": "a", "tools": other["steps"][0]["tools"]}]);
        refused(&kitchen, &path, taken, "steps[0].tools[0].id").await;
        // A new entity gets new ones.
        let copy = kitchen.make(json!([own])).await;
        assert!(copy["steps"][0]["id"] != own["id"]);
        assert_eq!(kitchen.read(&other).await["steps"], other["steps"]);
        assert_eq!(kitchen.read(&made).await["steps"], made["steps"]);
    }

    async fn html_of_children_is_sanitised(kitchen: Kitchen) {
        let html = "<b>hot</b><script>alert(1)</script>";
        let made = kitchen.make(json!([{"title": "a", "text": html}])).await;
        assert_eq!(made["steps"][0]["text"], "<b>hot</b>");
        // A long one is sanitised before the unit of work opens, also where a patch carries it.
        let long = format!("{html}{}", "<p>word</p>".repeat(9_000));
        let patch = json!([{"op": "replace", "path": "/steps/0/text", "value": long}]);
        kitchen.patch(&made, &patch).await.expect(StatusCode::NO_CONTENT);
        let read = kitchen.read(&made).await;
        let text = text(&read["steps"][0]["text"]);
        assert!(text.len() > 90_000 && !text.contains("script"));
    }

    async fn children_go_with_their_parent_and_its_site(kitchen: Kitchen) {
        let made = kitchen.make(json!([step("a", &["x"])])).await;
        kitchen.make(json!([step("b", &["y"])])).await;
        kitchen.cook.delete(&address(&made)).await.expect(StatusCode::NO_CONTENT);
        assert_eq!(kitchen.rows("recipe_step").await, "1");
        assert_eq!(kitchen.rows("recipe_tool").await, "1");
        let admin = kitchen.app.user("admin").await;
        admin.delete("/direct/site/biology-101").await.expect(StatusCode::NO_CONTENT);
        for connection in databases(&kitchen.app).await.iter().take(1) {
            texts(connection, "DELETE FROM site WHERE id = 'biology-101' RETURNING id AS line").await;
        }
        assert_eq!(kitchen.rows("recipe_tool").await, "0");
    }

    async fn children_count_towards_the_size_of_lists_and_of_accounts(kitchen: Kitchen) {
        let long = "y".repeat(190_000);
        let step = json!({"title": "a", "text": long});
        let sql = "SELECT CAST(bytes AS text) AS line FROM usage WHERE kind = 'site' AND id = 'biology-101'";
        let connections = databases(&kitchen.app).await;
        let before: i64 = texts(&connections[0], sql).await[0].parse().expect("a number");
        for _ in 0..30 {
            kitchen.make(json!([step, step])).await;
        }
        let after: i64 = texts(&connections[0], sql).await[0].parse().expect("a number");
        assert!((after - before - 30 * 380_000) < 30 * 400, "{before} {after}");
        assert!(after - before > 30 * 380_000);
        let list = kitchen.cook.get("/direct/recipe.json?_limit=1000").await;
        assert!(list.text().len() < 8 << 20);
        assert!(list.header("link").is_some_and(|it| it.contains("rel=\"next\"")));
        // All children together have a limit.
        let (many, made) = (json!([step, step, step, step, step]), kitchen.make(json!([])).await);
        kitchen.cook.put(&address(&made), &json!({"steps": many})).await.expect(StatusCode::NO_CONTENT);
        let patch = json!([{"op": "replace", "path": "/steps/0/text", "value": "é".repeat(199_000)}]);
        let answer = kitchen.patch(&made, &patch).await;
        answer.expect(StatusCode::BAD_REQUEST);
        assert!(answer.text().contains("must have at most 1 MiB in all"));
    }
}
