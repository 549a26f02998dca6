//! How a server's process begins and ends.

use std::future::Future;
use std::io;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use tokio::runtime::Builder;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::engine::Engine;
use crate::platform::parent_process;

/// How often it is looked whether the parent process is still there.
const PARENT_POLL: Duration = Duration::from_secs(2);
/// How long the end of the process waits for what runs in the background.
const LET_GO: Duration = Duration::from_millis(250);

/// Runs a server on a runtime of its own. A read of standard input or a tool that is still busy does not hold up the return.
///
/// # Errors
/// Those of the server, or when there can be no runtime.
pub fn run<T>(server: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    let runtime = Builder::new_multi_thread().enable_all().build()?;
    let result = runtime.block_on(server);
    runtime.shutdown_background();
    result
}

/// Stops what serves a project in the background. An index run that takes longer is left to the end of the process: the
/// files are whole whenever it ends.
pub fn let_go(engine: Arc<Engine>) {
    let (done, is_done) = mpsc::channel();
    thread::spawn(move || {
        // Calls that are still under way hold the engine, too.
        engine.stop();
        drop(engine);
        let _ = done.send(());
    });
    let _ = is_done.recv_timeout(LET_GO);
}

/// SIGTERM and SIGINT, caught from when this is made.
pub struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    /// # Errors
    /// When signals cannot be caught.
    pub fn catch() -> io::Result<Self> {
        Ok(Self { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    /// Waits for one of them.
    pub async fn wait(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

/// Waits until the process that started this one is gone. Standard input may be held open by others.
pub(super) async fn orphaned() {
    let parent = parent_process();
    while parent_process() == parent {
        tokio::time::sleep(PARENT_POLL).await;
    }
}
