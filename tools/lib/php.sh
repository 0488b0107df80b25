# Builds a PHP from Debian's source package, for what Debian does not build: threads and asserts.
# shellcheck shell=bash

# shellcheck source=tools/lib/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
# shellcheck source=tools/lib/debian.sh
source "$(dirname "${BASH_SOURCE[0]}")/debian.sh"
# shellcheck source=tools/lib/folder.sh
source "$(dirname "${BASH_SOURCE[0]}")/folder.sh"

# shellcheck disable=SC2034 # for the scripts that source this file
LATCH_PHP_BUILD_PACKAGES=(gcc make xz-utils)

# latch_php NAME CONFIGURE_ARGUMENT...: prints the prefix of a PHP that was configured so; its bin/
# holds php, phpize and php-config. Built at the first call, which takes some two minutes; after
# that it comes from the cache, where version and arguments are its key.
latch_php() {
    latch_alone "php-$LATCH_PHP_VERSION-$1" latch_php_alone "$@"
}

latch_php_alone() {
    local name=$1 tarball version prefix
    shift
    tarball=$(latch_debian_source "php$LATCH_PHP_VERSION" '*.orig.tar.xz') || return
    version=${tarball##*_}
    version=${version%.orig.tar.xz}
    prefix=$LATCH_CACHE/php/$version-$name-$({ declare -f latch_php_make && printf '%s\n' "$@"; } | sha256sum | cut -c 1-8)
    if [[ ! -f $prefix/.complete ]]; then
        latch_say "building PHP $version ($name); this is done once"
        rm -rf "$prefix"
        latch_quietly "$LATCH_WORK/log/php-$name.log" latch_beside_php php.sh \
            latch_php_make "$tarball" "$prefix" "$@" || return
        touch "$prefix/.complete"
    fi
    printf '%s\n' "$prefix"
}

# latch_php_make TARBALL PREFIX CONFIGURE_ARGUMENT...
latch_php_make() {
    local tarball=$1 prefix=$2
    shift 2
    mkdir -p "$prefix/src"
    cd "$prefix/src"
    tar -xJf "$tarball" --strip-components=1
    CONFIG_SHELL=/bin/sh ./configure --prefix="$prefix" "$@"
    # With --enable-debug PHP is compiled by -O0, which makes it half as fast.
    make -j"$(nproc)" EXTRA_CFLAGS=-O1
    make install
    # Debian's name of the file.
    if [[ -x $prefix/sbin/php-fpm ]]; then
        ln -s ../sbin/php-fpm "$prefix/bin/php-fpm$LATCH_PHP_VERSION"
    fi
    rm -r "$prefix/src"
}
