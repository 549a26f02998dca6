use std::path::Path;
fn main() {
    let root = std::env::args().nth(1).unwrap();
    let db = std::env::args().nth(2).unwrap();
    let out = std::process::Command::new("find").args([&root, "-type", "f", "-size", "-1024k", "-not", "-path", "*/.git/*", "-not", "-path", "*/.cortex/*"]).output().unwrap();
    let files: Vec<(String, String)> = String::from_utf8_lossy(&out.stdout).lines().map(|l| l.strip_prefix(&format!("{root}/")).unwrap().to_string()).filter(|p| p.contains('.')).map(|p| {
        (p, "1".to_string())
    }).collect();
    let g = cortex::graph::Graph::open(Path::new(&db)).unwrap();
    let bytes = std::sync::atomic::AtomicUsize::new(0);
    let u = g.update(files, |p| { let t = std::fs::read(format!("{root}/{p}")).ok()?; let t = String::from_utf8(t).ok()?; 
       if let cortex::syntax::Kind::Code(_) = cortex::syntax::detect(p, &t).kind { bytes.fetch_add(t.len(), std::sync::atomic::Ordering::Relaxed); }
       Some(t) }).unwrap();
    println!("{u:?} code bytes {} db {}", bytes.into_inner(), std::fs::metadata(&db).unwrap().len());
}
