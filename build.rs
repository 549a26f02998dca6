//! Finds the folders of languages, so that a new language needs no line elsewhere.

use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

const FOLDER: &str = "src/languages";

fn main() {
    println!("cargo::rerun-if-changed={FOLDER}");
    let root = env::var("CARGO_MANIFEST_DIR").expect("cargo says where the project is");
    let folder = Path::new(&root).join(FOLDER);
    let entries = fs::read_dir(&folder).expect("the folder of languages can be read").flatten();
    let is_language = |entry: &fs::DirEntry| entry.path().join("mod.rs").is_file();
    let mut names: Vec<String> = entries.filter(is_language).filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    let mut code = String::new();
    for name in &names {
        let file = folder.join(name).join("mod.rs");
        // Writing to a string does not fail.
        let _ = writeln!(code, "#[path = {file:?}]\nmod {name};");
    }
    let table: String = names.iter().map(|name| format!("&{name}::LANGUAGE, ")).collect();
    let _ = writeln!(code, "static PARSED: &[&Grammar] = &[{table}];");
    let out = Path::new(&env::var("OUT_DIR").expect("cargo says where to write")).join("languages.rs");
    fs::write(out, code).expect("the list of languages can be written");
}
