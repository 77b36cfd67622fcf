//! The words of a field: its label, the only texts that clients may write, and the words for them.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::meta::ParseNestedMeta;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Expr, LitStr, Token, parenthesized};

use crate::look;

/// The attributes of a field that say what people read and choose.
#[derive(Default)]
pub(crate) struct Words {
    choices: Option<Choices>,
    label: Option<LitStr>,
    hint: Option<LitStr>,
    absent: Option<LitStr>,
    offered: Option<LitStr>,
    is_for_programs: bool,
    /// The variant of `Emphasis`.
    emphasis: Option<TokenStream>,
}

/// The value of `choices…` or `words…`: lists that live as long as the program.
struct Choices {
    /// Nothing where any text may be written.
    texts: Option<TokenStream>,
    /// The texts that have words, with their words.
    words: Vec<TokenStream>,
}

/// `"a"` or `"a" = "words"`.
struct Choice(LitStr, Option<LitStr>);

impl Words {
    /// Reads the attribute `name`, and returns whether it is one of these.
    pub(crate) fn read(&mut self, name: &str, meta: &ParseNestedMeta<'_>) -> syn::Result<bool> {
        match name {
            "choices" => self.choices = Some(Choices::parse(meta)?),
            "words" => self.choices = Some(Choices::parse_words(meta)?),
            "label" => self.label = Some(meta.value()?.parse()?),
            "hint" => self.hint = Some(meta.value()?.parse()?),
            "absent" => self.absent = Some(meta.value()?.parse()?),
            "offered" => self.offered = Some(meta.value()?.parse()?),
            "for_programs" => self.is_for_programs = true,
            _ => {
                self.emphasis = match look::emphasis(name, meta)? {
                    None => return Ok(false),
                    found => found,
                };
            }
        }
        Ok(true)
    }
}

/// Writes the calls that add them to a field of the schema.
impl ToTokens for Words {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let choices = self.choices.iter();
        let label = self.label.iter();
        let (hint, absent) = (self.hint.iter(), self.absent.iter());
        let offered = self.offered.iter();
        let for_programs = self.is_for_programs.then(|| quote!(.for_programs()));
        let emphasis = self.emphasis.iter();
        tokens.extend(
            quote!(#(#choices)* #(.label(#label))* #(.hint(#hint))* #(.absent(#absent))* #(.offered(#offered))* #for_programs
                #(.emphasis(::entity_core::schema::Emphasis::#emphasis))*),
        );
    }
}

impl Choices {
    /// Parses `("a", "b" = "words")` or `= TEXTS`.
    fn parse(meta: &ParseNestedMeta<'_>) -> syn::Result<Self> {
        if meta.input.peek(Token![=]) {
            let texts: Expr = meta.value()?.parse()?;
            return Ok(Self {
                texts: Some(quote!(&#texts)),
                words: Vec::new(),
            });
        }
        let content;
        parenthesized!(content in meta.input);
        let all = Punctuated::<Choice, Token![,]>::parse_terminated(&content)?;
        let texts = all.iter().map(|it| &it.0);
        let told = all.iter().filter_map(|it| Some((&it.0, it.1.as_ref()?)));
        Ok(Self {
            texts: Some(quote!(&[#(#texts),*])),
            words: told.map(|(text, words)| quote!((#text, #words))).collect(),
        })
    }

    /// The same, where any text may be written, or none.
    fn parse_words(meta: &ParseNestedMeta<'_>) -> syn::Result<Self> {
        let texts = None;
        Ok(Self {
            texts,
            ..Self::parse(meta)?
        })
    }
}

impl Parse for Choice {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let text = input.parse()?;
        let words = input.parse::<Option<Token![=]>>()?;
        Ok(Self(text, words.map(|_| input.parse()).transpose()?))
    }
}

/// Writes the calls that add the lists to a field of the schema.
impl ToTokens for Choices {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let words = &self.words;
        let texts = self.texts.iter();
        tokens.extend(quote!(#(.choices(#texts))*));
        if !words.is_empty() {
            tokens.extend(quote!(.words(&[#(#words),*])));
        }
    }
}
