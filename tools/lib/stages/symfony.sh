# Stage "symfony": the bundle for Symfony (bridge/symfony) on Symfony 7.4: its unit tests, and an application with
# Messenger whose workers are processes. Stages "symfony-6" and "symfony-8": on Symfony 6.4, and on 8.1 with the PHP of
# Debian 13.
# shellcheck shell=bash

case $STAGE in
    symfony-8) export LATCH_PHP_VERSION=8.4 LATCH_SUITE=trixie ;;
esac

# shellcheck source=tools/lib/newer_php.sh
source "$(dirname "${BASH_SOURCE[0]}")/../newer_php.sh"
# shellcheck source=tools/lib/peers.sh
source "$(dirname "${BASH_SOURCE[0]}")/../peers.sh"
# shellcheck source=tools/lib/phpunit.sh
source "$(dirname "${BASH_SOURCE[0]}")/../phpunit.sh"

case $STAGE in
    symfony-8) STAGE_PACKAGES=("${LATCH_FOLDER_PACKAGES[@]}" "${LATCH_COMPOSER_PACKAGES[@]}") ;;
    *) STAGE_PACKAGES=("${LATCH_BUILD_PACKAGES[@]}" "${LATCH_PEER_PACKAGES[@]}" "php$LATCH_PHP_VERSION-redis"
        "php$LATCH_PHP_VERSION-pgsql" "php$LATCH_PHP_VERSION-sqlite3" redis-server "${LATCH_SQL_SERVER_PACKAGES[@]}") ;;
esac

stage() {
    # What the workers run on, see Way.php: two ways that differ in everything. The folder's PHP has no SQLite.
    local version=7.4 ways=(redis,php,names doctrine,json,drop-in) way suite calls=(unit_tests)
    LATCH_SO=$LATCH_ROOT/modules/latch.so
    case $STAGE in
        symfony-6) version=6.4 ;;
        symfony-8)
            version=8.1
            ways=(redis,php,names redis,json,drop-in)
            LATCH_FOLDER=$(latch_folder_with_8.4)
            LATCH_SO=$(latch_build_on_debian)
            ;;
    esac
    [[ -z ${LATCH_SYMFONY_WAYS:-} ]] || read -ra ways <<< "$LATCH_SYMFONY_WAYS"
    [[ -n ${LATCH_FOLDER:-} ]] || latch_build
    LATCH_VENDOR=$(latch_composer phpunit "$LATCH_ROOT/tests/phpunit/composer.json")
    LATCH_APP_VENDOR=$(latch_symfony_bundle "$version")
    # one container for all that run beside each other
    LATCH_APP_CACHE=$LATCH_WORK/$STAGE
    rm -rf "$LATCH_APP_CACHE"
    mkdir -p "$LATCH_APP_CACHE"
    export LATCH_VENDOR LATCH_APP_VENDOR LATCH_SO LATCH_APP_CACHE
    cd "$LATCH_ROOT/bridge/symfony/tests"
    for way in "${ways[@]}"; do
        for suite in locks messages; do
            calls+=("workers $way $suite")
        done
    done
    side_by_side "${calls[@]}"
}

unit_tests() {
    local so=(-d extension="$LATCH_SO")
    run_phpunit "$STAGE-bundle" "$LATCH_VENDOR" phpunit.xml "${so[@]}" -- --no-progress
    run_phpunit "$STAGE-bundle-drop-in" "$LATCH_VENDOR" phpunit.xml "${so[@]}" \
        -d latch.symfony=1 -d latch.symfony_semaphore=1 -- --no-progress
}

# workers WAY SUITE
workers() {
    local options=()
    # SQLite ends workers: "database is locked"
    [[ $1 != doctrine,* ]] || options=(--exclude-group soak)
    LATCH_SYMFONY_WAY=$1 run_phpunit "$STAGE-${1//,/-}-$2" "$LATCH_VENDOR" Behaviour/phpunit.xml \
        -- --no-progress --testsuite "$2" "${options[@]}"
}
