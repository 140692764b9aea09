"""Rules of this house that no compiler checks."""

import re

import tree

LINES_MAX = 600

# The only files that ask what time it is. Everywhere else the time is an argument.
CLOCKS = (
    "daemon/clock",
    "client/wait",
    "tools/rocem-pingpong/",
    "tools/rocem-bench/",
    "tests/",
)
READS_CLOCK = r"::now\s*\(|\b(clock_gettime|gettimeofday|timespec_get|rte_rdtsc|rte_get_tsc_cycles)\s*\("

# clang 14 with this standard library has them not; only daemon/ is for g++ alone.
NOT_IN_CLANG_14 = r"\bstd::(views|ranges::views|format)\b"

# Split, so that this file does not find itself.
FORBIDDEN = {
    r"\b(TO" r"DO|FIX" r"ME|X" r"XX)\b": "unfinished business",
    r"(^|[\s\"'`(=:])/wor" r"k/": "a path of somebody's machine",
    r"/ro" r"ot/|/ho" r"me/[a-z]": "a path of somebody's machine",
    r"deb\.deb" r"ian\.org|registry\.np" r"mjs": "the host of a package registry",
    r"\bsha" r"red/(design|protocol|cases|pcaps|interop|abi|hooks)\b": "a folder that is not of this project",
}


def offences(names, pattern, source, why):
    return [f"{name}:{line}: {why}" for name in names for line in tree.find(pattern, source(name))]


def test_files_are_a_sitting_long():
    suffixes = tree.CPP_SUFFIXES + (".py", ".sh", ".build")
    long = {name: tree.text(name).count("\n") for name in tree.files() if name.endswith(suffixes)}
    assert {name: lines for name, lines in long.items() if lines > LINES_MAX} == {}


def test_time_is_an_argument():
    names = [name for name in tree.cpp_files() if not name.startswith(CLOCKS)]
    assert offences(names, READS_CLOCK, tree.code, "only the clock may ask for the time") == []
    # The daemon's Clock is handed down; the floors below are given times, not clocks.
    below = tree.cpp_files("protocol", "queue_engine", "ipc", "config")
    assert offences(below, r"\bnow\s*\(\s*\)", tree.code, "a clock below the daemon") == []


def test_random_numbers_have_a_seed():
    names = [name for name in tree.cpp_files() if not name.startswith(("daemon/", "client/"))]
    pattern = r"\bstd::random_device\b|\bs?rand\s*\(|\bgetrandom\s*\("
    assert offences(names, pattern, tree.code, "randomness is passed in, with its seed") == []


def test_clang_14_can_compile_it():
    names = [name for name in tree.cpp_files() if not name.startswith("daemon/")]
    assert offences(names, NOT_IN_CLANG_14, tree.code, "clang 14 does not have it") == []


def test_no_forbidden_names():
    names = [name for name in tree.files() if tree.is_text(name)]
    assert [line for pattern, why in FORBIDDEN.items() for line in offences(names, pattern, tree.text, why)] == []


def test_headers_are_guarded():
    headers = [name for name in tree.cpp_files() if name.endswith((".h", ".hpp"))]
    guard = r"^#pragma once$|^#ifndef (\w+)\n#define \1$"
    assert [name for name in headers if not re.search(guard, tree.text(name), re.MULTILINE)] == []


def test_text_ends_with_one_newline_and_has_no_tabs():
    names = [name for name in tree.files() if name.endswith(tree.CPP_SUFFIXES + (".py", ".sh", ".build", ".md"))]
    assert [name for name in names if tree.text(name) and not re.search(r"[^\n]\n\Z", tree.text(name))] == []
    assert offences(names, r"\t", tree.text, "a tab") == []


def drop_reasons():
    return re.findall(r"\bX\(([a-z0-9_]+),", tree.text("protocol/drop_reason.hpp"))


def test_every_drop_reason_has_a_test():
    reasons = drop_reasons()
    assert len(reasons) > 5
    tests = "\n".join(tree.code(name) for name in tree.cpp_files("tests"))
    assert [reason for reason in reasons if not re.search(rf"\b{reason}\b", tests)] == []


def settings_fields():
    field = r"^    (?:std::|protocol::)?[A-Za-z_][\w:]*(?:<.*>)? (\w+)(?: = .*|\{.*\})?;"
    return re.findall(field, tree.code("config/settings.hpp"), re.MULTILINE)


def test_every_setting_is_used():
    fields = settings_fields()
    assert len(fields) > 40
    daemon = "\n".join(tree.code(name) for name in tree.cpp_files("daemon"))
    # The GID table is made of these by config/identity.cpp.
    identity = tree.code("config/identity.cpp")
    assert [name for name in fields if not re.search(rf"\b{name}\b", daemon + identity)] == []
