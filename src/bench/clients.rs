//! Measures many clients that ask one engine at once, each in its own thread.

use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};

use super::query::{Questions, SearchKind};
use crate::live::ChunkManager;

/// The answers of one round.
pub struct Round {
    /// The time of each query.
    pub times: Vec<Duration>,
    pub queries_per_second: f64,
}

/// Asks `n` times, by words and meaning: `n_clients` threads take the next question as soon as
/// their last one is answered.
///
/// # Errors
/// When a query fails.
pub fn ask_at_once(
    manager: &ChunkManager,
    questions: &Questions,
    n_clients: usize,
    n: usize,
) -> Result<Round> {
    let all: Vec<&str> = questions.iter().collect();
    let (next, ready) = (AtomicUsize::new(0), Barrier::new(n_clients));
    let client = || -> Result<(Instant, Instant, Vec<Duration>)> {
        ready.wait();
        let (start, mut times) = (Instant::now(), Vec::new());
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            if i >= n {
                return Ok((start, Instant::now(), times));
            }
            let question = all.get(i % all.len().max(1)).context("there is nothing to ask")?;
            times.push(Questions::ask(manager, question, SearchKind::Hybrid)?);
        }
    };
    let answers: Vec<_> = thread::scope(|scope| {
        let clients: Vec<_> = (0..n_clients).map(|_| scope.spawn(client)).collect();
        clients
            .into_iter()
            .map(|c| c.join().unwrap_or_else(|_| Err(anyhow!("a client panicked"))))
            .collect::<Result<_>>()
    })?;
    // From the first client that began to the last that ended: the thread that joins them may wait
    // for a core much longer.
    let start = answers.iter().map(|(start, ..)| *start).min().context("there is no client")?;
    let end = answers.iter().map(|(_, end, _)| *end).max().context("there is no client")?;
    let times: Vec<Duration> = answers.into_iter().flat_map(|(.., times)| times).collect();
    let queries_per_second = times.len() as f64 / (end - start).as_secs_f64();
    Ok(Round { times, queries_per_second })
}

/// Returns how many queries a second one thread answers that leaves the other cores alone. (A query
/// that runs alone would use all of them.)
///
/// # Errors
/// When a query fails, or no thread can be created.
pub fn rate_of_one_thread(manager: &ChunkManager, questions: &Questions) -> Result<f64> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    pool.install(|| {
        let start = Instant::now();
        for question in questions.iter() {
            Questions::ask(manager, question, SearchKind::Hybrid)?;
        }
        Ok(questions.len() as f64 / start.elapsed().as_secs_f64())
    })
}
