"""Clients that lie, flood and scribble. The daemon stays up, says why it ended them, and serves everybody else."""

import array
import itertools
import multiprocessing
import os
import random
import socket
import struct

import pytest

import raw_client as raw
import rig
from conftest import virtual_pair
from test_death import wait_for
from test_virtual_wire import ordinary_user

# enum ibv_wc_status
LOC_LEN_ERR, LOC_PROT_ERR, FLUSH_ERR, REM_ACCESS_ERR = 1, 4, 5, 10
SQ_DRAINED = 5  # enum ibv_event_type


@pytest.fixture
def stage(start, pingpong):
    """stage(attack) repeats the attack until a transfer beside it is done, then makes one more transfer."""
    daemon = start(virtual_pair(), as_user=ordinary_user())

    def honest(total):
        return pingpong(daemon, daemon, "rocem0", "rocem1",
                        ["--verb", "send", "write", "read", "--size", "5000", "--total-bytes", str(total)])

    def play(attack):
        bystander = honest(4 << 20)
        while True:
            attack(daemon)
            if bystander.client.poll() is not None:
                break
        bystander.verified()
        honest(1 << 16).verified()
        assert daemon.process.poll() is None, daemon.log()
        wait_for(lambda: not daemon.ctl("qps")["qps"], "the QPs of those who were ended to go")

    return play


class Drops:
    """What the log says about sessions that were dropped, since this was made."""

    def __init__(self, daemon):
        self.daemon = daemon
        self.before = daemon.log().count("is dropped: ")

    def expect(self, reason):
        def reasons():
            return self.daemon.log().split("is dropped: ")[self.before + 1:]
        wait_for(reasons, f"a session to be dropped: {reason}")
        assert len(reasons()) == 1 and reason in reasons()[0].splitlines()[0], reasons()
        self.before += 1


# --- hello ---

BAD_HELLOS = {
    "one byte": (b"\x38", 0, "type 0 and 1 bytes"),
    "shorter than a header": (raw.hello()[:15], 0, "and 15 bytes"),
    "a byte short": (raw.hello()[:-1], 0, "type 1 and 55 bytes"),
    "a byte short and honest about it": (raw.message(raw.HELLO, raw.hello()[16:-1]), 0, "type 1 and 55 bytes"),
    "a byte long": (raw.hello() + b"\0", 0, "type 1 and 57 bytes"),
    "1024 bytes": (raw.message(raw.HELLO, bytes(1008)), 0, "type 1 and 1024 bytes"),
    "1025 bytes": (raw.message(raw.HELLO, bytes(1009)), 0, "too long"),
    "64 KiB": (bytes(65536), 0, "too long"),
    "a length that lies": (raw.hello(bytes=0xFFFFFFFF), 0, "type 1 and 56 bytes"),
    "an error in a request": (raw.hello(error=5), 0, "type 1 and 56 bytes"),
    "a reserved field": (raw.hello(reserved=1), 0, "type 1 and 56 bytes"),
    "wrong magic": (raw.hello(magic=0x4D434F53), 0, "hello with magic 0x4d434f53"),
    "version 0": (raw.hello(low=0, high=0), 0, "no common version"),
    "a version of the future": (raw.hello(low=2, high=0xFFFF), 0, "no common version"),
    "versions upside down": (raw.hello(low=2, high=1), 0, "no common version"),
    "type 0": (raw.message(0), 0, "type 0 and 16 bytes"),
    "type 21": (raw.message(21), 0, "type 21 and 16 bytes"),
    "type 65535": (raw.message(0xFFFF, bytes(100)), 0, "type 65535 and 116 bytes"),
    "another request first": (raw.message(raw.ALLOC_PD), 0, "alloc_pd before hello"),
    "with a descriptor": (raw.hello(), 1, "hello with 1 file descriptors"),
    "with five": (raw.hello(), 5, "hello with 5 file descriptors"),
    "with six": (raw.hello(), 6, "too many file descriptors"),
    "with 253": (raw.hello(), 253, "too many file descriptors"),
}


def test_bad_hellos_are_named(stage):
    def attack(daemon):
        drops = Drops(daemon)
        for name, (data, descriptors, reason) in BAD_HELLOS.items():
            connection = raw.connect(daemon.socket)
            rights = array.array("i", [connection.fileno()] * descriptors)
            connection.sendmsg([data], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)] if descriptors else [])
            said = raw.ends(connection)
            if "version" in reason:
                assert [raw.refusal_of(answer)[0] for answer in said] == [93], name  # EPROTONOSUPPORT
            else:
                assert said == [], name
            drops.expect(reason)
            connection.close()

    stage(attack)


def test_a_flood_of_hellos_ends_at_the_second(stage):
    def attack(daemon):
        drops = Drops(daemon)
        connection = raw.connect(daemon.socket)
        connection.setblocking(False)
        try:
            for _ in range(10000):
                connection.send(raw.hello())
        except (BlockingIOError, BrokenPipeError, ConnectionResetError):
            pass
        connection.settimeout(rig.PATIENCE_S)
        assert len(raw.ends(connection)) <= 1
        drops.expect("a second hello")
        connection.close()
        for _ in range(100):  # and of connections that say hello and go
            connection = raw.connect(daemon.socket)
            connection.send(raw.hello())
            connection.close()

    stage(attack)


def test_connections_that_never_say_hello_cost_nobody_anything(stage):
    silent = []

    def attack(daemon):
        while len(silent) < 200:
            silent.append(raw.connect(daemon.socket))
        half_closed = raw.connect(daemon.socket)
        half_closed.shutdown(socket.SHUT_WR)
        assert raw.ends(half_closed) == []

    stage(attack)
    for connection in silent:
        connection.close()


# --- rings ---

class Attached:
    """A client with a CQ and a QP, and a second pair of them to be connected with."""

    def __init__(self, daemon, nic="rocem0"):
        self.daemon = daemon
        self.session = raw.Session(daemon.socket, nic)
        self.drops = Drops(daemon)
        self.pd = self.session.alloc_pd()
        peer_cq = self.session.create_cq(64)
        self.peer = self.session.create_qp(self.pd, peer_cq)
        self.cq = self.session.create_cq(64)  # the one that completion_status reads
        self.qp = self.session.create_qp(self.pd, self.cq)

    def connected(self):
        self.session.to_rts(self.peer, dest_qpn=self.qp.qpn)
        self.session.to_rts(self.qp, dest_qpn=self.peer.qpn)
        return self

    def failed(self):
        """Everything posted is flushed at once."""
        self.session.to_init(self.qp)
        self.session.modify(self.qp, 0, raw.ERR)
        return self

    def is_ended(self, reason):
        assert raw.ends(self.session.connection) == []
        self.drops.expect(reason)
        self.session.close()

    def completion_status(self):
        memory, at = self.session.cq_memory, self.session.cq_offset
        consumer = memory.word(at + 64)
        wait_for(lambda: memory.word(at).value != consumer.value, "a completion")
        status = memory.read(at + 192 + consumer.value % 64 * 64 + 32, 1)[0]
        consumer.value += 1
        return status


def jump(queue, by):
    queue.producer.value = (queue.producer.value + by) & 0xFFFFFFFF


NAMES = {"send": "send", "recv": "receive"}


@pytest.mark.parametrize("side", ("send", "recv"))
def test_producer_indices_that_lie(stage, side):
    def attack(daemon):
        for by in (5, 1 << 16, 0x7FFFFFFF, 0x80000000, -1):
            client = Attached(daemon).connected()
            jump(getattr(client.qp, side), by)
            client.session.ring()
            client.is_ended(f"{NAMES[side]} producer index outside its window")
        # Back, after it was right.
        client = Attached(daemon).failed()
        queue = getattr(client.qp, side)
        for _ in range(3):
            client.session.post(queue, raw.send_wqe() if side == "send" else raw.recv_wqe())
            assert client.completion_status() == FLUSH_ERR
        jump(queue, -1)
        client.session.ring()
        client.is_ended("producer index outside its window")

    stage(attack)


def test_indices_in_a_command_that_lie(stage):
    def attack(daemon):
        for producers in ((5, 0), (0, 5), (0xFFFFFFFF, 0), (0, 0x80000000)):
            client = Attached(daemon)
            with pytest.raises((raw.Refused, raw.Ended)):
                client.session.modify(client.qp, raw.PKEY_INDEX | raw.PORT | raw.ACCESS, raw.INIT,
                                      producers=producers)
            client.is_ended("modify_qp with a producer index outside its window")

    stage(attack)


def test_consumer_indices_that_lie(stage):
    def attack(daemon):
        for index in (1, 0x80000000, 0xFFFFFFFF - 64):
            client = Attached(daemon).failed()
            client.session.cq_memory.word(client.session.cq_offset + 64).value = index
            client.session.post(client.qp.recv, raw.recv_wqe())
            client.is_ended("consumer index outside its window")

    stage(attack)


# --- requests in the rings ---

BAD_SENDS = {
    "opcode 7": (dict(opcode=7), "the opcode is not one of"),
    "opcode 255": (dict(opcode=255), "the opcode is not one of"),
    "flag 16": (dict(flags=16), "send flags other than"),
    "flag 128": (dict(flags=raw.SIGNALED | 128), "send flags other than"),
    "reserved": (dict(reserved=(0, 1)), "a reserved field is not zero"),
    "3 SGEs of 2": (dict(num_sge=3), "num_sge is above the queue's limit"),
    "65535 SGEs": (dict(num_sge=65535), "num_sge is above the queue's limit"),
    "inline too long": (dict(flags=raw.INLINE, inline_length=65), "inline_length is above"),
    "inline 4 GiB": (dict(flags=raw.INLINE, inline_length=0xFFFFFFFF), "inline_length is above"),
    "length without inline": (dict(inline_length=1), "inline_length without the inline flag"),
    "inline READ": (dict(opcode=raw.RDMA_READ, flags=raw.INLINE), "inline data on a READ or an atomic"),
    "inline and SGEs": (dict(flags=raw.INLINE, num_sge=1), "inline data together with num_sge"),
}


def test_send_requests_that_break_the_rules(stage):
    def attack(daemon):
        for wqe, reason in BAD_SENDS.values():
            client = Attached(daemon).connected()
            client.session.post(client.qp.send, raw.send_wqe(**wqe))
            client.is_ended(f"send 0: {reason}")

    stage(attack)


def test_receive_requests_that_break_the_rules(stage):
    def attack(daemon):
        for wqe, reason in ((dict(num_sge=3), "num_sge is above"), (dict(num_sge=0xFFFFFFFF), "num_sge is above"),
                            (dict(reserved=1), "a reserved field is not zero")):
            client = Attached(daemon).connected()
            client.session.post(client.qp.recv, raw.recv_wqe(**wqe))
            client.is_ended(f"receive 0: {reason}")

    stage(attack)


def test_a_post_in_a_state_that_takes_none(stage):
    def attack(daemon):
        client = Attached(daemon)
        client.session.post(client.qp.send, raw.send_wqe())
        client.is_ended("not allowed in the QP's state")

    stage(attack)


def test_memory_that_is_not_the_clients(stage):
    """What a NIC answers with a completion is no crime: the session lives, its QP is in ERR."""
    def attack(daemon):
        victim = Attached(daemon)
        region, memory = victim.session.alloc_memory(4096)
        memory.write(0, b"\x5a" * 4096)
        victim_lkey, victim_rkey = victim.session.reg_mr(victim.pd, region, 0, 4096, 0x10000)
        local = (
            ((0x10000, 8, 0xDEADBEEF), "no such key"),
            ((0x10000, 8, victim_lkey), "another session's"),
            ((0x20000 + 4090, 8, None), "beyond the end"),
            ((0x1FFFF, 8, None), "before the start"),
            ((0xFFFFFFFFFFFFFFF8, 16, None), "wraps"),
            ((0x20000, 0x80000000 - 1, None), "2 GiB of 4 KiB"),
            ((0, 8, None), "null"),
        )
        for (address, length, key), what in local:
            client = Attached(daemon).connected()
            own_region, _ = client.session.alloc_memory(4096)
            own_lkey, _ = client.session.reg_mr(client.pd, own_region, 0, 4096, 0x20000)
            sge = (address, length, own_lkey if key is None else key)
            client.session.post(client.qp.send, raw.send_wqe(opcode=raw.RDMA_READ, sges=[sge], rkey=1))
            assert client.completion_status() == LOC_PROT_ERR, what
            client.session.close()
        client = Attached(daemon).connected()
        client.session.post(client.qp.send, raw.send_wqe(sges=[(0, 0xFFFFFFFF, 1), (0, 0xFFFFFFFF, 1)]))
        assert client.completion_status() == LOC_LEN_ERR
        client.session.close()
        remote = ((0x10000, victim_rkey), (0x10000, 0xDEADBEEF), (0xFFFFFFFFFFFFFFFC, victim_rkey))
        for address, key in remote:
            client = Attached(daemon).connected()
            own_region, _ = client.session.alloc_memory(4096)
            own_lkey, _ = client.session.reg_mr(client.pd, own_region, 0, 4096, 0x20000)
            client.session.post(client.qp.send, raw.send_wqe(opcode=raw.RDMA_WRITE, sges=[(0x20000, 8, own_lkey)],
                                                             remote_addr=address, rkey=key))
            assert client.completion_status() == REM_ACCESS_ERR
            client.session.close()
        assert memory.read(0, 4096) == b"\x5a" * 4096
        # Registration beyond the region, in 64 bits.
        for offset, length in ((0, 4097), (4096, 1), (1, 0xFFFFFFFFFFFFFFFF), (0xFFFFFFFFFFFFF000, 0x2000)):
            with pytest.raises(raw.Refused, match="are not inside region"):
                victim.session.reg_mr(victim.pd, region, offset, length, 0)
        victim.session.close()

    stage(attack)


def test_objects_of_another_session_have_no_name(stage):
    def attack(daemon):
        victim = Attached(daemon).connected()
        thief = raw.Session(daemon.socket, "rocem0")
        qp = victim.qp
        with pytest.raises(raw.Refused, match="this session has no qp"):
            thief.modify(qp, 0, raw.ERR)
        with pytest.raises(raw.Refused, match="this session has no pd"):
            thief.create_qp(victim.pd, victim.cq)
        own_pd = thief.alloc_pd()
        with pytest.raises(raw.Refused, match="this session has no cq"):
            thief.create_qp(own_pd, victim.cq)
        for kind, name in ((15, "cq"), (18, "qp"), (19, "qp")):  # destroy_cq, query_qp, destroy_qp
            with pytest.raises(raw.Refused, match=f"this session has no {name}"):
                thief.ask(kind, struct.pack("<II", qp.slot, qp.epoch))
        # A QPN or a slot far away is no slot either.
        for slot in (qp.qpn, 16384, 0xFFFFFFFF):
            with pytest.raises(raw.Refused, match="this session has no qp"):
                thief.ask(19, struct.pack("<II", slot, qp.epoch))
        thief.ring()  # marks queues that it does not have
        assert thief.alloc_pd() != own_pd
        thief.close()
        # The victim noticed nothing.
        victim.session.modify(victim.qp, 0, raw.ERR)
        victim.session.close()

    stage(attack)


# --- sockets that nobody reads ---

def test_a_channel_that_nobody_reads_loses_no_cq(stage):
    def attack(daemon):
        client = Attached(daemon)
        channel, events = client.session.create_channel()
        cqs = [client.session.create_cq(64, channel) for _ in range(2)]
        # What create_cq remembered is of the second one.
        memory, at = client.session.cq_memory, client.session.cq_offset
        qp = client.session.create_qp(client.pd, cqs[1])
        client.session.to_init(qp)
        client.session.modify(qp, 0, raw.ERR)
        rounds = 0
        missed = client.session.shared.double_word(raw.RECV_DIRTY + raw.DIRTY_BITMAP_BYTES + 64)
        while not missed.value & 1 << cqs[1]:
            memory.word(at + 128).value = 2  # ROCEM_ABI_ARM_ANY
            client.session.post(qp.recv, raw.recv_wqe())
            rounds += 1
            wait_for(lambda: memory.word(at).value == rounds and memory.word(at + 128).value == 0, "the arm to go")
            memory.word(at + 64).value = rounds
            assert rounds < 100000
        told = 0
        events.setblocking(False)
        try:
            while True:
                slot, _ = struct.unpack("<II", events.recv(8))
                assert slot in (cqs[1], 0xFFFFFFFF)
                told += 1
        except BlockingIOError:
            pass
        assert 0 < told <= rounds
        events.close()
        client.session.close()

    stage(attack)


def test_async_events_that_nobody_reads_wait_and_are_not_lost(stage):
    """Each round trip to SQD is one SQ_DRAINED; what the socket cannot hold waits in the daemon."""
    def attack(daemon):
        client = Attached(daemon).connected()
        last = client.session.create_qp(client.pd, client.cq)
        client.session.to_rts(last)
        for _ in range(600):
            client.session.modify(client.qp, raw.EN_SQD_ASYNC_NOTIFY, raw.SQD, notify=1)
            client.session.modify(client.qp, 0, raw.RTS)
        client.session.modify(last, raw.EN_SQD_ASYNC_NOTIFY, raw.SQD, notify=1)
        told = []
        while not told or told[-1][1] != last.slot:
            kind, slot, _, _ = struct.unpack("<IIII", client.session.events.recv(16))
            told.append((kind, slot))
        # The socket was full before all of them fitted, and the last one came all the same.
        assert len(told) < 600
        assert set(told) == {(SQ_DRAINED, client.qp.slot), (SQ_DRAINED, last.slot)}
        client.session.close()

    stage(attack)


# --- memory that changes while it is read ---

def scribble_bytes(busy, memory, size, seed):
    rng = random.Random(seed)
    for count in itertools.count():
        if count == 2 * size // 64:
            busy.set()
        memory.write(rng.randrange(size // 64) * 64, rng.randbytes(64))


def scribble_wqes(busy, queue, wqes):
    while True:
        busy.set()
        for wqe in wqes:
            for slot in range(queue.slots):
                queue.memory.write(queue.slot(slot), wqe)


def scribbler(target, *arguments):
    """A process that writes until it is killed; it has begun when this returns."""
    context = multiprocessing.get_context("fork")
    busy = context.Event()
    process = context.Process(target=target, args=(busy, *arguments), daemon=True)
    process.start()
    assert busy.wait(rig.PATIENCE_S)
    return process


def test_requests_that_change_while_they_are_read(stage):
    """Every copy that the daemon takes is either good or refused; a good one that it looks at twice would not be."""
    def attack(daemon):
        client = Attached(daemon).failed()
        good = raw.send_wqe(flags=raw.INLINE, inline_length=64)
        bad = raw.send_wqe(flags=raw.INLINE, inline_length=0xFFFF0000, num_sge=0)
        worse = raw.send_wqe(num_sge=65535)
        process = scribbler(scribble_wqes, client.qp.send, [good] * 50 + [bad, worse])
        memory, at = client.session.cq_memory, client.session.cq_offset
        while not raw.is_closed(client.session.connection):
            queue = client.qp.send
            if queue.producer.value - queue.consumer.value < 4:
                queue.producer.value += 1
                client.session.ring()
            memory.word(at + 64).value = memory.word(at).value
        process.kill()
        process.join()
        client.is_ended("send ")

    stage(attack)


@pytest.mark.parametrize("place", ("queues", "session segment"))
def test_random_bytes_over_shared_memory(stage, place):
    seeds = iter(range(1000000))

    def attack(daemon):
        client = Attached(daemon).connected()
        if place == "queues":
            memory, size = client.session.cq_memory, client.session.cq_offset + 16384
        else:
            memory, size = client.session.shared, 64 + 3 * raw.DIRTY_BITMAP_BYTES
        process = scribbler(scribble_bytes, memory, size, next(seeds))
        for _ in range(300):
            if raw.is_closed(client.session.connection):
                break
            os.write(client.session.doorbell, struct.pack("<Q", 1))
            client.session.ring()
        process.kill()
        process.join()
        if place == "queues":
            client.session.ring()
            wait_for(lambda: raw.is_closed(client.session.connection), "the session to be ended")
            client.is_ended("")  # which word was hit first is chance
        else:
            # Marks say nothing but "look there": a client may mark what it likes.
            assert client.session.alloc_pd() != client.pd
            client.session.close()

    stage(attack)
