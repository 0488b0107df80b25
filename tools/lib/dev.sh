# Builds for the loop of a developer: outside the tree, without LTO, without installing packages.
# shellcheck shell=bash

# shellcheck source=tools/lib/build.sh
source "$(dirname "${BASH_SOURCE[0]}")/build.sh"
# shellcheck source=tools/lib/phpt.sh
source "$(dirname "${BASH_SOURCE[0]}")/phpt.sh"
# shellcheck source=tools/lib/unit.sh
source "$(dirname "${BASH_SOURCE[0]}")/unit.sh"

LATCH_DEV=$LATCH_WORK/dev

# latch_name_missing PACKAGE...: ends the program with the command that installs them, if any of these Debian packages
# is missing. On other systems compiler and configure report missing packages.
latch_name_missing() {
    local missing
    command -v dpkg-query > /dev/null || return 0
    missing=$({
        printf '%s\n' "$@"
        dpkg-query -W -f '${db:Status-Status} ${Package}\n' "$@" 2> /dev/null | sed -n 's/^installed //p'
    } | sort | uniq -u | tr '\n' ' ')
    [[ -z $missing ]] || latch_die "missing: sudo apt-get install $missing"
}

# latch_dev_so: builds the extension, and shows the compiler's output. Objects are in dev/build; sources and headers
# are the tree's own, by links, and make follows their includes.
latch_dev_so() {
    local folder=$LATCH_DEV status=0
    LATCH_DEV_SO=$folder/build/modules/latch.so
    if [[ ! $folder/build/Makefile -nt $LATCH_ROOT/config.m4 ]]; then
        latch_name_missing "${LATCH_BUILD_PACKAGES[@]}"
        latch_say 'configuring'
        latch_quietly "$LATCH_WORK/log/dev-configure.log" latch_in_shell dev.sh latch_dev_configure "$folder"
    fi
    latch_sharing "$LATCH_WORK" make -s -C "$folder/build" -j"$(nproc)" \
        LIBTOOL="\$(SHELL) $folder/build/libtool --silent" build-modules 2>&1 \
        | sed "s,$folder/source/,,g" >&2 || status=${PIPESTATUS[0]}
    return "$status"
}

# latch_dev_configure FOLDER
latch_dev_configure() {
    local part
    rm -rf "$1"
    mkdir -p "$1/source" "$1/build"
    for part in "${LATCH_SOURCES[@]}"; do
        ln -s "$LATCH_ROOT/$part" "$1/source/$part"
    done
    cd "$1/source"
    "phpize$LATCH_PHP_VERSION"
    cd "$1/build"
    CONFIG_SHELL=/bin/sh ../source/configure --with-php-config="$(command -v "php-config$LATCH_PHP_VERSION")" \
        CFLAGS='-O0 -g -fno-lto'
}

# latch_dev_phpt TEST...: files and folders. The output of a failed test is beside it: NAME.diff, NAME.sh to repeat it.
latch_dev_phpt() {
    local runner=$LATCH_DEV/run-tests.php php options
    php=$(command -v "php$LATCH_PHP_VERSION")
    [[ -f $runner ]] || write_runner "$runner"
    mapfile -t options < <(options_for_tests "$php")
    # Runs several tests at a time, like the stages.
    if (($# > 1)) || [[ -d $1 ]]; then
        options+=(-j"$(($(nproc) + 4))")
    fi
    NO_INTERACTION=1 "$php" -n "$runner" -n -q -p "$php" "${options[@]}" -d extension="$LATCH_DEV_SO" \
        --set-timeout 120 -g PASS,FAIL,XFAIL,SKIP,BORK,WARN,LEAK --show-diff --no-progress --no-color "$@"
}
