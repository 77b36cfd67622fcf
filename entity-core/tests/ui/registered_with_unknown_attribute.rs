use entity_core::{Action, Actions, Arguments, Context, Need, ActionResult, Result, Verb, db};

/// A note.
#[derive(Clone, Debug, serde::Serialize, entity_core::Entity)]
#[entity(prefix = "note", table = "note", access = Public, verbs(read, list, create, update))]
struct Note {
    #[entity(id)]
    id: String,
    #[entity(require)]
    text: String,
}

entity_core::register!(Note);

impl Actions for Note {
    fn actions() -> Vec<Action<Self>> {
        vec![Action::entity(Verb::Post, "clear", Need::Session, clear)]
    }
}

async fn clear(cx: &Context, note: Note, _: Arguments) -> Result<ActionResult<Note>> {
    let cleared = Note { text: String::new(), ..note.clone() };
    db::replace(cx, note, cleared).await.map(ActionResult::Entity)
}

fn main() {}
