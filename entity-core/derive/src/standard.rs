//! `#[standard(…)]`: fields that many records have, and fields that follow from others or from nothing.

use proc_macro2::TokenStream;
use quote::{ToTokens as _, quote};
use syn::parse::{Parse, ParseStream, Parser as _};
use syn::punctuated::Punctuated;
use syn::{
    Attribute, Data, DeriveInput, Expr, ExprLit, Field, Fields, Ident, Lit, Token, Type,
    Visibility, parenthesized, parse_quote,
};

use crate::attributes::{doc, serde_text};
use crate::types::rename_all;

/// The message about an argument that names no field.
const KNOWN: &str =
    "expected `version`, `facts`, `alias(…)`, `iso(…)`, `seconds(…)` or `constant(…)`";
/// The message about something else than a struct with named fields.
const NO_STRUCT: &str = "`standard` adds fields to a struct with named fields";
/// The message about a constant of which the type can't be told.
const NO_CONSTANT: &str = "expected a text, a number, `true`, `false` or `null`";

/// One argument: the name of a field, or a list of fields of one kind.
enum Argument {
    Named(Ident),
    Listed(Ident, Vec<Added>),
}

/// A field that is added: its own attributes, its name, and the field or constant behind `=`.
struct Added {
    attributes: Vec<Attribute>,
    name: Ident,
    value: Expr,
}

impl Parse for Argument {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let name: Ident = input.parse()?;
        if !input.peek(syn::token::Paren) {
            return Ok(Self::Named(name));
        }
        let content;
        parenthesized!(content in input);
        let added = content.parse_terminated(Added::parse, Token![,])?;
        Ok(Self::Listed(name, added.into_iter().collect()))
    }
}

impl Parse for Added {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        let name = input.parse()?;
        input.parse::<Token![=]>()?;
        Ok(Self {
            attributes,
            name,
            value: input.parse()?,
        })
    }
}

/// Adds the fields that `arguments` name to the end of the struct. They are as visible as the struct.
pub(crate) fn expand(arguments: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    let arguments = Punctuated::<Argument, Token![,]>::parse_terminated.parse2(arguments)?;
    let mut input: DeriveInput = syn::parse2(item)?;
    let style = serde_text(&input.attrs, "rename_all")?;
    let no_struct = syn::Error::new(input.ident.span(), NO_STRUCT);
    let Data::Struct(data) = &mut input.data else {
        return Err(no_struct);
    };
    let Fields::Named(fields) = &mut data.fields else {
        return Err(no_struct);
    };
    for argument in arguments {
        let added = match argument {
            Argument::Named(name) => vec![hidden(&name, &input.vis)?],
            Argument::Listed(kind, added) => {
                let own = fields.named.iter().cloned().collect::<Vec<_>>();
                let field = |it| follower(&kind, it, &own, style.as_deref(), &input.vis);
                added.iter().map(field).collect::<Result<_, _>>()?
            }
        };
        fields.named.extend(added);
    }
    Ok(input.into_token_stream())
}

fn hidden(name: &Ident, visibility: &Visibility) -> syn::Result<Field> {
    let tokens = match name.to_string().as_str() {
        "version" => quote! {
            /// The number of its changes.
            #[serde(skip)]
            #[entity(version, hidden)]
            #visibility #name: i64
        },
        "facts" => quote! {
            /// The answers about its row to the rule about who sees it.
            #[serde(skip)]
            #[entity(facts)]
            #visibility #name: ::entity_core::db::PolicyInputs
        },
        _ => return Err(syn::Error::new(name.span(), KNOWN)),
    };
    Field::parse_named.parse2(tokens)
}

/// Generates a field of the kind `kind`, which clients see and never write.
fn follower(
    kind: &Ident,
    added: &Added,
    own: &[Field],
    style: Option<&str>,
    visibility: &Visibility,
) -> syn::Result<Field> {
    let (ty, function, said): (Type, Expr, String) = match kind.to_string().as_str() {
        "constant" => {
            let (ty, said) = constant(&added.value)?;
            let value = &added.value;
            let function = match said.as_str() {
                "null" => parse_quote!(|_, _| ::std::option::Option::None),
                _ => parse_quote!(|_, _| ::std::convert::Into::into(#value)),
            };
            (ty, function, format!("Always `{said}`."))
        }
        "alias" => {
            let (field, wire) = target(&added.value, own, style)?;
            let (ident, ty) = (&field.ident, field.ty.clone());
            let function = parse_quote!(|it, _| ::std::clone::Clone::clone(&it.#ident));
            (ty, function, format!("The same as `{wire}`."))
        }
        "iso" => {
            let (field, wire) = target(&added.value, own, style)?;
            let ident = &field.ident;
            let function = parse_quote!(|it, _| ::entity_core::wire::iso_or_empty(&it.#ident));
            let said = format!("`{wire}` as ISO 8601 text; empty if there is none.");
            (parse_quote!(::std::string::String), function, said)
        }
        "seconds" => {
            let (field, wire) = target(&added.value, own, style)?;
            let ident = &field.ident;
            let function = parse_quote!(|it, _| ::entity_core::wire::seconds_or_zero(&it.#ident));
            let said = format!("`{wire}` in seconds since 1970; 0 if there is none.");
            (parse_quote!(i64), function, said)
        }
        _ => return Err(syn::Error::new(kind.span(), KNOWN)),
    };
    let (name, attributes) = (&added.name, &added.attributes);
    let said = doc(attributes).is_empty().then(|| quote!(#[doc = #said]));
    Field::parse_named.parse2(quote! {
        #said
        #(#attributes)*
        #[entity(computed = #function, for_programs)]
        #visibility #name: #ty
    })
}

/// Returns the type of a constant, and the text by which the documentation tells it.
fn constant(value: &Expr) -> syn::Result<(Type, String)> {
    let unknown = || syn::Error::new_spanned(value, NO_CONSTANT);
    match value {
        Expr::Path(path) if path.path.is_ident("null") => Ok((
            parse_quote!(::std::option::Option<::std::string::String>),
            "null".to_owned(),
        )),
        Expr::Lit(ExprLit { lit, .. }) => match lit {
            Lit::Str(text) if text.value().is_empty() => {
                Ok((parse_quote!(::std::string::String), "\"\"".to_owned()))
            }
            Lit::Str(text) => Ok((parse_quote!(::std::string::String), text.value())),
            Lit::Bool(is) => Ok((parse_quote!(bool), is.value.to_string())),
            Lit::Int(number) => Ok((parse_quote!(i64), number.to_string())),
            _ => Err(unknown()),
        },
        _ => Err(unknown()),
    }
}

/// Returns the field that `value` names, and the name by which clients know it.
fn target<'a>(
    value: &Expr,
    own: &'a [Field],
    style: Option<&str>,
) -> syn::Result<(&'a Field, String)> {
    let name = match value {
        Expr::Path(path) => path.path.get_ident(),
        _ => None,
    };
    let unknown = || syn::Error::new_spanned(value, "expected the name of a field of the struct");
    let found = own.iter().find(|it| it.ident.as_ref() == name);
    let (name, field) = name.zip(found).ok_or_else(unknown)?;
    let renamed = serde_text(&field.attrs, "rename")?;
    let wire = renamed.unwrap_or_else(|| rename_all(&name.to_string(), style));
    Ok((field, wire))
}
