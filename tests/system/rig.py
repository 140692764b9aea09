"""What the system tests share: a rocemd of one's own, its tools, and network namespaces that end with the test."""

import json
import os
import pathlib
import re
import select
import shutil
import signal
import socket
import subprocess
import time

BUILD = pathlib.Path(os.environ.get("ROCEM_BUILD_DIR", pathlib.Path(__file__).resolve().parents[2] / "build"))

# A limit that only a hang meets: nothing here depends on how fast the machine is.
PATIENCE_S = 240


def tool(name):
    """Path of a built program."""
    places = {"rocemd": "daemon/rocemd"}
    path = BUILD / places.get(name, f"tools/{name}/{name}")
    if not path.exists():
        raise FileNotFoundError(f"{path} is not built; set ROCEM_BUILD_DIR to the build directory")
    return str(path)


def run(command, check=True, timeout=PATIENCE_S, **kwargs):
    """Runs a program to its end; what it printed is part of a failure's text."""
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            timeout=timeout, stdin=subprocess.DEVNULL, **kwargs)
    if check and result.returncode != 0:
        raise AssertionError(f"{command} ended with {result.returncode}\n{result.stdout}\n{result.stderr}")
    return result


class Namespace:
    """A network namespace held by a process that the test started; made without privilege where the kernel allows."""

    def __init__(self, parent=None):
        if parent is None:
            command = ["unshare", "--user", "--map-root-user", "--net", "cat"]
        else:
            command = parent.enter(["unshare", "--net", "cat"])
        self.user_namespace = parent.user_namespace if parent else True
        self.holder = subprocess.Popen(command, stdin=subprocess.PIPE)
        self._wait_until_apart()
        self.run(["ip", "link", "set", "lo", "up"])

    def _wait_until_apart(self):
        ours = os.readlink("/proc/self/ns/net")
        deadline = time.monotonic() + PATIENCE_S
        while True:
            if self.holder.poll() is not None:
                raise OSError("this machine does not allow a network namespace of one's own (unshare failed)")
            exe = os.path.basename(os.readlink(f"/proc/{self.holder.pid}/exe"))
            if exe == "cat" and os.readlink(f"/proc/{self.holder.pid}/ns/net") != ours:
                return
            if time.monotonic() > deadline:
                raise TimeoutError("unshare did not make a namespace")
            time.sleep(0.01)

    def enter(self, command):
        return ["nsenter", "--target", str(self.holder.pid), "--user", "--preserve-credentials", "--net",
                "--", *command]

    def run(self, command):
        return run(self.enter(command))

    def close(self):
        self.holder.stdin.close()
        self.holder.wait(timeout=PATIENCE_S)


class VethPair:
    """Two namespaces joined by a veth pair: va in a, vb in b."""

    def __init__(self, mtu=4200):
        self.a = Namespace()
        self.b = Namespace(parent=self.a)
        self.a.run(["ip", "link", "add", "va", "mtu", str(mtu), "type", "veth", "peer", "name", "vb",
                    "mtu", str(mtu), "netns", str(self.b.holder.pid)])
        self.a.run(["ip", "link", "set", "va", "up"])
        self.b.run(["ip", "link", "set", "vb", "up"])

    def close(self):
        self.b.close()
        self.a.close()


class Daemon:
    """One rocemd with a directory of its own. Ready when the constructor returns."""

    def __init__(self, directory, settings, namespace=None, as_user=None, name="rocemd"):
        self.directory = pathlib.Path(directory)
        self.socket = str(self.directory / f"{name}.sock")
        self.config = self.directory / f"{name}.json"
        self.config.write_text(json.dumps(settings, indent=2))
        self.log_path = self.directory / f"{name}.log"
        notify_path = str(self.directory / f"{name}.notify")
        notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        pathlib.Path(notify_path).unlink(missing_ok=True)
        notify.bind(notify_path)
        os.chmod(notify_path, 0o666)
        command = [tool("rocemd"), "--config", str(self.config), "--socket", self.socket]
        if as_user is not None:
            shutil.chown(self.directory, as_user, as_user)
            command = ["setpriv", f"--reuid={as_user}", f"--regid={as_user}", "--clear-groups", *command]
        if namespace is not None:
            command = namespace.enter(command)
        self.started_at = time.monotonic()
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            env={**os.environ, "NOTIFY_SOCKET": notify_path})
        self._wait_ready(notify)
        notify.close()
        self.ready_after_s = time.monotonic() - self.started_at

    def _wait_ready(self, notify):
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            readable, _, _ = select.select([notify], [], [], 0.1)
            if readable and b"READY=1" in notify.recv(4096):
                return
            if self.process.poll() is not None:
                break
        raise AssertionError(f"rocemd did not get ready:\n{self.log()}")

    def log(self):
        return self.log_path.read_text(errors="replace")

    def ctl(self, *arguments):
        return json.loads(run([tool("rocemctl"), "-j", "--socket", self.socket, *arguments]).stdout)

    def stop(self, with_signal=signal.SIGTERM):
        """Ends the daemon; returns its exit status and the seconds that took."""
        begun = time.monotonic()
        if self.process.poll() is None:
            self.process.send_signal(with_signal)
        status = self.process.wait(timeout=PATIENCE_S)
        return status, time.monotonic() - begun


class Pingpong:
    """A server and a client of rocem-pingpong, each a process."""

    def __init__(self, server_daemon, client_daemon, server_nic, client_nic, arguments, exchange, as_user=None):
        prefix = []
        if as_user is not None:
            prefix = ["setpriv", f"--reuid={as_user}", f"--regid={as_user}", "--clear-groups"]
        common = ["--peer", str(exchange), *arguments]
        self.server = subprocess.Popen(
            [*prefix, tool("rocem-pingpong"), "server", "--socket", server_daemon.socket, "--nic", server_nic, *common],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        line = self._ready_line()
        self.client = subprocess.Popen(
            [*prefix, tool("rocem-pingpong"), "client", "--socket", client_daemon.socket, "--nic", client_nic, *common],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.ready = line

    def _ready_line(self):
        readable, _, _ = select.select([self.server.stdout], [], [], PATIENCE_S)
        line = self.server.stdout.readline() if readable else ""
        if not line.startswith("ready"):
            rest = self.server.stdout.read() if self.server.poll() is not None else ""
            raise AssertionError(f"the server did not get ready: {line}{rest}")
        return line

    def finish(self):
        """Waits for both; returns (client status, client text, server status, server text)."""
        client_text, _ = self.client.communicate(timeout=PATIENCE_S)
        server_text, _ = self.server.communicate(timeout=PATIENCE_S)
        return self.client.returncode, client_text, self.server.returncode, server_text

    def verified(self):
        client_status, client_text, server_status, server_text = self.finish()
        assert client_status == 0, f"client: {client_text}\nserver: {server_text}"
        assert server_status == 0, f"server: {server_text}\nclient: {client_text}"
        return client_text, server_text

    def kill(self):
        for process in (self.server, self.client):
            if process.poll() is None:
                process.kill()
            process.wait(timeout=PATIENCE_S)


def dump_summary(capture):
    """The last line of rocem-dump as numbers."""
    result = run([tool("rocem-dump"), str(capture)], check=False)
    last = result.stdout.strip().splitlines()[-1]
    match = re.fullmatch(r"(\d+) frames: (\d+) RoCE v2, (\d+) other; ICRC (\d+) ok, (\d+) bad, (\d+) not checked", last)
    assert match, last
    names = ("frames", "roce", "other", "ok", "bad", "not_checked")
    return dict(zip(names, map(int, match.groups())))
