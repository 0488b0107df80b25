# Stage "phpunit": the behaviour tests in their three modes, and Symfony's own tests of its Lock on
# the extension in drop-in mode.
# shellcheck shell=bash

# shellcheck source=tools/lib/build.sh
source "$(dirname "${BASH_SOURCE[0]}")/../build.sh"
# shellcheck source=tools/lib/peers.sh
source "$(dirname "${BASH_SOURCE[0]}")/../peers.sh"

STAGE_PACKAGES=("${LATCH_BUILD_PACKAGES[@]}" "${LATCH_PEER_PACKAGES[@]}"
    "php$LATCH_PHP_VERSION-redis" redis-server util-linux)

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

# run_phpunit NAME VENDOR CONFIGURATION [PHP OPTION...] -- [PHPUNIT OPTION...]
run_phpunit() {
    local name=$1 vendor=$2 configuration=$3 log=$LATCH_WORK/log/phpunit-$1.log options=() status=0
    local junit=$LATCH_WORK/log/phpunit-$1.xml passed=0 failed=0 skipped=0 total
    shift 3
    while [[ $1 != -- ]]; do
        options+=("$1")
        shift
    done
    shift
    rm -f "$junit"
    timeout 400 "php$LATCH_PHP_VERSION" "${options[@]}" "$vendor/bin/phpunit" -c "$configuration" \
        --log-junit "$junit" "$@" > "$log" 2>&1 < /dev/null || status=$?

    # The first element of the report has the totals; there is none when PHP has crashed.
    if [[ -s $junit ]]; then
        total=$(grep -m 1 '<testsuite ' "$junit")
        failed=$(($(attribute errors "$total") + $(attribute failures "$total")))
        skipped=$(attribute skipped "$total")
        passed=$(($(attribute tests "$total") - failed - skipped))
    fi
    ((status == 0 || failed > 0)) || failed=1
    ((passed + failed > 0)) || failed=1
    if ((failed > 0)); then
        tail -n 300 "$log"
    fi
    count "phpunit, $name" "$passed" "$failed" "$skipped"
}

# attribute NAME ELEMENT
attribute() {
    sed -nE "s/.* $1=\"([0-9]+)\".*/\1/p" <<< "$2" | sed 's/^$/0/'
}
