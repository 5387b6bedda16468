#!/usr/bin/env bash
# Every check that is no test: the house rules, clang-format, clang-tidy. Runs all of them, then says which failed.
# CANDOR_TIDY_SECONDS bounds the time of clang-tidy.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
failed=()

check() {
    local name=$1
    shift
    "$@" || failed+=("$name")
}

check rules python3 tools/lint/lint.py
check format tools/lint/format.sh
CANDOR_TESTS=ON check configure tools/build.sh release --configure-only
check tidy python3 tools/lint/tidy.py ${CANDOR_TIDY_SECONDS:+--seconds "$CANDOR_TIDY_SECONDS"}
[ ${#failed[@]} = 0 ] && echo "lint: all checks passed" && exit 0
echo "lint: failed: ${failed[*]}" >&2
exit 1
