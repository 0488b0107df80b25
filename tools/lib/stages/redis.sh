# Stages "redis-6", "redis-8", "valkey-8", "valkey-9": the tests of Redis, those of the engine and those of the
# extension, on the server that another Debian brings. Stage "valkey": the most telling of them, on Valkey 8.
# shellcheck shell=bash

# shellcheck source=tools/lib/newer_php.sh
source "$(dirname "${BASH_SOURCE[0]}")/../newer_php.sh"
# shellcheck source=tools/lib/phpt.sh
source "$(dirname "${BASH_SOURCE[0]}")/../phpt.sh"
# shellcheck source=tools/lib/redis.sh
source "$(dirname "${BASH_SOURCE[0]}")/../redis.sh"
# shellcheck source=tools/lib/unit.sh
source "$(dirname "${BASH_SOURCE[0]}")/../unit.sh"

STAGE_PACKAGES=("${LATCH_UNIT_PACKAGES[@]}" "${LATCH_BUILD_PACKAGES[@]}" "php$LATCH_PHP_VERSION-fpm"
    "php$LATCH_PHP_VERSION-redis" "php$LATCH_PHP_VERSION-igbinary" "${LATCH_TOOL_PACKAGES[@]}")

stage() {
    local server=$STAGE phpt=tests/phpt/cli/doctor_redis.phpt unit
    unit='test_redis_answers test_redis_scripts test_redis_handoff test_redis_sentinel test_redis_cluster'
    if [[ $STAGE == valkey ]]; then
        server=valkey-8
    else
        phpt=$(cd "$LATCH_ROOT" && redis_tests -r tests/phpt --include=*.phpt)
        unit=$(cd "$LATCH_ROOT/tests/unit" && redis_tests test_*.c | sed 's/\.c$//')
    fi
    LATCH_REDIS_SERVER=$(latch_redis_server "$server")
    export LATCH_REDIS_SERVER
    run_unit "$STAGE, unit" "$LATCH_WORK/log/unit-$STAGE.log" make -k --output-sync=target -C "$LATCH_ROOT/tests/unit" \
        BUILD="$LATCH_WORK/unit" SANITIZE=none TESTS="${unit//$'\n'/ }"
    latch_build
    LATCH_PHPT=${LATCH_PHPT:-$phpt} run_phpt "/usr/bin/php$LATCH_PHP_VERSION" "$LATCH_ROOT/modules/latch.so"
}

# redis_tests GREP_ARGUMENT...: the files with tests that start Redis, but what is switched on in a running server, or
# configured for a cluster or a Sentinel, as it can be from Redis 7 on.
redis_tests() {
    local except='^$'
    [[ $STAGE != redis-6 ]] || except='(^|/)test_redis_(tls|cluster|sentinel_epoch)|/cluster\.phpt'
    grep -lE '"redis_|unit_redis|redis[a-z_]*\.inc|Redis(Server|Trio|Cluster)' "$@" | grep -vE "$except"
}
