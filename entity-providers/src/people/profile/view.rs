//! `/api/users/{userId}/profile`: a profile as the portal reads it, and its files.

use entity_core::endpoint::{Call, Endpoint, OptionalBody};
use entity_core::{Context, ErrorKind, Preconditions, Result, View, gate};
use schemars::JsonSchema;
use serde::Serialize;

use super::file::File;
use super::known::{self, Known};
use super::{Profile, account};

/// The id by which clients ask for nobody.
const NOBODY: &str = "blank";
/// The description of the variable of the paths.
const USER: &str = "The user: `me`, an id, or an external id.";

const READ: Endpoint = Endpoint::get("/api/users/{userId}/profile", "readProfileOfUser")
    .doc("What a user tells of themselves; nothing for the user `blank`. Of others, callers are told the name, and the rest as far as they hold functions of the roster in the site.")
    .tag("profile")
    .variable("userId", USER)
    .text("siteId", "The site in which the caller meets the user.")
    .refuses(&[ErrorKind::NotFound])
    .answers::<OptionalBody<ProfileView>>(&read);

const PATCH: Endpoint = Endpoint::patch("/api/users/{userId}/profile", "patchProfileOfUser")
    .doc("Changes the profile of the caller, or of anybody for administrators, by a JSON Patch.")
    .tag("profile")
    .variable("userId", USER)
    .refuses(&[ErrorKind::Forbidden, ErrorKind::NotFound])
    .answers::<ProfileView>(&patch);

const PICTURE: Endpoint = Endpoint::get(
    "/api/users/{userId}/profile/image/details",
    "readPictureDetailsOfUser",
)
.doc("Where the picture of a user is, if the caller may see it.")
.tag("profile")
.variable("userId", USER)
.refuses(&[ErrorKind::NotFound])
.answers::<PictureDetails>(&picture_details);

const REMOVE_PICTURE: Endpoint =
    Endpoint::delete("/api/users/{userId}/profile/image", "removePictureOfUser")
        .doc("Removes the picture of the caller.")
        .tag("profile")
        .variable("userId", USER)
        .refuses(&[ErrorKind::Forbidden, ErrorKind::NotFound])
        .answers::<FileResult>(&remove_picture);

const REMOVE_RECORDING: Endpoint = Endpoint::delete(
    "/api/users/{userId}/profile/pronunciation",
    "removePronunciationOfUser",
)
.doc("Removes the recording of the caller's name.")
.tag("profile")
.variable("userId", USER)
.refuses(&[ErrorKind::Forbidden, ErrorKind::NotFound])
.answers::<FileResult>(&remove_recording);
entity_core::register_endpoint!(READ, PATCH, PICTURE, REMOVE_PICTURE, REMOVE_RECORDING);

/// The word for success, as clients of pictures read it.
const SUCCESS: &str = "SUCCESS";

/// The profile of a user. Null stands for what there is not, and for what the caller may not know.
#[derive(Debug, Serialize, JsonSchema, View)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "UserProfile")]
#[view(of = Profile, beside(email: Option<String>))]
struct ProfileView {
    /// The name.
    #[view(of = display_name)]
    name: String,
    /// The name by which the user likes to be called.
    nickname: Option<String>,
    /// The pronouns.
    pronouns: Option<String>,
    /// The e-mail address.
    email: Option<String>,
    /// The pronunciation of the name, in letters.
    pronunciation: Option<String>,
    /// The address of the profile.
    profile_url: Option<String>,
    /// True if there is a recording of the name.
    has_pronunciation_recording: bool,
    /// The number at the institution.
    student_number: Option<String>,
}

/// Where the picture of a user is.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct PictureDetails {
    /// The address; empty if there is no picture.
    url: String,
    /// True if there is no picture, so that clients show one of their own.
    is_default: bool,
    /// Always `SUCCESS`.
    status: &'static str,
}

/// The result of a change of a file.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ProfileFileResult")]
struct FileResult {
    /// Always `SUCCESS`.
    status: &'static str,
}

/// Returns `profile` as far as the caller may know it in `site`. Without a site, callers are told everything of themselves
/// and the name of others.
async fn view(cx: &Context, mut profile: Profile, site: Option<&str>) -> Result<ProfileView> {
    let id = &profile.user_uuid;
    let known = match site.filter(|it| !it.is_empty()) {
        _ if cx.caller().user_id() == Some(id) => Known::ALL,
        None => Known::default(),
        Some(_) => {
            let known = known::of(cx, std::slice::from_ref(id), site).await?;
            known.get(id).copied().unwrap_or_default()
        }
    };
    profile.redact(known);
    let email = Some(profile.email.clone()).filter(|_| known.email);
    Ok(ProfileView::of(profile, email))
}

async fn read(cx: &Context, call: Call) -> Result<OptionalBody<ProfileView>> {
    let user = call.variable("userId")?;
    if user == NOBODY && account(cx, user).await?.is_none() {
        return Ok(OptionalBody(None));
    }
    let profile = gate::read::<Profile>(cx, user).await?;
    let view = view(cx, profile, call.parameter("siteId")).await?;
    Ok(OptionalBody(Some(view)))
}

async fn patch(cx: &Context, call: Call) -> Result<ProfileView> {
    let (user, input) = (call.variable("userId")?, call.patch()?);
    let any = Preconditions::default();
    let changed = gate::update::<Profile>(cx, user, &input, &any).await?;
    let email = Some(changed.email.clone());
    Ok(ProfileView::of(changed, email))
}

async fn picture_details(cx: &Context, call: Call) -> Result<PictureDetails> {
    let profile = gate::read::<Profile>(cx, call.variable("userId")?).await?;
    Ok(PictureDetails {
        is_default: profile.image_url.is_none(),
        url: profile.image_url.unwrap_or_default(),
        status: SUCCESS,
    })
}

async fn remove_picture(cx: &Context, call: Call) -> Result<FileResult> {
    remove(cx, &call, File::Picture).await
}

async fn remove_recording(cx: &Context, call: Call) -> Result<FileResult> {
    remove(cx, &call, File::Recording).await
}

async fn remove(cx: &Context, call: &Call, file: File) -> Result<FileResult> {
    let profile = gate::read::<Profile>(cx, call.variable("userId")?).await?;
    file.put(cx, &profile, None).await?;
    Ok(FileResult { status: SUCCESS })
}
