//! Nothing is built here: the key `links` of the manifest asks for a build script.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
}
