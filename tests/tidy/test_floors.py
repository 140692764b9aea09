"""Arrows point down: who may include whom, and which library is allowed in which room."""

import re

import tree

# What each folder may include of the project; tests may look at everything.
FLOOR_MAY_INCLUDE = {
    "protocol": {"protocol"},
    "queue_engine": {"queue_engine", "protocol"},
    "ipc": {"ipc"},
    "config": {"config", "protocol"},
    "client": {"client", "ipc"},
    "daemon": {"daemon", "queue_engine", "config", "ipc", "protocol"},
    "tools": {"tools", "client", "daemon", "queue_engine", "config", "ipc", "protocol"},
    "tests": set(tree.FLOORS),
}

# Where a library may be included at all: prefixes of paths.
LIBRARY_ROOMS = {
    r"rte_": ("daemon/nic/", "daemon/worker", "tools/rocem-bench/", "tests/unit/nic/"),
    r"boost/": ("daemon/control/", "tests/unit/daemon/"),
    r"pcap": ("tools/", "daemon/nic/", "tests/"),
    r"isa-l|crc\.h": ("protocol/", "tests/unit/protocol/", "tools/rocem-bench/"),
    r"nlohmann/": ("config/", "tools/", "daemon/", "tests/"),
    r"valijson/": ("config/",),
    r"CLI/": ("tools/", "daemon/main"),
    r"spdlog/": ("daemon/", "tests/unit/daemon/"),
    r"fmt/": ("daemon/", "tools/", "tests/"),
    r"systemd/": ("daemon/",),
    r"catch2/": ("tests/",),
    r"tl/": ("protocol/", "queue_engine/", "config/", "client/", "daemon/", "tools/", "tests/"),
}

STANDARD = re.compile(r"^[a-z_0-9]+$")
# Without I/O: processor intrinsics, and addresses as text.
PURE = re.compile(r"^((immintrin|x86intrin|nmmintrin|wmmintrin|cpuid)|arpa/inet)\.h$")
# The C library and the kernel.
SYSTEM = re.compile(r"^((sys|linux|net|netinet|arpa|netpacket)/[a-z0-9_/]+|[a-z0-9_]+)\.h$")
# Floors that do no I/O at all.
WITHOUT_SYSTEM = ("protocol", "queue_engine")


def test_floors_look_down_only():
    wrong = []
    for name in tree.cpp_files():
        floor = name.split("/")[0]
        for line, header, angled in tree.includes(name):
            target = header.split("/")[0]
            if target in tree.FLOORS and target not in FLOOR_MAY_INCLUDE[floor]:
                wrong.append(f"{name}:{line}: {floor}/ may not include {header}")
            if not angled and "/" in header and target not in tree.FLOORS:
                wrong.append(f"{name}:{line}: {header} belongs into angle brackets")
    assert wrong == []


def test_own_headers_are_named_from_the_floor():
    wrong = [
        f"{name}:{line}: write the floor in front of {header}"
        for name in tree.cpp_files()
        for line, header, angled in tree.includes(name)
        # Public C headers are included as they are installed; tools and tests are programs, their headers their own.
        if not angled and "/" not in header and not name.endswith((".h", ".c")) and not name.startswith(("tools/", "tests/"))
    ]
    assert wrong == []


def test_libraries_stay_in_their_rooms():
    wrong = []
    for name in tree.cpp_files():
        floor = name.split("/")[0]
        for line, header, angled in tree.includes(name):
            if not angled or STANDARD.match(header):
                continue
            rooms = next((rooms for start, rooms in LIBRARY_ROOMS.items() if re.match(start, header)), None)
            if rooms is not None:
                if not name.startswith(rooms):
                    wrong.append(f"{name}:{line}: {header} is allowed only in {', '.join(rooms)}")
            elif PURE.match(header):
                continue
            elif not SYSTEM.match(header):
                wrong.append(f"{name}:{line}: {header} is of a library that no room has")
            elif floor in WITHOUT_SYSTEM:
                wrong.append(f"{name}:{line}: {floor}/ does no I/O, what is {header} for?")
    assert wrong == []


def test_every_folder_is_checked():
    folders = {name.split("/")[0] for name in tree.files() if name.endswith(tree.CPP_SUFFIXES)}
    assert folders <= set(tree.FLOORS)
