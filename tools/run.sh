#!/usr/bin/env bash
# What `make run` does once everything is built: a chat in a terminal, one answer without one.
# CANDOR_MODEL is a GGUF file (default: SmolLM2-135M-Instruct, fetched once); CANDOR_PROMPT a question to answer instead of a chat.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

built_in_question="What is the capital of Portugal?"

main() {
    local model=${CANDOR_MODEL-} arguments
    [ -n "$model" ] || model=$(build/venv/bin/python tools/fetch_model.py smollm2)
    arguments=(run --model "$model" --stats)
    if [ -n "${CANDOR_PROMPT-}" ]; then
        arguments+=(--prompt "$CANDOR_PROMPT")
    elif ! [ -t 0 ] || ! [ -t 1 ]; then
        echo "candor: no terminal, so no chat: answering \"$built_in_question\"" >&2
        arguments+=(--prompt "$built_in_question" --temp 0 --max-tokens 128)
    fi
    exec build/release/candor "${arguments[@]}"
}

main
