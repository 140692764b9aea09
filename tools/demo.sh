#!/bin/bash
# Two programs exchange data through two emulated NICs of one daemon. See --help.
set -euo pipefail

usage() {
    cat <<END
usage: tools/demo.sh [--keep DIR]

Installs the packages that are missing (tools/packages.txt), builds in build/, starts rocemd with
config/examples/pair.json, lets one rocem-pingpong serve and another one send to it, each through a NIC
of its own, and shows what crossed the wire between the two NICs.

  --keep DIR   put the socket, the logs and the capture into DIR (default: a new directory below /tmp)
END
}

fail() {
    echo "demo.sh: $*" >&2
    exit 1
}

keep=
while [ $# -gt 0 ]; do
    case $1 in
        --keep)
            [ $# -ge 2 ] || fail "--keep wants a directory"
            keep=$2
            shift
            ;;
        --help | -h) usage; exit 0 ;;
        *) echo "demo.sh: unknown argument $1 (see --help)" >&2; exit 2 ;;
    esac
    shift
done

[ -z "$keep" ] || { mkdir -p "$keep" && keep=$(cd "$keep" && pwd); }
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
# Debian's own meson and python, whatever else the user has in front of them.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin:$PATH
dir=${keep:-$(mktemp -d /tmp/rocem-demo-XXXXXX)}
rm -f "$dir"/{rocemd,meet}.sock "$dir"/{rocemd,server,client}.log

build() {
    tools/setup.sh build
    # tools/test.sh builds in the same folder, and more: what is configured there already is left alone.
    if [ ! -f build/build.ninja ]; then
        meson setup build -Dtests=false >"$dir/build.log" 2>&1 ||
            { tail -n 30 "$dir/build.log" >&2; fail "meson could not configure build/"; }
    fi
    echo "== building (the first time takes some minutes)"
    meson compile -C build rocemd rocem-pingpong rocemctl rocem-dump >"$dir/build.log" 2>&1 ||
        { sed -n '/^FAILED:/,$p' "$dir/build.log" | head -n 60 >&2; fail "the build failed, see $dir/build.log"; }
}

# The example, with a capture of the wire.
write_config() {
    /usr/bin/python3 - config/examples/pair.json "$dir" <<'END'
import json, re, sys
text = re.sub(r"^\s*//.*$", "", open(sys.argv[1]).read(), flags=re.MULTILINE)
config = json.loads(text)
config["nics"][0]["captures"] = {"wire": sys.argv[2] + "/wire.pcap"}
json.dump(config, open(sys.argv[2] + "/rocemd.json", "w"), indent=4)
END
}

daemon=
server=
cleanup() {
    local status=$?
    for pid in $server $daemon; do kill -TERM "$pid" 2>/dev/null || true; done
    if [ $status -ne 0 ]; then
        for log in rocemd server client; do
            [ -s "$dir/$log.log" ] || continue
            { echo "-- last lines of $dir/$log.log"; tail -n 15 "$dir/$log.log"; } >&2
        done
    fi
    exit $status
}
trap cleanup EXIT

# wait_for PID COMMAND…: until the command succeeds; fails if the process ends or 10 s pass
wait_for() {
    local pid=$1
    shift
    for _ in $(seq 200); do
        ! "$@" >/dev/null 2>&1 || return 0
        kill -0 "$pid" 2>/dev/null || return 1
        sleep 0.05
    done
    return 1
}

start_daemon() {
    build/daemon/rocemd --config "$dir/rocemd.json" --socket "$dir/rocemd.sock" \
        >"$dir/rocemd.log" 2>&1 </dev/null &
    daemon=$!
    wait_for "$daemon" build/tools/rocemctl/rocemctl --socket "$dir/rocemd.sock" status ||
        fail "rocemd did not start"
}

# Both programs end with 0 only if every byte arrived as it was sent.
transfer() {
    local pingpong=build/tools/rocem-pingpong/rocem-pingpong
    local common=(--socket "$dir/rocemd.sock" --peer "$dir/meet.sock")
    "$pingpong" server "${common[@]}" --nic rocem1 >"$dir/server.log" 2>&1 </dev/null &
    server=$!
    wait_for "$server" test -S "$dir/meet.sock" || fail "the server did not start"
    # Few messages: the capture keeps every byte of them.
    "$pingpong" client "${common[@]}" --nic rocem0 --iterations 50 2>&1 </dev/null | tee "$dir/client.log" ||
        fail "the client failed"
    wait "$server" || fail "the server failed"
    server=
}

stop_daemon() {
    kill -TERM "$daemon"
    wait "$daemon" || fail "rocemd did not end cleanly"
    daemon=
}

build
write_config
echo "== rocemd with two NICs, $dir/rocemd.json"
start_daemon
build/tools/rocemctl/rocemctl --socket "$dir/rocemd.sock" nics
echo "== rocem-pingpong: a server on rocem1, a client on rocem0"
transfer
echo "== counters"
build/tools/rocemctl/rocemctl --socket "$dir/rocemd.sock" counters
stop_daemon
echo "== frames on the wire"
# rocem-dump ends with 1 if an ICRC is wrong.
build/tools/rocem-dump/rocem-dump "$dir/wire.pcap" >"$dir/wire.txt" || fail "rocem-dump found something wrong, see $dir/wire.txt"
head -n 8 "$dir/wire.txt"
echo "   …"
tail -n 1 "$dir/wire.txt"
echo "capture: $dir/wire.pcap"
