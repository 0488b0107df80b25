# Stage "laravel": the package for Laravel (bridge/laravel) in an application on Laravel 12, and in one on 13, whose processes
# have the extension or, as peers, not. Stage "laravel-11": on 11.
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
    local version versions=(12 13)
    [[ $STAGE != laravel-* ]] || versions=("${STAGE#laravel-}")
    latch_build
    LATCH_SO=$LATCH_ROOT/modules/latch.so
    LATCH_VENDOR=$(latch_composer phpunit "$LATCH_ROOT/tests/phpunit/composer.json")
    cd "$LATCH_ROOT/bridge/laravel/tests"
    for version in "${versions[@]}"; do
        LATCH_APP_VENDOR=$(latch_laravel_app "$version")
        export LATCH_VENDOR LATCH_APP_VENDOR LATCH_SO
        side_by_side "suite $version waiters" "suite $version waits" "suite $version locks" "suite $version redis" \
            "suite $version extras"
    done
}

# suite VERSION NAME
suite() {
    run_phpunit "laravel-$1-$2" "$LATCH_VENDOR" phpunit.xml -- --no-progress --testsuite "$2"
}
