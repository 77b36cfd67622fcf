//! The files of the sites of the demo university.

mod sample;

use chrono::TimeDelta;
use entity_core::db;
use entity_core::file::Files;
use entity_core::wire::Millis;
use entity_core::{Context, Demo, Error, Result};

use super::{ContentItem, FOLDER, LINK, path};
use crate::base::university::{BIOLOGY, HISTORY};

/// A file, folder or link.
struct Plan {
    /// The path below the root folder of the site, whose folder stands before it; that of a folder ends with a slash.
    path: &'static str,
    description: Option<&'static str>,
    link: Option<&'static str>,
    is_hidden: bool,
    /// The day at which it appears, counted from now.
    release: Option<i64>,
}

const PLAIN: Plan = Plan {
    path: "",
    description: None,
    link: None,
    is_hidden: false,
    release: None,
};

/// The root folder of a site.
const ROOT: Plan = PLAIN;

const OF_BIOLOGY: &[Plan] = &[
    Plan {
        path: "Week 1/",
        description: Some("Cells, and how we look at them"),
        ..PLAIN
    },
    Plan {
        path: "Week 1/How to use a microscope.txt",
        ..PLAIN
    },
    Plan {
        path: "Week 1/Onion cells.pdf",
        ..PLAIN
    },
    Plan {
        path: "Week 2/",
        ..PLAIN
    },
    Plan {
        path: "Week 2/A cell.png",
        description: Some("A cell with its nucleus, drawn by hand"),
        ..PLAIN
    },
    Plan {
        path: "Week 3/",
        release: Some(7),
        ..PLAIN
    },
    Plan {
        path: "Week 3/Mitosis.pdf",
        ..PLAIN
    },
    Plan {
        path: "Solutions/",
        is_hidden: true,
        ..PLAIN
    },
    Plan {
        path: "Solutions/Lab 1.txt",
        ..PLAIN
    },
    Plan {
        path: "Questions of last year.txt",
        is_hidden: true,
        ..PLAIN
    },
    Plan {
        path: "Tree of Life",
        description: Some("Everything that lives, and how it is related"),
        link: Some("https://www.onezoom.org/"),
        ..PLAIN
    },
];

const OF_HISTORY: &[Plan] = &[
    Plan {
        path: "Sources/",
        ..PLAIN
    },
    Plan {
        path: "Sources/Charter of the town.pdf",
        ..PLAIN
    },
];

/// Adds the files and returns their number.
pub(super) async fn fill(cx: &Context, demo: &Demo) -> Result<usize> {
    let mut count = 0;
    for (site, author, plans) in [
        (BIOLOGY, "instructor1", OF_BIOLOGY),
        (HISTORY, "instructor2", OF_HISTORY),
    ] {
        let author = demo.person(author)?;
        let mut folders: Vec<ContentItem> = Vec::new();
        for (plan, position) in std::iter::once(&ROOT).chain(plans).zip(1..) {
            let path = format!("{}{}", path::root(site), plan.path);
            let mut folder = folders.iter().rev();
            let folder = folder.find(|it| path.starts_with(&it.resource_id));
            let mut item = plan.item(cx, folder)?;
            item.resource_id = path;
            site.clone_into(&mut item.site_id);
            author.clone_into(&mut item.author_id);
            item.position = position;
            if plan.is_file() {
                item.hold(cx, path::name(plan.path)).await?;
            }
            db::insert(cx, &item).await?;
            count += 1;
            if item.is_folder() {
                folders.push(item);
            }
        }
    }
    Ok(count)
}

/// Stores sample files with these names, which `author` attaches to something of `site`.
pub(crate) async fn attach(
    cx: &Context,
    site: &str,
    author: &str,
    names: &[&str],
) -> Result<Files> {
    let mut list = Vec::new();
    for name in names {
        let mut file = ContentItem::attached(cx, site, author, name)?;
        file.hold(cx, name).await?;
        db::insert(cx, &file).await?;
        list.push(serde_json::json!({
            "name": file.title,
            "type": file.media_type,
            "url": path::address(&file.resource_id),
            "size": file.size,
        }));
    }
    let list = serde_json::Value::from(list).to_string();
    Files::parse(list, cx.base_url()).map_err(Error::internal)
}

impl ContentItem {
    /// Lets the item be a sample file with this name.
    async fn hold(&mut self, cx: &Context, name: &str) -> Result<()> {
        let blob = db::blobs::keep(cx, sample::of(name)).await?;
        self.size = i64::try_from(blob.size()).unwrap_or_default();
        self.blob = Some(blob);
        entity_core::blob::media_type(name).clone_into(&mut self.media_type);
        Ok(())
    }
}

impl Plan {
    fn is_file(&self) -> bool {
        self.link.is_none() && !self.path.is_empty() && !self.path.ends_with('/')
    }

    fn item(&self, cx: &Context, folder: Option<&ContentItem>) -> Result<ContentItem> {
        let at = |days| {
            let at = cx.now().checked_add_signed(TimeDelta::days(days));
            let missing = || Error::internal("the demo has an instant that is none");
            at.map(Millis).ok_or_else(missing)
        };
        let name = path::name(self.path);
        let mut item = ContentItem {
            id: cx.new_id(),
            title: if name.is_empty() { "Files" } else { name }.to_owned(),
            description: self.description.map(ToOwned::to_owned),
            media_type: if self.link.is_some() { LINK } else { FOLDER }.to_owned(),
            web_link_url: self.link.map(ToOwned::to_owned),
            hidden: self.is_hidden,
            release_date: self.release.map(at).transpose()?,
            folder_id: folder.map(|it| it.id.clone()),
            depth: folder.map_or(0, |it| it.depth.saturating_add(1)),
            created_on: at(-20)?,
            modified_on: at(-20)?,
            version: 1,
            ..ContentItem::default()
        };
        item.inherit(folder);
        Ok(item)
    }
}
