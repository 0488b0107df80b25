# Stage "symfony": the bundle for Symfony (bridge/symfony) on Symfony 7.4: its unit tests, and an application with
# Messenger whose workers are processes. Stage "symfony-transports": all of that application on the other transports.
# Stages "symfony-6" and "symfony-8": on Symfony 6.4, and on 8.1 with the PHP of Debian 13. Stage
# "symfony-browser": the bundle's panel in the profiler, in Chromium.
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
    symfony-browser) STAGE_PACKAGES=("${LATCH_BUILD_PACKAGES[@]}" "${LATCH_PEER_PACKAGES[@]}" redis-server util-linux
        chromium) ;;
    *) STAGE_PACKAGES=("${LATCH_BUILD_PACKAGES[@]}" "${LATCH_PEER_PACKAGES[@]}" "php$LATCH_PHP_VERSION-redis"
        "php$LATCH_PHP_VERSION-pgsql" "php$LATCH_PHP_VERSION-sqlite3" "php$LATCH_PHP_VERSION-amqp" redis-server
        rabbitmq-server "${LATCH_SQL_SERVER_PACKAGES[@]}") ;;
esac

stage() {
    # What the workers run on, see Way.php: two ways that differ in everything, and the most telling tests on two more.
    # The folder's PHP has no SQLite.
    local version=7.4 ways=(redis,php,names doctrine,json,drop-in) more=(postgresql,php,drop-in amqp,json,names)
    local way suite calls=(unit_tests)
    LATCH_SO=$LATCH_ROOT/modules/latch.so
    case $STAGE in
        symfony-transports) ways=("${more[@]}") more=() calls=() ;;
        symfony-6) version=6.4 more=() ;;
        symfony-8)
            version=8.1
            ways=(redis,php,names redis,json,drop-in) more=()
            LATCH_FOLDER=$(latch_folder_with_8.4)
            LATCH_SO=$(latch_build_on_debian)
            ;;
    esac
    if [[ -n ${LATCH_SYMFONY_WAYS:-} ]]; then
        read -ra ways <<< "$LATCH_SYMFONY_WAYS"
        more=()
    fi
    [[ -n ${LATCH_FOLDER:-} ]] || latch_build
    LATCH_VENDOR=$(latch_composer phpunit "$LATCH_ROOT/tests/phpunit/composer.json")
    LATCH_APP_VENDOR=$(latch_symfony_bundle "$version")
    # one container for all that run beside each other
    LATCH_APP_CACHE=$LATCH_WORK/$STAGE
    rm -rf "$LATCH_APP_CACHE"
    mkdir -p "$LATCH_APP_CACHE"
    export LATCH_VENDOR LATCH_APP_VENDOR LATCH_SO LATCH_APP_CACHE
    cd "$LATCH_ROOT/bridge/symfony/tests"
    if [[ $STAGE == symfony-browser ]]; then
        in_browser
        return
    fi
    for way in "${ways[@]}"; do
        for suite in locks messages; do
            calls+=("workers $way $suite --testsuite $suite")
        done
    done
    for way in "${more[@]}"; do
        calls+=("workers $way telling --group telling")
    done
    side_by_side "${calls[@]}"
}

unit_tests() {
    local so=(-d extension="$LATCH_SO")
    run_phpunit "$STAGE-bundle" "$LATCH_VENDOR" phpunit.xml "${so[@]}" -- --no-progress
    run_phpunit "$STAGE-bundle-drop-in" "$LATCH_VENDOR" phpunit.xml "${so[@]}" \
        -d latch.symfony=1 -d latch.symfony_semaphore=1 -- --no-progress
}

# workers WAY NAME PHPUNIT OPTION...
workers() {
    local options=()
    # see Soak.php
    [[ $1 == redis,* ]] || options=(--exclude-group soak)
    LATCH_SYMFONY_WAY=$1 run_phpunit "$STAGE-${1//,/-}-$2" "$LATCH_VENDOR" Behaviour/phpunit.xml \
        -- --no-progress "${@:3}" "${options[@]}"
}

# Leaves pictures of the pages beside the log.
in_browser() {
    LATCH_BROWSER_PICTURES=$LATCH_WORK/log run_phpunit "$STAGE" "$LATCH_VENDOR" Browser/phpunit.xml \
        -d extension="$LATCH_SO" -- --no-progress
}
