//! `#[derive(View)]`: generates the conversion of an entity to a view of it.

use std::collections::HashMap;

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::parse::ParseStream;
use syn::punctuated::Punctuated;
use syn::{Data, DeriveInput, Expr, Field, Fields, Ident, Token, Type, parenthesized};

/// The functions of `entity_core::view` that convert values.
const CONVERSIONS: [&str; 3] = ["iso", "millis", "unwrap_or_default"];

pub(crate) fn expand(input: &DeriveInput) -> syn::Result<TokenStream> {
    let declared = TypeAttributes::parse(input)?;
    let fields = fields(input)?;
    let mut errors = Errors::default();
    let parsed: Vec<Source> = fields
        .iter()
        .filter_map(|it| errors.note(Source::parse(it, &declared)))
        .collect();
    errors.into_result()?;
    Ok(implement(input, &declared, &parsed))
}

/// Generates the function `of`.
fn implement(input: &DeriveInput, declared: &TypeAttributes, sources: &[Source]) -> TokenStream {
    let (name, vis, of) = (&input.ident, &input.vis, &declared.of);
    let entity = Ident::new("entity", Span::mixed_site());
    let parameters = &declared.beside;
    let with = &declared.with;
    // A computed field reads the entity before its fields are taken.
    let it = (!with.is_empty()).then(|| quote!(let it = &#entity; let _ = it;));
    let computed = with
        .iter()
        .map(|Computed { name, value }| quote!(let #name = #value;));
    let mut left: HashMap<&Ident, usize> = HashMap::new();
    for source in sources.iter().filter(|it| !it.is_given) {
        *left.entry(&source.of).or_default() += 1;
    }
    let values = sources.iter().map(|source| {
        let (field, of) = (&source.field, &source.of);
        if source.is_given {
            return quote!(#field);
        }
        let uses = left.entry(of).or_default();
        *uses = uses.saturating_sub(1);
        // The last use of a field takes its value.
        let value = if *uses > 0 {
            quote_spanned!(of.span()=> ::std::clone::Clone::clone(&#entity.#of))
        } else {
            quote_spanned!(of.span()=> #entity.#of)
        };
        let value = match &source.conversion {
            Some(conversion) => quote_spanned! {conversion.span()=>
                ::entity_core::view::#conversion(#value)
            },
            None => value,
        };
        quote!(#field: #value)
    });
    let (generics, types, conditions) = input.generics.split_for_impl();
    quote! {
        impl #generics #name #types #conditions {
            /// Creates the view of an entity, with the values that stand beside it.
            #vis fn of(#entity: #of, #(#parameters),*) -> Self {
                #it
                #(#computed)*
                Self { #(#values),* }
            }
        }
    }
}

/// The value of `#[view(…)]` on the struct.
struct TypeAttributes {
    of: Type,
    /// The values that the entity does not have, as parameters.
    beside: Vec<Field>,
    with: Vec<Computed>,
}

/// A value that is computed: that of the field of this name, or one that others are computed from.
struct Computed {
    name: Ident,
    value: Expr,
}

impl Computed {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let name = input.parse()?;
        input.parse::<Token![=]>()?;
        let value = input.parse()?;
        Ok(Self { name, value })
    }
}

impl TypeAttributes {
    fn parse(input: &DeriveInput) -> syn::Result<Self> {
        let (mut of, mut beside, mut with) = (None, Vec::new(), Vec::new());
        let attributes = input.attrs.iter().filter(|it| it.path().is_ident("view"));
        for attribute in attributes {
            attribute.parse_nested_meta(|meta| {
                if meta.path.is_ident("of") {
                    of = Some(meta.value()?.parse()?);
                } else if meta.path.is_ident("beside") {
                    beside.extend(list(meta.input, Field::parse_named)?);
                } else if meta.path.is_ident("with") {
                    with.extend(list(meta.input, Computed::parse)?);
                } else {
                    return Err(meta.error("unknown attribute of a view: use of, beside or with"));
                }
                Ok(())
            })?;
        }
        let of = of.ok_or_else(|| {
            let text = "name the entity that this is a view of: #[view(of = Entity)]";
            syn::Error::new(input.ident.span(), text)
        })?;
        Ok(Self { of, beside, with })
    }

    /// Returns whether a value of this name is given: it stands beside the entity, or is computed.
    fn gives(&self, name: &Ident) -> bool {
        let beside = self.beside.iter().any(|it| it.ident.as_ref() == Some(name));
        beside || self.with.iter().any(|it| it.name == *name)
    }
}

fn list<T>(
    input: ParseStream<'_>,
    parse: fn(ParseStream<'_>) -> syn::Result<T>,
) -> syn::Result<Punctuated<T, Token![,]>> {
    let content;
    parenthesized!(content in input);
    Punctuated::parse_terminated_with(&content, parse)
}

/// The place that the value of a field comes from.
struct Source {
    field: Ident,
    /// The field of the entity; not used if the value is given.
    of: Ident,
    is_given: bool,
    conversion: Option<Ident>,
}

impl Source {
    fn parse(field: &Field, declared: &TypeAttributes) -> syn::Result<Self> {
        let name = field.ident.clone();
        let name = name.unwrap_or_else(|| format_ident!("unnamed"));
        let (mut of, mut conversion) = (None, None::<Ident>);
        let mut errors = Errors::default();
        for attribute in field.attrs.iter().filter(|it| it.path().is_ident("view")) {
            errors.note(attribute.parse_nested_meta(|meta| {
                if meta.path.is_ident("of") {
                    of = Some(meta.value()?.parse()?);
                } else if meta.path.is_ident("as") {
                    conversion = Some(meta.value()?.parse()?);
                } else {
                    return Err(meta.error("unknown attribute of a field: use of or as"));
                }
                Ok(())
            }));
        }
        if let Some(wrong) = conversion.as_ref().filter(|it| !is_conversion(it)) {
            let text = format!("unknown conversion: use {}", CONVERSIONS.join(", "));
            errors.add(syn::Error::new(wrong.span(), text));
        }
        let is_given = declared.gives(&name);
        if is_given && (of.is_some() || conversion.is_some()) {
            let text = "the value of this field stands beside the entity or is computed, so that it comes from none of its fields";
            errors.add(syn::Error::new(name.span(), text));
        }
        errors.into_result()?;
        Ok(Self {
            of: of.unwrap_or_else(|| name.clone()),
            field: name,
            is_given,
            conversion,
        })
    }
}

fn is_conversion(name: &Ident) -> bool {
    CONVERSIONS.iter().any(|it| name == it)
}

/// The errors of several places, which the compiler shows all at once.
#[derive(Default)]
struct Errors(Option<syn::Error>);

impl Errors {
    fn add(&mut self, error: syn::Error) {
        match &mut self.0 {
            Some(errors) => errors.combine(error),
            None => self.0 = Some(error),
        }
    }

    /// Returns the value, or notes the error.
    fn note<T>(&mut self, result: syn::Result<T>) -> Option<T> {
        result.map_err(|error| self.add(error)).ok()
    }

    fn into_result(self) -> syn::Result<()> {
        self.0.map_or(Ok(()), Err)
    }
}

fn fields(input: &DeriveInput) -> syn::Result<&Fields> {
    match &input.data {
        Data::Struct(data) if matches!(data.fields, Fields::Named(_)) => Ok(&data.fields),
        _ => Err(syn::Error::new(
            input.ident.span(),
            "a view is a struct with named fields",
        )),
    }
}
