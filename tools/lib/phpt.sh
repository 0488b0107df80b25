# Runs the phpt tests by PHP's own test runner.
# shellcheck shell=bash

# shellcheck source=tools/lib/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
# shellcheck source=tools/lib/folder.sh
source "$(dirname "${BASH_SOURCE[0]}")/folder.sh"

# run_phpt PHP LATCH_SO [OPTION...]: runs all tests on the PHP in question (LATCH_FOLDER) and counts
# them. They run in a copy, as the runner leaves files beside each test.
run_phpt() {
    local directory=$LATCH_WORK/$STAGE log=$LATCH_WORK/log/$STAGE.log
    local failures_of_runner='FAILED|BORKED|WARNED|LEAKED|XLEAKED'
    local status=0 passed failed skipped
    rm -rf "$directory"
    latch_copy "$directory" tests/phpt tests/utils bin completion docs/redis.md src/store/redis/script/lua
    latch_beside_php phpt.sh run_tests "$directory" "${LATCH_PHPT:-tests/phpt}" "$@" \
        > "$log" 2>&1 < /dev/null || status=$?

    passed=$(results_of "$directory" PASSED)
    skipped=$(results_of "$directory" 'SKIPPED|XFAILED')
    failed=$(results_of "$directory" "$failures_of_runner")
    # A runner that did not come to its end counts as a failure.
    ((status == 0 || failed > 0)) || failed=1
    ((passed + failed + skipped > 0)) || failed=1
    if ((failed > 0)); then
        sed -n '/^========DIFF/,/^\(FAIL\|WARN\|LEAK\|BORK\)/p' "$log" | tail -n 500
        tail -n 30 "$log"
        { sed -nE "s,^($failures_of_runner)\t$directory/,,p" "$directory/results" | grep . || echo 'the runner, see above'; } \
            | name_failures "$STAGE"
    fi
    grep '^SKIP' "$log" | sed 's/^/  /' || true
    count "$STAGE, PHP $(cat "$directory/version")" "$passed" "$failed" "$skipped"
}

# results_of DIRECTORY PATTERN: how many tests ended so.
results_of() {
    { grep -cE "^($2)"$'\t' "$1/results" || true; } 2> /dev/null
}

# run_tests DIRECTORY TESTS PHP LATCH_SO [OPTION...]: runs those tests in the directory, whose files
# "results" and "version" say then how they ended, and on which PHP.
run_tests() {
    local directory=$1 tests=$2 php=$3 so=$4 options=("${@:5}") per_processor=6
    cd "$directory"
    "$php" -n -r 'echo PHP_VERSION, PHP_ZTS ? " ZTS" : " NTS", PHP_DEBUG ? " debug" : "";' > version
    write_runner run-tests.php
    mapfile -t -O "${#options[@]}" options < <(options_for_tests "$php")
    export NO_INTERACTION=1
    # Tests look for the PHP-FPM that belongs to the PHP here, and then where Debian has it.
    PATH=$(dirname "$php"):$PATH
    # The time limit ends a test that hangs, and no other: machines differ by a factor of five.
    # Several for each processor: they wait for nine tenths of their time, but where valgrind computes.
    [[ -z ${LATCH_VALGRIND:-} ]] || per_processor=2
    # shellcheck disable=SC2086 # there may be several files and folders
    # The order of the options is the order in which PHP reads them.
    "php$LATCH_PHP_VERSION" -n run-tests.php -n -q -j"$(($(nproc) * per_processor))" -p "${RUN_AS:-$php}" \
        "${options[@]}" -d extension="$so" -W results --set-timeout 900 \
        -g FAIL,XFAIL,SKIP,BORK,WARN,LEAK --show-diff --no-progress --no-color $tests
}

# write_runner FILE: the runner of the PHP in question, a copy, because it writes beside itself. It hands out 33 tests at
# a time, so that in the end most of its workers wait for the one that has the slow ones: here each gets the next test
# when it is through with one. And it repeats a test that fails and looks at a clock: here what failed is shown.
write_runner() {
    # shellcheck disable=SC2016 # PHP's variable
    sed -E -e 's/^( *\$maxBatchSize = ).*;$/\10;/' \
        -e 's/^( *)if \(.* && error_may_be_retried\(.*/\1if (false) {/' \
        "$("php-config$LATCH_PHP_VERSION" --prefix)/lib/php/$("php-config$LATCH_PHP_VERSION" --phpapi)/build/run-tests.php" > "$1"
}

# options_for_tests PHP: what the tests use and Debian has as shared objects, one word per line.
options_for_tests() {
    local extensions name
    extensions=$("$1" -n -r 'echo PHP_EXTENSION_DIR;')
    for name in posix sysvsem; do
        [[ ! -f $extensions/$name.so ]] || printf '%s\n' -d extension="$name"
    done
}
