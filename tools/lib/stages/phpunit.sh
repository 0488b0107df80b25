# Stage "phpunit": the behaviour tests in their three modes, and Symfony's own tests of its Lock on
# the extension in drop-in mode.
# shellcheck shell=bash

# shellcheck source=tools/lib/build.sh
source "$(dirname "${BASH_SOURCE[0]}")/../build.sh"
# shellcheck source=tools/lib/peers.sh
source "$(dirname "${BASH_SOURCE[0]}")/../peers.sh"
# shellcheck source=tools/lib/phpunit.sh
source "$(dirname "${BASH_SOURCE[0]}")/../phpunit.sh"

STAGE_PACKAGES=("${LATCH_BUILD_PACKAGES[@]}" "${LATCH_PEER_PACKAGES[@]}"
    "php$LATCH_PHP_VERSION-redis" "php$LATCH_PHP_VERSION-pgsql" "php$LATCH_PHP_VERSION-mysql"
    redis-server "${LATCH_SQL_SERVER_PACKAGES[@]}")

stage() {
    local vendor vendor96 so=$LATCH_ROOT/modules/latch.so
    local names=(-d extension="$so") symfony=(-d extension="$so" -d latch.symfony=1)
    latch_build
    vendor=$(latch_composer phpunit "$LATCH_ROOT/tests/phpunit/composer.json")
    vendor96=$(latch_composer symfony-own "$LATCH_ROOT/tests/phpunit/symfony-own/composer.json")
    LATCH_SYMFONY_8=$(latch_composer symfony-8 "$LATCH_ROOT/tests/phpunit/symfony-8/composer.json")
    LATCH_SYMFONY_6=$(latch_composer symfony-6 "$LATCH_ROOT/tests/phpunit/symfony-6/composer.json")
    export LATCH_VENDOR=$vendor LATCH_SYMFONY_6 LATCH_SYMFONY_8 LATCH_SO=$so
    LATCH_DEBIAN_LOCK=$(latch_debian_lock)
    LATCH_SYMFONY_TESTS=$(latch_symfony_tests)
    export LATCH_DEBIAN_LOCK LATCH_SYMFONY_TESTS

    cd "$LATCH_ROOT/tests/phpunit"
    LATCH_MODE=oracle run_phpunit oracle "$vendor" phpunit.xml -- \
        --no-progress --testsuite shared --exclude-group against-oracle
    LATCH_MODE=latch run_phpunit latch "$vendor" phpunit.xml "${names[@]}" -- \
        --no-progress --testsuite shared,additions,latch
    LATCH_MODE=symfony run_phpunit symfony "$vendor" phpunit.xml "${symfony[@]}" -- \
        --no-progress --testsuite shared,additions,symfony
    LATCH_VENDOR=$vendor96 run_phpunit symfony-own "$vendor96" symfony-own/phpunit.xml \
        "${symfony[@]}" --
}
