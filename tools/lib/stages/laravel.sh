# Stage "laravel": the package for Laravel (bridge/laravel) in an application on Laravel 12, whose processes have the
# extension or, as peers, not; and its locks on 13. Stages "laravel-11" and "laravel-13": the whole on that.
# shellcheck shell=bash

# shellcheck source=tools/lib/peers.sh
source "$(dirname "${BASH_SOURCE[0]}")/../peers.sh"
# shellcheck source=tools/lib/phpunit.sh
source "$(dirname "${BASH_SOURCE[0]}")/../phpunit.sh"

STAGE_PACKAGES=("${LATCH_BUILD_PACKAGES[@]}" "${LATCH_PEER_PACKAGES[@]}" "php$LATCH_PHP_VERSION-memcached"
    "php$LATCH_PHP_VERSION-mysql" "php$LATCH_PHP_VERSION-pgsql" "php$LATCH_PHP_VERSION-sqlite3"
    "php$LATCH_PHP_VERSION-redis" "php$LATCH_PHP_VERSION-igbinary" memcached redis-server
    "${LATCH_SQL_SERVER_PACKAGES[@]}")

stage() {
    latch_build
    LATCH_SO=$LATCH_ROOT/modules/latch.so
    LATCH_VENDOR=$(latch_composer phpunit "$LATCH_ROOT/tests/phpunit/composer.json")
    cd "$LATCH_ROOT/bridge/laravel/tests"
    case $STAGE in
        laravel)
            suites 12 waiters waits locks redis extras
            suites 13 locks redis
            ;;
        laravel-*) suites "${STAGE#laravel-}" waiters waits locks redis extras ;;
    esac
}

# suites VERSION NAME...: side by side.
suites() {
    local version=$1
    shift
    LATCH_APP_VENDOR=$(latch_laravel_app "$version")
    export LATCH_VENDOR LATCH_APP_VENDOR LATCH_SO
    side_by_side "${@/#/suite $version }"
}

# suite VERSION NAME
suite() {
    run_phpunit "laravel-$1-$2" "$LATCH_VENDOR" phpunit.xml -- --no-progress --testsuite "$2"
}
