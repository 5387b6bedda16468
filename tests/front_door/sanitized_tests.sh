#!/usr/bin/env bash
# sanitized_tests.sh BUILD-FOLDER CTEST-OPTION…: runs the tests of a sanitized build; 77 (not run) without one.
set -euo pipefail
build=$1
shift
[ -e "$build/CTestTestfile.cmake" ] || { echo "NOT RUN: $build is not built; make test builds it"; exit 77; }
export ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1 UBSAN_OPTIONS=print_stacktrace=1 TSAN_OPTIONS=halt_on_error=1
# GCC's thread sanitizer cannot start where the kernel randomises addresses with more bits than it knows.
fixed_addresses=(setarch "$(uname -m)" -R)
"${fixed_addresses[@]}" true 2>/dev/null || fixed_addresses=()
exec "${fixed_addresses[@]}" ctest --test-dir "$build" --parallel "$(nproc)" --output-on-failure --no-tests=error "$@"
