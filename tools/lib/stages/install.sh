# Stage "install": a newcomer follows README.md and docs/install.md on a fresh Debian 12 and a fresh Debian 13, from a
# clone to "php --ri latch" and back. The commands are read from the pages.
# shellcheck shell=bash

# shellcheck source=tools/lib/folder.sh
source "$(dirname "${BASH_SOURCE[0]}")/../folder.sh"
# shellcheck source=tools/lib/check.sh
source "$(dirname "${BASH_SOURCE[0]}")/../check.sh"

STAGE_PACKAGES=("${LATCH_FOLDER_PACKAGES[@]}" git)

README=$LATCH_ROOT/README.md
PAGE=$LATCH_ROOT/docs/install.md
WORK=$LATCH_WORK/install

stage() {
    local passed=0 failed=0
    rm -rf "$WORK"
    mkdir -p "$WORK"
    latch_copy "$WORK/tree"
    check 'the walks have every command of docs/install.md' page_is_walked
    count install "$passed" "$failed" 0
    side_by_side 'walks bookworm' 'walks trixie'
}

# walks SUITE: on one Debian.
walks() {
    local passed=0 failed=0
    check "README.md on a fresh $1, and back" walk "$1" readme
    check "docs/install.md on a fresh $1, and back" walk "$1" page
    count "install, Debian's $1" "$passed" "$failed" 0
}

# walk SUITE WALK: has a newcomer follow what walk_WALK prints.
walk() {
    local folder script=$WORK/$1-$2.sh
    { echo 'set -eux' && "walk_$2"; } > "$script"
    folder=$(latch_folder "$1" sudo)
    latch_isolated latch_walk "$folder" "$WORK/$1-$2" "$WORK/tree" "$script"
}

walk_readme() {
    commands "$README" Install
    its_checks
    commands "$PAGE" 'After an installation from source'
    nothing_is_left
}

# From the package: by PECL, enabled as elsewhere and as on Debian; then without PECL.
walk_page() {
    commands "$PAGE" PECL
    commands "$PAGE" 'Other systems with a folder for .ini files'
    echo 'php --ri latch'
    echo 'sudo rm "$(php --ini | grep -o "/[^,]*latch.ini")"'
    commands "$PAGE" 'Debian and Ubuntu'
    its_checks
    commands "$PAGE" 'After an installation by PECL'
    nothing_is_left
    commands "$PAGE" 'Without PECL'
    commands "$PAGE" 'From source'
    its_checks
}

# commands FILE HEADING: the commands of the section with that heading: what is fenced without a language. To have
# none is an error.
commands() {
    local text
    text=$(sections "$1" | awk -v heading="$2" -F '\t' '$1 == heading { print $2 }')
    [[ -n $text ]] || { echo "${1##*/} has no commands under \"$2\"" >&2 && return 1; }
    printf '%s\n' "$text"
}

# sections FILE: each command of the page, behind the heading that it is under.
sections() {
    awk '/^ *```/ { fenced = !fenced; language = $0; sub(/^ *```/, "", language); next }
        fenced && language == "" { print heading "\t" $0 }
        !fenced && /^#/ { heading = $0; sub(/^#+ /, "", heading) }' "$1"
}

# The page's own checks, and that nothing was left out for want of a library.
its_checks() {
    commands "$PAGE" 'Looking whether it works'
    cat <<'END'
test "$(php --ri latch | grep -cE '^(redis store|redis store, TLS|postgresql store|mysql store) => yes')" = 4
test "$(latch run walk -- latch run walk -- date || echo $?)" = 75
latch run walk -- true
END
}

# No file by its name, but for C++'s <latch> and Debian's note of what an administrator has disabled.
nothing_is_left() {
    cat <<'END'
test "$(php -m | grep -ci latch)" = 0
test "$(sudo find /etc /opt /usr /var \( -path /usr/include/c++ -o -name disabled_by_admin \) -prune \
    -o -iname '*latch*' -print)" = ''
END
}

# Other stages, or other tools, prove what is under these headings.
page_is_walked() {
    local walked
    walked=$(walk_page && walk_readme)
    while IFS=$'\t' read -r heading command; do
        case $heading in
            PIE | "For IDEs, PHPStan and Psalm") continue ;;
        esac
        grep -qxF -- "$command" <<< "$walked" || { echo "not walked: $heading: $command" && return 1; }
    done < <(sections "$PAGE")
}
