# Stage "install": a newcomer follows README.md and docs/install.md on a fresh Debian 12 and a fresh Debian 13, from a
# clone to "php --ri latch" and back. The commands are read from the pages.
# shellcheck shell=bash

# shellcheck source=tools/lib/folder.sh
source "$(dirname "${BASH_SOURCE[0]}")/../folder.sh"
# shellcheck source=tools/lib/check.sh
source "$(dirname "${BASH_SOURCE[0]}")/../check.sh"
# shellcheck source=tools/lib/pages.sh
source "$(dirname "${BASH_SOURCE[0]}")/../pages.sh"

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
    check "README.md and docs/install.md on a fresh $1, and back" walk "$1"
    count "install, Debian's $1" "$passed" "$failed" 0
}

# walk SUITE: has a newcomer follow the pages. What is wrong stands at the end of what that has said.
walk() {
    local folder script=$WORK/$1.sh log=$LATCH_WORK/log/install-$1.log
    {
        echo "PS4='+ \${SECONDS}s: '; set -eux"
        # Compiled as users have it on Debian 13; on Debian 12 latch_build() does that. The rest is about other commands.
        [[ $1 != bookworm ]] || compiled_quickly
        from_source
        compiled_quickly
        # Stage "package" walks with PECL on Debian 12.
        case $1 in
            bookworm)
                echo tools/package
                without_pecl
                ;;
            trixie) with_pecl ;;
        esac
    } > "$script"
    folder=$(latch_folder "$1" sudo)
    if ! latch_isolated latch_walk "$folder" "$WORK/$1" "$WORK/tree" "$script" &> "$log"; then
        echo "the end of $log:"
        tail -n 40 "$log"
        return 1
    fi
}

compiled_quickly() {
    echo "export CFLAGS='-O0 -fno-lto' CONFIG_SHELL=/bin/sh" # see latch_configure_and_make()
}

from_source() {
    commands "$README" Install
    its_checks
    commands "$PAGE" 'After an installation from source'
    nothing_is_left
}

# Enabled as elsewhere, and as on Debian.
with_pecl() {
    commands "$PAGE" PECL
    commands "$PAGE" 'Other systems with a folder for .ini files'
    echo 'php --ri latch'
    # shellcheck disable=SC2016 # for the newcomer's shell
    echo 'sudo rm "$(php --ini | grep -o "/[^,]*latch.ini")"'
    commands "$PAGE" 'Debian and Ubuntu'
    its_checks
    commands "$PAGE" 'After an installation by PECL'
    nothing_is_left
}

without_pecl() {
    commands "$PAGE" 'Without PECL'
    commands "$PAGE" 'From source'
    its_checks
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

# Finds no file of that name, except C++'s <latch> and Debian's record of disabled modules.
nothing_is_left() {
    cat <<'END'
hash -r
test "$(php -m | grep -ci latch)" = 0
test "$(sudo find /etc /opt /usr /var \( -path /usr/include/c++ -o -name disabled_by_admin \) -prune \
    -o -iname '*latch*' -print)" = ''
END
}

# Stage "package" proves what the page says of analysers; PIE is not in Debian.
page_is_walked() {
    local walked heading command
    walked=$(from_source && with_pecl && without_pecl)
    while IFS=$'\t' read -r heading command; do
        case $heading in
            PIE | "For IDEs, PHPStan and Psalm") continue ;;
        esac
        grep -qxF -- "$command" <<< "$walked" || { echo "not walked: $heading: $command" && return 1; }
    done < <(sections "$PAGE")
}
