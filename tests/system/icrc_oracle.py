"""An ICRC check that shares nothing with the product: classic pcap files, zlib's CRC, RoCE v2 over IPv4 or IPv6."""

import struct
import zlib

_MAGICS = {0xA1B2C3D4: ">", 0xD4C3B2A1: "<", 0xA1B23C4D: ">", 0x4D3CB2A1: "<"}


def byte_order(data):
    """Of a classic pcap file, for struct."""
    return _MAGICS[struct.unpack(">I", data[:4])[0]]


def frames(path):
    """Yields the captured bytes of each frame."""
    data = open(path, "rb").read()
    order = byte_order(data)
    at = 24
    while at + 16 <= len(data):
        captured = struct.unpack(order + "I", data[at + 8:at + 12])[0]
        yield data[at + 16:at + 16 + captured]
        at += 16 + captured


def icrc_is_right(frame):
    """True or False for a RoCE v2 frame, None for any other (IBTA annex A17: masked fields count as ones)."""
    at, ether_type = 14, struct.unpack("!H", frame[12:14])[0]
    while ether_type in (0x8100, 0x88A8):
        ether_type = struct.unpack("!H", frame[at + 2:at + 4])[0]
        at += 4
    if ether_type == 0x0800 and frame[at + 9] == 17:
        header = bytearray(frame[at:at + 20])
        end = at + struct.unpack("!H", header[2:4])[0]
        header[1] = header[8] = header[10] = header[11] = 0xFF
    elif ether_type == 0x86DD and frame[at + 6] == 17:
        header = bytearray(frame[at:at + 40])
        end = at + 40 + struct.unpack("!H", header[4:6])[0]
        header[0] |= 0x0F
        header[1] = header[2] = header[3] = header[7] = 0xFF
    else:
        return None
    udp_at = at + len(header)
    udp = bytearray(frame[udp_at:udp_at + 8])
    if struct.unpack("!H", udp[2:4])[0] != 4791:
        return None
    udp[6:8] = b"\xff\xff"
    transport = bytearray(frame[udp_at + 8:end - 4])
    transport[4] = 0xFF
    expected = zlib.crc32(b"\xff" * 8 + bytes(header + udp + transport))
    return struct.pack("<I", expected) == frame[end - 4:end]


def verdicts(path):
    """(right, wrong, other) over a capture."""
    counted = {True: 0, False: 0, None: 0}
    for frame in frames(path):
        counted[icrc_is_right(frame)] += 1
    return counted[True], counted[False], counted[None]
