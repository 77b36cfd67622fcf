//! The attributes of the struct, and functions to read attributes.

use syn::meta::ParseNestedMeta;
use syn::{
    Attribute, DeriveInput, Expr, ExprLit, Ident, Lit, LitStr, Meta, Path, Token, parenthesized,
};

/// The values of `#[entity(…)]`, of `#[serde(…)]` and of the doc comment on the struct.
#[derive(Default)]
pub(crate) struct TypeAttributes {
    pub(crate) prefix: Option<LitStr>,
    pub(crate) table: Option<LitStr>,
    pub(crate) access: Option<Access>,
    pub(crate) verbs: Vec<Ident>,
    pub(crate) feed: Option<Path>,
    pub(crate) event: Option<Path>,
    pub(crate) version: Option<Path>,
    pub(crate) plural: Option<LitStr>,
    pub(crate) rename_all: Option<String>,
    pub(crate) doc: String,
}

/// The value of `access = …`.
pub(crate) enum Access {
    /// One of the constants of `entity_core::Access`.
    Named(Ident),
    /// The functions with this stem, held in the entity's site.
    Site(LitStr),
}

impl TypeAttributes {
    pub(crate) fn parse(input: &DeriveInput) -> syn::Result<Self> {
        let mut attributes = Self {
            doc: doc(&input.attrs),
            rename_all: serde_text(&input.attrs, "rename_all")?,
            ..Self::default()
        };
        for attribute in input.attrs.iter().filter(|it| it.path().is_ident("entity")) {
            attribute.parse_nested_meta(|meta| attributes.read(&meta))?;
        }
        Ok(attributes)
    }

    fn read(&mut self, meta: &ParseNestedMeta<'_>) -> syn::Result<()> {
        let name = meta.path.require_ident()?.to_string();
        match name.as_str() {
            "prefix" => self.prefix = Some(meta.value()?.parse()?),
            "table" => self.table = Some(meta.value()?.parse()?),
            "feed" => self.feed = Some(meta.value()?.parse()?),
            "event" => self.event = Some(meta.value()?.parse()?),
            "version" => self.version = Some(meta.value()?.parse()?),
            "plural" => self.plural = Some(meta.value()?.parse()?),
            "access" => self.access = Some(parse_access(meta)?),
            "verbs" => {
                let content;
                parenthesized!(content in meta.input);
                self.verbs = content
                    .parse_terminated(Ident::parse_any_ident, Token![,])?
                    .into_iter()
                    .collect();
            }
            _ => {
                return Err(meta.error(
                    "unknown attribute: use prefix, plural, table, access, verbs, feed, event or version",
                ));
            }
        }
        Ok(())
    }
}

fn parse_access(meta: &ParseNestedMeta<'_>) -> syn::Result<Access> {
    let name: Ident = meta.value()?.parse()?;
    if name == "Site" {
        let content;
        parenthesized!(content in meta.input);
        return Ok(Access::Site(content.parse()?));
    }
    let constant = match name.to_string().as_str() {
        "Public" => "PUBLIC",
        "Session" => "SESSION",
        "Superuser" => "SUPERUSER",
        _ => {
            return Err(syn::Error::new(
                name.span(),
                "use Public, Session, Superuser or Site(\"stem\")",
            ));
        }
    };
    Ok(Access::Named(Ident::new(constant, name.span())))
}

/// Returns the doc comment as one line of text.
pub(crate) fn doc(attributes: &[Attribute]) -> String {
    let lines: Vec<String> = attributes
        .iter()
        .filter(|it| it.path().is_ident("doc"))
        .filter_map(|it| match &it.meta {
            Meta::NameValue(pair) => match &pair.value {
                Expr::Lit(ExprLit {
                    lit: Lit::Str(text),
                    ..
                }) => Some(text.value().trim().to_owned()),
                _ => None,
            },
            _ => None,
        })
        .collect();
    lines.join(" ").trim().to_owned()
}

/// Returns the text of `#[serde(key = "text")]`, if the key is there.
pub(crate) fn serde_text(attributes: &[Attribute], key: &str) -> syn::Result<Option<String>> {
    let mut found = None;
    for attribute in attributes.iter().filter(|it| it.path().is_ident("serde")) {
        attribute.parse_nested_meta(|meta| {
            if meta.path.is_ident(key) {
                found = Some(meta.value()?.parse::<LitStr>()?.value());
            } else if meta.input.peek(Token![=]) {
                meta.value()?.parse::<Expr>()?;
            } else if meta.input.peek(syn::token::Paren) {
                let content;
                parenthesized!(content in meta.input);
                content.parse::<proc_macro2::TokenStream>()?;
            }
            Ok(())
        })?;
    }
    Ok(found)
}

/// Parses any identifier; a trait of its own, so that there is a function to pass on.
trait ParseAnyIdent: Sized {
    fn parse_any_ident(input: syn::parse::ParseStream<'_>) -> syn::Result<Self>;
}

impl ParseAnyIdent for Ident {
    fn parse_any_ident(input: syn::parse::ParseStream<'_>) -> syn::Result<Self> {
        input.parse()
    }
}
