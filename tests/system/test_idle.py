"""What an idle daemon costs: CPU ticks of the process, which do not depend on how busy the machine is."""

import os
import pathlib
import time

import pytest

import raw_client
from conftest import veth_end, virtual_pair

IDLE_QPS = 100
MEASURED_S = 6.0
TICKS_PER_S = os.sysconf("SC_CLK_TCK")


def ticks(process):
    """utime and stime of all its threads."""
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def share_of_a_core(daemon):
    # nsenter has become the daemon itself, so these are its ticks.
    assert daemon.ctl("status")["pid"] == daemon.process.pid
    # A share of CPU time: what is measured needs time to pass, nothing waits for it.
    begun, before = time.monotonic(), ticks(daemon.process)
    time.sleep(MEASURED_S)
    return (ticks(daemon.process) - before) / TICKS_PER_S / (time.monotonic() - begun)


def idle_client(daemon, nic):
    """A client with a hundred connected QPs that say nothing."""
    client = raw_client.Session(daemon.socket, nic)
    pd = client.alloc_pd()
    cq = client.create_cq(256)
    for _ in range(IDLE_QPS // 2):
        client.to_rts(client.create_qp(pd, cq))
    for _ in range(IDLE_QPS - IDLE_QPS // 2):
        client.to_init(client.create_qp(pd, cq))
    return client


def two_af_packet_nics():
    first, second = veth_end(0, "va"), veth_end(1, "vb")
    second["nics"][0]["addresses"] = ["10.89.1.2/24", "fd89:1::2/64"]
    return {"nics": [first["nics"][0], second["nics"][0]]}


@pytest.mark.parametrize("wire", ("virtual_wire", "af_packet"))
def test_two_nics_and_a_hundred_idle_qps_cost_less_than_two_percent_of_a_core(request, start, wire):
    if wire == "virtual_wire":
        daemon = start(virtual_pair())
    else:
        veth = request.getfixturevalue("veth")
        # Both ends in one namespace, so that one daemon drives both.
        veth.b.run(["ip", "link", "set", "vb", "netns", str(veth.a.holder.pid)])
        veth.a.run(["ip", "link", "set", "vb", "up"])
        daemon = start(two_af_packet_nics(), namespace=veth.a)
    client = idle_client(daemon, "rocem0")
    assert len(daemon.ctl("qps")["qps"]) == IDLE_QPS
    share = share_of_a_core(daemon)
    print(f"{wire}: {share:.2%} of a core")
    assert share < 0.02
    client.close()
