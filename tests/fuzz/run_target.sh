#!/usr/bin/env bash
# run_target.sh PROGRAM SECONDS: replays the corpus of a fuzz target (corpus/<target>/), then looks for new inputs that break it.
# An input that does is written to the folder of the program as <target>-crash-…; 77 (not run) if the program is not built.
set -euo pipefail
program=$1 seconds=$2
corpus=$(dirname "${BASH_SOURCE[0]}")/corpus/$(basename "$program")

[ -x "$program" ] || { echo "NOT RUN: $program is not built; make test builds it"; exit 77; }
[ -n "$(ls "$corpus" 2>/dev/null)" ] || { echo "$corpus: expected seed inputs, got none"; exit 1; }
found=$(mktemp -d)
trap 'rm -rf "$found"' EXIT
options=(-timeout=20 -rss_limit_mb=3000 -malloc_limit_mb=2000 -artifact_prefix="$program-" -print_final_stats=1)
"$program" "${options[@]}" -runs=0 "$corpus"
"$program" "${options[@]}" -max_total_time="$seconds" "$found" "$corpus"
