//! The cost of parsing HTML, found out by parsing it into nothing.
//!
//! Parsers look through the open elements at nearly every tag, move what is nested wrongly, and open elements again
//! that were not closed. Hostile text makes each of these as long as the text, for each of its tags. The parser here
//! is the one that ammonia uses, and does the same: but the tree that it builds only counts what is asked of it, and
//! the text is handed to it in small pieces, so that it is given up as soon as it takes too much.

use std::borrow::Cow;
use std::cell::Cell;
use std::rc::Rc;

use html5ever::tendril::{StrTendril, TendrilSink as _};
use html5ever::tree_builder::{ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::{Attribute, ExpandedName, ParseOpts, QualName, local_name, ns, parse_fragment};

/// The maximum depth of nested elements.
const DEEPEST: u32 = 100;
/// The root of the fragment, which is no element of the text.
const ROOT: u32 = 1;
/// The number of bytes the parser is given at a time.
const PIECE: usize = 512;
/// The number of steps each byte may take, and how many any text may take.
const STEPS: (u64, u64) = (64, 1 << 16);
/// The number of bytes of tags that each byte of text may yield, and that any text may yield.
const GROWTH: (u64, u64) = (4, 1 << 14);
/// As many pointers are compared as one step takes.
const POINTERS: u32 = 8;
/// As many bytes are looked through as one step takes.
const BYTES: u64 = 256;

/// The message about a text of which the tags take too much.
pub(super) const CONFUSED: &str = "has tags that are nested in too confused a way: close each inside of the element that it was opened in";

/// The cost of parsing a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ParseCost {
    /// The number of questions to the tree, weighed by their cost.
    pub(super) steps: u64,
    /// The number of bytes of tags in the tree.
    pub(super) growth: u64,
}

/// Returns the cost of parsing `html`.
pub(super) fn of(html: &str) -> Result<ParseCost, &'static str> {
    let name = QualName::new(None, ns!(html), local_name!("div"));
    let mut parser = parse_fragment(Tree::default(), ParseOpts::default(), name, vec![], false);
    let size = u64::try_from(html.len()).unwrap_or(u64::MAX);
    let mut rest = html;
    while !rest.is_empty() {
        let (piece, others) = rest.split_at(rest.floor_char_boundary(PIECE.min(rest.len())));
        parser.process(piece.into());
        parser.tokenizer.sink.sink.judge(size)?;
        rest = others;
    }
    let tree = parser.finish();
    tree.judge(size)?;
    Ok(tree.cost())
}

/// An element, or something else that has children: what is needed to know how long it takes to handle it.
struct Node {
    name: QualName,
    depth: Cell<u32>,
    children: Cell<u32>,
    ends_with_text: Cell<bool>,
    attributes: Cell<u64>,
    contents: Option<Handle>,
    is_integration_point: bool,
}

type Handle = Rc<Node>;

impl Node {
    fn new(name: QualName) -> Self {
        Self {
            name,
            depth: Cell::new(0),
            children: Cell::new(0),
            ends_with_text: Cell::new(false),
            attributes: Cell::new(0),
            contents: None,
            is_integration_point: false,
        }
    }

    fn nameless() -> Handle {
        Rc::new(Self::new(QualName::new(None, ns!(), local_name!(""))))
    }
}

/// Counts what is asked of it.
struct Tree {
    document: Handle,
    steps: Cell<u64>,
    growth: Cell<u64>,
    deepest: Cell<u32>,
    /// The most children that any node ever had.
    widest: Cell<u32>,
    /// The number of elements there are of those that are opened again where they were not closed.
    formatting: Cell<u64>,
    /// The number of bytes that are looked through when the tree is written, in vain.
    sought: Cell<u64>,
    /// The number of signs that were met, in the present text, that are written otherwise, since the last bracket.
    signs: Cell<u64>,
}

impl Default for Tree {
    fn default() -> Self {
        Self {
            document: Node::nameless(),
            steps: Cell::default(),
            growth: Cell::default(),
            deepest: Cell::default(),
            widest: Cell::default(),
            formatting: Cell::default(),
            sought: Cell::default(),
            signs: Cell::default(),
        }
    }
}

impl Tree {
    fn cost(&self) -> ParseCost {
        ParseCost {
            steps: self.steps.get().saturating_add(self.sought.get() / BYTES),
            growth: self.growth.get(),
        }
    }

    fn judge(&self, size: u64) -> Result<(), &'static str> {
        let most = |(each, all): (u64, u64)| size.saturating_mul(each).saturating_add(all);
        if self.deepest.get() > DEEPEST + ROOT {
            return Err("must not have elements nested deeper than 100 levels");
        }
        if self.sought.get() / BYTES > most(STEPS) {
            return Err(
                "has too many signs such as `&` in one piece of text: divide it into paragraphs",
            );
        }
        match self.steps.get() > most(STEPS) || self.growth.get() > most(GROWTH) {
            true => Err(CONFUSED),
            false => Ok(()),
        }
    }

    fn step(&self, by: u64) {
        self.steps.set(self.steps.get().saturating_add(by));
    }

    /// A child of a node is looked for among the others.
    fn seek(&self) {
        self.step(1 + u64::from(self.widest.get() / POINTERS));
    }

    fn add(&self, parent: &Handle, child: &NodeOrText<Handle>, depth: u32) {
        let is_text = matches!(child, NodeOrText::AppendText(_));
        if let NodeOrText::AppendText(text) = child {
            let is_continued = parent.ends_with_text.get();
            self.seek_brackets(text, if is_continued { self.signs.get() } else { 0 });
        }
        if let NodeOrText::AppendNode(node) = child {
            node.depth.set(depth);
            if let Some(contents) = &node.contents {
                contents.depth.set(depth);
            }
            self.deepest.set(self.deepest.get().max(depth));
        }
        if !(is_text && parent.ends_with_text.get()) {
            self.widen(parent, 1);
        }
        parent.ends_with_text.set(is_text);
    }

    /// Where the tree is written, the next bracket is looked for behind each `&`, and behind each first byte of a
    /// space that does not break.
    fn seek_brackets(&self, text: &str, signs: u64) {
        let (mut signs, mut sought) = (signs, 0_u64);
        for byte in text.bytes() {
            match byte {
                b'<' | b'>' => signs = 0,
                b'&' | 0xc2 => signs = signs.saturating_add(1),
                _ => {}
            }
            sought = sought.saturating_add(signs);
        }
        self.sought.set(self.sought.get().saturating_add(sought));
        self.signs.set(signs);
    }

    fn widen(&self, node: &Node, by: u32) {
        node.children.set(node.children.get().saturating_add(by));
        self.widest.set(self.widest.get().max(node.children.get()));
    }
}

/// Returns whether elements of this name are opened again where they were not closed. The parser compares the
/// attributes of each with those of the ones before it.
fn is_formatting(name: &QualName) -> bool {
    matches!(
        &*name.local,
        "a" | "b"
            | "big"
            | "code"
            | "em"
            | "font"
            | "i"
            | "nobr"
            | "s"
            | "small"
            | "strike"
            | "strong"
            | "tt"
            | "u"
    )
}

fn length(text: &str) -> u64 {
    u64::try_from(text.len()).unwrap_or(u64::MAX)
}

impl TreeSink for Tree {
    type Handle = Handle;
    type Output = Self;
    type ElemName<'a> = ExpandedName<'a>;

    fn finish(self) -> Self {
        self
    }

    fn parse_error(&self, _message: Cow<'static, str>) {
        self.step(1);
    }

    fn get_document(&self) -> Handle {
        Rc::clone(&self.document)
    }

    fn elem_name<'a>(&'a self, target: &'a Handle) -> ExpandedName<'a> {
        self.step(1);
        target.name.expanded()
    }

    fn create_element(&self, name: QualName, attrs: Vec<Attribute>, flags: ElementFlags) -> Handle {
        let count = length_of(&attrs);
        let others = self.formatting.get().min(u64::from(DEEPEST));
        if is_formatting(&name) {
            self.formatting.set(others + 1);
            self.step(count.saturating_mul(others));
        }
        self.step(count.saturating_add(8));
        let bytes = attrs
            .iter()
            .map(|it| length(&it.name.local).saturating_add(length(&it.value)));
        let bytes = bytes.fold(length(&name.local), u64::saturating_add);
        self.growth.set(self.growth.get().saturating_add(bytes));
        for attribute in &attrs {
            self.seek_brackets(&attribute.value, 0);
        }
        Rc::new(Node {
            attributes: Cell::new(count),
            contents: flags.template.then(Node::nameless),
            is_integration_point: flags.mathml_annotation_xml_integration_point,
            ..Node::new(name)
        })
    }

    fn create_comment(&self, _text: StrTendril) -> Handle {
        self.step(8);
        Node::nameless()
    }

    fn create_pi(&self, _target: StrTendril, _data: StrTendril) -> Handle {
        self.step(8);
        Node::nameless()
    }

    fn append(&self, parent: &Handle, child: NodeOrText<Handle>) {
        self.step(1);
        self.add(parent, &child, parent.depth.get().saturating_add(1));
    }

    fn append_based_on_parent_node(
        &self,
        _element: &Handle,
        previous: &Handle,
        child: NodeOrText<Handle>,
    ) {
        self.seek();
        self.add(previous, &child, previous.depth.get().saturating_add(1));
    }

    fn append_before_sibling(&self, sibling: &Handle, child: NodeOrText<Handle>) {
        // It is looked for where it was as well.
        self.seek();
        self.seek();
        self.add(&self.document, &child, sibling.depth.get());
    }

    fn append_doctype_to_document(
        &self,
        _name: StrTendril,
        _public: StrTendril,
        _system: StrTendril,
    ) {
        self.step(1);
    }

    fn get_template_contents(&self, target: &Handle) -> Handle {
        self.step(1);
        Rc::clone(target.contents.as_ref().unwrap_or(target))
    }

    fn same_node(&self, one: &Handle, other: &Handle) -> bool {
        self.step(1);
        Rc::ptr_eq(one, other)
    }

    fn set_quirks_mode(&self, _mode: QuirksMode) {}

    fn add_attrs_if_missing(&self, target: &Handle, attrs: Vec<Attribute>) {
        let count = target.attributes.get().saturating_add(length_of(&attrs));
        target.attributes.set(count);
        self.step(count);
    }

    fn remove_from_parent(&self, _target: &Handle) {
        self.seek();
    }

    fn reparent_children(&self, node: &Handle, new_parent: &Handle) {
        let moved = node.children.replace(0);
        self.step(u64::from(moved) + 1);
        self.widen(new_parent, moved);
        new_parent
            .ends_with_text
            .set(node.ends_with_text.replace(false));
    }

    fn is_mathml_annotation_xml_integration_point(&self, handle: &Handle) -> bool {
        handle.is_integration_point
    }
}

fn length_of(attributes: &[Attribute]) -> u64 {
    u64::try_from(attributes.len()).unwrap_or(u64::MAX)
}
