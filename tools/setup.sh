#!/bin/bash
# Installs the Debian packages of the named groups (tools/packages.txt) that are missing.
# Says nothing and takes no time when none is.
set -euo pipefail

usage() {
    cat <<END
usage: tools/setup.sh [--check] GROUP…

Installs what is missing of the package groups in tools/packages.txt (build, test),
as root or through sudo. --check only says what is missing; exit status 1 if anything is.
END
}

check_only=false
groups=()
while [ $# -gt 0 ]; do
    case $1 in
        --check) check_only=true ;;
        --help | -h) usage; exit 0 ;;
        -*) echo "setup.sh: unknown option $1 (see --help)" >&2; exit 2 ;;
        *) groups+=("$1") ;;
    esac
    shift
done
if [ ${#groups[@]} -eq 0 ]; then
    echo "setup.sh: name at least one package group (see --help)" >&2
    exit 2
fi

list="$(dirname "${BASH_SOURCE[0]}")/packages.txt"
wanted=()
for group in "${groups[@]}"; do
    mapfile -t members < <(awk -v group="$group" '$1 == group { print $2 }' "$list")
    if [ ${#members[@]} -eq 0 ]; then
        echo "setup.sh: there is no package group '$group' in tools/packages.txt" >&2
        exit 2
    fi
    wanted+=("${members[@]}")
done

if ! command -v dpkg-query >/dev/null; then
    echo "setup.sh: this is not a Debian system; rocem is built on Debian 12 and needs its packages" >&2
    echo "  ${wanted[*]}" >&2
    echo "Going on in the hope that they are here under other names." >&2
    exit 0
fi

installed=$(dpkg-query --show --showformat '${db:Status-Status} ${Package}\n' "${wanted[@]}" 2>/dev/null || true)
missing=()
for package in "${wanted[@]}"; do
    grep -qx "installed $package" <<<"$installed" || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

if $check_only; then
    echo "missing packages: ${missing[*]}"
    exit 1
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null || ! sudo -v; then
        {
            echo "setup.sh: these packages are missing: ${missing[*]}"
            echo "You are neither root nor allowed to use sudo. Ask an administrator to run:"
            echo "  apt-get update && apt-get install --no-install-recommends ${missing[*]}"
        } >&2
        exit 1
    fi
    as_root=(sudo)
fi

echo "Installing missing packages: ${missing[*]}"
apt_get() {
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get -o DPkg::Lock::Timeout=300 -q "$@" </dev/null
}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { apt_get update && apt_get install --yes --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
    tail -n 30 "$log" >&2
    echo "setup.sh: apt-get could not install: ${missing[*]}" >&2
    exit 1
fi
