# The arginfo headers, which PHP's own generator makes from the stubs.
# shellcheck shell=bash

# shellcheck source=tools/lib/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# shellcheck disable=SC2034 # for the scripts that source this file
LATCH_ARGINFO_PACKAGES=("php$LATCH_PHP_VERSION-cli" "php$LATCH_PHP_VERSION-dev" php-parser)

# latch_arginfo DIRECTORY: generates the headers of all stubs into the directory. The generator is
# that of the oldest PHP that Latch supports; it would download PHP-Parser, but takes Debian's where
# it finds it beside itself.
latch_arginfo() {
    local directory=$1 build
    build=$("php-config$LATCH_PHP_VERSION" --prefix)/lib/php/$("php-config$LATCH_PHP_VERSION" \
        --phpapi)/build
    mkdir -p "$directory/generator/PHP-Parser-4.15.1/lib"
    cp "$build/gen_stub.php" "$directory/generator/"
    ln -s /usr/share/php/PhpParser "$directory/generator/PHP-Parser-4.15.1/lib/PhpParser"
    cp "$LATCH_ROOT"/stubs/*.stub.php "$directory/"
    "php$LATCH_PHP_VERSION" "$directory/generator/gen_stub.php" -f "$directory"/*.stub.php
    rm -r "$directory/generator" "$directory"/*.stub.php
}
