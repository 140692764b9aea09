"""tools/build/count_tests.py counts what failed as failed, and a run of nothing as no success."""

import json
import subprocess
import sys

import tree

COUNT = tree.ROOT / "tools/build/count_tests.py"


def count(folder):
    done = subprocess.run([sys.executable, COUNT, folder], capture_output=True, text=True)
    return done.returncode, done.stdout.splitlines()


def write_run(folder, results, counts):
    lines = [
        {"name": name, "command": [f"/build/{name}"], "result": result, "returncode": code}
        for name, result, code in results
    ]
    (folder / "build.json").write_text("\n".join(map(json.dumps, lines)))
    (folder / "build.counts").write_text(counts)


def test_test_cases_are_added_up(tmp_path):
    write_run(tmp_path, [("a", "OK", 0), ("b", "OK", 0)], "a 3 0 0\nskipped b one: no wire\nb 4 0 1\n")
    assert count(tmp_path) == (0, ["", "skipped: b one: no wire", "7 passed, 0 failed, 1 skipped"])


def test_a_failed_case_fails(tmp_path):
    write_run(tmp_path, [("a", "FAIL", 1)], "a 3 2 0\n")
    status, lines = count(tmp_path)
    assert status == 1
    assert lines[-1] == "3 passed, 2 failed, 0 skipped"


def test_a_program_that_dies_is_one_failure(tmp_path):
    write_run(tmp_path, [("a", "OK", 0), ("b", "FAIL", -11), ("c", "TIMEOUT", None)], "a 3 0 0\n")
    status, lines = count(tmp_path)
    assert status == 1
    assert lines[-1] == "3 passed, 2 failed, 0 skipped"


def test_a_sanitizer_report_after_the_last_case_is_a_failure(tmp_path):
    write_run(tmp_path, [("a", "FAIL", 1)], "a 3 0 0\n")
    status, lines = count(tmp_path)
    assert status == 1
    assert lines[-1] == "3 passed, 1 failed, 0 skipped"


def test_a_skip_wants_a_reason(tmp_path):
    write_run(tmp_path, [("a", "OK", 0)], "a 3 0 1\n")
    assert count(tmp_path)[0] == 1


def test_nothing_is_no_success(tmp_path):
    assert count(tmp_path) == (1, ["", "0 passed, 0 failed, 0 skipped"])


def test_pytest_results_are_added(tmp_path):
    (tmp_path / "build.xml").write_text(
        '<testsuites><testsuite><testcase classname="m" name="a"/><testcase classname="m" name="b"><failure/>'
        '</testcase><testcase classname="m" name="c"><skipped message="no root"/></testcase></testsuite></testsuites>'
    )
    status, lines = count(tmp_path)
    assert status == 1
    assert lines[-3:] == ["skipped: m.c: no root", "FAILED: build: m.b", "1 passed, 1 failed, 1 skipped"]
