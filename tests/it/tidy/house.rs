//! The floors of each crate: `lib.rs` names them from the bottom up, and a file imports from its own floor and from
//! those below it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use syn::visit::{self, Visit};
use syn::{Attribute, Item, ItemMod, ItemUse, UseTree, Visibility};

use super::{assert_none, files_below, root, shown};

/// A crate, and how many files its largest circle of imports has. The number may only fall: whoever cuts an import lowers
/// it.
struct House {
    sources: &'static str,
    largest_circle: usize,
}

const HOUSES: [House; 4] = [
    House {
        sources: "entity-core/src",
        largest_circle: 8,
    },
    House {
        sources: "entity-formats/src",
        largest_circle: 4,
    },
    House {
        sources: "entity-providers/src",
        largest_circle: 8,
    },
    House {
        sources: "server/src",
        largest_circle: 8,
    },
];

/// The number of files and folders at the root of a crate's sources.
const MOST_AT_A_ROOT: usize = 12;

/// A module by its names below the crate.
type Module = Vec<String>;

/// The paths that a file names, from the module that names them, and the items that it re-exports under a name.
#[derive(Default)]
struct Said {
    here: Module,
    paths: Vec<(Module, Vec<String>)>,
    gives: BTreeMap<String, Vec<String>>,
}

fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|it| {
        let is_test = |list: &syn::MetaList| list.tokens.to_string().starts_with("test");
        it.path().is_ident("cfg") && it.meta.require_list().is_ok_and(is_test)
    })
}

impl Said {
    fn by(file: &syn::File, here: Module) -> Self {
        let mut said = Self {
            here,
            ..Self::default()
        };
        said.visit_file(file);
        said
    }

    fn leaves(&mut self, tree: &UseTree, begun: &[String], is_given: bool) {
        let (name, called) = match tree {
            UseTree::Path(path) => {
                let begun = [begun, &[path.ident.to_string()]].concat();
                return self.leaves(&path.tree, &begun, is_given);
            }
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.leaves(tree, begun, is_given);
                }
                return;
            }
            UseTree::Glob(_) => return self.paths.push((self.here.clone(), begun.to_vec())),
            UseTree::Name(name) => (name.ident.to_string(), name.ident.to_string()),
            UseTree::Rename(name) => (name.ident.to_string(), name.rename.to_string()),
        };
        let path = match name.as_str() {
            "self" => begun.to_vec(),
            _ => [begun, &[name]].concat(),
        };
        self.paths.push((self.here.clone(), path.clone()));
        if is_given {
            self.gives.insert(called, path);
        }
    }
}

impl<'ast> Visit<'ast> for Said {
    fn visit_item(&mut self, item: &'ast Item) {
        let attributes = match item {
            Item::Fn(it) => &it.attrs,
            Item::Impl(it) => &it.attrs,
            Item::Mod(it) => &it.attrs,
            Item::Use(it) => &it.attrs,
            _ => return visit::visit_item(self, item),
        };
        if !is_for_tests(attributes) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_mod(&mut self, module: &'ast ItemMod) {
        self.here.push(module.ident.to_string());
        visit::visit_item_mod(self, module);
        self.here.pop();
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        let is_given = !matches!(item.vis, Visibility::Inherited);
        self.leaves(&item.tree, &[], is_given);
    }

    /// Skips visibilities, which are no imports.
    fn visit_visibility(&mut self, _: &'ast Visibility) {}

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names = path.segments.iter().map(|it| it.ident.to_string());
        let names: Vec<_> = names.collect();
        if path.leading_colon.is_none() && names.len() > 1 {
            self.paths.push((self.here.clone(), names));
        }
        visit::visit_path(self, path);
    }
}

/// A crate as its sources show it.
struct Plan {
    /// From the bottom up.
    floors: Vec<String>,
    files: BTreeMap<Module, Said>,
}

impl Plan {
    fn of(sources: &str) -> Self {
        let folder = root().join(sources);
        let mut files = BTreeMap::new();
        for path in files_below(&folder) {
            let is_source = path.extension().is_some_and(|it| it == "rs");
            let module = module(&path, &folder);
            if !is_source || module.iter().any(|it| it == "tests") {
                continue;
            }
            let text = fs::read_to_string(&path).expect("a source");
            let parsed = syn::parse_file(&text).unwrap_or_else(|e| panic!("{}: {e}", shown(&path)));
            files.insert(module.clone(), Said::by(&parsed, module));
        }
        let lib = fs::read_to_string(folder.join("lib.rs")).expect("a crate has a root");
        let modules = lib.lines().filter_map(|it| {
            let it = it.strip_prefix("pub ").unwrap_or(it);
            it.strip_prefix("mod ")
        });
        let floors = modules.map(|it| it.trim_end_matches([' ', '{', ';']).to_owned());
        Self {
            floors: floors.collect(),
            files,
        }
    }

    /// The file that a path from the module `here` leads to, if it is one of this crate.
    fn file(&self, here: &[String], path: &[String], depth: usize) -> Option<Module> {
        let own = |names: &[String]| self.files.keys().any(|it| it.starts_with(names));
        let first = path.first()?;
        let (mut at, mut rest) = match first.as_str() {
            "crate" => (Vec::new(), path.get(1..)?),
            "self" => (here.to_vec(), path.get(1..)?),
            "super" => (here.to_vec(), path),
            name if own(&[here, &[name.to_owned()]].concat()) => (here.to_vec(), path),
            _ => return None,
        };
        while rest.first().is_some_and(|it| it == "super") {
            at.pop()?;
            rest = rest.get(1..)?;
        }
        while let [name, more @ ..] = rest {
            let below = [at.as_slice(), std::slice::from_ref(name)].concat();
            let given = self.files.get(&at).and_then(|it| it.gives.get(name));
            at = match given {
                _ if own(&below) => below,
                Some(given) if depth < 8 => {
                    let found = self.file(&at, given, depth + 1);
                    found.unwrap_or_else(|| at.clone())
                }
                _ => break,
            };
            rest = more;
        }
        // An inline module is no file of its own.
        while !self.files.contains_key(&at) {
            at.pop()?;
        }
        Some(at)
    }

    /// The files that each file imports from. The crate's root, which names everything, is none of them.
    fn imports(&self) -> BTreeMap<&Module, BTreeSet<Module>> {
        let of = |(module, said): (&'_ Module, &Said)| {
            let files = said.paths.iter();
            let files = files.filter_map(|(here, path)| self.file(here, path, 0));
            files
                .filter(|it| it != module && !it.is_empty())
                .collect::<BTreeSet<_>>()
        };
        let files = self.files.iter().filter(|it| !it.0.is_empty());
        files.map(|it| (it.0, of(it))).collect()
    }

    fn floor(&self, module: &Module) -> Option<usize> {
        self.floors.iter().position(|it| Some(it) == module.first())
    }
}

fn module(path: &Path, folder: &Path) -> Module {
    let path = path.strip_prefix(folder).expect("a file of the crate");
    let path = path.with_extension("");
    let names = path.iter().map(|it| it.to_string_lossy().into_owned());
    names.filter(|it| it != "lib").collect()
}

/// The largest set of files each of which is reached from each other one.
fn largest_circle(imports: &BTreeMap<&Module, BTreeSet<Module>>) -> BTreeSet<Module> {
    let reached = |from: &Module| {
        let mut reached = BTreeSet::new();
        let mut next = vec![from.clone()];
        while let Some(module) = next.pop() {
            for import in imports.get(&module).into_iter().flatten() {
                if reached.insert(import.clone()) {
                    next.push(import.clone());
                }
            }
        }
        reached
    };
    let all: BTreeMap<_, _> = imports.keys().map(|it| (*it, reached(it))).collect();
    let circle = |one: &Module| {
        let others = all.get(one).into_iter().flatten();
        let back = |it: &&Module| all.get(it).is_some_and(|it| it.contains(one));
        others.filter(back).cloned().collect::<BTreeSet<_>>()
    };
    let circles = imports.keys().map(|it| circle(it));
    circles.max_by_key(BTreeSet::len).unwrap_or_default()
}

#[test]
fn a_root_holds_little_more_than_its_floors() {
    let mut complaints = Vec::new();
    for house in &HOUSES {
        let folder = fs::read_dir(root().join(house.sources)).expect("a folder");
        let count = folder.count();
        if count > MOST_AT_A_ROOT {
            complaints.push(format!("{}: {count} files and folders", house.sources));
        }
    }
    assert_none(&complaints);
}

#[test]
fn no_file_imports_from_a_floor_above_its_own() {
    let mut complaints = Vec::new();
    for house in &HOUSES {
        let plan = Plan::of(house.sources);
        assert!(plan.floors.len() > 2, "{} has floors", house.sources);
        for (module, imports) in plan.imports() {
            let above = |it: &&Module| plan.floor(module) < plan.floor(it);
            for import in imports.iter().filter(above) {
                let (from, to) = (module.join("::"), import.join("::"));
                complaints.push(format!("{}: {from} imports {to}", house.sources));
            }
        }
    }
    assert_none(&complaints);
}

#[test]
fn circles_of_imports_do_not_grow() {
    for house in &HOUSES {
        let plan = Plan::of(house.sources);
        let circle = largest_circle(&plan.imports());
        let names: Vec<_> = circle.iter().map(|it| it.join("::")).collect();
        let (sources, names) = (house.sources, names.join("\n"));
        let count = circle.len();
        assert!(count <= house.largest_circle, "{sources}: {count}\n{names}");
    }
}
