//! A word in a path is evidence of what a file is; what else the project has decides.

use serde_json::Value;

use crate::project::Project;

/// Returns the paths, or paths and what they are, of a list in the map.
fn of_map(map: &Value, list: &str, key: &str) -> Vec<String> {
    map[list].as_array().unwrap().iter().map(|row| row[key].as_str().unwrap().into()).collect()
}

const PET: &str = "package org.springframework.samples.petclinic;\n\npublic class Pet {\n  public String name() { return \"pet\"; }\n}\n";

#[test]
fn a_package_with_a_name_of_examples_is_the_program() {
    let p = Project::new();
    let folder = "src/main/java/org/springframework/samples/petclinic";
    p.write(format!("{folder}/Pet.java"), PET);
    let clinic = "package org.springframework.samples.petclinic;\n\npublic class Clinic {\n  private int stepCount() { return 1; }\n  String pet() { return new Pet().name(); }\n}\n";
    p.write(format!("{folder}/Clinic.java"), clinic);
    p.write("tools/check.py", "def check():\n    return 1\n");
    p.index();
    let map = p.json(&["map"]);
    assert!(of_map(&map, "files", "path").contains(&format!("{folder}/Pet.java")), "{map}");
    assert_eq!(map["languages"][0]["name"], "java", "{map}");
    let out = p.run(&["search", "Pet", "--explain"]).expect(0).stdout;
    assert!(!out.contains("aside"), "{out}");
    let unused = p.json(&["graph", "unused"]);
    assert!(unused["results"].to_string().contains("stepCount"), "{unused}");
}

#[test]
fn a_project_of_examples_shows_them() {
    let p = Project::new();
    for name in ["chat", "shop"] {
        p.write(format!("samples/{name}/{name}.py"), format!("def {name}():\n    return 1\n"));
    }
    p.write("samples/README.md", "# Samples\n\nThey show how it is done.\n");
    p.index();
    let files = of_map(&p.json(&["map"]), "files", "path");
    assert_eq!(files, ["samples/chat/chat.py", "samples/shop/shop.py"]);
}

#[test]
fn example_programs_are_listed_as_such_in_the_map() {
    let p = Project::new();
    let library = "int hear(int sound) {\n  return sound + 1;\n}\n";
    p.write("src/hear.c", library);
    p.write("src/speak.c", library.replace("hear", "speak"));
    p.write(
        "examples/stream/stream.c",
        "int hear(int);\n\nint main(void) {\n  return hear(1);\n}\n",
    );
    p.write("examples/common.c", "int shared_by_examples(void) {\n  return 1;\n}\n");
    p.index();
    let map = p.json(&["map"]);
    let entries = map["entries"].as_array().unwrap();
    let entry = entries.iter().find(|e| e["path"] == "examples/stream/stream.c").unwrap();
    assert_eq!((&entry["what"], &entry["line"]), (&"example".into(), &3.into()), "{map}");
    assert_eq!(of_map(&map, "entries", "path").len(), 1, "{map}");
    assert!(of_map(&map, "files", "path").iter().all(|path| path.starts_with("src/")), "{map}");
    let text = p.run(&["map"]).expect(0).stdout;
    assert!(text.contains("examples/stream/stream.c:3 example"), "{text}");
}
