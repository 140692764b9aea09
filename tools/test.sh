#!/bin/bash
# Builds rocem and runs every test. See --help.
set -euo pipefail

usage() {
    cat <<END
usage: tools/test.sh [--sanitize] [--filter TEXT] [--jobs N]

Installs the packages that are missing (tools/packages.txt), builds in build/, runs every test
and ends with the line "N passed, N failed, N skipped". Exit status 0 only if nothing failed.

  --sanitize     the whole suite under ASan and UBSan (build-asan/), then the threaded tests
                 under TSan (build-tsan/)
  --filter TEXT  only tests with TEXT in their name (meson's test name, pytest's test name)
  --jobs N       build and test with N processes (default: one for each CPU)
END
}

fail() {
    echo "test.sh: $*" >&2
    exit 1
}

sanitize=false
filter=
jobs=$(nproc)
while [ $# -gt 0 ]; do
    case $1 in
        --sanitize) sanitize=true ;;
        --filter | --jobs)
            [ $# -ge 2 ] || fail "$1 wants a value"
            if [ "$1" = --filter ]; then filter=$2; else jobs=$2; fi
            shift
            ;;
        --help | -h) usage; exit 0 ;;
        *) echo "test.sh: unknown argument $1 (see --help)" >&2; exit 2 ;;
    esac
    shift
done
[[ $jobs =~ ^[1-9][0-9]*$ ]] || fail "--jobs wants a positive number, not '$jobs'"

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
# Debian's own meson, python and pytest, whatever else the user has in front of them.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin:$PATH

tools/setup.sh build test

results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT

# configure DIR OPTION…
configure() {
    local dir=$1
    shift
    if [ -f "$dir/build.ninja" ]; then
        meson configure "$dir" -Dtests=true "$@" >"$results/configure.log" 2>&1
    else
        meson setup "$dir" -Dtests=true "$@" >"$results/configure.log" 2>&1
    fi || { tail -n 30 "$results/configure.log" >&2; fail "meson could not configure $dir"; }
}

# build DIR [TARGET…]
build() {
    local dir=$1
    shift
    echo "== building $dir"
    ninja -C "$dir" -j "$jobs" "$@" >"$results/build.log" 2>&1 ||
        { sed -n '/^FAILED:/,$p' "$results/build.log" | head -n 80 >&2; fail "$dir does not build"; }
}

# programs_of_suite DIR SUITE: the test programs, as ninja names them
programs_of_suite() {
    meson introspect --tests "$1" | /usr/bin/python3 -c '
import json, os, sys
for test in json.load(sys.stdin):
    if any(suite.split(":")[-1] == sys.argv[2] for suite in test["suite"]):
        print(os.path.relpath(test["cmd"][0], sys.argv[1]))' "$1" "$2" | sort -u
}

# run_meson_tests DIR [SUITE]: result in $results/DIR.{counts,json}
run_meson_tests() {
    local dir=$1 selected=() of_suite=()
    [ $# -lt 2 ] || of_suite=(--suite "$2")
    # meson's time limits are for machines that do nothing else.
    local options=(--num-processes "$jobs" --print-errorlogs --timeout-multiplier 10)
    if [ -n "$filter" ]; then
        # "rocem:suite / name" or "name"
        mapfile -t selected < <(meson test -C "$dir" --no-rebuild "${of_suite[@]}" --list 2>/dev/null |
            sed 's,.* / ,,' | grep -F -- "$filter" | sort -u)
        [ ${#selected[@]} -gt 0 ] || return 0
    fi
    rm -f "$dir/meson-logs/testlog.json"
    ROCEM_TEST_COUNTS=$results/$dir.counts \
        meson test -C "$dir" --no-rebuild "${of_suite[@]}" "${options[@]}" "${selected[@]}" </dev/null || true
    cp "$dir/meson-logs/testlog.json" "$results/$dir.json" ||
        fail "meson ran no test in $dir"
}

# run_python_tests DIR: result in $results/DIR.xml
run_python_tests() {
    local dir=$1 status=0
    ROCEM_BUILD_DIR=$root/$dir ROCEM_SOURCE_DIR=$root PYTHONDONTWRITEBYTECODE=1 \
        pytest-3 -q -p no:cacheprovider -k "$filter" --junitxml="$results/$dir.xml" \
        tests/tidy tests/system </dev/null || status=$?
    # 1: tests failed, which the report says; 5: none was selected.
    case $status in 0 | 1 | 5) ;; *) fail "pytest ended with status $status" ;; esac
}

if $sanitize; then
    export ASAN_OPTIONS=halt_on_error=1:abort_on_error=0:detect_stack_use_after_return=1
    export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
    export TSAN_OPTIONS=suppressions=$root/tests/support/tsan.supp:second_deadlock_stack=1
    # g++ 12 warns without cause once a sanitizer is on; the ordinary build has judged the warnings.
    common=(-Dbuildtype=debug -Doptimization=1 -Db_lundef=false -Dwerror=false)
    configure build-asan "${common[@]}" -Db_sanitize=address,undefined
    build build-asan
    echo "== tests under ASan and UBSan"
    run_meson_tests build-asan
    run_python_tests build-asan
    configure build-tsan "${common[@]}" -Db_sanitize=thread
    mapfile -t threaded < <(programs_of_suite build-tsan threads)
    [ ${#threaded[@]} -gt 0 ] || fail "no test is in the suite 'threads'"
    build build-tsan "${threaded[@]}"
    echo "== threaded tests under TSan"
    run_meson_tests build-tsan threads
else
    configure build
    build build
    run_meson_tests build
    run_python_tests build
fi

/usr/bin/python3 tools/build/count_tests.py "$results"
