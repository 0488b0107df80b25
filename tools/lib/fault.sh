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
    "php$LATCH_PHP_VERSION-mysql" "php$LATCH_PHP_VERSION-sqlite3" util-linux)

# latch_fault_prepare: builds the extension, gets Symfony and Laravel, and says where they are in the environment.
latch_fault_prepare() {
    latch_build
    LATCH_VENDOR=$(latch_composer phpunit "$LATCH_ROOT/tests/phpunit/composer.json")
    LATCH_SYMFONY_8=$(latch_composer symfony-8 "$LATCH_ROOT/tests/phpunit/symfony-8/composer.json")
    LATCH_SYMFONY_6=$(latch_composer symfony-6 "$LATCH_ROOT/tests/phpunit/symfony-6/composer.json")
    LATCH_DEBIAN_LOCK=$(latch_debian_lock)
    LATCH_LARAVEL=$(latch_laravel_app 12)
    export LATCH_VENDOR LATCH_SYMFONY_6 LATCH_SYMFONY_8 LATCH_DEBIAN_LOCK LATCH_LARAVEL
    export LATCH_SO=$LATCH_ROOT/modules/latch.so
}
