import pathlib
import shutil
import tempfile

import pytest

import rig

SKIP_WITHOUT_NAMESPACES = "this machine does not let a test make network namespaces"


def virtual_pair(faults=None, captures=None, **daemon):
    """Settings of one daemon with two NICs on a virtual wire."""
    nics = []
    for index, name in enumerate(("rocem0", "rocem1")):
        nic = {"name": name, "mac": f"02:00:00:00:00:0{index + 1}",
               "addresses": [f"10.88.0.{index + 1}/24", f"fd88::{index + 1}/64"], "mtu": 4096,
               "port": {"type": "virtual_wire", "wire": "wire0"}}
        if faults:
            nic["faults"] = faults
        if captures and name in captures:
            nic["captures"] = captures[name]
        nics.append(nic)
    return {"nics": nics, **daemon}


def veth_end(index, interface, faults=None, captures=None, mtu=4096):
    """Settings of one of two daemons joined by a veth pair."""
    nic = {"name": f"rocem{index}", "mac": f"02:00:00:00:01:0{index + 1}",
           "addresses": [f"10.89.0.{index + 1}/24", f"fd89::{index + 1}/64"], "mtu": mtu,
           "port": {"type": "af_packet", "interface": interface}}
    if faults:
        nic["faults"] = faults
    if captures:
        nic["captures"] = captures
    return {"nics": [nic]}


@pytest.fixture
def directory():
    """A short path (a UNIX socket's name has 107 bytes) that goes away with the test."""
    path = pathlib.Path(tempfile.mkdtemp(prefix="rocem-"))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def start(directory):
    """start(settings, …) makes a daemon that ends with the test."""
    daemons = []

    def start_one(settings, **kwargs):
        daemon = rig.Daemon(directory, settings, **kwargs)
        daemons.append(daemon)
        return daemon

    yield start_one
    for daemon in daemons:
        status, _ = daemon.stop()
        assert status in (0, -9), f"rocemd ended with {status}:\n{daemon.log()}"


@pytest.fixture
def pingpong(directory):
    """pingpong(server_daemon, client_daemon, …) starts both programs; what is left of them ends with the test."""
    pairs = []

    def start_pair(server_daemon, client_daemon, server_nic, client_nic, arguments, **kwargs):
        exchange = directory / f"exchange{len(pairs)}"
        pair = rig.Pingpong(server_daemon, client_daemon, server_nic, client_nic, arguments, exchange, **kwargs)
        pairs.append(pair)
        return pair

    yield start_pair
    for pair in pairs:
        pair.kill()


@pytest.fixture
def veth():
    try:
        pair = rig.VethPair()
    except (OSError, AssertionError) as error:
        pytest.skip(f"{SKIP_WITHOUT_NAMESPACES}: {error}")
    yield pair
    pair.close()
