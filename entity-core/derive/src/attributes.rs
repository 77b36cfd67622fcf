//! The attributes of the struct, and functions to read attributes.

use proc_macro2::TokenStream;
use quote::quote;
use syn::meta::ParseNestedMeta;
use syn::{
    Attribute, DeriveInput, Expr, ExprLit, Ident, Lit, LitStr, Meta, Path, Token, parenthesized,
};

use crate::names;
use crate::no_overlap::NoOverlap;

/// The values of `#[entity(…)]`, of `#[serde(…)]` and of the doc comment on the struct.
#[derive(Default)]
pub(crate) struct TypeAttributes {
    pub(crate) prefix: Option<LitStr>,
    pub(crate) table: Option<LitStr>,
    /// True if the archives of sites leave the entities out.
    pub(crate) is_unarchived: bool,
    /// True if the list of all is for few, so that pages do not lead to it.
    pub(crate) is_unlisted: bool,
    /// True if an entity counts for the account that made it.
    pub(crate) maker_pays: bool,
    /// The tool of a site that shows the entities.
    pub(crate) tool: Option<LitStr>,
    /// The columns that the type had and that the service removes.
    pub(crate) dropped: Vec<LitStr>,
    pub(crate) no_overlap: Option<NoOverlap>,
    /// The query whose rows are read in the place of a table.
    pub(crate) source: Option<Expr>,
    /// The joined tables: the kind of join, then the table and the condition.
    pub(crate) joins: Vec<String>,
    pub(crate) order: Option<LitStr>,
    /// The maximum number of entities in a list.
    pub(crate) max: Option<Expr>,
    /// The type's own parameters of lists, with their meanings.
    pub(crate) parameters: Option<Expr>,
    /// The function that decides what a list searches for.
    pub(crate) narrow: Option<Path>,
    pub(crate) sight: Option<Expr>,
    /// The function that decides about one entity, where no rule does.
    pub(crate) permits: Option<Path>,
    pub(crate) done: Option<Path>,
    /// The function that checks a row which comes with an archive.
    pub(crate) check_archived: Option<Path>,
    /// The function that checks a record before it is written.
    pub(crate) check: Option<Path>,
    /// The `async fn` that checks a record before it is written, and may query the database.
    pub(crate) settle: Option<Path>,
    /// The function that sets the computed fields of entities that were read.
    pub(crate) complete: Option<Path>,
    /// The function that sets the fields that only a single entity has.
    pub(crate) whole: Option<Path>,
    /// True if the service draws a number as the key of a new entity.
    pub(crate) is_numbered: bool,
    pub(crate) access: Option<Access>,
    pub(crate) verbs: Vec<Ident>,
    pub(crate) feed: Option<Path>,
    pub(crate) event: Option<Path>,
    /// The kinds of events that only those are told who hold the function of this name.
    pub(crate) for_holders: Vec<LitStr>,
    pub(crate) version: Option<Path>,
    /// The function that says whether a value carries something that is shown only once.
    pub(crate) told_once: Option<Path>,
    pub(crate) asked: Option<Path>,
    /// The field with the deadline that the calendar shows.
    pub(crate) deadline: Option<Ident>,
    /// The function that is called before one is deleted.
    pub(crate) removed: Option<Path>,
    /// The function that returns the label of the button that deletes one.
    pub(crate) removal: Option<Path>,
    /// Where the caller's own are, below the prefix.
    pub(crate) own: Option<LitStr>,
    pub(crate) plural: Option<LitStr>,
    pub(crate) singular: Option<LitStr>,
    /// The fields that the page of a list shows.
    pub(crate) listed: Vec<LitStr>,
    /// The shape of the pages.
    pub(crate) layout: Option<Ident>,
    pub(crate) icon: Option<LitStr>,
    pub(crate) rename_all: Option<String>,
    pub(crate) doc: String,
}

/// The value of `access = …`.
pub(crate) enum Access {
    /// One of the constants of `entity_core::Access`.
    Named(Ident),
    /// The functions with this stem, held in the entity's site.
    Site(LitStr),
    /// The functions with this stem, held in the entity's site; without a session, callers read what the site shows to
    /// the public.
    PublicSite(LitStr),
    /// A value of `entity_core::Access`.
    Value(Box<Expr>),
}

impl TypeAttributes {
    pub(crate) fn parse(input: &DeriveInput) -> syn::Result<Self> {
        let mut attributes = Self {
            doc: doc(&input.attrs),
            rename_all: serde_text(&input.attrs, "rename_all")?,
            ..Self::default()
        };
        if let Some(style) = &attributes.rename_all
            && style != "camelCase"
            && style != "snake_case"
        {
            return Err(syn::Error::new(
                input.ident.span(),
                format!(
                    "entities know the styles camelCase and snake_case of `rename_all`, and not {style}: name single \
                     fields with #[serde(rename = \"…\")]"
                ),
            ));
        }
        for attribute in input.attrs.iter().filter(|it| it.path().is_ident("entity")) {
            attribute.parse_nested_meta(|meta| attributes.read(&meta))?;
        }
        Ok(attributes)
    }

    fn join(&mut self, kind: &str, table: &LitStr) {
        self.joins.push(format!(" {kind} {}", table.value()));
    }

    fn read(&mut self, meta: &ParseNestedMeta<'_>) -> syn::Result<()> {
        let name = meta.path.require_ident()?;
        names::demand(name, names::OF_TYPE, "a type")?;
        match name.to_string().as_str() {
            "prefix" => self.prefix = Some(meta.value()?.parse()?),
            "table" => self.table = Some(meta.value()?.parse()?),
            "unarchived" => self.is_unarchived = true,
            "unlisted" => self.is_unlisted = true,
            "maker_pays" => self.maker_pays = true,
            "no_overlap" => self.no_overlap = Some(NoOverlap::parse(meta)?),
            "dropped" => self.dropped = parse_texts(meta)?,
            "join" => self.join("JOIN", &meta.value()?.parse()?),
            "left_join" => self.join("LEFT JOIN", &meta.value()?.parse()?),
            "order" => self.order = Some(meta.value()?.parse()?),
            "max" => self.max = Some(meta.value()?.parse()?),
            "parameters" => self.parameters = Some(meta.value()?.parse()?),
            "source" => self.source = Some(meta.value()?.parse()?),
            "narrow" => self.narrow = Some(meta.value()?.parse()?),
            "sight" => self.sight = Some(meta.value()?.parse()?),
            "done" => self.done = Some(meta.value()?.parse()?),
            "permits" => self.permits = Some(meta.value()?.parse()?),
            "check_archived" => self.check_archived = Some(meta.value()?.parse()?),
            "check" => self.check = Some(meta.value()?.parse()?),
            "settle" => self.settle = Some(meta.value()?.parse()?),
            "complete" => self.complete = Some(meta.value()?.parse()?),
            "whole" => self.whole = Some(meta.value()?.parse()?),
            "numbered" => self.is_numbered = true,
            "feed" => self.feed = Some(meta.value()?.parse()?),
            "event" => self.event = Some(meta.value()?.parse()?),
            "for_holders" => self.for_holders = parse_texts(meta)?,
            "version" => self.version = Some(meta.value()?.parse()?),
            "deadline" => self.deadline = Some(meta.value()?.parse()?),
            "removed" => self.removed = Some(meta.value()?.parse()?),
            "removal" => self.removal = Some(meta.value()?.parse()?),
            "asked" => self.asked = Some(meta.value()?.parse()?),
            "told_once" => self.told_once = Some(meta.value()?.parse()?),
            "tool" => self.tool = Some(meta.value()?.parse()?),
            "own" => self.own = Some(meta.value()?.parse()?),
            "plural" => self.plural = Some(meta.value()?.parse()?),
            "singular" => self.singular = Some(meta.value()?.parse()?),
            "listed" => self.listed = parse_texts(meta)?,
            "layout" => self.layout = Some(meta.value()?.parse()?),
            "icon" => self.icon = Some(meta.value()?.parse()?),
            "access" => self.access = Some(parse_access(meta)?),
            "verbs" => {
                let content;
                parenthesized!(content in meta.input);
                self.verbs = content
                    .parse_terminated(Ident::parse_any_ident, Token![,])?
                    .into_iter()
                    .collect();
            }
            _ => return Err(meta.error("this attribute is listed and has no meaning")),
        }
        Ok(())
    }
}

/// Parses `("a", "b")`.
pub(crate) fn parse_texts(meta: &ParseNestedMeta<'_>) -> syn::Result<Vec<LitStr>> {
    let content;
    parenthesized!(content in meta.input);
    let texts = content.parse_terminated(<LitStr as syn::parse::Parse>::parse, Token![,])?;
    Ok(texts.into_iter().collect())
}

fn parse_access(meta: &ParseNestedMeta<'_>) -> syn::Result<Access> {
    let mut value: Expr = meta.value()?.parse()?;
    // A macro by example puts an invisible group around an expression that it was given.
    while let Expr::Group(group) = value {
        value = *group.expr;
    }
    match &value {
        Expr::Call(call) => {
            let stem = || match call.args.first() {
                Some(Expr::Lit(ExprLit {
                    lit: Lit::Str(stem),
                    ..
                })) if call.args.len() == 1 => Some(stem.clone()),
                _ => None,
            };
            match &*call.func {
                Expr::Path(path) if path.path.is_ident("Site") => stem().map(Access::Site),
                Expr::Path(path) if path.path.is_ident("PublicSite") => {
                    stem().map(Access::PublicSite)
                }
                _ => None,
            }
            .map_or_else(|| Ok(Access::Value(Box::new(value.clone()))), Ok)
        }
        Expr::Path(path) => match path.path.get_ident() {
            Some(name) if name == "Public" => Ok(named("PUBLIC", name)),
            Some(name) if name == "Session" => Ok(named("SESSION", name)),
            Some(name) if name == "Superuser" => Ok(named("SUPERUSER", name)),
            Some(name) if name.to_string().contains(char::is_lowercase) => Err(syn::Error::new(
                name.span(),
                "use Public, Session, Superuser, Site(\"stem\"), PublicSite(\"stem\") or a constant of the type `Access`",
            )),
            _ => Ok(Access::Value(Box::new(value))),
        },
        _ => Ok(Access::Value(Box::new(value))),
    }
}

fn named(constant: &str, name: &Ident) -> Access {
    Access::Named(Ident::new(constant, name.span()))
}

/// Returns the variant of `Meaning` that the attribute of a field names.
pub(crate) fn meaning(attribute: &Ident) -> Option<TokenStream> {
    Some(match attribute.to_string().as_str() {
        "email" => quote!(Email),
        "address" => quote!(Address),
        "password" => quote!(Password),
        "new_password" => quote!(NewPassword),
        "zone" => quote!(Zone),
        "milliseconds" => quote!(Length(1)),
        "seconds" => quote!(Length(1000)),
        "since_1970" => quote!(Seconds),
        "recurrence" => quote!(Recurrence),
        _ => return None,
    })
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

/// Returns whether serde leaves the field out of what it writes.
pub(crate) fn is_unwritten(attributes: &[Attribute]) -> syn::Result<bool> {
    let mut is_unwritten = false;
    for attribute in attributes.iter().filter(|it| it.path().is_ident("serde")) {
        attribute.parse_nested_meta(|meta| {
            is_unwritten |= meta.path.is_ident("skip") || meta.path.is_ident("skip_serializing");
            pass(&meta)
        })?;
    }
    Ok(is_unwritten)
}

/// Passes the value of an attribute that does not matter here.
fn pass(meta: &ParseNestedMeta<'_>) -> syn::Result<()> {
    if meta.input.peek(Token![=]) {
        meta.value()?.parse::<Expr>()?;
    } else if meta.input.peek(syn::token::Paren) {
        let content;
        parenthesized!(content in meta.input);
        content.parse::<proc_macro2::TokenStream>()?;
    }
    Ok(())
}

/// Returns the text of `#[serde(key = "text")]`, if the key is there.
pub(crate) fn serde_text(attributes: &[Attribute], key: &str) -> syn::Result<Option<String>> {
    let mut found = None;
    for attribute in attributes.iter().filter(|it| it.path().is_ident("serde")) {
        attribute.parse_nested_meta(|meta| {
            if meta.path.is_ident(key) {
                found = Some(meta.value()?.parse::<LitStr>()?.value());
                return Ok(());
            }
            pass(&meta)
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
