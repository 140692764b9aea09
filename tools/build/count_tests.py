#!/usr/bin/env python3
"""count_tests.py DIR: adds up what tools/test.sh left in DIR and prints it.

DIR holds, for each run, NAME.json (meson's testlog.json: one result per test program), NAME.counts (a line
"<program> <passed> <failed> <skipped>" per run of a Catch2 program, and "skipped <program> <case>: <reason>"
lines) and NAME.xml (pytest's JUnit report). The last line printed is "N passed, N failed, N skipped"; the
exit status is 0 only if something passed and nothing failed.
"""

import json
import pathlib
import sys
import xml.etree.ElementTree


class Totals:
    def __init__(self):
        self.passed = 0
        self.failures = []
        self.skips = []


def read_counts(path):
    """program -> [passed, failed, skipped], and the reasons of the skips."""
    programs, reasons = {}, []
    if not path.exists():
        return programs, reasons
    for line in path.read_text(errors="replace").splitlines():
        if line.startswith("skipped "):
            reasons.append(line.removeprefix("skipped "))
            continue
        program, *numbers = line.rsplit(maxsplit=3)
        known = programs.setdefault(program, [0, 0, 0])
        for index, number in enumerate(numbers):
            known[index] += int(number)
    return programs, reasons


def add_meson_run(totals, log, counts):
    programs, reasons = read_counts(counts)
    passed_results = {"OK", "EXPECTEDFAIL"}
    for line in log.read_text(errors="replace").splitlines():
        test = json.loads(line)
        names = [pathlib.Path(word).name for word in test["command"]]
        program = next((name for name in names if name in programs), None)
        result = test["result"]
        if program is None:
            if result in passed_results:
                totals.passed += 1
            elif result == "SKIP":
                totals.skips.append(f"{test['name']}: the program asked to be skipped")
            else:
                totals.failures.append(f"{log.stem}: {test['name']}: {result} (status {test.get('returncode')})")
            continue
        passed, failed, skipped = programs.pop(program)
        totals.passed += passed
        totals.failures += [f"{log.stem}: {test['name']}: {failed} test case(s)"] * failed
        if skipped != sum(reason.startswith(program + " ") for reason in reasons):
            totals.failures.append(f"{log.stem}: {test['name']}: a skip without a reason")
        # A report of a sanitizer after the last test case, or a crash in a second run of the program.
        if result not in passed_results and failed == 0:
            totals.failures.append(f"{log.stem}: {test['name']}: {result} (status {test.get('returncode')})")
    totals.skips += reasons


def add_pytest_run(totals, report):
    for case in xml.etree.ElementTree.parse(report).iter("testcase"):
        name = f"{case.get('classname')}.{case.get('name')}"
        skipped = case.find("skipped")
        if case.find("failure") is not None or case.find("error") is not None:
            totals.failures.append(f"{report.stem}: {name}")
        elif skipped is not None:
            totals.skips.append(f"{name}: {skipped.get('message')}")
        else:
            totals.passed += 1


def main():
    folder = pathlib.Path(sys.argv[1])
    totals = Totals()
    for log in sorted(folder.glob("*.json")):
        add_meson_run(totals, log, log.with_suffix(".counts"))
    for report in sorted(folder.glob("*.xml")):
        add_pytest_run(totals, report)

    print()
    for reason in totals.skips:
        print(f"skipped: {reason}")
    for failure in totals.failures:
        print(f"FAILED: {failure}")
    print(f"{totals.passed} passed, {len(totals.failures)} failed, {len(totals.skips)} skipped")
    return 0 if totals.passed > 0 and not totals.failures else 1


if __name__ == "__main__":
    sys.exit(main())
