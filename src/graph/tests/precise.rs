//! Tests of SCIP indexes.

use std::path::Path;

use protobuf::{EnumOrUnknown, Message, MessageField};
use scip::types::{Document, Index, Metadata, Occurrence, PositionEncoding, ToolInfo};

use super::{Project, rows, work};
use crate::graph::{GraphError, Imported, Operation};

const SHAPES: &str = "class Square:\n    def area(self):\n        return 1\nclass Circle:\n    def area(self):\n        return 3\n";
const MAIN: &str =
    "def total(shapes, kinds):\n    return shapes[0].area()\ndef one(x):\n    x.area()\n";

/// An occurrence of a name: line and column from 0 on.
fn occurrence(line: i32, column: i32, name: &str, symbol: &str, roles: i32) -> Occurrence {
    let end = column + i32::try_from(name.len()).unwrap();
    Occurrence {
        range: vec![line, column, end],
        symbol: symbol.into(),
        symbol_roles: roles,
        ..Occurrence::default()
    }
}

fn document(path: &str, occurrences: Vec<Occurrence>) -> Document {
    Document { relative_path: path.into(), occurrences, ..Document::default() }
}

/// An index that knows the type of each shape.
fn index() -> Index {
    Index {
        metadata: MessageField::some(Metadata {
            tool_info: MessageField::some(ToolInfo {
                name: "scip-python".into(),
                version: "1".into(),
                ..ToolInfo::default()
            }),
            project_root: "file:///project".into(),
            ..Metadata::default()
        }),
        documents: vec![
            document(
                "main.py",
                vec![
                    occurrence(0, 4, "total", "main/total().", 1),
                    occurrence(1, 21, "area", "shapes/Circle#area().", 0),
                    occurrence(3, 6, "area", "elsewhere/area().", 0),
                ],
            ),
            document(
                "shapes.py",
                vec![
                    occurrence(0, 6, "Square", "shapes/Square#", 1),
                    occurrence(1, 8, "area", "shapes/Square#area().", 1),
                    occurrence(3, 6, "Circle", "shapes/Circle#", 1),
                    occurrence(4, 8, "area", "shapes/Circle#area().", 1),
                ],
            ),
            document("gone.py", vec![occurrence(0, 0, "x", "x.", 1)]),
        ],
        ..Index::default()
    }
}

fn import(p: &Project, bytes: &[u8]) -> Result<Imported, GraphError> {
    let read = |path: &str| p.files.get(path).cloned();
    p.graph.import("index.scip", "1", Path::new("/project"), || Ok(bytes), read)
}

fn project() -> Project {
    Project::new(&[("main.py", MAIN), ("shapes.py", SHAPES)])
}

#[test]
fn an_index_goes_before_inference_and_a_changed_file_falls_back() {
    let mut p = project();
    assert_eq!(p.callers("Circle.area"), Vec::<String>::new(), "nobody can infer that");
    let imported = import(&p, &index().write_to_bytes().unwrap()).unwrap();
    assert_eq!((imported.n_files, imported.n_others), (2, 1));
    assert_eq!(imported.tool, "scip-python 1");
    let found = p.ask(Operation::Callers, "Circle.area", None, 1);
    assert_eq!(rows(&found.results), ["main.py total [2]"]);
    assert!((found.results[0].confidence - 1.0).abs() < 0.001);
    assert!(found.candidates.is_empty(), "the other call means something outside of the project");
    assert!(p.ask(Operation::Callers, "Square.area", None, 1).candidates.is_empty());

    p.write("main.py", &format!("import os\n{MAIN}"));
    assert_eq!(p.callers("Circle.area"), Vec::<String>::new(), "its lines are others now");
    assert_eq!(p.graph.sources().unwrap()[0].n_current, 1);
    p.write("main.py", MAIN);
    assert_eq!(p.callers("Circle.area"), ["main.py total [2]"], "the file is as it was");

    // The definition moves; the uses in other files still hold.
    p.write("shapes.py", &format!("import os\n{SHAPES}"));
    assert_eq!(p.callers("Circle.area"), ["main.py total [2]"]);
    p.graph.forget("index.scip").unwrap();
    assert_eq!(p.callers("Circle.area"), Vec::<String>::new());
}

#[test]
fn an_index_of_another_text_is_outdated() {
    let mut p = project();
    p.files.insert("main.py".into(), format!("# {}", MAIN.replace("shapes[0]", "all_shapes[10]")));
    p.update();
    let imported = import(&p, &index().write_to_bytes().unwrap()).unwrap();
    assert_eq!(imported.outdated, ["main.py"]);
    assert_eq!(p.callers("Circle.area"), Vec::<String>::new());
}

#[test]
fn columns_count_as_the_index_says() {
    let text = "def f(x): pass\nclass A:\n    def g(self): pass\ns = 'ä𝄞'; f(s)\n";
    for (encoding, column) in [
        (PositionEncoding::UTF8CodeUnitOffsetFromLineStart, 14),
        (PositionEncoding::UTF16CodeUnitOffsetFromLineStart, 11),
        (PositionEncoding::UTF32CodeUnitOffsetFromLineStart, 10),
    ] {
        let p = Project::new(&[("a.py", text)]);
        let mut a = document(
            "a.py",
            vec![
                occurrence(2, 8, "g", "a/A#g().", 1),
                // The index says what no inference would.
                occurrence(3, column, "f", "a/A#g().", 0),
            ],
        );
        a.position_encoding = EnumOrUnknown::new(encoding);
        let index = Index { documents: vec![a], ..Index::default() };
        import(&p, &index.write_to_bytes().unwrap()).unwrap();
        assert_eq!(p.callers("A.g"), ["a.py a.py [4]"], "{encoding:?}");
    }
}

#[test]
fn an_index_of_a_part_of_the_project_names_its_folder() {
    let p = Project::new(&[("part/main.py", MAIN), ("part/shapes.py", SHAPES)]);
    let mut index = index();
    index.metadata.as_mut().unwrap().project_root = "file:///project/part/".into();
    assert_eq!(import(&p, &index.write_to_bytes().unwrap()).unwrap().n_files, 2);
    assert_eq!(p.callers("Circle.area"), ["part/main.py total [2]"]);
}

#[test]
fn what_is_no_index_is_refused_and_changes_nothing() {
    let p = project();
    let good = index().write_to_bytes().unwrap();
    import(&p, &good).unwrap();
    for bad in [
        &b""[..],
        b"{\"documents\": []}",
        &good[..good.len() - 3],
        &[0x12, 0xff, 0xff, 0xff, 0xff, 0x0f],
    ] {
        let e = import(&p, bad).unwrap_err().to_string();
        assert!(e.starts_with("cannot import index.scip: it "), "{e}");
    }
    assert_eq!(p.callers("Circle.area"), ["main.py total [2]"]);
}

#[test]
fn inference_is_compared_with_the_index() {
    let p = project();
    import(&p, &index().write_to_bytes().unwrap()).unwrap();
    let comparison = p.graph.compare(&work()).unwrap();
    let python = &comparison.languages["python"];
    assert_eq!((python.files, python.pairs, python.right, python.called), (1, 1, 0, 1));
    assert_eq!(python.without_caller, 1);
    let missed = &comparison.differences[0];
    assert_eq!((missed.what, missed.line, &*missed.name), ("missed", 2, "area"));
}

#[test]
fn local_symbols_that_no_place_defines_are_unknown() {
    let p = Project::new(&[
        ("fn.js", "function real() {}\nmodule.exports = real;\n"),
        ("use.js", "const f = require('./fn');\nfunction one() { f(); }\n"),
    ]);
    let uses = document("use.js", vec![occurrence(1, 17, "f", "local 3", 0)]);
    let index = Index { documents: vec![uses], ..index() };
    import(&p, &index.write_to_bytes().unwrap()).unwrap();
    assert!(p.callers("real").contains(&"use.js one [2]".to_string()), "the index says nothing");
    let languages = p.graph.compare(&work()).unwrap().languages;
    assert!(languages.values().all(|counts| counts.wrong == 0));
}
