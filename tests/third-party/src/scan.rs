//! Scans of pages: a type whose entities are files.

use entity_core::blob::{Blob, Receive, Room, StoredFile, Target};
use entity_core::{
    Action, ActionResult, Actions, Answers, Arguments, Context, Entity, Error, Need, Result, Verb,
};
use serde::Serialize;

/// The most bytes of one scan.
const MOST: u64 = 1 << 30;

/// Pages that somebody has scanned.
#[derive(Clone, Debug, Serialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(prefix = "scan", table = "scan", access = Site("scan"), check = Self::check)]
#[entity(verbs(read, list, create, update, delete))]
pub struct Scan {
    #[entity(id)]
    scan_id: String,
    #[entity(site)]
    site_id: String,
    /// The name of the file, unless another title is sent.
    #[entity(title, optional)]
    name: String,
    /// The number of bytes.
    #[entity(read_only)]
    size: i64,
    #[serde(skip)]
    #[entity(hidden)]
    pages: Option<Blob>,
    #[entity(version)]
    version: i64,
}
entity_core::register!(Scan);

impl Receive for Scan {
    async fn room(_cx: &Context, _target: Target<'_>) -> Result<Room> {
        Ok(Room::of(MOST))
    }
}

impl Scan {
    fn check(&mut self, cx: &Context, _before: Option<&Self>) -> Result<()> {
        if let Some(upload) = cx.uploads().first() {
            self.pages = Some(upload.blob);
            self.size = i64::try_from(upload.blob.size()).map_err(Error::internal)?;
            if self.name.is_empty() {
                self.name = upload.name.clone().unwrap_or_default();
            }
        }
        Ok(())
    }
}

impl Actions for Scan {
    fn actions() -> Vec<Action<Self>> {
        vec![
            Action::entity(Verb::Get, "file", Need::Session, download)
                .doc("The pages themselves.")
                .answers(Answers::Bytes(&["*/*"])),
        ]
    }
}

async fn download(_cx: &Context, scan: Scan, _: Arguments) -> Result<ActionResult<Scan>> {
    let pages = scan.pages.ok_or_else(Error::not_found)?;
    Ok(ActionResult::File(
        StoredFile::named(pages, scan.name).inline(),
    ))
}

#[cfg(test)]
lectern_testing::conformance!(Scan);
