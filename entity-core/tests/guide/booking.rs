//! Equipment of a course, and the times for which its members book it.

use std::time::Duration;

use entity_core::db::{self, Migration, PolicyInputs, RowPolicy};
use entity_core::endpoint::{Call, Endpoint, Paged};
use entity_core::file::Files;
use entity_core::schema::{Field, Kind};
use entity_core::schemars::{self, JsonSchema};
use entity_core::sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use entity_core::{
    Access, Action, Actions, Arguments, Audience, Choice, Context, Data, DateTimeUtc, Entity,
    Error, ErrorKind, EventEntry, EventStatus, Need, Notice, PERSON, Provider as _, Reference,
    Result, Search, Verb, View, gate,
};
use serde::Serialize;
use serde_json::{Map, Value};

entity_core::register_setting! {
    /// The maximum number of hours for which something is booked.
    static HOURS: u32 = "bookings.hours", "8";
}
entity_core::register_setting! {
    /// The maximum number of days from now to the end of a booking.
    static DAYS: u32 = "bookings.days", "90";
}
entity_core::register_setting! {
    /// The number of hours within which a booking is answered; it expires unless it is.
    static ANSWER: u32 = "bookings.answerHours", "48";
}

const HOUR: Duration = Duration::from_hours(1);
/// Members of the site see the equipment, and some look after it.
const EQUIPPED: Access = Access::new(Need::Site("booking.read"), Need::Site("booking.answer"));

/// Something that the members of a site book.
#[derive(Clone, Debug, Serialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(prefix = "equipment", table = "equipment", access = EQUIPPED, plural = "Equipment")]
#[entity(verbs(read, list, create, update, delete), order = "name,equipmentId")]
pub struct Equipment {
    #[entity(id)]
    equipment_id: String,
    #[entity(site)]
    site_id: String,
    #[entity(title, search, unique_in_site)]
    name: String,
    #[entity(content, html, optional)]
    description: String,
    #[entity(files)]
    files: Files,
    /// True if nobody is asked before somebody has it.
    is_free: bool,
    #[entity(updated)]
    modified: DateTimeUtc,
    #[entity(version)]
    version: i64,
}

entity_core::register!(Equipment);

/// Members book; whoever looks after the equipment answers. A booking is called off and never changed.
const ACCESS: Access = Access {
    read: Need::Site("booking.read"),
    create: Need::Site("booking.book"),
    update: Need::Superuser,
    delete: Need::SiteOrOwn("booking.answer", "booking.book"),
};
const SIGHT: RowPolicy = RowPolicy::Any(&[RowPolicy::Own, RowPolicy::Holds("booking.answer")]);

/// The state of a booking, which is stored and sent as `asked`, `approved` and so on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum State {
    #[default]
    Asked,
    Approved,
    Refused,
    Expired,
}

/// A time for which somebody has something, or asks for it.
#[derive(Clone, Debug, Serialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(prefix = "booking", table = "booking", access = ACCESS, sight = SIGHT, layout = work)]
#[entity(verbs(read, list, create, delete), order = "starts,bookingId", event = Self::to_event)]
#[entity(no_overlap(equipment_id, starts, ends, only = "state IN ('asked', 'approved')"))]
#[entity(settle = Self::settle, removed = Self::removed, deadline = answer_by)]
pub struct Booking {
    #[entity(id)]
    booking_id: String,
    #[entity(site)]
    site_id: String,
    #[entity(on_create, parent = Equipment, references = "equipment", label = "Equipment")]
    equipment_id: String,
    #[entity(title, sql = "parent.name", label = "Name")]
    equipment_name: String,
    #[entity(owner, references = "user", label = "Person")]
    booker: String,
    #[entity(name_of = booker)]
    booker_name: String,
    #[entity(on_create)]
    starts: DateTimeUtc,
    #[entity(on_create)]
    ends: DateTimeUtc,
    #[entity(on_create, search, max = 500)]
    purpose: String,
    #[entity(read_only, fact)]
    state: State,
    #[entity(read_only, max = 500)]
    reason: Option<String>,
    #[entity(read_only, due)]
    answer_by: Option<DateTimeUtc>,
    #[entity(created)]
    asked: DateTimeUtc,
    #[entity(updated)]
    modified: DateTimeUtc,
    #[entity(version)]
    version: i64,
    #[serde(skip)]
    #[entity(facts)]
    facts: PolicyInputs,
}

/// Bookings had no states in the first version: all were as good as approved.
const STATES: Migration = Migration::of_rows(
    "booking-states",
    &["UPDATE booking SET state = 'approved' WHERE state = ''"],
);

entity_core::register!(
    Booking,
    grants(
        "booking.read" = "amsti",
        "booking.book" = "amsti",
        "booking.answer" = "mi",
    ),
    migrations(STATES)
);

impl Booking {
    async fn settle(&mut self, cx: &Context, before: Option<&Self>) -> Result<()> {
        if before.is_some() {
            return Ok(());
        }
        let hours = cx.setting(&HOURS)?;
        let latest = cx.now() + 24 * cx.setting(&DAYS)? * HOUR;
        if self.starts <= cx.now() {
            return Err(Error::field("starts", "must be in the future"));
        }
        let is_short = self.ends > self.starts && self.ends <= self.starts + hours * HOUR;
        if !is_short || self.ends > latest {
            let rule = format!("must be at most {hours} hours after the beginning, and soon");
            return Err(Error::field("ends", rule));
        }
        let equipment: Option<Equipment> = db::read(cx, &self.equipment_id).await?;
        let is_free = equipment.is_some_and(|it| it.is_free);
        let answer_by = cx.now() + cx.setting(&ANSWER)? * HOUR;
        self.answer_by = (!is_free).then(|| answer_by.min(self.starts));
        if is_free {
            self.state = State::Approved;
        }
        Ok(())
    }

    /// A booking that has begun is part of the book.
    async fn removed(&self, cx: &Context) -> Result<()> {
        match self.starts <= cx.now() && self.state == State::Approved {
            true => Err(Error::conflict("it has begun")),
            false => Ok(()),
        }
    }

    fn to_event(&self) -> EventEntry {
        let (name, updated) = (self.equipment_name.clone(), self.modified);
        let mut entry = EventEntry::new(name, self.starts, self.ends, updated);
        entry.description = Some(self.purpose.clone());
        entry.sequence = u32::try_from(self.version).unwrap_or_default();
        entry.status = match self.state {
            State::Asked => EventStatus::Tentative,
            State::Approved => EventStatus::Confirmed,
            State::Refused | State::Expired => EventStatus::Cancelled,
        };
        entry
    }

    /// Stores the answer to whoever has asked, and tells them.
    async fn answer(self, cx: &Context, state: State, reason: Option<String>) -> Result<Self> {
        if self.state != State::Asked {
            return Err(Error::conflict(format!(
                "it is {} already",
                self.state.name()
            )));
        }
        let answered = Self {
            state,
            reason,
            answer_by: None,
            ..self.clone()
        };
        let answered = db::replace(cx, self, answered).await?;
        let booker = Value::from(answered.booker.as_str());
        let details = Map::from_iter([(PERSON.to_owned(), booker)]);
        let reference = Reference::entity(Self::PREFIX, answered.id());
        let kind = format!("booking.{}", state.name());
        cx.emit_with(kind, reference.to_string(), answered.site(), details);
        Ok(answered)
    }
}

const APPROVED: Notice = Notice {
    event: "booking.approved",
    kind: "booking.approved",
    tool: "example.bookings",
    audience: Audience::Person,
    text: "{equipmentName} is yours",
};
const REFUSED: Notice = Notice {
    event: "booking.refused",
    kind: "booking.refused",
    text: "{equipmentName} is not yours: {reason}",
    ..APPROVED
};
const EXPIRED: Notice = Notice {
    event: "booking.expired",
    kind: "booking.expired",
    text: "Nobody has answered whether {equipmentName} is yours",
    ..APPROVED
};
entity_core::register_notice!(APPROVED);
entity_core::register_notice!(REFUSED);
entity_core::register_notice!(EXPIRED);

const REASON: &[Field] = &[Field::new("reason", Kind::Text(500), "Why.").required()];

impl Actions for Booking {
    fn actions() -> Vec<Action<Self>> {
        let need = Need::Site("booking.answer");
        vec![
            Action::entity(Verb::Post, "approve", need, approve)
                .offered_if(|it| it.state == State::Asked)
                .doc("Lets whoever has asked have it."),
            Action::entity(Verb::Post, "refuse", need, refuse)
                .offered_if(|it| it.state == State::Asked)
                .asks(REASON)
                .doc("Tells whoever has asked why they can't have it."),
            Action::collection(Verb::Get, "busy", ACCESS.read, busy)
                .argument("siteId", "The site.")
                .doc("The times at which something is not free, without who has it."),
        ]
    }
}

async fn approve(cx: &Context, booking: Booking, _: Arguments) -> Result<Booking> {
    booking.answer(cx, State::Approved, None).await
}

async fn refuse(cx: &Context, booking: Booking, arguments: Arguments) -> Result<Booking> {
    let reason = arguments.input.fields.get("reason").and_then(Value::as_str);
    let reason = reason.unwrap_or_default().trim();
    if reason.is_empty() || reason.chars().count() > 500 {
        let rule = "must have 1 to 500 characters";
        return Err(Error::field("reason", rule));
    }
    let reason = reason.to_owned();
    booking.answer(cx, State::Refused, Some(reason)).await
}

/// A time at which something is not free.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Busy {
    /// The id of the equipment.
    equipment_id: String,
    /// The beginning.
    #[schemars(with = "String")]
    starts: DateTimeUtc,
    /// The end.
    #[schemars(with = "String")]
    ends: DateTimeUtc,
}

async fn busy(cx: &Context, arguments: Arguments) -> Result<Data<Vec<Busy>>> {
    // Everybody in the site may know when, and not who: this reads past the rule about who sees a booking.
    let coming = booking::Entity::find()
        .filter(booking::Column::SiteId.eq(arguments.argument("siteId")?))
        .filter(booking::Column::State.is_in(["asked", "approved"]))
        .filter(booking::Column::Ends.gt(cx.now().timestamp_millis()))
        .order_by_asc(booking::Column::Starts)
        .limit(1_000);
    let coming: Vec<Booking> = db::load(cx, coming).await?;
    let busy = coming.into_iter().map(|it| Busy {
        equipment_id: it.equipment_id,
        starts: it.starts,
        ends: it.ends,
    });
    Ok(Data(busy.collect()))
}

/// The maximum number of bookings that expire in one transaction.
const STEP: u64 = 100;

/// Lets bookings expire that nobody has answered in time.
async fn expire(cx: &Context) -> Result<bool> {
    let late = booking::Entity::find()
        .filter(booking::Column::State.eq("asked"))
        .filter(booking::Column::AnswerBy.lte(cx.now().timestamp_millis()))
        .limit(STEP);
    let late: Vec<Booking> = db::load(cx, late).await?;
    let has_more = late.len() == 100;
    for booking in late {
        booking.answer(cx, State::Expired, None).await?;
    }
    Ok(has_more)
}
entity_core::register_job!(expire, every = Duration::from_mins(10));

const OF_SITE: Endpoint = Endpoint::get("/api/sites/{siteId}/bookings", "listBookingsOfSite")
    .doc("The bookings of a site, as far as the caller sees them.")
    .tag("booking")
    .variable("siteId", "The site.")
    .refuses(&[ErrorKind::NotFound])
    .answers::<Paged<Vec<BookingView>>>(&of_site);
entity_core::register_endpoint!(OF_SITE);

/// A booking on the board of a site.
#[derive(Serialize, JsonSchema, View)]
#[serde(rename_all = "camelCase")]
#[view(of = Booking)]
struct BookingView {
    /// The id.
    #[view(of = booking_id)]
    id: String,
    /// The name of the equipment.
    equipment_name: String,
    /// The name of whoever has it.
    booker_name: String,
    /// The beginning, ISO 8601.
    #[view(as = iso)]
    starts: String,
    /// The end, ISO 8601.
    #[view(as = iso)]
    ends: String,
    /// The state: asked, approved, refused or expired.
    state: State,
}

async fn of_site(cx: &Context, call: Call) -> Result<Paged<Vec<BookingView>>> {
    let window = call.window()?;
    let mut search = Search::part(window);
    search.narrow_to_site::<Booking>(call.variable("siteId")?)?;
    let page = gate::list::<Booking>(cx, search).await?;
    Paged::of(cx, page.map(BookingView::of), window, |it| it)
}
