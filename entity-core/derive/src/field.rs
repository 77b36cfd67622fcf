//! The fields of the struct: their names, kinds and roles, and the schema entries that are generated from them.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::ext::IdentExt as _;
use syn::meta::ParseNestedMeta;
use syn::spanned::Spanned as _;
use syn::{Data, DeriveInput, Expr, Ident, LitInt, LitStr, Type};

use crate::attributes::{self, TypeAttributes, doc, is_unwritten, serde_text};
use crate::children;
use crate::choices::Words;
use crate::names;
use crate::people;
use crate::sound;
pub(crate) use crate::storage::Storage;
use crate::types::{self, last_segment, rename_all, unwrap_option};

/// The maximum number of characters of a text, unless the field declares another one.
const MAX_TEXT: usize = 4000;
/// The maximum number of characters of a field with a role, such as an id or a title, unless it declares another one.
const MAX_NAME: usize = 255;
/// The maximum number of characters of HTML, unless the field declares another one.
const MAX_HTML: usize = 200_000;

/// The fields that the entity declares, and the names of those that are marked `skip`.
pub(crate) struct Fields(pub(crate) Vec<Field>, pub(crate) Vec<Ident>);

/// A field of the struct.
pub(crate) struct Field {
    pub(crate) ident: Ident,
    pub(crate) ty: Type,
    pub(crate) wire: String,
    pub(crate) is_optional: bool,
    /// True if the type has a table.
    is_in_table: bool,
    pub(crate) role: Option<Ident>,
    /// True if the id of the entity is also the id of its site, because the entity is a site itself.
    pub(crate) is_own_site: bool,
    /// True if the id of the entity is also the id of its owner, because the entity is an account itself.
    pub(crate) is_own_owner: bool,
    /// True if the field is read by an expression and is no part of what clients see.
    is_unwritten: bool,
    /// The rule about who sees the field.
    pub(crate) sight: Option<Expr>,
    /// True if no two entities have the same value in the field.
    pub(crate) is_unique: bool,
    /// True if no two entities of a site have the same value in the field.
    pub(crate) is_unique_in_site: bool,
    /// True if lists can't be filtered and ordered by the field, although it has a column.
    pub(crate) is_uncompared: bool,
    pub(crate) doc: String,
    kind: TokenStream,
    pub(crate) is_required: bool,
    is_searchable: bool,
    pub(crate) prose: Option<&'static str>,
    pub(crate) writable: Option<Ident>,
    pub(crate) column: Option<String>,
    pub(crate) references: Option<LitStr>,
    meaning: Option<TokenStream>,
    words: Words,
    pub(crate) default: Option<Expr>,
    /// The type of the value that clients send, if the field is a list or an object that they may write.
    sent: Option<TokenStream>,
    /// The expression of the list's pivot, if it is a table.
    pivot: Option<Expr>,
    /// The SQL expression of the folded text of a joined field, if it has one.
    folded: Option<Expr>,
    pub(crate) storage: Storage,
    /// The parts that the field plays in the entry in feeds.
    pub(crate) part: Option<Ident>,
    /// The former name of the column.
    pub(crate) was: Option<LitStr>,
    /// The record whose key the field holds, and with which the row is deleted.
    pub(crate) parent: Option<Type>,
    /// The field with the account whose name this one shows.
    pub(crate) name_of: Option<Ident>,
}

/// The column that a field declares.
#[derive(Default)]
enum ColumnName {
    /// No column is declared.
    #[default]
    Unsaid,
    /// A column with the field's own name.
    OfField,
    /// A column with this name.
    Named(String),
}

#[derive(Default)]
struct Attributes {
    role: Option<Ident>,
    is_own_site: bool,
    is_own_owner: bool,
    is_unique: bool,
    is_unique_in_site: bool,
    is_uncompared: bool,
    sight: Option<Expr>,
    is_required: bool,
    is_searchable: bool,
    prose: Option<&'static str>,
    is_skipped: bool,
    writable: Option<Ident>,
    max: Option<usize>,
    kind: Option<Ident>,
    column: ColumnName,
    references: Option<LitStr>,
    meaning: Option<TokenStream>,
    words: Words,
    default: Option<Expr>,
    sent: Option<Type>,
    folded: Option<Expr>,
    pivot: Option<Expr>,
    storage: Storage,
    is_optional: bool,
    part: Option<Ident>,
    was: Option<LitStr>,
    is_children: bool,
    parent: Option<Type>,
    name_of: Option<Ident>,
}

impl Fields {
    pub(crate) fn parse(input: &DeriveInput, attributes: &TypeAttributes) -> syn::Result<Self> {
        let Data::Struct(data) = &input.data else {
            return Err(syn::Error::new(
                Span::call_site(),
                "an entity is a struct with named fields",
            ));
        };
        let (mut fields, mut skipped) = (Vec::new(), Vec::new());
        for field in &data.fields {
            match Field::parse(field, attributes)? {
                Some(field) => fields.push(field),
                None => skipped.extend(field.ident.clone()),
            }
        }
        sound::check(&fields)?;
        match fields.iter().any(|it| it.has_role("Id")) {
            true => Ok(Self(fields, skipped)),
            false => Err(syn::Error::new(
                input.ident.span(),
                "mark the field that is the id with #[entity(id)]",
            )),
        }
    }

    pub(crate) fn role(&self, role: &str) -> Option<&Field> {
        self.0.iter().find(|it| it.has_role(role))
    }
}

impl Field {
    fn parse(field: &syn::Field, outer: &TypeAttributes) -> syn::Result<Option<Self>> {
        let unnamed = || syn::Error::new_spanned(field, "an entity is a struct with named fields");
        let ident = field.ident.clone().ok_or_else(unnamed)?;
        let attributes = Attributes::parse(field)?;
        if attributes.is_skipped {
            return Ok(None);
        }
        let is_secret = matches!(
            attributes.storage,
            Storage::Hidden | Storage::Position | Storage::PolicyInputs
        );
        if is_secret && !is_unwritten(&field.attrs)? {
            return Err(syn::Error::new(
                ident.span(),
                "clients don't see this field: add #[serde(skip)]",
            ));
        }
        let (inner, is_optional) = unwrap_option(&field.ty);
        let usual = rename_all(&ident.to_string(), outer.rename_all.as_deref());
        let is_table = outer.table.is_some();
        Ok(Some(Self {
            wire: serde_text(&field.attrs, "rename")?.unwrap_or(usual),
            doc: doc(&field.attrs),
            sent: attributes.sent(&field.ty, inner, is_table),
            pivot: attributes.pivot.clone(),
            folded: attributes.folded.clone(),
            storage: attributes.storage(&field.ty, is_table)?,
            part: attributes.part.clone(),
            was: attributes.was.clone(),
            parent: attributes.parent.clone(),
            name_of: attributes.name_of.clone(),
            kind: attributes.kind(inner),
            is_in_table: is_table,
            is_optional,
            is_required: attributes.is_required
                || (is_table && attributes.is_demanded(is_optional, inner)),
            is_searchable: attributes.is_searchable,
            prose: attributes.prose,
            writable: attributes.writable(is_table),
            column: attributes.column(&ident, is_table),
            references: attributes.references,
            meaning: attributes.meaning,
            words: attributes.words,
            default: attributes.default,
            is_unwritten: matches!(attributes.storage, Storage::Joined(_))
                && is_unwritten(&field.attrs)?,
            is_own_site: attributes.is_own_site,
            is_own_owner: attributes.is_own_owner,
            is_unique: attributes.is_unique,
            is_unique_in_site: attributes.is_unique_in_site,
            is_uncompared: attributes.is_uncompared,
            sight: attributes.sight,
            role: attributes.role,
            ty: field.ty.clone(),
            ident,
        }))
    }

    pub(crate) fn has_role(&self, role: &str) -> bool {
        self.role.as_ref().is_some_and(|it| it == role)
    }

    /// Returns whether clients see the field.
    pub(crate) fn is_shown(&self) -> bool {
        let is_secret = matches!(
            self.storage,
            Storage::Hidden | Storage::Position | Storage::PolicyInputs
        );
        !is_secret && !self.is_unwritten
    }

    /// Returns the kind of the field's values, as it is written in the schema.
    pub(crate) fn kind_name(&self) -> String {
        self.kind.to_string()
    }

    /// Returns whether clients may ever write the field.
    pub(crate) fn is_writable(&self) -> bool {
        self.writable.is_some()
    }

    /// Returns whether the field has a column of the own table.
    pub(crate) fn is_stored(&self) -> bool {
        matches!(
            self.storage,
            Storage::Shown | Storage::Hidden | Storage::Key | Storage::Position
        )
    }

    pub(crate) fn plays(&self, part: &str) -> bool {
        self.part.as_ref().is_some_and(|it| it == part)
    }

    /// Returns the name of the column, which is that of the field unless another one is declared.
    pub(crate) fn column_name(&self) -> String {
        self.column
            .clone()
            .unwrap_or_else(|| self.ident.unraw().to_string())
    }

    /// Returns whether only the type of this column knows of which kind it is.
    fn is_of_unknown_type(&self) -> bool {
        let is_column = matches!(self.storage, Storage::Shown) && self.is_in_table;
        is_column && self.kind_name() == "Object"
    }

    /// Generates the entry of the field in the schema.
    pub(crate) fn to_schema(&self) -> TokenStream {
        let (wire, doc, kind) = (&self.wire, &self.doc, &self.kind);
        let writable = self.writable.iter().map(|it| quote!(.#it()));
        let required = self.is_required.then(|| quote!(.required()));
        let nullable = self.is_optional.then(|| quote!(.nullable()));
        let searchable = self.is_searchable.then(|| quote!(.searchable()));
        let column = self.column.as_ref().filter(|_| self.is_compared());
        let column = column.map(|name| {
            if let Storage::Joined(sql) = &self.storage {
                quote!(.joined(#sql))
            } else {
                quote!(.column(#name))
            }
        });
        let not_null = (!self.is_optional).then(|| quote!(.not_null()));
        let references = self.references.iter().map(|it| quote!(.references(#it)));
        let role = self
            .role
            .iter()
            .map(|it| quote!(.role(::entity_core::schema::Role::#it)));
        let meaning = self
            .meaning
            .iter()
            .map(|it| quote!(.meaning(::entity_core::schema::Meaning::#it)));
        let words = &self.words;
        let groups = match &self.storage {
            Storage::Groups(_) => Some(quote!(.offered("group"))),
            _ => None,
        };
        let default = self.default.iter().map(|it| quote!(.default(#it)));
        let children = match &self.storage {
            Storage::Children(item, _) => Some(quote!(.children::<#item>())),
            _ => None,
        };
        let sent = self.sent.iter().filter(|_| children.is_none());
        let shape = sent.map(|it| quote!(.shape(::entity_core::shape::of::<#it>)));
        let choices = self.is_of_unknown_type().then(|| {
            let ty = &self.ty;
            quote_spanned!(ty.span()=> .one_of(<#ty as ::entity_core::db::ColumnValue>::CHOICES))
        });
        let pivot = self.pivot.iter().map(|it| quote!(.pivot(&#it)));
        let folded = self.folded.iter().map(|it| quote!(.joined_folded(#it)));
        quote! {
            ::entity_core::schema::Field::new(#wire, ::entity_core::schema::Kind::#kind, #doc)
                #(#writable)* #required #nullable #searchable #column #not_null #(#references)* #(#role)*
                #(#meaning)* #words #groups #(#default)* #(#shape)* #choices #(#pivot)* #(#folded)* #children
        }
    }
}

impl Attributes {
    fn parse(field: &syn::Field) -> syn::Result<Self> {
        let mut attributes = Self::default();
        for attribute in field.attrs.iter().filter(|it| it.path().is_ident("entity")) {
            attribute.parse_nested_meta(|meta| attributes.read(&meta))?;
        }
        Ok(attributes)
    }

    fn read(&mut self, meta: &ParseNestedMeta<'_>) -> syn::Result<()> {
        let ident = meta.path.require_ident()?;
        names::demand(ident, names::OF_FIELD, "a field")?;
        let span = ident.span();
        match ident.to_string().as_str() {
            "id" => self.role = Some(Ident::new("Id", span)),
            "title" => self.role = Some(Ident::new("Title", span)),
            "site" if self.role.as_ref().is_some_and(|it| it == "Id") => self.is_own_site = true,
            "site" => self.role = Some(Ident::new("Site", span)),
            "owner" if self.role.as_ref().is_some_and(|it| it == "Id") => self.is_own_owner = true,
            "owner" => self.role = Some(Ident::new("Owner", span)),
            "created" => self.role = Some(Ident::new("Created", span)),
            "updated" => self.role = Some(Ident::new("Updated", span)),
            "version" => self.role = Some(Ident::new("Version", span)),
            "content" => self.role = Some(Ident::new("Content", span)),
            "required" => self.is_required = true,
            "search" => self.is_searchable = true,
            "html" => self.prose = Some("Html"),
            "plain" => self.prose = Some("Text"),
            "skip" => self.is_skipped = true,
            "optional" => self.is_optional = true,
            "hidden" => self.storage = Storage::Hidden,
            "key" => self.storage = Storage::Key,
            "position" => self.storage = Storage::Position,
            "facts" => self.storage = Storage::PolicyInputs,
            "computed" if meta.input.peek(syn::Token![=]) => {
                self.storage = Storage::Computed(Some(Box::new(meta.value()?.parse()?)));
            }
            "computed" => self.storage = Storage::Computed(None),
            "sight" => self.sight = Some(meta.value()?.parse()?),
            "unique" => self.is_unique = true,
            "unique_in_site" => self.is_unique_in_site = true,
            "uncompared" => self.is_uncompared = true,
            "sql" => self.storage = Storage::Joined(Box::new(meta.value()?.parse()?)),
            "name_of" => {
                let account: Ident = meta.value()?.parse()?;
                self.storage = Storage::Joined(Box::new(people::name(&account)));
                self.name_of = Some(account);
            }
            "shown" => self.storage = Storage::Composed(meta.value()?.parse()?),
            "groups" => self.storage = Storage::Groups(meta.value()?.parse()?),
            "author" | "category" | "files" | "over" | "person" | "reply" => {
                self.part = Some(ident.clone());
            }
            "writable" | "on_create" | "read_only" => self.writable = Some(ident.clone()),
            "was" => self.was = Some(meta.value()?.parse()?),
            "children" => self.is_children = true,
            "parent" => self.parent = Some(meta.value()?.parse()?),
            "max" => self.max = Some(meta.value()?.parse::<LitInt>()?.base10_parse()?),
            "email" | "address" | "password" | "new_password" | "zone" | "milliseconds"
            | "seconds" | "since_1970" | "recurrence" => {
                self.meaning = attributes::meaning(ident);
            }
            name if self.words.read(name, meta)? => {}
            "default" => self.default = Some(meta.value()?.parse()?),
            "references" => self.references = Some(meta.value()?.parse()?),
            "kind" => self.kind = Some(meta.value()?.parse()?),
            "sent" => self.sent = Some(meta.value()?.parse()?),
            "pivot" => self.pivot = Some(meta.value()?.parse()?),
            "folded" => self.folded = Some(meta.value()?.parse()?),
            "column" if meta.input.peek(syn::Token![=]) => {
                self.column = ColumnName::Named(meta.value()?.parse::<LitStr>()?.value());
            }
            "column" => self.column = ColumnName::OfField,
            _ => return Err(meta.error("this attribute is listed and has no meaning")),
        }
        Ok(())
    }

    /// Returns the storage of the field, which is of the type `ty`.
    fn storage(&self, ty: &Type, is_table: bool) -> syn::Result<Storage> {
        if self.is_children {
            return children::storage(ty, self.max);
        }
        if is_table && matches!(self.storage, Storage::Shown) {
            types::demand_one_value(ty)?;
        }
        Ok(self.storage.clone())
    }

    fn kind(&self, ty: &Type) -> TokenStream {
        let max = self.max.unwrap_or(match &self.role {
            _ if self.prose == Some("Html") => MAX_HTML,
            Some(role) if role != "Content" => MAX_NAME,
            _ => MAX_TEXT,
        });
        if self.prose == Some("Html") {
            return quote!(Html(#max));
        }
        if let Some(kind) = &self.kind {
            return match kind.to_string().as_str() {
                "Text" | "Html" => quote!(#kind(#max)),
                _ => quote!(#kind),
            };
        }
        match last_segment(ty).as_deref() {
            Some("String" | "str") => quote!(Text(#max)),
            Some("i64" | "i32" | "i16" | "u64" | "u32" | "u16" | "usize") => quote!(Integer),
            Some("f64" | "f32") => quote!(Number),
            Some("bool") => quote!(Boolean),
            Some("DateTimeUtc" | "DateTime") => quote!(Instant),
            Some("Millis") => quote!(Millis),
            Some("Moment") => quote!(Moment),
            Some("Vec" | "Files") => quote!(List),
            _ => quote!(Object),
        }
    }

    /// Returns the type of the value that clients send, if the field is a list or an object that they may write.
    fn sent(&self, whole: &Type, inner: &Type, is_table: bool) -> Option<TokenStream> {
        let kind = self.kind(inner).to_string();
        let is_structure = kind == "List" || kind == "Object";
        if !is_structure || self.writable(is_table).is_none() {
            return None;
        }
        let is_kept = is_table && matches!(self.storage, Storage::Shown);
        Some(match &self.sent {
            Some(said) => quote!(#said),
            None if is_kept => quote_spanned! {whole.span()=>
                <#whole as ::entity_core::db::ColumnValue>::Sent
            },
            None => quote!(#inner),
        })
    }

    /// Returns whether the service fills the field by itself, because of its role.
    fn is_filled(&self) -> bool {
        self.role.as_ref().is_some_and(|it| {
            ["Id", "Owner", "Created", "Updated", "Version"]
                .iter()
                .any(|role| it == role)
        })
    }

    /// Returns whether clients must send this field of a table: it can't be null, is neither a bool nor read-only, and
    /// is not filled by the service.
    fn is_demanded(&self, is_optional: bool, ty: &Type) -> bool {
        let is_read_only = self.writable.as_ref().is_some_and(|it| it == "read_only");
        let kind = self.kind(ty).to_string();
        let can_be_empty = ["Boolean", "List", "Object"].contains(&kind.as_str());
        let is_exempt = is_optional || is_read_only || can_be_empty || self.is_optional;
        !is_exempt && !self.is_filled() && self.is_sent()
    }

    /// Returns whether clients send the field at all, and don't only read it.
    fn is_sent(&self) -> bool {
        matches!(self.storage, Storage::Shown | Storage::Groups(_))
    }

    /// Returns the method of the schema's field that declares when clients may write it; `None` for never.
    fn writable(&self, is_table: bool) -> Option<Ident> {
        let is_site = self.role.as_ref().is_some_and(|it| it == "Site");
        match &self.writable {
            Some(it) if it == "read_only" => None,
            None if is_table && !self.is_sent() => None,
            Some(it) => Some(it.clone()),
            None if !is_table || self.is_filled() => None,
            None if is_site => Some(Ident::new("on_create", Span::call_site())),
            None => Some(Ident::new("writable", Span::call_site())),
        }
    }

    fn column(&self, ident: &Ident, is_table: bool) -> Option<String> {
        match &self.column {
            ColumnName::Named(name) => Some(name.clone()),
            ColumnName::OfField => Some(ident.unraw().to_string()),
            // Lists compare a joined field only where that is declared: no index may serve it.
            ColumnName::Unsaid if matches!(self.storage, Storage::Joined(_)) => None,
            ColumnName::Unsaid => is_table.then(|| ident.unraw().to_string()),
        }
    }
}
