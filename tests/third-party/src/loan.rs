//! Loans of equipment: borrowers see their own, and those who may see all of them do.

use entity_core::db::{self, Facts, Sight};
use entity_core::{
    Action, Actions, Answers, Arguments, Context, DateTimeUtc, Entity, Error, Need, Outcome, Result,
    Verb,
};
use serde::Serialize;

const SIGHT: Sight = Sight::Any(&[Sight::Own, Sight::Holds("loan.read.any")]);

/// A piece of equipment that somebody has borrowed.
#[derive(Clone, Debug, Serialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(prefix = "loan", table = "loan", access = Site("loan"), sight = SIGHT, check = Self::check)]
#[entity(left_join = "user_account u ON u.id = this.borrower", order = "due,loanId")]
#[entity(verbs(read, list, create, update, delete))]
pub struct Loan {
    #[entity(id)]
    loan_id: String,
    #[entity(site)]
    site_id: String,
    #[entity(owner, on_create, references = "user")]
    borrower: String,
    /// The name of the borrower.
    #[entity(sql = "coalesce(u.first_name || ' ' || u.last_name, '')")]
    borrower_name: String,
    #[entity(title, search)]
    item: String,
    due: DateTimeUtc,
    /// When it came back.
    #[entity(read_only)]
    returned: Option<DateTimeUtc>,
    #[entity(version)]
    version: i64,
    #[serde(skip)]
    #[entity(facts)]
    facts: Facts,
}
entity_core::register!(
    Loan,
    grants(
        "loan.read" = "amsti",
        "loan.read.any" = "mti",
        "loan.new" = "mi",
        "loan.revise.any" = "mi",
        "loan.revise.own" = "",
        "loan.delete.any" = "mi",
        "loan.delete.own" = "",
    )
);

impl Loan {
    fn check(&mut self, cx: &Context, before: Option<&Self>) -> Result<()> {
        match before {
            None if self.due <= cx.now() => Err(Error::field("due", "must be in the future")),
            _ => Ok(()),
        }
    }
}

impl Actions for Loan {
    fn actions() -> Vec<Action<Self>> {
        let need = Need::Site("loan.revise.any");
        vec![
            Action::entity(Verb::Post, "return", need, give_back)
                .doc("Notes that the equipment came back.")
                .answers(Answers::Entity),
        ]
    }
}

async fn give_back(cx: &Context, loan: Loan, _: Arguments) -> Result<Outcome<Loan>> {
    let returned = Loan {
        returned: Some(cx.now()),
        ..loan.clone()
    };
    db::replace(cx, loan, returned).await.map(Outcome::Entity)
}
