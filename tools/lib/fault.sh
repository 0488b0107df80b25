# Requirements of tests/fault.
# shellcheck shell=bash

# shellcheck source=tools/lib/build.sh
source "$(dirname "${BASH_SOURCE[0]}")/build.sh"
# shellcheck source=tools/lib/peers.sh
source "$(dirname "${BASH_SOURCE[0]}")/peers.sh"

# util-linux has setpriv.
# shellcheck disable=SC2034 # for the scripts that source this file
LATCH_FAULT_PACKAGES=("${LATCH_BUILD_PACKAGES[@]}" "${LATCH_PEER_PACKAGES[@]}" "${LATCH_SQL_SERVER_PACKAGES[@]}"
    redis-server "php$LATCH_PHP_VERSION-redis" "php$LATCH_PHP_VERSION-igbinary" "php$LATCH_PHP_VERSION-pgsql"
    "php$LATCH_PHP_VERSION-mysql" util-linux)

# latch_fault_prepare: builds the extension, gets Symfony, and says where both are in the environment.
latch_fault_prepare() {
    latch_build
    LATCH_VENDOR=$(latch_composer phpunit "$LATCH_ROOT/tests/phpunit/composer.json")
    export LATCH_VENDOR LATCH_SO=$LATCH_ROOT/modules/latch.so
}
