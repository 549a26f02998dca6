//! Start and end of a server process.

use std::future::Future;
use std::io;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use tokio::runtime::Builder;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::engine::Engine;
use crate::work::STACK_BYTES;

/// How long the end of the process waits for background work.
const LET_GO: Duration = Duration::from_millis(250);

/// Runs a server on its own runtime. A blocked read of standard input or a running tool does
/// not delay the return.
///
/// # Errors
/// The errors of the server, or when the runtime cannot be created.
pub fn run<T>(server: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    let runtime =
        Builder::new_multi_thread().enable_all().thread_stack_size(STACK_BYTES).build()?;
    let result = runtime.block_on(server);
    runtime.shutdown_background();
    result
}

/// Stops the background work of a project. An index run that takes longer is cut off by the end of
/// the process, which leaves the files complete at any time.
pub fn let_go(engine: Arc<Engine>) {
    let (done, is_done) = mpsc::channel();
    thread::spawn(move || {
        // Running calls hold the engine, too, so dropping it is not enough.
        engine.stop();
        drop(engine);
        let _ = done.send(());
    });
    let _ = is_done.recv_timeout(LET_GO);
}

/// The signals SIGTERM and SIGINT, which are caught from the creation of this value on.
pub struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    /// # Errors
    /// When signal handlers cannot be installed.
    pub fn catch() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    /// Waits for one of the signals.
    pub async fn wait(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}
