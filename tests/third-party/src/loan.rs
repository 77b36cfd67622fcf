//! Loans of equipment: borrowers and the groups that share it see their own, and those who may see all of them do.

use entity_core::db::{self, Migration, RowPolicy};
use entity_core::endpoint::{Call, Endpoint, Paged};
use entity_core::schemars::JsonSchema;
use entity_core::{
    Action, Actions, Arguments, Context, DateTimeUtc, Entity, Error, ErrorKind, Input, Need,
    Result, Search, Verb, View, gate, standard,
};
use serde::{Deserialize, Serialize};

const SIGHT: RowPolicy = RowPolicy::Any(&[
    RowPolicy::Holds("loan.read.any"),
    RowPolicy::All(&[
        RowPolicy::Not(&RowPolicy::Is("draft")),
        RowPolicy::Any(&[
            RowPolicy::Own,
            RowPolicy::All(&[RowPolicy::Is("isShared"), RowPolicy::Addressed]),
        ]),
    ]),
]);

const TRIMMED: Migration =
    Migration::of_rows("items-trimmed", &["UPDATE loan SET item = trim(item)"]);

/// A piece of equipment that somebody has borrowed.
#[standard(facts)]
#[derive(Clone, Debug, Serialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(prefix = "loan", table = "loan", access = Site("loan"), sight = SIGHT, check = Self::check)]
#[entity(verbs(read, list, create, update, delete), order = "due,loanId", layout = work)]
pub struct Loan {
    #[entity(id)]
    loan_id: String,
    #[entity(site)]
    site_id: String,
    #[entity(owner, on_create, references = "user")]
    borrower: String,
    /// The name of the borrower.
    #[entity(name_of = borrower)]
    borrower_name: String,
    #[entity(title, search)]
    item: String,
    #[entity(due)]
    due: DateTimeUtc,
    /// When it came back.
    #[entity(read_only)]
    returned: Option<DateTimeUtc>,
    /// True if it is only planned.
    draft: bool,
    /// True if others may use it too: the groups below or, without any, all members of the site.
    is_shared: bool,
    #[entity(groups = "loan_group")]
    groups: Vec<String>,
    /// The things that were handed over with it.
    #[entity(children, max = 20)]
    accessories: Vec<Accessory>,
    #[entity(version)]
    version: i64,
}

/// Something that belongs to the equipment.
#[derive(Clone, Debug, Serialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(table = "loan_accessory")]
pub struct Accessory {
    #[entity(id)]
    id: String,
    #[serde(skip)]
    #[entity(hidden, parent = Loan)]
    loan_id: String,
    #[serde(skip)]
    #[entity(position)]
    position: i64,
    name: String,
    is_returned: bool,
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
    ),
    migrations(TRIMMED)
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
                .doc("Notes that the equipment came back."),
        ]
    }
}

async fn give_back(cx: &Context, loan: Loan, _: Arguments) -> Result<Loan> {
    let returned = Loan {
        returned: Some(cx.now()),
        ..loan.clone()
    };
    db::replace(cx, loan, returned).await
}

const OF_SITE: Endpoint = Endpoint::get("/api/sites/{siteId}/loans", "listLoansOfSite")
    .doc("The equipment of a site that is on loan, as far as the caller sees it.")
    .tag("loan")
    .variable("siteId", "The site.")
    .refuses(&[ErrorKind::NotFound])
    .answers::<Paged<Vec<LoanView>>>(&of_site);
entity_core::register_endpoint!(OF_SITE);

const LEND: Endpoint = Endpoint::post("/api/sites/{siteId}/loans", "lendInSite")
    .doc("Lends equipment to a member of a site.")
    .tag("loan")
    .variable("siteId", "The site.")
    .refuses(&[ErrorKind::NotFound])
    .takes::<NewLoan>()
    .answers::<LoanView>(&lend);
entity_core::register_endpoint!(LEND);

/// A loan on the board of a site.
#[derive(Serialize, JsonSchema, View)]
#[schemars(crate = "entity_core::schemars")]
#[serde(rename_all = "camelCase")]
#[view(of = Loan)]
struct LoanView {
    /// The id.
    #[view(of = loan_id)]
    id: String,
    /// The equipment.
    item: String,
    /// The name of the borrower.
    #[view(of = borrower_name)]
    borrower: String,
    /// When it is due, ISO 8601.
    #[view(of = due, as = iso)]
    due_date: String,
}

/// A loan that begins.
#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "entity_core::schemars")]
#[serde(rename_all = "camelCase")]
struct NewLoan {
    /// The internal id of the borrower.
    borrower: String,
    /// The equipment.
    item: String,
    /// When it is due, ISO 8601.
    due: String,
}

async fn of_site(cx: &Context, call: Call) -> Result<Paged<Vec<LoanView>>> {
    let window = call.window()?;
    let mut search = Search::part(window);
    search.narrow_to_site::<Loan>(call.variable("siteId")?)?;
    let page = gate::list::<Loan>(cx, search).await?.map(LoanView::of);
    Paged::of(cx, page, window, |loans| loans)
}

async fn lend(cx: &Context, call: Call) -> Result<LoanView> {
    let NewLoan {
        borrower,
        item,
        due,
    } = call.body()?;
    let site = call.variable("siteId")?.to_owned();
    let fields = [
        ("siteId", site),
        ("borrower", borrower),
        ("item", item),
        ("due", due),
    ];
    let loan = gate::create::<Loan>(cx, &Input::from_iter(fields)).await?;
    Ok(LoanView::of(loan))
}
#[cfg(test)]
lectern_testing::conformance!(Loan);
