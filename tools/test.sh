#!/usr/bin/env bash
# test.sh fast|all: builds what the tests need and runs them by ctest, whose closing line ends the output.
# fast: the unit tests. all: also whole models, sanitizers, fuzzing, and the front door itself.
# CANDOR_SANITIZED=no leaves the sanitized and fuzzing builds out; their tests then say NOT RUN.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export CANDOR_TESTS=ON

main() {
    case ${1-} in
    fast)
        tools/build.sh release unit_tests
        run_tests --label-regex fast
        ;;
    all)
        tools/build.sh release
        [ "${CANDOR_SANITIZED-}" = no ] || build_sanitized
        fetch_models
        run_tests
        ;;
    *)
        echo "candor test: usage: test.sh fast|all" >&2
        exit 1
        ;;
    esac
}

# The unit tests again under address and undefined-behaviour sanitizers, those of the rooms with threads under the thread sanitizer,
# and the fuzz targets. All are run by ctest from build/release, as its tests sanitizer.* and fuzz.*.
build_sanitized() {
    local -x CANDOR_GPU=OFF CANDOR_WERROR=OFF  # their warnings differ from the release build's, which is the one that counts
    tools/build.sh asan unit_tests candor
    tools/build.sh tsan candor_platform_tests candor_graph_tests candor_runtime_tests
    CANDOR_TESTS=OFF tools/build.sh fuzz fuzzers
}

fetch_models() {
    local model
    for model in smollm2 gemma; do build/venv/bin/python tools/fetch_model.py "$model" >/dev/null; done
}

run_tests() { ctest --test-dir build/release --parallel "$(nproc)" --output-on-failure --no-tests=error "$@"; }

main "$@"
