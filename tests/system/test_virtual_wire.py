"""One daemon, two NICs on a virtual wire, two client processes."""

import os
import pwd

import pytest

import icrc_oracle
import rig
from conftest import virtual_pair

VERBS = ("send", "send_imm", "write", "write_imm", "read", "cas", "faa")


def ordinary_user():
    """A uid without privilege, when the test runs as root."""
    return pwd.getpwnam("nobody").pw_uid if os.geteuid() == 0 else None


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_moves_verified_data_as_an_ordinary_user(start, pingpong, verb):
    daemon = start(virtual_pair(), as_user=ordinary_user())
    size = "8" if verb in ("cas", "faa") else "1,5,1024,4097,65536"
    pair = pingpong(daemon, daemon, "rocem0", "rocem1", ["--verb", verb, "--size", size, "--iterations", "200"],
                    as_user=ordinary_user())
    pair.verified()


@pytest.mark.parametrize("mtu", (256, 512, 1024, 2048, 4096))
def test_every_path_mtu(start, pingpong, mtu):
    daemon = start(virtual_pair())
    pingpong(daemon, daemon, "rocem0", "rocem1",
             ["--verb", "write", "--mtu", str(mtu), "--size", f"{mtu - 1},{mtu},{mtu + 1},{3 * mtu + 7}",
              "--iterations", "100"]).verified()


def test_a_nic_talks_to_itself(start, pingpong):
    daemon = start(virtual_pair())
    pingpong(daemon, daemon, "rocem0", "rocem0", ["--verb", "all", "--size", "5000", "--iterations", "50"]).verified()


@pytest.mark.parametrize("gid_index", (0, 1, 2))
def test_every_gid(start, pingpong, gid_index):
    daemon = start(virtual_pair())
    pingpong(daemon, daemon, "rocem0", "rocem1",
             ["--verb", "all", "--size", "3000", "--iterations", "20", "--gid-index", str(gid_index)]).verified()


def test_one_gibibyte_arrives_as_it_was_sent(start, pingpong):
    daemon = start(virtual_pair())
    pingpong(daemon, daemon, "rocem0", "rocem1",
             ["--verb", "write", "--size", "1048576", "--total-bytes", str(1 << 30)]).verified()


def test_programs_that_sleep_for_completions_are_woken(start, pingpong):
    daemon = start(virtual_pair())
    pingpong(daemon, daemon, "rocem0", "rocem1",
             ["--verb", "send", "--size", "64", "--iterations", "2000", "--events"]).verified()


def test_captures_hold_whole_frames_with_exact_icrc(start, pingpong, directory):
    captures = {"rocem0": {"wire": str(directory / "wire.pcap")}}
    daemon = start(virtual_pair(captures=captures))
    pingpong(daemon, daemon, "rocem0", "rocem1", ["--verb", "all", "--size", "5003", "--iterations", "20"]).verified()
    daemon.stop()
    right, wrong, _ = icrc_oracle.verdicts(directory / "wire.pcap")
    assert wrong == 0
    assert right > 100
    summary = rig.dump_summary(directory / "wire.pcap")
    assert summary["roce"] == summary["ok"] == right


def test_lossy_virtual_wire_still_delivers(start, pingpong):
    faults = {"seed": 7, "transmit": {"loss": 0.01, "duplicate": 0.01, "reorder": 0.01, "reorder_frames": 3,
                                      "corrupt": 0.005}}
    daemon = start(virtual_pair(faults=faults))
    pingpong(daemon, daemon, "rocem0", "rocem1",
             ["--verb", "all", "--size", "100,20000", "--iterations", "200", "--timeout", "10"]).verified()


def test_receives_posted_just_before_the_peer_sends_are_always_seen(start, pingpong):
    """rnr_retry 0: one RNR NAK would end the run (decision 9)."""
    daemon = start(virtual_pair())
    pingpong(daemon, daemon, "rocem0", "rocem1",
             ["--verb", "send", "--size", "1", "--depth", "1", "--iterations", "100000", "--rnr-retry", "0"]).verified()
