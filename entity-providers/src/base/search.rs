//! Lists that are read to their end, and parameters of lists that existing clients send beside those of the grammar.

use entity_core::search::Filter;
use entity_core::{Context, Entity, Error, List, Result, Search, Window, gate};

/// The maximum number of words that a list looks for.
const MOST_WORDS: usize = 5;
/// The maximum number of characters of a text to look for.
const MOST_CHARACTERS: usize = 200;

/// Returns all entities that the caller sees and that pass `filter`, page by page in the order of the type's lists.
pub(crate) async fn all<P: List<Entity = P> + Entity>(
    cx: &Context,
    filter: &Filter,
) -> Result<Vec<P>> {
    let mut window = Window {
        start: 0,
        limit: P::MAX,
    };
    let mut all = Vec::new();
    loop {
        let mut search = Search::part(window);
        search.narrow(filter.clone());
        let page = gate::list::<P>(cx, search).await?;
        let next = page.next_start(window);
        all.extend(page.items);
        match next {
            Some(start) if start > window.start => window.start = start,
            _ => return Ok(all),
        }
    }
}

/// Returns whether the caller sees an entity that passes all `filters`.
pub(crate) async fn is_there<P: List>(
    cx: &Context,
    filters: impl IntoIterator<Item = Filter>,
) -> Result<bool> {
    let mut search = Search::part(Window { start: 0, limit: 1 });
    filters.into_iter().for_each(|it| search.narrow(it));
    let page = gate::list::<P>(cx, search).await?;
    Ok(!page.items.is_empty())
}

/// Adds the words of the parameters `names` to those that `search` looks for.
pub(crate) fn add_words(search: &mut Search, names: &[&str]) -> Result<()> {
    for name in names {
        if let Some(text) = search.parameter(name) {
            let text = plain(name, text)?;
            let words = text.split_whitespace().map(ToOwned::to_owned);
            search.words.extend(words);
        }
    }
    match search.words.len() > MOST_WORDS {
        true => Err(Error::bad_request(format!(
            "give at most {MOST_WORDS} words to look for"
        ))),
        false => Ok(()),
    }
}

/// `text`, if it is short and has no control characters, which databases treat differently.
pub(crate) fn plain(name: &str, text: &str) -> Result<String> {
    if text.chars().count() > MOST_CHARACTERS {
        return Err(Error::field(
            name,
            format!("must not have more than {MOST_CHARACTERS} characters"),
        ));
    }
    match text.chars().any(char::is_control) {
        true => Err(Error::field(name, "must not have control characters")),
        false => Ok(text.to_owned()),
    }
}
