# Shared by all scripts under tools/: paths and messages.
#
# Sourced by the other files of this folder, some dozen times in a shell; only the first time counts.
# shellcheck shell=bash

! declare -F latch_say > /dev/null || return 0

# The root of the tree.
LATCH_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# Cache of builds and downloads, outside the tree, kept between runs.
LATCH_CACHE=${LATCH_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/latch}
# Builds of this tree alone, so that two trees do not disturb each other.
LATCH_WORK=$LATCH_CACHE/tree-$(sha256sum <<< "$LATCH_ROOT" | cut -c 1-8)
# The Debian PHP that everything is built for.
LATCH_PHP_VERSION=${LATCH_PHP_VERSION:-8.2}

# A line about the progress, for a human; standard output belongs to results.
latch_say() {
    printf '%s\n' "$*" >&2
}

# The end of the program, with the reason.
latch_die() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    exit 1
}

# latch_quietly LOG COMMAND...: runs the command with its output in LOG, whose end is shown only
# when the command fails. Returns the command's status.
latch_quietly() {
    local log=$1 status=0
    shift
    mkdir -p "$(dirname "$log")"
    "$@" > "$log" 2>&1 < /dev/null || status=$?
    if ((status != 0)); then
        latch_say "failed with status $status; the end of $log:"
        tail -n 100 "$log" >&2
    fi
    return "$status"
}

# Followed by a name for messages, the path of a file and a function with its arguments: a command
# that calls the function in a shell of its own.
# shellcheck disable=SC2016 # it is that shell's
LATCH_SHELL=(bash -c 'set -euo pipefail; source "$1"; shift; "$@"')

# latch_in_shell FILE FUNCTION [ARGUMENT...]: calls a function of that file of this folder in a
# shell of its own, because "set -e" is off inside a function that is called in a condition.
latch_in_shell() {
    "${LATCH_SHELL[@]}" "$2" "$LATCH_ROOT/tools/lib/$1" "${@:2}"
}

# Git in this tree, also when the tree belongs to another user (root in a container).
latch_git() {
    git -c safe.directory="$LATCH_ROOT" -C "$LATCH_ROOT" "$@"
}

# latch_files [PATH...]: the files of the tree that git knows or would take, NUL-separated.
latch_files() {
    local file
    while IFS= read -r -d '' file; do
        # A file that was deleted but is still in the index is listed as well.
        if [[ -e $LATCH_ROOT/$file || -L $LATCH_ROOT/$file ]]; then
            printf '%s\0' "$file"
        fi
    done < <(latch_git ls-files -z --cached --others --exclude-standard -- "$@" | sort -zu)
}

# latch_copy DIRECTORY [PATH...]: copies those files into the directory.
latch_copy() {
    local directory=$1
    shift
    mkdir -p "$directory"
    latch_files "$@" | tar -C "$LATCH_ROOT" --null -T - -cf - | tar -C "$directory" -xf -
}

# latch_digest [PATH...]: a digest of the contents of those files.
latch_digest() {
    latch_files "$@" | (cd "$LATCH_ROOT" && xargs -0r sha256sum) | sha256sum | cut -c 1-16
}

# latch_alone NAME COMMAND...: runs the command while no other process of this user runs one under that name: so that
# builds for several stages are not made twice at the same time.
latch_alone() {
    local lock=$LATCH_CACHE/lock/$1
    shift
    if [[ ! -e $lock ]]; then
        mkdir -p "${lock%/*}"
        : >> "$lock"
    fi
    (
        flock 8
        "$@" 8<&-
    ) 8< "$lock"
}
