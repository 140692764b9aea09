"""Scripts parse, and what the documents name is there."""

import json
import os
import re
import subprocess

import pytest
import tree


def shell_scripts():
    found = []
    for name in tree.files():
        with open(tree.ROOT / name, "rb") as file:
            if re.match(rb"#!\S*(/env )?\S*\b(ba|da)?sh\b", file.readline()):
                found.append(name)
    return found


@pytest.mark.parametrize("name", shell_scripts())
def test_shell_script_parses_and_stops_at_errors(name):
    shell = tree.text(name).split("\n", 1)[0].removeprefix("#!").split()[-1]
    subprocess.run([shell, "-n", tree.ROOT / name], check=True)
    assert re.search(r"^set -eu", tree.text(name), re.MULTILINE), "a script without set -eu"
    assert os.access(tree.ROOT / name, os.X_OK), "not executable"


@pytest.mark.parametrize("name", [name for name in tree.files() if name.endswith(".py")])
def test_python_compiles(name):
    compile(tree.text(name), name, "exec")


def documents():
    return [name for name in tree.files() if name.endswith(".md")]


@pytest.mark.parametrize("name", documents())
def test_documents_name_files_that_exist(name):
    # Not behind a slash: "build/daemon/rocemd" is what a build makes.
    pattern = r"(?<![\w/.-])((?:config|tools|docs|packaging|tests|pcaps|protocol|queue_engine|ipc|client|daemon)/[\w./-]*\w)"
    named = set(re.findall(pattern, tree.text(name)))
    # "daemon/clock" stands for the files of that name, "tools/rocem-dump" for the program.
    missing = [path for path in named if not (tree.ROOT / path).exists() and not list(tree.ROOT.glob(path + ".*"))]
    assert sorted(missing) == []


@pytest.mark.parametrize("name", documents())
def test_links_lead_somewhere(name):
    links = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", tree.text(name))
    local = [link for link in links if not re.match(r"[a-z]+:", link)]
    assert [link for link in local if not ((tree.ROOT / name).parent / link).exists()] == []


def test_packages_are_listed_once():
    lines = [line.split() for line in tree.text("tools/packages.txt").splitlines() if line and line[0] != "#"]
    assert all(len(line) == 2 and line[0] in ("build", "test") for line in lines)
    assert len({package for _, package in lines}) == len(lines)


def schema_keys(node):
    """Every key that this part of the schema lets a configuration have."""
    keys = set()
    for child in node.values():
        keys |= schema_keys(child) if isinstance(child, dict) else set()
    return keys | set(node.get("properties", {}))


def test_every_configuration_key_is_documented():
    schema = json.loads(tree.text("config/rocem.schema.json"))
    keys = set(schema["properties"]).union(*(schema_keys(node) for node in schema["definitions"].values()))
    document = tree.text("docs/configuration.md")
    assert [key for key in sorted(keys) if not re.search(rf"[`.\"]{re.escape(key)}[`.\"]", document)] == []
