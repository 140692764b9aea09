"""The same seed, two runs in real time: the n-th RoCE frame of a direction meets the same fault in both.

What the faults did is read from outside, from the two captures of a NIC, one on each side of them. For that one must
know which frame left where: a frame sent again has the same bytes as before. With one message under way and faults in
one direction only, that happens after the local ACK timeout and never earlier, so each copy belongs to the last frame
before it that has its bytes.
"""

import pathlib
import struct

import pytest

import icrc_oracle
from conftest import virtual_pair

FAULTS = {"loss": 0.05, "duplicate": 0.1, "reorder": 0.1, "reorder_frames": 3, "corrupt": 0.05}
OWN_MAC = bytes.fromhex("020000000001")
FRAMES_WANTED = 400


def roce_frames(path, source):
    """[(time in ns, frame)] of the RoCE v2 frames from this MAC, whatever became of their bits."""
    result = []
    data = pathlib.Path(path).read_bytes()
    order = icrc_oracle.byte_order(data)
    at = 24
    while at + 16 <= len(data):
        seconds, nanoseconds, captured, _ = struct.unpack(order + "IIII", data[at:at + 16])
        frame = data[at + 16:at + 16 + captured]
        if (frame[6:12] == OWN_MAC) == (source == OWN_MAC) and not is_neighbour_talk(frame):
            result.append((seconds * 1_000_000_000 + nanoseconds, frame))
        at += 16 + captured
    return result


def is_neighbour_talk(frame):
    return frame[12:14] == b"\x08\x06" or (frame[12:14] == b"\x86\xdd" and frame[20] == 58)


def flipped_bits(a, b):
    """None for frames that are not the same but for at most one bit; else its number, or -1."""
    if len(a) != len(b):
        return None
    difference = int.from_bytes(a, "little") ^ int.from_bytes(b, "little")
    if difference & (difference - 1):
        return None
    return difference.bit_length() - 1


def decisions(before, after):
    """For each frame that went into the faults: (length, how many came out, which bit was wrong, out of turn)."""
    out = [[] for _ in before]
    last_seen = -1
    newest = 0
    for time, frame in after:
        while newest < len(before) and before[newest][0] <= time:
            newest += 1
        matches = ((n, flipped_bits(before[n][1], frame)) for n in range(newest - 1, -1, -1))
        number, bit = next(match for match in matches if match[1] is not None)
        late = time > before[number][0] or number < last_seen
        last_seen = max(last_seen, number)
        out[number].append((bit, late))
    return [(len(frame), len(copies), copies[0][0] if copies else None, any(late for _, late in copies))
            for (_, frame), copies in zip(before, out)]


def one_run(start, pingpong, directory, name, direction, seed):
    captures = {"rocem0": {"wire": str(directory / f"{name}-wire.pcap"),
                           "engine": str(directory / f"{name}-engine.pcap")}}
    settings = virtual_pair(captures=captures)
    settings["nics"][0]["faults"] = {"seed": seed, direction: FAULTS}
    daemon = start(settings, name=name)
    pingpong(daemon, daemon, "rocem0", "rocem1",
             ["--verb", "send", "write", "read", "--size", "100,1000", "--iterations", "70", "--depth", "1",
              "--timeout", "15"]).verified()
    daemon.stop()
    source = OWN_MAC if direction == "transmit" else None
    engine = roce_frames(captures["rocem0"]["engine"], source)
    wire = roce_frames(captures["rocem0"]["wire"], source)
    return decisions(engine, wire) if direction == "transmit" else decisions(wire, engine)


@pytest.mark.parametrize("direction", ("transmit", "receive"))
def test_the_nth_frame_meets_the_same_fault_in_two_runs(start, pingpong, directory, direction):
    first = one_run(start, pingpong, directory, "first", direction, 41)
    second = one_run(start, pingpong, directory, "second", direction, 41)
    other = one_run(start, pingpong, directory, "other", direction, 42)
    common = min(len(first), len(second), len(other))
    assert common >= FRAMES_WANTED
    for n in range(common):
        a, b = first[n], second[n]
        assert (a[1], a[2] is None, a[2] in (None, -1), a[3]) == (b[1], b[2] is None, b[2] in (None, -1), b[3]), n
        if a[0] == b[0]:
            assert a == b, n  # the bit is drawn modulo the length
    kinds = [frame[1:] for frame in first[:common]]
    print(direction, common, "frames:", sum(k[0] == 0 for k in kinds), "lost", sum(k[0] == 2 for k in kinds),
          "doubled", sum(k[1] not in (None, -1) for k in kinds), "corrupted", sum(k[2] for k in kinds), "late")
    assert any(k[0] == 0 for k in kinds) and any(k[0] == 2 for k in kinds)
    assert any(k[1] not in (None, -1) for k in kinds) and any(k[2] for k in kinds)
    assert [frame[1:] for frame in other[:common]] != kinds
