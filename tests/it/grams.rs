//! Searches for lines find the same with and without gram filters, whatever happened to the files.

use std::fs;

use cortex::grams::NeededGrams;
use cortex::store::{GramFilters, Layout};
use serde_json::{Value, json};

use crate::project::Project;
use crate::server::{Client, Server};

/// More than the least number of files for which filters are asked.
const N_FILES: usize = 300;
/// A text that no file holds at first.
const RARE: &str = "zqxjkvb_wplm";

/// Creates a project of many files whose stamps are trusted, and some odd ones, and indexes it.
fn many() -> Project {
    let p = Project::new();
    for i in 0..N_FILES {
        p.write(
            file(i),
            format!("/// Fills kettle {i}.\nfn kettle_{i}() -> u32 {{\n    {i}\n}}\n"),
        );
    }
    p.write("src/odd/bom.rs", "\u{feff}fn first_of_all() {}\r\nfn second() {}\r\n");
    p.write("src/odd/latin.rs", b"// Caf\xe9 au lait\nfn serve_coffee() {}\n");
    p.write("src/odd/kelvin.md", "# Units\n\n300 \u{212a}elvin, mi\u{17f}\u{17f}ing in ASCII.\n");
    p.write("src/odd/key.py", "aws_key = \"AKIAZ7QK2MHRWTVXP5LD\"\nname = \"École\"\n");
    for path in all_files(&p) {
        p.age(&path);
    }
    p.share_key();
    p.index();
    p
}

fn file(i: usize) -> String {
    format!("src/part{}/kettle_{i}.rs", i % 7)
}

fn all_files(p: &Project) -> Vec<String> {
    let odd = ["bom.rs", "latin.rs", "kelvin.md", "key.py"].map(|name| format!("src/odd/{name}"));
    let all = (0..N_FILES).map(file).chain(odd);
    all.filter(|path| p.path(path).exists()).collect()
}

/// Returns the files whose filter rules out a match.
fn ruled_out(p: &Project, pattern: &str) -> Option<Vec<String>> {
    let filters = GramFilters::open(&Layout::at(&p.root()).unwrap())?;
    let (filters, needed) = (filters.read().unwrap(), NeededGrams::of_text(pattern, false));
    let root = cortex::dir::Dir::open(&p.root()).unwrap();
    let is_out = |path: &String| {
        let stat = || root.stat(path).unwrap();
        filters.rules_out(path, |filter| needed.may_be_in(filter), stat)
    };
    Some(all_files(p).into_iter().filter(is_out).collect())
}

fn answer(p: &Project, args: &[&str]) -> Value {
    let out = p.run(&[&["grep", "--json"], args].concat());
    assert!(out.code < 2, "{args:?}: {}", out.stderr);
    serde_json::from_str(&out.stdout).unwrap()
}

#[test]
fn filters_change_no_answer() {
    let p = many();
    let n_out = ruled_out(&p, RARE).expect("filters").len();
    assert!(n_out > N_FILES * 9 / 10, "{n_out} of {N_FILES} files need not be read");
    let questions: [&[&str]; 14] = [
        &[RARE],
        &["kettle_123"],
        &["KETTLE_123"],
        &["-i", "KETTLE_123"],
        &["-w", "kettle_12"],
        &["-e", r"kettle_(7|11)\b"],
        &["-e", r"(?i)fn KETTLE_2\d+\(\)"],
        &["-v", "kettle"],
        &["-U", "-e", r"kettle 77\.\nfn kettle"],
        &["-i", "kelvin"],
        &["-i", "MISSING"],
        &["-i", "école"],
        &["second() {}"],
        &["au lait"],
    ];
    let with: Vec<Value> = questions.iter().map(|args| answer(&p, args)).collect();
    assert_eq!(with[1]["total"], 1);
    assert!((9..=10).all(|i| with[i]["total"] == 1), "{:?}", &with[9..=10]);
    // A filter holds nothing of a secret, and no pattern tells whether a file was read for it.
    for part in ["AKIAZ7QK2MHRWTVXP5LD", "7QK2MHRW"] {
        assert_eq!(answer(&p, &[part])["total"], 0);
        assert!(ruled_out(&p, part).unwrap().contains(&"src/odd/key.py".to_string()), "{part}");
    }
    fs::remove_file(p.path(".cortex/cache/grams.bin")).unwrap();
    assert!(ruled_out(&p, RARE).is_none());
    for (args, with) in questions.iter().zip(with) {
        assert_eq!(answer(&p, args), with, "{args:?}");
    }
}

#[test]
fn files_that_changed_since_they_were_indexed_are_read() {
    let p = many();
    let mut server = Server::start(&mut p.cortex(&["serve", "--no-watch", "--port", "0"]));
    let client = Client::new(server.line().trim());
    let found = || {
        let reply = client.call("grep", &json!({ "pattern": RARE }));
        // A file that is gone is not searched.
        assert_eq!(reply["searched"], all_files(&p).len(), "{reply}");
        reply["files"].as_array().unwrap().iter().map(|f| f["path"].to_string()).collect::<Vec<_>>()
    };
    assert_eq!(found(), [""; 0]);
    // Another size.
    fs::write(p.path(file(5)), format!("fn {RARE}() {{}}\n")).unwrap();
    assert_eq!(found().len(), 1);
    // The same size and time of writing.
    let before = p.read(file(8));
    let modified = fs::metadata(p.path(file(8))).unwrap().modified().unwrap();
    let after = format!("// {RARE}{}", " ".repeat(before.len() - RARE.len() - 3));
    assert_eq!(before.len(), after.len());
    fs::write(p.path(file(8)), after).unwrap();
    p.set_modified(file(8), modified);
    // Another file in its place, and one that is gone.
    p.rename(&file(8), "src/moved");
    fs::rename(p.path("src/moved"), p.path(file(9))).unwrap();
    fs::remove_file(p.path(file(10))).unwrap();
    assert_eq!(found().len(), 2);
    server.signal("TERM");
    server.ended();
    // The next run adds the filters of what changed to those of the rest.
    p.age(&file(5));
    p.index();
    assert_eq!(answer(&p, &[RARE])["total"], 2);
    let out = ruled_out(&p, "no_such_text").unwrap();
    assert!(out.contains(&file(5)) && out.contains(&file(100)), "{out:?}");
    assert!(!ruled_out(&p, RARE).unwrap().contains(&file(5)));
}

#[test]
fn filters_that_another_program_wrote_are_not_used() {
    let p = many();
    let grams = p.path(".cortex/cache/grams.bin");
    let bytes = fs::read(&grams).unwrap();
    // A repository may bring such a file along, with filters that hide lines.
    fs::write(p.path("forged"), &bytes).unwrap();
    fs::rename(p.path("forged"), &grams).unwrap();
    assert!(ruled_out(&p, RARE).is_none());
    fs::write(p.path(file(5)), format!("fn {RARE}() {{}}\n")).unwrap();
    assert_eq!(answer(&p, &[RARE])["total"], 1);
    // A run replaces it. Files that it does not parse stay without a filter.
    p.age(&file(5));
    p.index();
    assert_eq!(ruled_out(&p, "no_such_text").unwrap(), [file(5)]);
    p.run(&["index", "--full"]).expect(0);
    assert!(ruled_out(&p, "no_such_text").unwrap().len() > N_FILES * 9 / 10);
    // Damage costs the filters from there on, and nothing else.
    let with = answer(&p, &["kettle_123"]);
    let mut file = fs::OpenOptions::new().write(true).open(&grams).unwrap();
    std::io::Write::write_all(&mut file, &[0; 64]).unwrap();
    drop(file);
    assert_eq!(answer(&p, &["kettle_123"]), with);
}
