//! The headers of an answer that is a part of something longer, and no list of entities.

use crate::contract::context::Context;
use crate::contract::registry::Call;
use crate::contract::response_header::ResponseHeader;
use crate::contract::search::Window;
use crate::primitives::path::encode_segment;

/// The paging of an answer that is a part of something longer: see
/// [`ActionResult::part_of`](super::ActionResult::part_of).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Paging {
    /// The part that was asked for.
    pub window: Window,
    /// The start of the next part, if there is one: the number of elements before it.
    pub next: Option<u64>,
    /// The number of all elements, if it is known.
    pub total: Option<u64>,
}

impl Paging {
    /// Returns the headers with the link to the next part of the answer of `action` to `call`, and the total.
    pub(crate) fn headers(
        self,
        cx: &Context,
        call: &Call<'_>,
        action: &str,
    ) -> Vec<ResponseHeader> {
        let total = self.total.map(|it| ResponseHeader {
            name: "x-total-count",
            value: it.to_string(),
        });
        let next = self.next.map(|it| ResponseHeader {
            name: "link",
            value: self.link(cx, call, action, it),
        });
        total.into_iter().chain(next).collect()
    }

    fn link(self, cx: &Context, call: &Call<'_>, action: &str, start: u64) -> String {
        let mut link = format!("<{}/direct/{}", cx.base_url(), call.route.prefix);
        let own = [call.id, action].into_iter().filter(|it| !it.is_empty());
        for segment in own.chain(call.arguments.iter().map(String::as_str)) {
            link = link + "/" + &encode_segment(segment);
        }
        let mut before = '?';
        for (name, value) in call.query.iter().filter(|it| !Window::is_set_by(&it.0)) {
            link.push(before);
            link = link + &encode_segment(name) + "=" + &encode_segment(value);
            before = '&';
        }
        let limit = self.window.limit;
        link + &format!("{before}_start={start}&_limit={limit}>; rel=\"next\"")
    }
}
