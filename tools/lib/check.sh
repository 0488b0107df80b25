# Tests that are functions of a stage's file.
# shellcheck shell=bash

# shellcheck source=tools/lib/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# check NAME FUNCTION [ARGUMENT...]: one test: calls a function of the stage's file in a shell of its
# own, shows its output if it fails, and counts it in the caller's `passed` and `failed`.
check() {
    local name=$1 output
    shift
    if output=$(latch_in_shell "stages/$STAGE.sh" "$@" 2>&1); then
        ((passed += 1))
    else
        ((failed += 1))
        printf '%s: %s: failed\n%s\n' "$STAGE" "$name" "$output"
        name_failures "$STAGE" <<< "$name"
    fi
}
