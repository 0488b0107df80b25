# The package for PECL, which tools/package makes: its version, and its test by pecl.
# shellcheck shell=bash

# shellcheck source=tools/lib/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# shellcheck disable=SC2034 # for the scripts that source this file
LATCH_PECL_PACKAGES=("php$LATCH_PHP_VERSION-cli" "php$LATCH_PHP_VERSION-dev" php-pear git)

# latch_version: prints PHP_LATCH_VERSION.
latch_version() {
    sed -nE 's/^#define PHP_LATCH_VERSION "(.*)"$/\1/p' "$LATCH_ROOT/ext/php_latch.h"
}

# latch_pecl_version: prints the same as PECL spells it, 0.1.0dev for 0.1.0-dev. PHP's
# version_compare() holds the two for equal.
latch_pecl_version() {
    latch_version | tr -d -
}

# latch_pecl HOME COMMAND...: runs pecl on a configuration of its own, so that what the machine has
# installed with it is neither read nor touched. Everything goes to HOME: also the extension, as the
# php-config that it is built with names a folder there as the place of extensions.
latch_pecl() {
    local home=$1
    if [[ ! -f $home/pear.conf ]]; then
        mkdir -p "$home/tools"
        ln -s "$(command -v "phpize$LATCH_PHP_VERSION")" "$home/tools/phpize"
        cat > "$home/tools/php-config" <<END
#!/bin/sh
case \$* in
    --prefix) echo '$home' ;;
    --extension-dir) echo '$home/ext' ;;
    *) exec php-config$LATCH_PHP_VERSION "\$@" ;;
esac
END
        chmod +x "$home/tools/php-config"
        pear config-create "$home" "$home/pear.conf"
        latch_pecl "$home" config-set bin_dir "$home/bin"
        latch_pecl "$home" config-set php_prefix "$home/tools/"
    fi
    shift
    PHP_PEAR_PHP_BIN=$(command -v "php$LATCH_PHP_VERSION") \
        pecl -c "$home/pear.conf" -C "$home/system.conf" "$@"
}
