"""A client that speaks the shared-memory interface (ipc/abi.h) byte by byte, so that it can also lie in it."""

import array
import ctypes
import mmap
import os
import select
import socket
import struct

import rig

MAGIC = 0x4D434F52
MESSAGE_BYTES_MAX = 1024
HEADER = struct.Struct("<IHHII")  # bytes, type, reserved, request_id, error
HELLO, LIST_NICS, OPEN_NIC = 1, 2, 3
ALLOC_PD, ALLOC_MEMORY, REG_MR, CREATE_CHANNEL, CREATE_CQ, CREATE_QP, MODIFY_QP = 6, 8, 10, 12, 14, 16, 17

# enum ibv_qp_attr_mask
STATE, EN_SQD_ASYNC_NOTIFY, ACCESS, PKEY_INDEX, PORT = 1 << 0, 1 << 2, 1 << 3, 1 << 4, 1 << 5
AV, PATH_MTU, TIMEOUT, RETRY_CNT, RNR_RETRY, RQ_PSN = 1 << 7, 1 << 8, 1 << 9, 1 << 10, 1 << 11, 1 << 12
MAX_RD_ATOMIC, MIN_RNR_TIMER, SQ_PSN, MAX_DEST_RD_ATOMIC, DEST_QPN = 1 << 13, 1 << 15, 1 << 16, 1 << 17, 1 << 20
# enum ibv_access_flags: local write, remote write, remote read
LOCAL_AND_REMOTE = 7
# enum ibv_qp_state
RESET, INIT, RTR, RTS, SQD, ERR = 0, 1, 2, 3, 4, 6
# enum ibv_wr_opcode
RDMA_WRITE, RDMA_WRITE_IMM, SEND, SEND_IMM, RDMA_READ, CMP_SWP, FETCH_ADD = range(7)
FENCE, SIGNALED, SOLICITED, INLINE = 1, 2, 4, 8

DIRTY_BITMAP_BYTES = 64 + 256 * 8
SEND_DIRTY = 64
RECV_DIRTY = SEND_DIRTY + DIRTY_BITMAP_BYTES
ALL_ONES = 0xFFFFFFFFFFFFFFFF


class Refused(Exception):
    def __init__(self, error, reason):
        super().__init__(f"{os.strerror(error)}: {reason}")
        self.error = error
        self.reason = reason


class Ended(Exception):
    """The daemon closed the connection."""


def connect(path):
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    connection.connect(path)  # waits where the backlog is full, which it does not with a time limit
    connection.settimeout(rig.PATIENCE_S)
    return connection


def is_closed(connection):
    """Whether the daemon has closed it, and everything that was said before is read."""
    readable, _, _ = select.select([connection], [], [], 0)
    try:
        return bool(readable) and connection.recv(1, socket.MSG_PEEK) == b""
    except ConnectionResetError:
        return True


def message(kind, body=b"", request_id=1, **wrong):
    """A request; keywords set a header field to something else than is right."""
    return HEADER.pack(wrong.get("bytes", HEADER.size + len(body)), kind, wrong.get("reserved", 0), request_id,
                       wrong.get("error", 0)) + body


def hello(magic=MAGIC, low=1, high=1, **wrong):
    return message(HELLO, struct.pack("<IHH32s", magic, low, high, b"raw_client"), **wrong)


def ends(connection):
    """Reads to the end of file; what was said before it, as messages."""
    said = []
    while True:
        try:
            data = connection.recv(MESSAGE_BYTES_MAX)
        except ConnectionResetError:
            return said
        if not data:
            return said
        said.append(data)


def refusal_of(answer):
    """(errno, reason) of an answer."""
    return HEADER.unpack_from(answer)[4], answer[HEADER.size:].split(b"\0")[0].decode()


class Memory:
    """A mapped segment. Words are written whole: one store of the processor each."""

    def __init__(self, fd, size):
        self.map = mmap.mmap(fd, size)
        os.close(fd)
        self.bytes = (ctypes.c_char * size).from_buffer(self.map)
        self.address = ctypes.addressof(self.bytes)

    def word(self, at):
        return ctypes.c_uint32.from_address(self.address + at)

    def double_word(self, at):
        return ctypes.c_uint64.from_address(self.address + at)

    def write(self, at, data):
        ctypes.memmove(self.address + at, data, len(data))

    def read(self, at, size):
        return ctypes.string_at(self.address + at, size)


class Queue:
    """One ring of a QP."""

    def __init__(self, memory, head, slots_at, slots, stride):
        self.memory, self.slots_at, self.slots, self.stride = memory, slots_at, slots, stride
        self.producer = memory.word(head)
        self.consumer = memory.word(head + 64)

    def slot(self, index):
        return self.slots_at + index % self.slots * self.stride


class Qp:
    def __init__(self, slot, epoch, qpn, memory, offset, send_wr, recv_wr, sges, inline):
        self.slot, self.epoch, self.qpn = slot, epoch, qpn
        send_slots, recv_slots = (1 << (count - 1).bit_length() for count in (send_wr, recv_wr))
        send_stride = (64 + max(16 * sges, inline) + 63) // 64 * 64
        recv_stride = (16 + 16 * sges + 63) // 64 * 64
        self.send = Queue(memory, offset, offset + 256, send_slots, send_stride)
        self.recv = Queue(memory, offset + 128, offset + 256 + send_slots * send_stride, recv_slots, recv_stride)


def send_wqe(opcode=SEND, flags=SIGNALED, sges=(), num_sge=None, wr_id=0, remote_addr=0, rkey=0, inline_length=0,
             reserved=(0, 0)):
    head = struct.pack("<QQQQIIIHBBQQ", wr_id, remote_addr, 0, 0, rkey, 0, inline_length,
                       len(sges) if num_sge is None else num_sge, opcode, flags, *reserved)
    return head + b"".join(struct.pack("<QII", *sge) for sge in sges)


def recv_wqe(sges=(), num_sge=None, wr_id=0, reserved=0):
    head = struct.pack("<QII", wr_id, len(sges) if num_sge is None else num_sge, reserved)
    return head + b"".join(struct.pack("<QII", *sge) for sge in sges)


class Session:
    """An attached client with a NIC open."""

    def __init__(self, path, nic):
        self.connection = connect(path)
        self.request_id = 0
        self.segments = {}
        self.ask(HELLO, hello()[HEADER.size:])
        _, fds = self.ask(OPEN_NIC, nic.encode().ljust(32, b"\0"))
        segment, worker_page, counters_page, doorbell, events = fds
        self.shared = Memory(segment, 64 + 3 * DIRTY_BITMAP_BYTES)
        os.close(worker_page)
        os.close(counters_page)
        self.doorbell = doorbell
        self.events = socket.socket(fileno=events)
        self.events.settimeout(rig.PATIENCE_S)

    def ask(self, kind, body=b""):
        """(body of the answer, its descriptors)"""
        self.request_id += 1
        try:
            self.connection.send(message(kind, body, self.request_id))
            data, ancillary, _, _ = self.connection.recvmsg(MESSAGE_BYTES_MAX, socket.CMSG_SPACE(5 * 4))
        except (BrokenPipeError, ConnectionResetError) as error:
            raise Ended() from error
        if not data:
            raise Ended()
        fds = array.array("i")
        for _, _, rights in ancillary:
            fds.frombytes(rights)
        _, answered_kind, _, answered_id, error = HEADER.unpack_from(data)
        assert (answered_kind, answered_id) == (kind, self.request_id)
        if error:
            raise Refused(*refusal_of(data))
        return data[HEADER.size:], list(fds)

    def alloc_pd(self):
        return struct.unpack_from("<I", self.ask(ALLOC_PD)[0])[0]

    def alloc_memory(self, size):
        body, fds = self.ask(ALLOC_MEMORY, struct.pack("<Q", size))
        region, _, granted = struct.unpack("<IIQ", body)
        return region, Memory(fds[0], granted)

    def reg_mr(self, pd, region, offset, length, va, access=LOCAL_AND_REMOTE):
        """(lkey, rkey)"""
        body, _ = self.ask(REG_MR, struct.pack("<IIIIQQQ", pd, 1, region, access, offset, length, va))
        return struct.unpack_from("<II", body, 4)

    def create_channel(self):
        """(channel, our end of its socket)"""
        body, fds = self.ask(CREATE_CHANNEL)
        return struct.unpack_from("<I", body)[0], socket.socket(fileno=fds[0])

    def create_cq(self, cqe, channel=0):
        body, fds = self.ask(CREATE_CQ, struct.pack("<IIII", cqe, 0, channel, 0))
        slot, _, _, _, segment, _, size, offset, _ = struct.unpack("<IIIIIIQQQ", body)
        self.cq_memory, self.cq_offset = self._map(segment, fds[0], size), offset
        return slot

    def create_qp(self, pd, cq, send_wr=4, recv_wr=4, sges=2, inline=64):
        body, fds = self.ask(CREATE_QP, struct.pack("<IIIIII", 2, pd, cq, cq, 0, 0) +
                             struct.pack("<IIIIII", send_wr, recv_wr, sges, sges, inline, 0))
        slot, epoch, qpn, _ = struct.unpack_from("<IIII", body)
        segment, _, size, offset, _ = struct.unpack_from("<IIQQQ", body, 40)
        return Qp(slot, epoch, qpn, self._map(segment, fds[0], size), offset, send_wr, recv_wr, sges, inline)

    def _map(self, segment, fd, size):
        if segment in self.segments:
            os.close(fd)
        else:
            self.segments[segment] = Memory(fd, size)
        return self.segments[segment]

    def modify(self, qp, mask, state, gid=bytes(16), dest_qpn=0, producers=None, **values):
        send_producer, recv_producer = producers or (qp.send.producer.value, qp.recv.producer.value)
        av = gid + struct.pack("<IBBBBBBHI", 0, values.get("sgid_index", 1), 64, 0, 0, 1, 0, 0, 0)
        attributes = av + struct.pack(
            "<IIIIHBBBBBBBBBBBB2xII", 0, 0, dest_qpn, LOCAL_AND_REMOTE, 0, state, 0, values.get("path_mtu", 3),
            values.get("notify", 0), 0, 1, 1, 12, 1, values.get("timeout", 14), values.get("retry_cnt", 7), 7, 0, 0)
        body, _ = self.ask(MODIFY_QP, struct.pack("<IIIIII", qp.slot, qp.epoch, mask | STATE, send_producer,
                                                  recv_producer, 0) + attributes)
        qp.epoch = struct.unpack_from("<I", body)[0]

    def to_init(self, qp):
        self.modify(qp, PKEY_INDEX | PORT | ACCESS, INIT)

    def to_rts(self, qp, gid=None, dest_qpn=None, **values):
        """gid: None is this NIC's own IPv4 address of conftest's first NIC; dest_qpn: None is the QP itself."""
        self.to_init(qp)
        gid = gid or self.own_gid
        self.modify(qp, AV | PATH_MTU | DEST_QPN | RQ_PSN | MAX_DEST_RD_ATOMIC | MIN_RNR_TIMER, RTR, gid,
                    qp.qpn if dest_qpn is None else dest_qpn, **values)
        self.modify(qp, TIMEOUT | RETRY_CNT | RNR_RETRY | SQ_PSN | MAX_RD_ATOMIC, RTS, **values)

    @property
    def own_gid(self):
        """GID 1, as the daemon tells it."""
        body, _ = self.ask(5, struct.pack("<II", 1, 1))
        return body[:16]

    # --- posts ---

    def ring(self):
        """Marks every queue (those that do not exist are ignored) and wakes the worker."""
        for bitmap in (SEND_DIRTY, RECV_DIRTY):
            for leaf in range(4):
                self.shared.double_word(bitmap + 64 + 8 * leaf).value = ALL_ONES
            self.shared.double_word(bitmap).value = ALL_ONES
        os.write(self.doorbell, struct.pack("<Q", 1))

    def post(self, queue, wqe):
        index = queue.producer.value
        queue.memory.write(queue.slot(index), wqe)
        queue.producer.value = (index + 1) & 0xFFFFFFFF
        self.ring()

    def close(self):
        self.connection.close()
        self.events.close()
        os.close(self.doorbell)
