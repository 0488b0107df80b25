# Stage "phpunit": the behaviour tests in their three modes; Symfony's own tests of its Lock on the extension
# in drop-in mode, and the examples of its documentation; an application on Symfony 7.4. Stage "phpunit-8.4":
# that application on Symfony 8.1, with the PHP of Debian 13.
# shellcheck shell=bash

case $STAGE in
    phpunit-8.4) export LATCH_PHP_VERSION=8.4 LATCH_SUITE=trixie ;;
esac

# shellcheck source=tools/lib/newer_php.sh
source "$(dirname "${BASH_SOURCE[0]}")/../newer_php.sh"
# shellcheck source=tools/lib/peers.sh
source "$(dirname "${BASH_SOURCE[0]}")/../peers.sh"
# shellcheck source=tools/lib/phpunit.sh
source "$(dirname "${BASH_SOURCE[0]}")/../phpunit.sh"

case $STAGE in
    phpunit-8.4) STAGE_PACKAGES=("${LATCH_FOLDER_PACKAGES[@]}" "${LATCH_COMPOSER_PACKAGES[@]}") ;;
    *) STAGE_PACKAGES=("${LATCH_BUILD_PACKAGES[@]}" "${LATCH_PEER_PACKAGES[@]}"
        "php$LATCH_PHP_VERSION-redis" "php$LATCH_PHP_VERSION-memcached" "php$LATCH_PHP_VERSION-pgsql"
        "php$LATCH_PHP_VERSION-mysql" "php$LATCH_PHP_VERSION-sqlite3" redis-server memcached iproute2
        "${LATCH_SQL_SERVER_PACKAGES[@]}") ;;
esac

stage() {
    case $STAGE in
        phpunit) run_behaviour ;;
        phpunit-8.4)
            LATCH_FOLDER=$(latch_folder_with_8.4)
            LATCH_SO=$(latch_build_on_debian)
            run_application 8.1
            ;;
    esac
}

run_behaviour() {
    local vendor vendor96 so=$LATCH_ROOT/modules/latch.so
    local names=(-d extension="$so") symfony=(-d extension="$so" -d latch.symfony=1 -d latch.symfony_semaphore=1)
    latch_build
    vendor=$(latch_composer phpunit "$LATCH_ROOT/tests/phpunit/composer.json")
    vendor96=$(latch_composer symfony-own "$LATCH_ROOT/tests/phpunit/symfony-own/composer.json")
    LATCH_SYMFONY_8=$(latch_composer symfony-8 "$LATCH_ROOT/tests/phpunit/symfony-8/composer.json")
    LATCH_SYMFONY_6=$(latch_composer symfony-6 "$LATCH_ROOT/tests/phpunit/symfony-6/composer.json")
    LATCH_LARAVEL=$(latch_laravel)
    export LATCH_VENDOR=$vendor LATCH_SYMFONY_6 LATCH_SYMFONY_8 LATCH_LARAVEL LATCH_SO=$so
    LATCH_DEBIAN_LOCK=$(latch_debian_lock)
    LATCH_SEMAPHORE_5=$(latch_debian_semaphore)
    LATCH_SEMAPHORE_7=$(latch_debian_semaphore 7.4)
    LATCH_SEMAPHORE_8=$(latch_debian_semaphore 8.1)
    LATCH_SYMFONY_TESTS=$(latch_symfony_tests)
    LATCH_SEMAPHORE_TESTS=$(latch_semaphore_tests)
    export LATCH_DEBIAN_LOCK LATCH_SEMAPHORE_5 LATCH_SEMAPHORE_7 LATCH_SEMAPHORE_8 LATCH_SYMFONY_TESTS LATCH_SEMAPHORE_TESTS

    cd "$LATCH_ROOT/tests/phpunit"
    side_by_side shared_with_symfony latchs_own symfonys_names pure_php application_and_documentation
}

shared_with_symfony() {
    LATCH_MODE=latch run_phpunit latch-shared "$vendor" phpunit.xml "${names[@]}" -- --no-progress --testsuite shared
}

latchs_own() {
    LATCH_MODE=latch run_phpunit latch "$vendor" phpunit.xml "${names[@]}" -- --no-progress --testsuite additions,latch
}

pure_php() {
    LATCH_MODE=oracle run_phpunit oracle "$vendor" phpunit.xml -- \
        --no-progress --testsuite shared --exclude-group against-oracle
}

symfonys_names() {
    LATCH_MODE=symfony run_phpunit symfony "$vendor" phpunit.xml "${symfony[@]}" -- \
        --no-progress --testsuite shared,additions,symfony
    LATCH_VENDOR=$vendor96 run_phpunit symfony-own "$vendor96" symfony-own/phpunit.xml \
        "${symfony[@]}" --
}

application_and_documentation() {
    run_application 7.4
    on_the_documentations_machine
}

# run_application VERSION: the processes of the application run on LATCH_SO, or without; where pure PHP waits it
# sleeps between two looks at a lock.
run_application() {
    local version=$1 vendor
    vendor=$(latch_composer phpunit "$LATCH_ROOT/tests/phpunit/composer.json")
    LATCH_APP_VENDOR=$(latch_symfony_app "$version")
    export LATCH_SO LATCH_APP_VENDOR LATCH_VENDOR=$vendor
    cd "$LATCH_ROOT/tests/phpunit"
    side_by_side 'suite_of_the_application locks' 'suite_of_the_application components'
}

suite_of_the_application() {
    run_phpunit "symfony-app-$version-$1" "$vendor" symfony-app/phpunit.xml -- --no-progress --testsuite "$1"
}

# Each on a machine of its own.
on_the_documentations_machine() {
    local vendor vendor64 tests PHPUNIT_BY=("$PWD/symfony-docs/machine.sh")
    vendor=$(latch_composer symfony-docs "$PWD/symfony-docs/composer.json")
    vendor64=$(latch_composer symfony-own-6.4 "$PWD/symfony-own/6.4/composer.json")
    tests=$(LATCH_SUITE=trixie latch_symfony_tests 6.4)
    side_by_side symfonys_tests_of_6_4 examples_of_the_documentation
}

symfonys_tests_of_6_4() {
    LATCH_VENDOR=$vendor64 LATCH_SYMFONY_TESTS=$tests LATCH_DEBIAN_LOCK='' LATCH_SEMAPHORE_TESTS='' \
        run_phpunit symfony-own-6.4 "$vendor64" symfony-own/6.4/phpunit.xml "${symfony[@]}" --
}

examples_of_the_documentation() {
    LATCH_VENDOR=$vendor run_phpunit symfony-docs "$vendor" symfony-docs/phpunit.xml -- --no-progress
}
