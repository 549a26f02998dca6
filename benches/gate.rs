//! A gate against regressions, `cargo bench --bench gate`: compares `cortex bench` of this tree with
//! that of the commit before it, in alternating runs, and ends with 1 if a figure became worse.
//!
//! The commit before is the parent of `HEAD`, or `HEAD` itself if tracked files are changed. These
//! environment variables change what is measured:
//!
//! - `BASE`: the commit to compare with.
//! - `CHUNKS`: the size of the generated project; 2 000.
//! - `PAIRS`: how many pairs of runs; 7.
//!
//! Each pair of runs gives one ratio for each figure. A figure became worse if the median of the
//! ratios is beyond 10 % and their interval ([`Spread`]) excludes 1. With some fifty figures, chance
//! alone would fail the gate now and then; so it measures a second series where it found one, and
//! fails for those that are worse in both. The parent is built in a worktree below `target/`, and
//! its program stays there for the next time.
#![expect(clippy::disallowed_methods, reason = "it moves files of this repository")]

use std::error::Error;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use cortex::bench::{BenchReport, Spread, Unit, Verdict, compare};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// A change of the median by less than this is accepted.
const TOLERANCE: f64 = 1.10;

/// The ratios of one figure, one for each pair of runs.
struct Row {
    name: String,
    unit: Unit,
    ratios: Vec<f64>,
}

impl Row {
    fn is_worse(&self) -> bool {
        let spread = Spread::new(&self.ratios);
        let beyond = if self.unit.more_is_better() {
            spread.median < 1.0 / TOLERANCE
        } else {
            spread.median > TOLERANCE
        };
        beyond && Verdict::new(self.unit, spread.interval) == Verdict::Worse
    }
}

/// Two programs, and the project that they measure.
struct Series<'a> {
    base: &'a Path,
    tree: &'a Path,
    chunks: &'a str,
    runs: &'a str,
    pairs: usize,
}

impl Series<'_> {
    /// Measures all pairs, and prints the ratio of each figure.
    fn measure(&self) -> Result<Vec<Row>> {
        let mut rows: Vec<Row> = Vec::new();
        for pair in 0..self.pairs {
            eprintln!("pair {} of {}", pair + 1, self.pairs);
            // What the first run of a pair leaves behind, such as a hot processor, meets each
            // program as often.
            let (then, now) = if pair % 2 == 0 {
                let then = self.run(self.base)?;
                (then, self.run(self.tree)?)
            } else {
                let now = self.run(self.tree)?;
                (self.run(self.base)?, now)
            };
            for change in compare(&then, &now) {
                match rows.iter_mut().find(|r| (&r.name, r.unit) == (&change.name, change.unit)) {
                    Some(row) => row.ratios.push(change.ratio),
                    None => rows.push(Row {
                        name: change.name,
                        unit: change.unit,
                        ratios: vec![change.ratio],
                    }),
                }
            }
        }
        println!("{:<38} {:>8} {:>8} {:>8}", "tree / base", "median", "from", "to");
        for row in &rows {
            let Spread { median, interval: [low, high], .. } = Spread::new(&row.ratios);
            let unit = if row.unit.more_is_better() { ", more is better" } else { "" };
            let name = format!("{}{unit}", row.name);
            let verdict = if row.is_worse() { "  worse" } else { "" };
            println!("{name:<38} {median:>8.2} {low:>8.2} {high:>8.2}{verdict}");
        }
        Ok(rows)
    }

    fn run(&self, program: &Path) -> Result<BenchReport> {
        let mut command = Command::new(program);
        command.args(["bench", "--json", "--chunks", self.chunks, "--runs", self.runs]);
        Ok(serde_json::from_str(&output(&mut command)?)?)
    }
}

/// Runs a command, and returns what it prints.
fn output(command: &mut Command) -> Result<String> {
    let out = command.stderr(Stdio::inherit()).output()?;
    if !out.status.success() {
        return Err(format!("{command:?} failed: {}", out.status).into());
    }
    Ok(String::from_utf8(out.stdout)?.trim().to_string())
}

fn git<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>) -> Result<String> {
    output(Command::new("git").current_dir(env!("CARGO_MANIFEST_DIR")).args(args))
}

/// Returns the commit to compare with.
fn base_commit() -> Result<String> {
    let base = match std::env::var("BASE") {
        Ok(base) => base,
        Err(_) if git(["status", "--porcelain", "--untracked-files=no"])?.is_empty() => {
            "HEAD^".to_string()
        }
        Err(_) => "HEAD".to_string(),
    };
    git(["rev-parse", "--verify", &format!("{base}^{{commit}}")])
}

/// Builds the program of a commit, unless an earlier run did, and returns its path. The build shares
/// the target directory, so that it compiles no dependency again.
fn built(commit: &str, tree: &Path, target: &Path) -> Result<PathBuf> {
    let gate = target.join("gate");
    let program = gate.join(format!("cortex-{commit}"));
    if program.exists() {
        return Ok(program);
    }
    let worktree = gate.join("worktree");
    let at = worktree.to_str().ok_or("the target directory has no UTF-8 name")?;
    // A run that was interrupted may have left it.
    if worktree.exists() {
        git(["worktree", "remove", "--force", at])?;
    }
    git(["worktree", "add", "--detach", "--force", at, commit])?;
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--release", "--bin", "cortex"]).current_dir(&worktree);
    cargo.arg("--target-dir").arg(target);
    if cfg!(feature = "team") {
        cargo.args(["--features", "team"]);
    }
    // The build writes its program where that of this tree is.
    let kept = gate.join("cortex-tree");
    fs::copy(tree, &kept)?;
    let made = output(&mut cargo).and_then(|_| Ok(fs::rename(tree, &program)?));
    fs::rename(&kept, tree)?;
    git(["worktree", "remove", "--force", at])?;
    made.map(|()| program)
}

/// Decides the outcome; returns whether the gate is passed.
fn gate() -> Result<bool> {
    let tree = Path::new(env!("CARGO_BIN_EXE_cortex"));
    let target = tree.ancestors().nth(2).ok_or("the program is not in a target directory")?;
    // As criterion decides it: cargo passes --bench when it measures.
    let is_test = !std::env::args().any(|a| a == "--bench");
    if is_test {
        let row =
            |ratios: &[f64]| Row { name: String::new(), unit: Unit::Ms, ratios: ratios.into() };
        assert!(row(&[1.2, 1.3, 1.1]).is_worse());
        assert!(!row(&[1.2, 1.3, 0.9]).is_worse(), "within the noise");
        assert!(!row(&[1.05, 1.06, 1.04]).is_worse(), "within the tolerance");
        let same = Series { base: tree, tree, chunks: "60", runs: "1", pairs: 1 };
        assert!(same.measure()?.len() > 40, "every figure has a ratio");
        return Ok(true);
    }
    let setting = |name: &str, or: &str| std::env::var(name).unwrap_or_else(|_| or.to_string());
    let (chunks, pairs) = (setting("CHUNKS", "2000"), setting("PAIRS", "7").parse()?);
    fs::create_dir_all(target.join("gate"))?;
    let commit = base_commit()?;
    let base = built(&commit, tree, target)?;
    println!("This tree and {commit}, {pairs} pairs of runs on {chunks} chunks.");
    let series = Series { base: &base, tree, chunks: &chunks, runs: "3", pairs };
    let mut worse = series.measure()?;
    worse.retain(Row::is_worse);
    if !worse.is_empty() {
        println!("\nA second series shows whether it was chance.");
        let again = series.measure()?;
        worse.retain(|row| {
            again.iter().any(|a| (&a.name, a.unit) == (&row.name, row.unit) && a.is_worse())
        });
    }
    for row in &worse {
        println!("{} is worse in both series.", row.name);
    }
    Ok(worse.is_empty())
}

fn main() -> ExitCode {
    match gate() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(e) => {
            eprintln!("the gate could not measure: {e}");
            ExitCode::from(2)
        }
    }
}
