# Commands of a page: blocks fenced as "sh".
# shellcheck shell=bash

# commands FILE HEADING: the commands of the section with that heading. To have none is an error.
commands() {
    local text
    text=$(sections "$1" | awk -v heading="$2" -F '\t' '$1 == heading { print $2 }')
    [[ -n $text ]] || { echo "${1##*/} has no commands under \"$2\"" >&2 && return 1; }
    printf '%s\n' "$text"
}

# sections FILE: each command of the page, behind the heading that it is under.
sections() {
    awk '/^ *```/ { fenced = !fenced; language = $0; sub(/^ *```/, "", language); next }
        fenced && language == "sh" { print heading "\t" $0 }
        !fenced && /^#/ { heading = $0; sub(/^#+ /, "", heading) }' "$1"
}
