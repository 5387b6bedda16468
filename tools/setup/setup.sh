#!/usr/bin/env bash
# Installs what is missing to build and run Candor (setup.sh run), and also what its tests need (setup.sh test).
# Does nothing, in a fraction of a second, when everything is there. Every failure is one sentence and exit code 1.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
. "$here/lib.sh"
. "$here/apt.sh"
. "$here/compiler.sh"
. "$here/rust.sh"
. "$here/python.sh"

main() {
    case ${1-} in run | test) ;; *) die "usage: setup.sh run|test" ;; esac
    mkdir -p "$root/build" 2>/dev/null || die "$root: can't make the folder build there; check who owns it."
    [ -w "$root/build" ] || die "$root/build: no permission to write there; check who owns it."
    setup_packages "$1"
    setup_compiler
    setup_rust
    setup_python "$1"
}

main "$@"
