"""What a person types: rocemctl, rocem-dump, --check-config, --help."""

import json
import pathlib
import shutil

import pytest

import rig
from conftest import virtual_pair

TOOLS = ("rocemd", "rocemctl", "rocem-dump", "rocem-replay", "rocem-pingpong", "rocem-bench")
EXAMPLES = sorted((pathlib.Path(__file__).resolve().parents[2] / "config" / "examples").glob("*.json"))


@pytest.mark.parametrize("name", TOOLS)
def test_help_says_what_a_tool_is_for(name):
    result = rig.run([rig.tool(name), "--help"])
    assert len(result.stdout.splitlines()) > 3


@pytest.mark.parametrize("name", TOOLS)
def test_a_wrong_argument_is_named(name):
    needed = {"rocemctl": ["status"], "rocem-pingpong": ["client"], "rocem-dump": ["FILE"], "rocem-replay": ["FILE"]}
    result = rig.run([rig.tool(name), *needed.get(name, []), "--no-such-flag"], check=False)
    assert result.returncode == 2
    assert "--no-such-flag" in result.stdout + result.stderr


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_examples_are_right(example):
    rig.run([rig.tool("rocemd"), "--check-config", str(example)])


@pytest.mark.parametrize("change,expected", (
    (lambda s: s["nics"][0].update(mtu=1500), ("/nics/0/mtu", "1500")),
    (lambda s: s["nics"][0].update(mtuu=1024), ("/nics/0", "mtuu")),
    (lambda s: s["nics"][0].pop("mac"), ("/nics/0", "mac")),
    (lambda s: s["nics"][1].update(name="rocem0"), ("/nics/1/name", "rocem0")),
    (lambda s: s["nics"][0].update(addresses=["10.0.0.300/24"]), ("/nics/0/addresses/0", "10.0.0.300")),
    (lambda s: s["nics"][0]["port"].update(type="warp"), ("/nics/0/port", "warp")),
    (lambda s: s["nics"].pop(), ("/nics/0/port", "wire0")),
), ids=("mtu", "unknown key", "missing key", "same name twice", "bad address", "bad port type", "wire with one end"))
def test_check_config_names_the_place_and_the_value(directory, change, expected):
    settings = virtual_pair()
    change(settings)
    path = directory / "bad.json"
    path.write_text(json.dumps(settings))
    result = rig.run([rig.tool("rocemd"), "--check-config", str(path)], check=False)
    assert result.returncode == 1
    for text in expected:
        assert text in result.stdout + result.stderr


def test_ctl_without_a_daemon_says_so(directory):
    result = rig.run([rig.tool("rocemctl"), "--socket", str(directory / "none.sock"), "status"], check=False)
    assert result.returncode != 0
    assert "none.sock" in result.stderr


def test_ctl_shows_nics_and_counters(start, pingpong):
    daemon = start(virtual_pair())
    nics = daemon.ctl("nics")["nics"]
    assert [nic["name"] for nic in nics] == ["rocem0", "rocem1"]
    pingpong(daemon, daemon, "rocem0", "rocem1", ["--verb", "send", "--size", "100", "--iterations", "50"]).verified()
    assert daemon.ctl("status")["pid"] == daemon.process.pid
    for subject in ("status", "nics", "qps", "counters"):
        text = rig.run([rig.tool("rocemctl"), "--socket", daemon.socket, subject]).stdout
        assert text.strip()


def test_tshark_finds_nothing_malformed(start, pingpong, directory):
    if shutil.which("tshark") is None:
        pytest.skip("tshark is not installed")
    captures = {"rocem1": {"wire": str(directory / "wire.pcap")}}
    daemon = start(virtual_pair(captures=captures))
    pingpong(daemon, daemon, "rocem0", "rocem1", ["--verb", "all", "--size", "5003", "--iterations", "5"]).verified()
    daemon.stop()
    capture = str(directory / "wire.pcap")
    assert rig.run(["tshark", "-r", capture, "-Y", "_ws.malformed"]).stdout == ""
    infiniband = rig.run(["tshark", "-r", capture, "-Y", "infiniband"]).stdout.splitlines()
    assert len(infiniband) == rig.dump_summary(capture)["roce"]
