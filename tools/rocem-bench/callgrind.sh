#!/bin/sh
# Counts the instructions of a packet with callgrind, where the kernel does not let rocem-bench count them.
# usage: callgrind.sh PATH/rocem-bench [PACKETS]
set -eu
bench=${1:?usage: callgrind.sh PATH/rocem-bench [PACKETS]}
packets=${2:-2000}
command -v valgrind >/dev/null || { echo "callgrind.sh: valgrind is not installed" >&2; exit 1; }
for step in decode encode icrc round_trip; do
    # The warm-up is a tenth more.
    counted=$(valgrind --tool=callgrind --callgrind-out-file=/dev/null --collect-atstart=no \
        --toggle-collect="*bench_$step*" "$bench" --only instructions --packets "$packets" 2>&1 >/dev/null |
        sed -n 's/.*Collected : *\([0-9]*\).*/\1/p')
    [ -n "$counted" ] || { echo "callgrind.sh: callgrind counted nothing for $step" >&2; exit 1; }
    echo "$step: about $((counted * 10 / (packets * 11))) instructions a packet"
done
