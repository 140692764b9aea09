"""Two daemons in two network namespaces, DPDK af_packet on a veth pair between them."""

import pytest

import icrc_oracle
from conftest import veth_end


def pair_of(start, veth, **kwargs):
    a = start(veth_end(0, "va", **kwargs), namespace=veth.a, name="a")
    b = start(veth_end(1, "vb", **kwargs), namespace=veth.b, name="b")
    return a, b


@pytest.mark.parametrize("mtu", (1024, 4096))
@pytest.mark.parametrize("gid_index", (1, 2), ids=("gid1", "gid2"))
def test_all_verbs(start, pingpong, veth, mtu, gid_index):
    a, b = pair_of(start, veth)
    pingpong(a, b, "rocem0", "rocem1",
             ["--verb", "all", "--mtu", str(mtu), "--size", "1,1500,20000", "--iterations", "50",
              "--gid-index", str(gid_index)]).verified()


@pytest.mark.parametrize("fault", ({"loss": 0.01}, {"duplicate": 0.01}, {"reorder": 0.01, "reorder_frames": 4}),
                         ids=("loss", "duplicate", "reorder"))
def test_a_hundred_mebibytes_over_a_bad_wire(start, pingpong, veth, fault):
    a, b = pair_of(start, veth, faults={"seed": 11, "transmit": fault})
    pingpong(a, b, "rocem0", "rocem1",
             ["--verb", "write", "--size", "262144", "--total-bytes", str(100 << 20), "--timeout", "10"]).verified()


def test_capture_on_the_wire_is_exact(start, pingpong, veth, directory):
    a = start(veth_end(0, "va", captures={"wire": str(directory / "veth.pcap")}), namespace=veth.a, name="a")
    b = start(veth_end(1, "vb"), namespace=veth.b, name="b")
    pingpong(a, b, "rocem0", "rocem1", ["--verb", "all", "--size", "3001", "--iterations", "20"]).verified()
    a.stop()
    right, wrong, other = icrc_oracle.verdicts(directory / "veth.pcap")
    assert (wrong, right > 100) == (0, True)
    assert other >= 2, "ARP or NDP goes before the first packet"


def test_an_interface_too_small_for_the_path_mtu_is_refused(directory, veth):
    import json
    import rig
    veth.a.run(["ip", "link", "set", "va", "mtu", "1500"])
    config = directory / "small.json"
    config.write_text(json.dumps(veth_end(0, "va")))
    result = rig.run(veth.a.enter([rig.tool("rocemd"), "--config", str(config), "--socket",
                                   str(directory / "s.sock")]), check=False)
    assert result.returncode != 0
    text = result.stdout + result.stderr
    assert "va" in text and "1500" in text and "4096" in text
