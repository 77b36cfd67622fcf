use entity_core::{Context, DateTimeUtc, Search};

#[derive(Clone, Debug, serde::Serialize, entity_core::Entity)]
#[entity(prefix = "loan", table = "loan", access = Public, verbs(read, list))]
struct Loan {
    #[entity(id)]
    loan_id: String,
    due: DateTimeUtc,
}

fn late(cx: &Context, search: &mut Search) {
    search.narrow(Loan::FIELD.deu.lt(cx.now()));
}

fn main() {}
