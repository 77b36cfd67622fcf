//! The look of a type: the layout of its pages, and the fields that stand out on them.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::meta::ParseNestedMeta;
use syn::{Ident, LitStr, Token};

/// The layouts, by the names of attributes and of variants.
const LAYOUTS: [(&str, &str); 7] = [
    ("plain", "Plain"),
    ("article", "Article"),
    ("thread", "Thread"),
    ("work", "Work"),
    ("folder", "Folder"),
    ("people", "People"),
    ("agenda", "Agenda"),
];

/// The tones of badges, by the names of attributes and of variants.
const TONES: [(&str, &str); 4] = [
    ("good", "Good"),
    ("warn", "Warn"),
    ("bad", "Bad"),
    ("info", "Info"),
];

/// Returns the variant of `Layout` that `layout = …` names.
pub(crate) fn layout(name: Option<&Ident>) -> syn::Result<Ident> {
    name.map_or_else(
        || Ok(Ident::new("Plain", Span::call_site())),
        |it| variant(it, &LAYOUTS),
    )
}

/// Returns the variant of `Emphasis` that the attribute `name` of a field means, if it is one of those.
pub(crate) fn emphasis(name: &str, meta: &ParseNestedMeta<'_>) -> syn::Result<Option<TokenStream>> {
    let has_value = meta.input.peek(Token![=]);
    Ok(Some(match name {
        "due" => quote!(Due),
        "fact" if has_value => {
            let words: LitStr = meta.value()?.parse()?;
            quote!(Fact(#words))
        }
        "fact" => quote!(Fact("")),
        "badge" => {
            let tone = match has_value {
                true => variant(&meta.value()?.parse()?, &TONES)?,
                false => Ident::new("Neutral", Span::call_site()),
            };
            quote!(Badge(::entity_core::schema::Tone::#tone))
        }
        _ => return Ok(None),
    }))
}

fn variant(name: &Ident, known: &[(&str, &str)]) -> syn::Result<Ident> {
    let found = known.iter().find(|it| name == it.0);
    let all = || known.iter().map(|it| it.0).collect::<Vec<_>>().join(", ");
    let found = found.map(|it| Ident::new(it.1, name.span()));
    found.ok_or_else(|| syn::Error::new(name.span(), format!("use one of {}", all())))
}
