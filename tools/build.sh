#!/usr/bin/env bash
# build.sh PRESET [TARGET…]: configures build/PRESET if need be and builds the targets (all without one; none with --configure-only).
# CANDOR_TESTS, CANDOR_WERROR, CANDOR_GPU (ON or OFF): the unit tests, warnings as errors, the GPU kernels; unset: as they were, at first as
# the preset has them (tests OFF).
# CANDOR_JOBS: compilers at once.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

main() {
    local preset=$1
    shift
    configure "$preset"
    [ "${1-}" = --configure-only ] || compile "$preset" "$@"
}

# configure PRESET: the first time, and again when an option that is set differs from what the cache holds.
configure() {
    local cache=build/$1/CMakeCache.txt options=()
    if [ -e "build/$1/build.ninja" ] && unchanged "$cache" BUILD_TESTS "${CANDOR_TESTS-}" && unchanged "$cache" WERROR "${CANDOR_WERROR-}" &&
        unchanged "$cache" GPU "${CANDOR_GPU-}"; then
        return 0
    fi
    [ -e "build/$1/build.ninja" ] || options+=(-DCANDOR_BUILD_TESTS=OFF)
    [ -z "${CANDOR_TESTS-}" ] || options+=(-DCANDOR_BUILD_TESTS="$CANDOR_TESTS")
    [ -z "${CANDOR_WERROR-}" ] || options+=(-DCANDOR_WERROR="$CANDOR_WERROR")
    [ -z "${CANDOR_GPU-}" ] || options+=(-DCANDOR_GPU="$CANDOR_GPU")
    mkdir -p "build/$1"
    if ! cmake --preset "$1" "${options[@]}" >"build/$1/configure.log" 2>&1; then
        tail -n 25 "build/$1/configure.log" >&2
        rm -f "build/$1/build.ninja"
        echo "candor build: CMake could not configure the preset $1 (the lines above); make clean, and run this again." >&2
        exit 1
    fi
}

# unchanged CACHE NAME VALUE: is CANDOR_NAME what is asked for? Nothing asked for is fine with anything.
unchanged() { [ -z "$3" ] || grep -qx "CANDOR_$2:BOOL=$3" "$1"; }

# compile PRESET [TARGET…]: quiet when it works; shows the end of the log when it does not.
compile() {
    local preset=$1 target arguments=()
    shift
    for target in "$@"; do arguments+=(--target "$target"); done
    echo "candor build: $preset${*:+: $*}" >&2
    if [ -t 2 ]; then
        cmake --build "build/$preset" --parallel "${CANDOR_JOBS:-$(nproc)}" "${arguments[@]}" >&2 && return 0
    else
        cmake --build "build/$preset" --parallel "${CANDOR_JOBS:-$(nproc)}" "${arguments[@]}" >"build/$preset/build.log" 2>&1 && return 0
        tail -n 60 "build/$preset/build.log" >&2
    fi
    echo "candor build: the preset $preset did not build (the lines above). If they speak of space, free some; of downloads, check the network." >&2
    exit 1
}

main "$@"
