"""The source tree as the tidy tests see it: every file that belongs to the project, comments told apart."""

import functools
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]

CPP_SUFFIXES = (".hpp", ".cpp", ".h", ".c")
FLOORS = ("protocol", "queue_engine", "ipc", "config", "client", "daemon", "tools", "tests")


@functools.cache
def files():
    """Paths relative to the root, as strings; what git ignores is left out."""
    listed = subprocess.run(
        ["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        capture_output=True,
        text=True,
    )
    if listed.returncode == 0:
        names = [name for name in listed.stdout.split("\0") if name]
    else:  # not a git work tree: a source archive
        names = [str(path.relative_to(ROOT)) for path in ROOT.rglob("*") if path.is_file()]
        names = [name for name in names if not re.match(r"build[^/]*/|\.git/|\.cache/|.*__pycache__/", name)]
    return sorted(name for name in set(names) if (ROOT / name).is_file())


@functools.cache
def text(name):
    return (ROOT / name).read_text(encoding="utf-8")


def is_text(name):
    return b"\0" not in (ROOT / name).read_bytes()[:4096] and not name.endswith((".pcap", ".pcapng"))


def cpp_files(*floors):
    return [name for name in files() if name.endswith(CPP_SUFFIXES) and name.split("/")[0] in (floors or FLOORS)]


@functools.cache
def code(name):
    """The text of a C or C++ file without comments; line numbers stay right."""
    pattern = re.compile(r'("(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\')|//[^\n]*|/\*.*?\*/', re.DOTALL)
    return pattern.sub(lambda match: match.group(1) or re.sub(r"[^\n]", " ", match.group(0)), text(name))


def find(pattern, source):
    """Line numbers where the pattern matches."""
    return [source.count("\n", 0, match.start()) + 1 for match in re.finditer(pattern, source, re.MULTILINE)]


def includes(name):
    """(line number, header, is it in angle brackets?) of each #include."""
    found = re.finditer(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', code(name), re.MULTILINE)
    return [(code(name).count("\n", 0, m.start()) + 1, m.group(2), m.group(1) == "<") for m in found]
