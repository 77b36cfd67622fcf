//! `/access/content`: files at the addresses that payloads link to, and folders as pages.

use axum::http::header::LOCATION;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use entity_core::primitives::{is_web_address, to_uri};
use entity_core::{Error, Provider as _, Result, encode_segment, menu};
use entity_formats::html::folder::{FileLink, Folder, folder_page};
use entity_formats::write_pairs;
use entity_providers::courses::content::ContentItem;
use entity_providers::courses::content::open::{self, Opened, open};

use super::{Visit, fresh_page, lead};
use crate::base::no_store;
use crate::web::direct::file;

/// Answers a file, or the page of a folder.
pub(super) async fn file(visit: Visit<'_>) -> Result<Response> {
    let slash = if visit.context.parts.uri.path().ends_with('/') {
        "/"
    } else {
        ""
    };
    let path = format!("/{}{slash}", visit.variable(0)?);
    let (dispatcher, origin) = (&visit.app.dispatcher, &visit.context.origin);
    let opened = dispatcher.read(origin, |cx| Box::pin(async move { open(cx, &path).await }));
    match opened.await? {
        Opened::File(file) => Box::pin(file::answer(visit.app, visit.context, &file)).await,
        Opened::Folder(folder) => {
            let site = Some(folder.site_id.clone()).filter(|it| !it.is_empty());
            let around = dispatcher.read(origin, |cx| Box::pin(menu::around(cx, site)));
            let view = visit.view_with(around.await?);
            folder_page(&shown(folder), &view).map(fresh_page)
        }
        Opened::At(path) => lead(&path),
        Opened::Link(url) => leave(&url),
    }
}

fn shown(folder: open::Folder) -> Folder {
    let site = folder.items.first().map(|it| it.site_id.clone());
    let all = site.filter(|_| folder.has_more).map(|site| {
        let query = write_pairs([("siteId", site.as_str())]);
        format!("/direct/content.html?{query}")
    });
    let zip = format!("/direct/content/{}/zip", encode_segment(&folder.id));
    Folder {
        prefix: ContentItem::PREFIX,
        zip: Some(zip).filter(|_| !folder.items.is_empty()),
        title: folder.title,
        has_parent: folder.has_parent,
        files: folder.items.into_iter().map(link).collect(),
        all,
    }
}

fn link(item: ContentItem) -> FileLink {
    let slash = if item.is_folder() { "/" } else { "" };
    let is_file = !item.is_folder() && !item.is_link();
    let kind = match item.media_type.as_str() {
        _ if item.is_folder() => "folder",
        _ if item.is_link() => "link",
        other => other,
    };
    let remark = match item.visible {
        true => item.copyright_alert.clone(),
        false => Some("not for everybody now".to_owned()),
    };
    FileLink {
        // Without the dot, a browser would take a name with a colon for the address of another host.
        href: format!("./{}{slash}", encode_segment(item.name())),
        kind: kind.to_owned(),
        size: is_file.then(|| u64::try_from(item.size).unwrap_or_default()),
        changed: item.modified_on.0,
        remark,
        title: item.title,
    }
}

/// Leads to `url`, which may be elsewhere. A link is stored only with an address of http or https.
fn leave(url: &str) -> Result<Response> {
    if !is_web_address(url) {
        return Err(Error::not_found());
    }
    let location = HeaderValue::from_str(&to_uri(url))
        .map_err(|error| Error::not_found().with_source(error))?;
    let mut response = (StatusCode::FOUND, [(LOCATION, location)]).into_response();
    no_store::demand(response.headers_mut());
    Ok(response)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn out_8_a_link_leads_into_the_web_only() {
        for url in [
            "javascript:alert(1)",
            "data:text/html,x",
            "//evil.example",
            "/x",
            "",
            "https://a\r\nx: y",
        ] {
            leave(url).unwrap_err();
        }
        assert_eq!(
            leave("https://a.example/").unwrap().headers()[LOCATION],
            "https://a.example/"
        );
        let left = leave("HTTPS://a.example/{x}").unwrap();
        assert_eq!(left.headers()[LOCATION], "https://a.example/%7Bx%7D");
    }
}
