# Stage "symfony": the bundle for Symfony (bridge/symfony): its unit tests, and an application with Messenger whose
# workers are processes that are killed, on Symfony 7.4.
# shellcheck shell=bash

# shellcheck source=tools/lib/build.sh
source "$(dirname "${BASH_SOURCE[0]}")/../build.sh"
# shellcheck source=tools/lib/peers.sh
source "$(dirname "${BASH_SOURCE[0]}")/../peers.sh"
# shellcheck source=tools/lib/phpunit.sh
source "$(dirname "${BASH_SOURCE[0]}")/../phpunit.sh"

STAGE_PACKAGES=("${LATCH_BUILD_PACKAGES[@]}" "${LATCH_PEER_PACKAGES[@]}" "php$LATCH_PHP_VERSION-redis"
    "php$LATCH_PHP_VERSION-pgsql" "php$LATCH_PHP_VERSION-sqlite3" redis-server "${LATCH_SQL_SERVER_PACKAGES[@]}")

# Ways on which the behaviour tests run, see Way.php; by default two that differ in everything.
read -ra SYMFONY_WAYS <<< "${LATCH_SYMFONY_WAYS:-redis,php,names doctrine,json,drop-in}"

stage() {
    local vendor way calls=()
    latch_build
    LATCH_VENDOR=$(latch_composer phpunit "$LATCH_ROOT/tests/phpunit/composer.json")
    LATCH_APP_VENDOR=$(latch_symfony_bundle 7.4)
    LATCH_SO=$LATCH_ROOT/modules/latch.so
    # one container for all that run beside each other
    LATCH_APP_CACHE=$(mktemp -d)
    export LATCH_VENDOR LATCH_APP_VENDOR LATCH_SO LATCH_APP_CACHE
    cd "$LATCH_ROOT/bridge/symfony/tests/Behaviour"
    for way in "${SYMFONY_WAYS[@]}"; do
        calls+=("behaviour_of_workers $way")
    done
    side_by_side "${calls[@]}"
    rm -rf "$LATCH_APP_CACHE"
}

# behaviour_of_workers WAY
behaviour_of_workers() {
    LATCH_SYMFONY_WAY=$1 run_phpunit "bundle, ${1//,/, }" "$LATCH_VENDOR" phpunit.xml -- --no-progress
}
