"""Clients and daemons that die in mid-transfer."""

import signal
import time

import rig
from conftest import virtual_pair

FOREVER = ["--verb", "write", "--size", "65536", "--total-bytes", str(1 << 50)]


def wait_for(condition, what):
    deadline = time.monotonic() + rig.PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.02)


def transmitted(daemon, nic="rocem1"):
    counters = daemon.ctl("counters", "--nic", nic)
    return sum(value for name, value in flatten(counters) if name.endswith("rdma_tx_packets"))


def flatten(value, path=""):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from flatten(inner, f"{path}/{key}")
    elif isinstance(value, list):
        for inner in value:
            yield from flatten(inner, path)
    elif isinstance(value, int):
        yield path, value


def sessions_and_qps(daemon):
    status = daemon.ctl("status")
    return status["sessions"], len(daemon.ctl("qps")["qps"])


def test_kill_9_of_a_client_ends_only_that_client(start, pingpong):
    daemon = start(virtual_pair())
    doomed = pingpong(daemon, daemon, "rocem0", "rocem1", [*FOREVER, "--timeout", "8", "--retry-cnt", "2"])
    wait_for(lambda: transmitted(daemon) > 1000, "traffic")
    bystander = pingpong(daemon, daemon, "rocem0", "rocem1",
                         ["--verb", "write", "--size", "4096", "--total-bytes", str(64 << 20)])
    doomed.server.send_signal(signal.SIGKILL)
    client_status, client_text, _, _ = doomed.finish()
    assert client_status != 0
    assert "retry" in client_text.lower(), client_text
    bystander.verified()
    # rocemctl itself is no session with objects; the dead clients' are gone.
    wait_for(lambda: not daemon.ctl("qps")["qps"], "the dead client's QPs to go")
    pingpong(daemon, daemon, "rocem0", "rocem1", ["--verb", "all", "--size", "1000", "--iterations", "10"]).verified()


def test_sigterm_under_clients_ends_in_time_and_tells_them(start, pingpong):
    daemon = start(virtual_pair())
    pair = pingpong(daemon, daemon, "rocem0", "rocem1", FOREVER)
    wait_for(lambda: transmitted(daemon) > 1000, "traffic")
    status, _ = daemon.stop(signal.SIGTERM)
    assert status == 0, daemon.log()
    client_status, client_text, server_status, server_text = pair.finish()
    assert client_status != 0 and server_status != 0
    assert "daemon" in (client_text + server_text).lower()


def test_kill_9_of_the_daemon_is_noticed_by_clients(start, pingpong):
    daemon = start(virtual_pair())
    pair = pingpong(daemon, daemon, "rocem0", "rocem1", [*FOREVER, "--events"])
    wait_for(lambda: transmitted(daemon) > 1000, "traffic")
    daemon.stop(signal.SIGKILL)
    client_status, _, server_status, _ = pair.finish()
    assert client_status not in (0, -signal.SIGSEGV, -signal.SIGBUS)
    assert server_status not in (0, -signal.SIGSEGV, -signal.SIGBUS)


def test_a_new_daemon_takes_over_the_socket_of_a_dead_one(start, pingpong):
    first = start(virtual_pair())
    first.stop(signal.SIGKILL)
    second = start(virtual_pair())
    pingpong(second, second, "rocem0", "rocem1", ["--verb", "send", "--size", "10", "--iterations", "10"]).verified()


def test_a_second_daemon_on_a_live_socket_is_refused(start, directory):
    first = start(virtual_pair())
    result = rig.run([rig.tool("rocemd"), "--config", str(first.config), "--socket", first.socket], check=False)
    assert result.returncode != 0
    assert first.socket in result.stdout + result.stderr
    assert first.ctl("status")["pid"] == first.process.pid
