# Builds the extension: in the tree, which is what a developer uses, or in a copy of it with
# another compiler, other flags or another PHP.
# shellcheck shell=bash

# shellcheck source=tools/lib/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
# shellcheck source=tools/lib/folder.sh
source "$(dirname "${BASH_SOURCE[0]}")/folder.sh"

# Packages for builds for Debian's PHP.
# shellcheck disable=SC2034 # for the scripts that source this file
LATCH_BUILD_PACKAGES=("php$LATCH_PHP_VERSION-cli" "php$LATCH_PHP_VERSION-dev"
    gcc make autoconf pkgconf libc6-dev libhiredis-dev libssl-dev libpq-dev libmariadb-dev libsqlite3-dev git)

LATCH_SOURCES=(config.m4 Makefile.frag ext src stubs)

# latch_use_ccache: what compilers make is kept from run to run.
latch_use_ccache() {
    export CCACHE_DIR=$LATCH_CACHE/ccache CCACHE_MAXSIZE=2G
    PATH=/usr/lib/ccache:$PATH
}

# latch_sharing FOLDER COMMAND...: runs the command so that ccache also knows the objects of other clones, whatever the
# place of FOLDER there: paths below it are relative, and debug information names the folder of the clone that was first.
latch_sharing() {
    CCACHE_BASEDIR=$1 CCACHE_NOHASHDIR=1 "${@:2}"
}

# latch_configure_and_make DIRECTORY PHPIZE PHP_CONFIG [CONFIGURE_ARGUMENT...]
latch_configure_and_make() {
    local phpize=$2 php_config=$3
    cd "$1"
    shift 3
    "$phpize"
    # By sh, which on Debian runs libtool twice as fast as bash; a compilation is half libtool.
    CONFIG_SHELL=/bin/sh ./configure --with-php-config="$(command -v "$php_config")" "$@"
    # Removes builds for another PHP or with other options.
    make -s clean
    latch_make
}

# latch_make: runs make in the current folder, and shows the compiler's messages without its command lines.
latch_make() {
    make -s -j"$(nproc)" LIBTOOL="\$(SHELL) $PWD/libtool --silent"
}

# latch_make_current: in the tree. Configures only when that was not done yet, was done before
# config.m4 changed or for another PHP; else make finds out by itself what is out of date.
latch_make_current() {
    local php_config=php-config$LATCH_PHP_VERSION
    cd "$LATCH_ROOT"
    if [[ Makefile -nt config.m4 ]] \
        && grep -qF -e "-I$("$php_config" --include-dir)/main" Makefile; then
        latch_make
    else
        rm -f Makefile
        latch_configure_and_make . "phpize$LATCH_PHP_VERSION" "$php_config"
    fi
    test -f modules/latch.so
}

# latch_build: leaves a current modules/latch.so in the tree. Quiet, unless it fails.
latch_build() {
    command -v "php-config$LATCH_PHP_VERSION" > /dev/null \
        || latch_die "php-config$LATCH_PHP_VERSION is missing (package php$LATCH_PHP_VERSION-dev)"
    latch_sharing "$LATCH_ROOT" latch_alone "${LATCH_WORK##*/}-build" \
        latch_quietly "$LATCH_WORK/log/build.log" latch_in_shell build.sh latch_make_current
}

# latch_build_copy NAME PHPIZE PHP_CONFIG [CONFIGURE_ARGUMENT...]: builds for the PHP in question
# (LATCH_FOLDER), in a copy of the tree in the cache, and prints the path of the .so. Compiler and
# flags come as arguments (CC=clang, CFLAGS=...). A copy that was built from the same files in the
# same way is used again.
latch_build_copy() {
    latch_alone "${LATCH_WORK##*/}-build-$1" latch_build_copy_alone "$@"
}

latch_build_copy_alone() {
    local name=$1 phpize=$2 php_config=$3 directory=$LATCH_WORK/build/$1 key
    shift 3
    key="$(latch_digest "${LATCH_SOURCES[@]}") $LATCH_FOLDER \
        $(latch_beside_php build.sh "$php_config" --version) $*"
    if [[ $(cat "$directory/.built" 2> /dev/null) != "$key" ]]; then
        rm -rf "$directory"
        latch_copy "$directory" "${LATCH_SOURCES[@]}"
        latch_sharing "$directory" latch_quietly "$LATCH_WORK/log/build-$name.log" latch_beside_php build.sh \
            latch_configure_and_make "$directory" "$phpize" "$php_config" "$@" || return
        printf '%s\n' "$key" > "$directory/.built"
    fi
    printf '%s\n' "$directory/modules/latch.so"
}
