//! Where the servers of a user are.

use std::fs::File;
use std::hash::Hasher;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use xxhash_rust::xxh3::Xxh3Default;

use super::wire::{Reply, ServerStatus, Want};
use crate::dir::{Dir, OpenMode, OwnedDir, PRIVATE_DIR, PRIVATE_FILE, if_there};
use crate::platform::LocalStream;

/// Users other than the owner may not change the directory of the sockets.
const WRITABLE_BY_OTHERS: u32 = 0o022;
/// Longest path of a socket, in bytes, on every system.
const MAX_SOCKET_PATH: usize = 103;
/// How long a server may take to begin, and to answer the first line.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often a client tries to reach a server that begins.
const POLL: Duration = Duration::from_millis(2);
/// Shortest time between two attempts to start a server.
const AGAIN: Duration = Duration::from_millis(200);
/// Longest first line of a server, in bytes.
const MAX_REPLY: u64 = 1 << 20;
const SOCKET: &str = ".sock";
const PREFIX: &str = "machine-";
/// What a server left is kept so long for whoever looks for its log.
const OLD: Duration = Duration::from_hours(7 * 24);

/// The place of one server: its socket, its lock and its log.
#[derive(Debug, Clone)]
pub struct ServerPlace {
    dir: OwnedDir,
    name: String,
    /// What is started if no server runs; `None` in a place that was only listed.
    program: Option<Program>,
}

/// A file of this program.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Program {
    path: PathBuf,
    bytes: u64,
    made: SystemTime,
}

impl Program {
    #[expect(clippy::disallowed_methods, reason = "the program itself")]
    fn at(path: &Path) -> io::Result<Self> {
        let metadata = path.metadata()?;
        Ok(Self { path: path.into(), bytes: metadata.len(), made: metadata.modified()? })
    }
}

impl ServerPlace {
    /// Returns the place of the server of `program` with these settings of the environment, in
    /// `runtime`, a directory of this user.
    ///
    /// # Errors
    /// When the directory cannot be made, or others can change it, or the program's file is gone.
    pub fn of(runtime: &Path, program: &Path, settings: &[(String, String)]) -> io::Result<Self> {
        let mut hash = Xxh3Default::new();
        let program = Program::at(program)?;
        let path = program.path.as_os_str().as_encoded_bytes();
        for part in [path, env!("CARGO_PKG_VERSION").as_bytes()] {
            hash.write(part);
            hash.write_u8(0xff);
        }
        hash.write_u64(program.bytes);
        hash.write_u128(program.made.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos());
        for (name, value) in settings {
            for part in [name, value] {
                hash.write(part.as_bytes());
                hash.write_u8(0xff);
            }
        }
        let name = format!("{PREFIX}{:016x}", hash.finish());
        let this = Self { dir: directory(runtime)?, name, program: Some(program) };
        let length = this.socket().as_os_str().len();
        if length > MAX_SOCKET_PATH {
            let why = format!(
                "the path has {length} bytes, and a socket's may have {MAX_SOCKET_PATH}: set XDG_RUNTIME_DIR to a shorter one"
            );
            return Err(io::Error::new(ErrorKind::InvalidInput, why));
        }
        Ok(this)
    }

    /// Returns the places of all servers of this user, whatever their version and settings. Some of
    /// them may have ended.
    ///
    /// # Errors
    /// When the directory cannot be read.
    pub fn all(runtime: &Path) -> io::Result<Vec<Self>> {
        let dir = directory(runtime)?;
        let names = dir.open()?.list()?;
        let place = |name: &str| {
            let name = name.strip_suffix(SOCKET).filter(|name| name.starts_with(PREFIX))?;
            Some(Self { dir: dir.clone(), name: name.into(), program: None })
        };
        Ok(names.iter().filter_map(|(name, _)| place(name.to_str()?)).collect())
    }

    /// Returns the path of the socket.
    #[must_use]
    pub fn socket(&self) -> PathBuf {
        self.dir.path().join(self.file(SOCKET))
    }

    /// Returns the path of the log.
    #[must_use]
    pub fn log(&self) -> PathBuf {
        self.dir.path().join(self.file(".log"))
    }

    fn file(&self, ending: &str) -> String {
        format!("{}{ending}", self.name)
    }

    fn open(&self) -> io::Result<Dir> {
        self.dir.open()
    }

    /// Takes the lock of the server for the life of this process. `None` if another process has it.
    ///
    /// # Errors
    /// When the lock file cannot be opened.
    pub(super) fn lock(&self) -> io::Result<Option<File>> {
        let file = self.open()?.file(self.file(".lock"), OpenMode::Update, PRIVATE_FILE)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(file)),
            Err(std::fs::TryLockError::WouldBlock) => Ok(None),
            Err(std::fs::TryLockError::Error(e)) => Err(e),
        }
    }

    /// Removes what servers left that ended long ago: no socket is beside their files.
    pub(super) fn remove_old(&self) -> io::Result<()> {
        let dir = self.open()?;
        for (name, _) in dir.list()? {
            let name = name.to_string_lossy();
            let Some((server, ".lock" | ".log")) = name.rfind('.').map(|dot| name.split_at(dot))
            else {
                continue;
            };
            let is_old = dir.stat(&*name)?.is_some_and(|stat| stat.is_older(OLD));
            let is_over = dir.stat(format!("{server}{SOCKET}"))?.is_none();
            if server.starts_with(PREFIX) && *server != *self.name && is_old && is_over {
                dir.remove_file(&*name)?;
            }
        }
        Ok(())
    }

    /// Removes the socket of a server that has ended, or of this one.
    pub(super) fn remove_socket(&self) -> io::Result<()> {
        if_there(self.open()?.remove_file(self.file(SOCKET))).map(drop)
    }

    /// Identifies the file of the socket, which others may have removed or replaced.
    pub(super) fn socket_id(&self) -> Option<(u64, u64)> {
        Some(self.open().ok()?.stat(self.file(SOCKET)).ok()??.id)
    }

    /// Connects to the server and says what is wanted. Returns the connection after its reply.
    ///
    /// # Errors
    /// When no server runs there, or it refuses.
    pub fn ask(&self, want: &Want) -> io::Result<(BufReader<LocalStream>, Option<ServerStatus>)> {
        let mut stream = LocalStream::connect(self.socket())?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        writeln!(stream, "{}", serde_json::to_string(want)?)?;
        let (mut stream, mut line) = (BufReader::new(stream), Vec::new());
        stream.by_ref().take(MAX_REPLY).read_until(b'\n', &mut line)?;
        let reply: Reply = serde_json::from_slice(&line)?;
        let status = reply.into_result()?;
        stream.get_ref().set_read_timeout(None)?;
        stream.get_ref().set_write_timeout(None)?;
        Ok((stream, status))
    }

    /// Connects to the server, which is started if none runs, and says what is wanted.
    ///
    /// # Errors
    /// When it cannot be started, or refuses.
    pub fn ask_or_start(&self, want: &Want) -> io::Result<BufReader<LocalStream>> {
        let begin = Instant::now();
        let mut next_start = begin;
        loop {
            match self.ask(want) {
                Ok((stream, _)) => return Ok(stream),
                Err(e) if !is_absent(&e) || begin.elapsed() > PATIENCE => return Err(e),
                Err(_) if Instant::now() < next_start => thread::sleep(POLL),
                Err(_) => {
                    // A server that was killed meanwhile is started once more.
                    self.start()
                        .or_else(|e| if begin.elapsed() > PATIENCE { Err(e) } else { Ok(()) })?;
                    next_start = Instant::now() + AGAIN;
                }
            }
        }
    }

    /// Starts a server that outlives this process. It may not listen yet when this returns; if
    /// another process starts one at the same time, one of the two ends.
    ///
    /// # Errors
    /// When the program cannot be run, or is another one since this process began.
    pub fn start(&self) -> io::Result<()> {
        let program = self.program.as_ref().ok_or(ErrorKind::NotFound)?;
        if Program::at(&program.path)? != *program {
            return Err(io::Error::other("this version of the program was replaced"));
        }
        let dir = self.open()?;
        let log = dir.file(self.file(".log"), OpenMode::Append, PRIVATE_FILE)?;
        // The command starts the server and ends, so the server is nobody's child.
        let mut starter = Command::new(&program.path)
            .args(["server", "start"])
            .current_dir("/")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()?;
        if starter.wait()?.success() {
            return Ok(());
        }
        Err(io::Error::other(format!(
            "the server cannot be started: {} says why",
            self.log().display()
        )))
    }
}

/// Whether no server listens.
fn is_absent(e: &io::Error) -> bool {
    // A server that ends while it is asked closes the connection.
    let ends = [ErrorKind::ConnectionReset, ErrorKind::BrokenPipe, ErrorKind::UnexpectedEof];
    matches!(e.kind(), ErrorKind::NotFound | ErrorKind::ConnectionRefused)
        || ends.contains(&e.kind())
}

/// Returns the directory of sockets, which is this user's alone.
fn directory(runtime: &Path) -> io::Result<OwnedDir> {
    let owned = OwnedDir::private(runtime)?;
    let dir = owned.make(PRIVATE_DIR)?;
    if dir.own_stat()?.mode & WRITABLE_BY_OTHERS != 0 {
        let why = format!("{}: others can change this directory: chmod 700", dir.path().display());
        return Err(io::Error::new(ErrorKind::PermissionDenied, why));
    }
    Ok(owned)
}
