use entity_core::sea_orm::{ColumnTrait as _, EntityTrait as _, QueryFilter as _};
use entity_core::{Context, DateTimeUtc, Result, db};

#[derive(Clone, Debug, serde::Serialize, entity_core::Entity)]
#[entity(prefix = "loan", table = "loan", access = Public, verbs(read))]
struct Loan {
    #[entity(id)]
    loan_id: String,
    due: DateTimeUtc,
}

async fn late(cx: &Context) -> Result<Vec<Loan>> {
    db::load(cx, loan::Entity::find().filter(loan::Column::Deu.lt(cx.now()))).await
}

fn main() {}
