use proptest::prelude::*;
use serde_json::{Value, json};

use jsonc_parser::common::Ranged;

use super::*;

fn value_of(text: &str) -> Value {
    parse(text).unwrap().map_or(Value::Null, Into::into)
}

fn got<'a>(text: &'a str, pointer: &str) -> &'a str {
    &text[get(text, pointer).unwrap()]
}

#[test]
fn a_pointer_leads_to_one_value() {
    let text = r#"{"foo": ["bar", "baz"], "": 0, "a/b": 1, "c%d": 2, "m~n": 8, " ": 7, "k\"l": 6, "\u0061": 9, "~1": 5}"#;
    for (pointer, want) in [
        ("", text),
        ("/foo", r#"["bar", "baz"]"#),
        ("/foo/0", r#""bar""#),
        ("/", "0"),
        ("/a~1b", "1"),
        ("/c%d", "2"),
        ("/m~0n", "8"),
        ("/ ", "7"),
        ("/k\"l", "6"),
        ("/a", "9"),
        ("/~01", "5"),
    ] {
        assert_eq!(got(text, pointer), want, "{pointer}");
    }
    for (pointer, want) in [
        ("foo", "does not begin with `/`"),
        ("#/foo", "does not begin with `/`"),
        ("/m~n", "has a `~`"),
        ("/foo/2", "`/foo` has no `2`: it has 2"),
        ("/foo/-", "`/foo` has no `-`"),
        ("/foo/00", "not `00`"),
        ("/foo/01", "not `01`"),
        ("/foo/+1", "not `+1`"),
        ("/foo/", "not ``"),
        ("/foo/bar", "not `bar`"),
        ("/foo/99999999999999999999999", "has no `99"),
        ("/foo/0/x", "`/foo/0` is a string"),
        ("/fo", "the document has no `fo`: it has foo, "),
    ] {
        let error = get(text, pointer).unwrap_err();
        assert!(error.contains(want), "{pointer}: {error}");
    }
}

#[test]
fn a_value_takes_the_place_of_another() {
    for (text, pointer, value, want) in [
        ("{\"a\": 1.0, \"b\": 1e400}", "/a", "2", "{\"a\": 2, \"b\": 1e400}"),
        ("[12345678901234567890123, 1.0]", "/1", "1.10e+2", "[12345678901234567890123, 1.10e+2]"),
        ("{\"a\": [1, 2]}\n", "/a", "[3,4]", "{\"a\": [3, 4]}\n"),
        ("{\"a\":[1,2]}", "/a", "{\"x\": [3, 4]}", "{\"a\":{\"x\":[3,4]}}"),
        ("{\n    \"a\": [1, 2]\n}\n", "/a", "[3,4]", "{\n    \"a\": [3, 4]\n}\n"),
        (
            "{\n    \"a\": 1\n}\n",
            "/a",
            "{\"x\":[]}",
            "{\n    \"a\": {\n        \"x\": []\n    }\n}\n",
        ),
        (
            "{\n\t\"a\": {\n\t\t\"b\": 1\n\t}\n}",
            "/a",
            "[{},[0]]",
            "{\n\t\"a\": [\n\t\t{},\n\t\t[\n\t\t\t0\n\t\t]\n\t]\n}",
        ),
        ("{\r\n  \"a\": null\r\n}\r\n", "/a", "[1]", "{\r\n  \"a\": [\r\n    1\r\n  ]\r\n}\r\n"),
        ("// c\n[1] // d\n", "", "\"é\\u00e9\"", "// c\n\"é\\u00e9\" // d\n"),
        ("", "", "{\"a\":1}", "{\n  \"a\": 1\n}\n"),
        ("// nothing", "", "1", "// nothing\n1\n"),
    ] {
        assert_eq!(set(text, pointer, value).unwrap(), want, "{text} {pointer}");
    }
}

#[test]
fn a_key_comes_last_and_is_laid_out_as_its_siblings() {
    for (text, pointer, want) in [
        ("{\"a\":1}", "/b", "{\"a\":1,\"b\":9}"),
        ("{ \"a\": 1 }", "/b", "{ \"a\": 1, \"b\": 9 }"),
        ("{}", "/b", "{\n  \"b\": 9\n}"),
        ("{\"a\":{}}", "/a/b", "{\"a\":{\"b\":9}}"),
        ("{\n  \"a\": 1\n}\n", "/b", "{\n  \"a\": 1,\n  \"b\": 9\n}\n"),
        ("{\r\n\t\"a\": 1\r\n}", "/b", "{\r\n\t\"a\": 1,\r\n\t\"b\": 9\r\n}"),
        ("{\n  \"a\": 1, // why\n}", "/b", "{\n  \"a\": 1, // why\n  \"b\": 9,\n}"),
        (
            "{\n  \"a\": 1 // why\n  // more\n}",
            "/b",
            "{\n  \"a\": 1, // why\n  \"b\": 9\n  // more\n}",
        ),
        ("{\n  \"a\": 1 /* x\n */ // y\n}", "/b", "{\n  \"a\": 1, /* x\n */ // y\n  \"b\": 9\n}"),
        ("{\n  // none\n}", "/b", "{\n  // none\n  \"b\": 9\n}"),
        ("{ /* none */ }", "/b", "{ /* none */\n  \"b\": 9\n}"),
        ("{\n   \"a\": {\n   }\n}", "/a/b", "{\n   \"a\": {\n      \"b\": 9\n   }\n}"),
        ("{\n  \"a\": {}\n}", "/a/b", "{\n  \"a\": {\n    \"b\": 9\n  }\n}"),
        ("{\"a\": 1 // c\n}", "/b", "{\"a\": 1, \"b\": 9 // c\n}"),
        ("{\"a\": 1 // c\n,}", "/b", "{\"a\": 1 // c\n, \"b\": 9,}"),
        ("{\n  \"a\": 1\n  // c\n  ,\n}", "/b", "{\n  \"a\": 1\n  // c\n  ,\n  \"b\": 9,\n}"),
        ("{\"a\": 1}", "/k\"~1~0é", "{\"a\": 1, \"k\\\"/~é\": 9}"),
        ("{\"a\": 1}", "/", "{\"a\": 1, \"\": 9}"),
        ("[[1, 2],\n [3, 4]]", "/1/-", "[[1, 2],\n [3, 4, 9]]"),
        ("[\n  1\n]", "/-", "[\n  1,\n  9\n]"),
        ("[]", "/-", "[\n  9\n]"),
    ] {
        assert_eq!(set(text, pointer, "9").unwrap(), want, "{text} {pointer}");
    }
    assert_eq!(
        append("[\n  [1],\n  [2]\n]", "", "[3,4]").unwrap(),
        "[\n  [1],\n  [2],\n  [\n    3,\n    4\n  ]\n]"
    );
    assert_eq!(append("{\"a\": [1, ]}", "/a", "2").unwrap(), "{\"a\": [1, 2, ]}");
}

#[test]
fn a_compact_value_keeps_plain_lists_on_a_line_and_spreads_a_line_that_gets_long() {
    let quoted = format!("\"{}\"", "z".repeat(80));
    let long = quoted.as_str();
    for (text, pointer, value, want) in [
        (
            "{}\n",
            "/a",
            "{\"b\":[1,2],\"c\":[[3]]}",
            "{\n  \"a\": {\n    \"b\": [1, 2],\n    \"c\": [\n      [3]\n    ]\n  }\n}\n",
        ),
        ("", "", "{\"a\":[\"x\"]}", "{\n  \"a\": [\"x\"]\n}\n"),
        ("{\"a\": [1]}", "/a/-", "2", "{\"a\": [1, 2]}"),
        ("{\"a\":[1,2]}", "/a/-", long, "{\"a\":[\n  1,\n  2,\n  LONG\n]}"),
        (
            "{\r\n\t\"a\": { \"b\": 1, /* c */ } // d\r\n}",
            "/a/e",
            long,
            "{\r\n\t\"a\": {\r\n\t\t\"b\": 1, /* c */\r\n\t\t\"e\": LONG,\r\n\t} // d\r\n}",
        ),
    ] {
        let want = want.replace("LONG", long);
        assert_eq!(set_compact(text, pointer, value).unwrap(), want, "{text} {pointer}");
    }
    assert_eq!(
        append_compact("[[1, 2] /* c */]", "", long).unwrap(),
        format!("[\n  [1, 2], /* c */\n  {long}\n]")
    );
}

#[test]
fn what_is_deleted_takes_its_comma_and_its_line_along() {
    for (text, pointer, want) in [
        ("{\"a\": 1}", "/a", "{}"),
        ("{\n  \"a\": 1\n}\n", "/a", "{}\n"),
        ("{\"a\": 1, \"b\": 2, \"c\": 3}", "/a", "{\"b\": 2, \"c\": 3}"),
        ("{\"a\": 1, \"b\": 2, \"c\": 3}", "/b", "{\"a\": 1, \"c\": 3}"),
        ("{ \"a\": 1, \"b\": 2 }", "/b", "{ \"a\": 1 }"),
        ("[1,2,3]", "/2", "[1,2]"),
        ("[1, 2,]", "/1", "[1,]"),
        ("[ 1, ]", "/0", "[]"),
        ("{\n  \"a\": 1,\n  \"b\": 2\n}\n", "/a", "{\n  \"b\": 2\n}\n"),
        ("{\r\n  \"a\": 1,\r\n  \"b\": 2\r\n}\r\n", "/b", "{\r\n  \"a\": 1\r\n}\r\n"),
        ("{\n  \"a\": 1,\n  \"b\": 2,\n}", "/b", "{\n  \"a\": 1,\n}"),
        (
            "{\n  // of a\n  \"a\": 1, // at a\n  // of b\n  \"b\": 2 // at b\n}",
            "/a",
            "{\n  // of a\n  // of b\n  \"b\": 2 // at b\n}",
        ),
        (
            "{\n  \"a\": 1, // at a\n  // of b\n  \"b\": 2 // at b\n  // end\n}",
            "/b",
            "{\n  \"a\": 1 // at a\n  // of b\n  // end\n}",
        ),
        ("{\n  // of a\n  \"a\": 1\n}", "/a", "{\n  // of a\n}"),
        ("[1, // one\n 2]", "/1", "[1 // one\n ]"),
        ("[1, // one\n 2]", "/0", "[// one\n 2]"),
        ("[1, /* two */ 2]", "/1", "[1 /* two */]"),
        ("[1, /* two */ 2]", "/0", "[/* two */ 2]"),
        ("[\n  1\n  , 2\n]", "/1", "[\n  1\n]"),
        ("[\n  1\n  , 2\n]", "/0", "[\n  2\n]"),
        ("{\n  \"a\": 1,\n  \"b\": 2 }", "/b", "{\n  \"a\": 1 }"),
        ("{\n  \"a\": {\n    \"x\": 1\n  },\n  \"b\": 2\n}", "/a", "{\n  \"b\": 2\n}"),
    ] {
        assert_eq!(delete(text, pointer).unwrap(), want, "{text} {pointer}");
    }
}

#[test]
fn what_cannot_be_done_says_why() {
    let twice = "{\n  \"a\": 1,\n  \"b\": {\"x\": 1,\n    \"\\u0078\": 2},\n  \"c\": 3}";
    for (done, want) in [
        (set(twice, "/b/x", "3"), "`/b` has the key `x` twice, at lines 3 and 4"),
        (delete(twice, "/b/x"), "twice, at lines 3 and 4"),
        (set(twice, "/b/x/y", "3"), "twice"),
        (get(twice, "/b/x").map(|_| String::new()), "twice"),
        (set("{\"a\": 1}", "/b/c", "1"), "the document has no `b`: it has a"),
        (set("[1]", "/1", "1"), "it has 1, counted from 0; - appends"),
        (set("1", "/a", "1"), "the document is a number"),
        (delete("{}", "/a"), "has no `a`: it has no keys"),
        (delete("{}", ""), "the whole document cannot be deleted"),
        (append("{\"a\": {}}", "/a", "1"), "`/a` is not an array"),
        (append("", "", "1"), "it is empty"),
        (set("", "/a", "1"), "it is empty"),
        (
            set("{\n  a: 1}", "/a", "1"),
            "not valid JSON: Expected string for object property on line 2 column 3",
        ),
        (set("{\"a\" 1}", "/a", "1"), "not valid JSON"),
        (set("[1 2]", "/0", "1"), "not valid JSON"),
        (set("[1,,2]", "/0", "1"), "not valid JSON"),
        (set("{\"a\": 1", "/a", "1"), "not valid JSON"),
        (set("{} {}", "", "1"), "not valid JSON"),
        (set("{}", "/a", ""), "the given value is not valid JSON"),
        (set("{}", "/a", "{\"x\": 1,}"), "the given value is not valid JSON"),
        (set("{}", "/a", "1 // c"), "the given value is not valid JSON"),
        (set("{}", "/a", "\"line\nbreak\""), "the given value is not valid JSON"),
        (set("{}", "/a", "hello"), "the given value is not valid JSON"),
    ] {
        let error = done.unwrap_err();
        assert!(error.contains(want), "{want}: {error}");
    }
    // A duplicate key elsewhere in the document does not matter.
    assert_eq!(set(twice, "/c", "4").unwrap(), twice.replace('3', "4"));
}

#[test]
fn depth_is_refused_and_not_followed() {
    for open in ["[", "{\"a\":", "[{\"a\":"] {
        let text = open.repeat(100_000);
        for done in
            [set(&text, "", "1"), set("[]", "/-", &text), get(&text, "").map(|_| String::new())]
        {
            assert!(done.is_err());
        }
    }
    let deep = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
    // Runs with as little stack as a thread of the server has.
    let thread = std::thread::Builder::new().stack_size(2 << 20);
    let run = move || {
        let pointer = "/0".repeat(400);
        let text = set(&deep(450), &pointer, "7").unwrap();
        assert_eq!(got(&text, &pointer), "7");
        assert!(
            append(&deep(450), &"/0".repeat(449), &deep(100))
                .unwrap_err()
                .contains("the result would not be valid JSON: Maximum nesting depth")
        );
        assert!(set("{}", "/a", &deep(450)).unwrap().contains(&format!("{}[]", " ".repeat(900))));
    };
    thread.spawn(run).unwrap().join().unwrap();
}

/// Generates values of every kind, a few levels deep.
fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<i32>().prop_map(|n| Value::from(f64::from(n) / 8.0)),
        "[a-z/~\"\\\\ é😀\n]{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map("[a-e/~\"é]{0,3}", inner, 0..5)
                .prop_map(|m| Value::Object(m.into_iter().collect())),
        ]
    })
}

fn any_container() -> impl Strategy<Value = Value> {
    (any_value(), any::<bool>())
        .prop_map(|(v, object)| if object { json!({ "k": v }) } else { json!([v]) })
}

/// Collects every pointer of a document.
fn pointers(value: &Value, above: &str, out: &mut Vec<String>) {
    out.push(above.to_string());
    match value {
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(i, v)| pointers(v, &format!("{above}/{i}"), out));
        }
        Value::Object(items) => {
            items.iter().for_each(|(k, v)| {
                pointers(v, &format!("{above}/{}", k.replace('~', "~0").replace('/', "~1")), out);
            });
        }
        _ => {}
    }
}

/// Text that people write between values: white space, comments and trailing commas.
struct Noise(std::vec::IntoIter<u8>);

impl Noise {
    const GAPS: [&str; 8] = [
        "", "", " ", "\r\n\t", "\n  ", " // , ] } \" /*\n", "/* , ] } // \" */",
        " /**/\n\n    // x\r\n  ",
    ];

    fn gap(&mut self, out: &mut String) {
        out.push_str(Self::GAPS[self.0.next().unwrap_or(0) as usize % Self::GAPS.len()]);
    }

    fn end(&mut self, out: &mut String) {
        if self.0.next().is_some_and(|n| n % 3 == 0) {
            out.push(',');
            self.gap(out);
        }
    }

    fn document(&mut self, value: &Value) -> String {
        let mut out = String::new();
        self.gap(&mut out);
        self.put(value, &mut out);
        self.gap(&mut out);
        out
    }

    fn put(&mut self, value: &Value, out: &mut String) {
        let (brackets, items): (_, Vec<(Option<&String>, &Value)>) = match value {
            Value::Array(items) => ("[]", items.iter().map(|v| (None, v)).collect()),
            Value::Object(items) => ("{}", items.iter().map(|(k, v)| (Some(k), v)).collect()),
            leaf => return out.push_str(&leaf.to_string()),
        };
        out.push_str(&brackets[..1]);
        self.gap(out);
        for (i, (key, item)) in items.iter().enumerate() {
            if i > 0 {
                out.push(',');
                self.gap(out);
            }
            if let Some(key) = key {
                out.push_str(&json!(key).to_string());
                self.gap(out);
                out.push(':');
                self.gap(out);
            }
            self.put(item, out);
            self.gap(out);
        }
        if !items.is_empty() {
            self.end(out);
        }
        out.push_str(&brackets[1..]);
    }
}

/// Whether `part` is a subsequence of `whole`.
fn is_within(part: &str, whole: &str) -> bool {
    let mut whole = whole.chars();
    part.chars().filter(|c| !c.is_whitespace()).all(|c| whole.any(|w| w == c))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// The document has the new value, and all bytes before and after it are the same.
    #[test]
    fn set_changes_one_value(value in any_value(), new in any_value(), noise in any::<Vec<u8>>(), which in any::<prop::sample::Index>()) {
        let before = Noise(noise.into_iter()).document(&value);
        let mut all = Vec::new();
        pointers(&value, "", &mut all);
        let pointer = which.get(&all);
        let after = set(&before, pointer, &new.to_string()).unwrap();
        let (was, is) = (get(&before, pointer).unwrap(), get(&after, pointer).unwrap());
        prop_assert_eq!(value_of(&after[is.clone()]), new.clone());
        prop_assert_eq!(&before[..was.start], &after[..is.start]);
        prop_assert_eq!(&before[was.end..], &after[is.end..]);
        // Setting the old value restores the document.
        let again = set(&after, pointer, &value.pointer(pointer).unwrap().to_string()).unwrap();
        prop_assert_eq!(value_of(&again), value);
    }

    /// Adding a key or an element keeps everything else, including comments, in the same order.
    #[test]
    fn what_is_added_adds(value in any_container(), new in any_value(), noise in any::<Vec<u8>>(), which in any::<prop::sample::Index>()) {
        let before = Noise(noise.into_iter()).document(&value);
        let mut all = Vec::new();
        pointers(&value, "", &mut all);
        all.retain(|p| value.pointer(p).is_some_and(|v| v.is_array() || v.is_object()));
        let pointer = which.get(&all);
        let mut wanted = value.clone();
        let after = match wanted.pointer_mut(pointer).unwrap() {
            Value::Array(items) => {
                items.push(new.clone());
                append(&before, pointer, &new.to_string()).unwrap()
            }
            Value::Object(items) => {
                items.insert("new key".into(), new.clone());
                set(&before, &format!("{pointer}/new key"), &new.to_string()).unwrap()
            }
            _ => unreachable!(),
        };
        prop_assert_eq!(value_of(&after), wanted);
        prop_assert!(is_within(&before, &after), "{before:?}\n{after:?}");
    }

    /// Only the named value, its comma and the rest of its lines are deleted.
    #[test]
    fn delete_takes_one_value(value in any_container(), noise in any::<Vec<u8>>(), which in any::<prop::sample::Index>()) {
        let before = Noise(noise.into_iter()).document(&value);
        let mut all = Vec::new();
        pointers(&value, "", &mut all);
        all.remove(0);
        let pointer = which.get(&all);
        let (above, last) = pointer.rsplit_once('/').unwrap();
        let mut wanted = value.clone();
        match wanted.pointer_mut(above).unwrap() {
            Value::Array(items) => { items.remove(last.parse().unwrap()); }
            Value::Object(items) => { items.remove(&last.replace("~1", "/").replace("~0", "~")); }
            _ => unreachable!(),
        }
        let after = delete(&before, pointer).unwrap();
        prop_assert_eq!(value_of(&after), wanted);
        prop_assert!(is_within(&after, &before));
        // Comments on the lines before it are kept.
        let (root, tokens) = (parse(&before).unwrap().unwrap(), tokens(pointer).unwrap());
        let (token, above) = tokens.split_last().unwrap();
        let (_, parent) = walk(&before, &root, above).unwrap();
        let i = child(&before, parent, above, token).unwrap().unwrap();
        let item = parent.as_object().map_or_else(|| nth(parent, i).start(), |object| object.properties[i].start());
        let first = before[..item].rfind('\n').unwrap_or(0);
        for line in before[..first].lines().filter(|l| l.trim_start().starts_with("//")) {
            prop_assert!(after.contains(line.trim()), "{line:?} of {before:?}\n{after:?}");
        }
    }
}
