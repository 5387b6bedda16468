#!/usr/bin/env bash
# format.sh [--fix]: does every C++ file look as .clang-format says? --fix makes it so.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

# Tracked files and new ones that git does not ignore; deleted ones drop out.
cpp_files() {
    local file
    while IFS= read -r -d '' file; do
        [ ! -f "$file" ] || printf '%s\0' "$file"
    done < <(git ls-files -z --cached --others --exclude-standard -- '*.cc' '*.h')
}

main() {
    local mode=(--dry-run -Werror)
    [ "${1-}" != --fix ] || mode=(-i)
    if cpp_files | xargs -0 -r -n 40 -P "$(nproc)" clang-format-16 "${mode[@]}"; then
        echo "format: ${1:+written, }every file follows .clang-format" >&2
    else
        echo "format: the files above do not follow .clang-format; run: make format" >&2
        exit 1
    fi
}

main "$@"
