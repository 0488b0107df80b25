# Stage "mysql-9": the tests that start MariaDB, those of the engine and those of the extension, on MySQL 9.
# shellcheck shell=bash

# shellcheck source=tools/lib/newer_php.sh
source "$(dirname "${BASH_SOURCE[0]}")/../newer_php.sh"
# shellcheck source=tools/lib/phpt.sh
source "$(dirname "${BASH_SOURCE[0]}")/../phpt.sh"
# shellcheck source=tools/lib/mysql.sh
source "$(dirname "${BASH_SOURCE[0]}")/../mysql.sh"
# shellcheck source=tools/lib/unit.sh
source "$(dirname "${BASH_SOURCE[0]}")/../unit.sh"

STAGE_PACKAGES=("${LATCH_UNIT_PACKAGES[@]}" "${LATCH_BUILD_PACKAGES[@]}" "php$LATCH_PHP_VERSION-fpm"
    "php$LATCH_PHP_VERSION-pgsql" "php$LATCH_PHP_VERSION-mysql" "php$LATCH_PHP_VERSION-sqlite3" "php$LATCH_PHP_VERSION-redis"
    "${LATCH_TOOL_PACKAGES[@]}")

stage() {
    local phpt unit
    phpt=$(cd "$LATCH_ROOT" && grep -rlE 'Ground::mysql|MySqlServer' --include=*.phpt tests/phpt)
    unit=$(cd "$LATCH_ROOT/tests/unit" && grep -lE '"mysql_(server|store)\.h"' test_*.c | sed 's/\.c$//')
    LATCH_MYSQL_SERVER=$(latch_mysql_server)
    export LATCH_MYSQL_SERVER
    run_unit "$STAGE, unit" "$LATCH_WORK/log/unit-$STAGE.log" make -k --output-sync=target -C "$LATCH_ROOT/tests/unit" \
        BUILD="$LATCH_WORK/unit" SANITIZE=none TESTS="${unit//$'\n'/ }"
    latch_build
    LATCH_PHPT=${LATCH_PHPT:-$phpt} run_phpt "/usr/bin/php$LATCH_PHP_VERSION" "$LATCH_ROOT/modules/latch.so"
}
