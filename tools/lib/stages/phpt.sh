# Stages "phpt", "phpt-valgrind" and "phpt-zts-debug": PHP's own test runner over tests/phpt, with
# Debian's PHP; with the same under valgrind; with a PHP that has threads and asserts.
# shellcheck shell=bash

# shellcheck source=tools/lib/build.sh
source "$(dirname "${BASH_SOURCE[0]}")/../build.sh"
# shellcheck source=tools/lib/php.sh
source "$(dirname "${BASH_SOURCE[0]}")/../php.sh"

STAGE_PACKAGES=("${LATCH_BUILD_PACKAGES[@]}" "php$LATCH_PHP_VERSION-fpm" libfcgi-bin)
case $STAGE in
    phpt-valgrind) STAGE_PACKAGES+=(valgrind libc6-dbg) ;;
    phpt-zts-debug) STAGE_PACKAGES+=("${LATCH_PHP_BUILD_PACKAGES[@]}") ;;
esac

# All that a test may use and that a PHP configured for nothing else would not have.
ZTS_DEBUG=(--disable-all --enable-cli --enable-fpm --enable-zts --enable-debug
    --enable-pcntl --enable-posix)

stage() {
    local php so prefix
    php=$(command -v "php$LATCH_PHP_VERSION")
    case $STAGE in
        phpt)
            latch_build
            run_phpt "$php" "$LATCH_ROOT/modules/latch.so"
            ;;
        phpt-valgrind)
            latch_build
            run_phpt_under_valgrind "$php" "$LATCH_ROOT/modules/latch.so"
            ;;
        phpt-zts-debug)
            prefix=$(latch_php zts-debug "${ZTS_DEBUG[@]}")
            so=$(latch_build_copy zts-debug "$prefix/bin/phpize" "$prefix/bin/php-config" \
                CFLAGS='-O0 -g')
            run_phpt "$prefix/bin/php" "$so"
            ;;
    esac
}

# run_phpt PHP LATCH_SO [OPTION...]: runs all tests and counts them. They run in a copy, as the
# runner leaves files beside each test.
run_phpt() {
    local php=$1 so=$2 directory=$LATCH_WORK/$STAGE log=$LATCH_WORK/log/$STAGE.log
    local runner options=("${@:3}") status=0 passed failed skipped
    rm -rf "$directory"
    latch_copy "$directory" tests/phpt tests/utils
    runner=$("php-config$LATCH_PHP_VERSION" --prefix)/lib/php/$("php-config$LATCH_PHP_VERSION" \
        --phpapi)/build/run-tests.php
    # Debian has it as a shared object.
    if [[ -f $("$php" -n -r 'echo PHP_EXTENSION_DIR;')/posix.so ]]; then
        options+=(-d extension=posix)
    fi

    (
        cd "$directory"
        export NO_INTERACTION=1
        # Tests look for the PHP-FPM that belongs to the PHP here, and then where Debian has it.
        PATH=$(dirname "$php"):$PATH
        # The order of the options is the order in which PHP reads them.
        "php$LATCH_PHP_VERSION" -n "$runner" -n -q -j"$(nproc)" -p "${RUN_AS:-$php}" \
            "${options[@]}" -d extension="$so" -W results --set-timeout 120 \
            -g FAIL,XFAIL,SKIP,BORK,WARN,LEAK --show-diff --no-progress --no-color "${LATCH_PHPT:-tests/phpt}"
    ) > "$log" 2>&1 < /dev/null || status=$?

    passed=$(results_of "$directory" PASSED)
    skipped=$(results_of "$directory" 'SKIPPED|XFAILED')
    failed=$(results_of "$directory" 'FAILED|BORKED|WARNED|LEAKED|XLEAKED')
    # A runner that did not come to its end counts as a failure.
    ((status == 0 || failed > 0)) || failed=1
    ((passed + failed + skipped > 0)) || failed=1
    if ((failed > 0)); then
        sed -n '/^========DIFF/,/^\(FAIL\|WARN\|LEAK\|BORK\)/p' "$log" | tail -n 500
        tail -n 30 "$log"
    fi
    grep '^SKIP' "$log" | sed 's/^/  /' || true
    count "$STAGE" "$passed" "$failed" "$skipped"
}

# results_of DIRECTORY PATTERN: how many tests ended so.
results_of() {
    { grep -cE "^($2)"$'\t' "$1/results" || true; } 2> /dev/null
}

# run_phpt_under_valgrind PHP LATCH_SO: every PHP that the tests run, their children too, is watched
# by valgrind and writes a report of its own. The runner's own option -m has all of them write to
# one file, where a later process wipes out what an earlier one said.
run_phpt_under_valgrind() {
    local php=$1 so=$2 reports=$LATCH_WORK/valgrind report findings bad=0
    rm -rf "$reports"
    mkdir -p "$reports"
    cat > "$reports/php" <<END
#!/bin/sh
case \$* in
    *run-test-info.php*) exec '$php' "\$@" ;; # of the runner, which loads all that there is
esac
exec valgrind --trace-children=yes --log-file='$reports/%p.log' --num-callers=30 \\
    --fullpath-after= --leak-check=full --show-leak-kinds=definite \\
    --suppressions='$LATCH_ROOT/tests/utils/valgrind.supp' '$php' "\$@"
END
    chmod +x "$reports/php"
    # PHP's allocator hides from valgrind what is done to its memory. The tracking one is malloc()
    # that still frees all memory of a request which ended in a fatal error. And what the JIT of
    # pcre makes is nothing that valgrind understands.
    USE_ZEND_ALLOC=0 USE_TRACKED_ALLOC=1 ZEND_DONT_UNLOAD_MODULES=1 LATCH_VALGRIND=1 \
        RUN_AS=$reports/php run_phpt "$php" "$so" -d pcre.jit=0
    for report in "$reports"/*.log; do
        findings=$(findings_of "$report")
        if [[ -n $findings ]]; then
            ((bad += 1))
            printf '%s\n%s\n\n' "$(sed -n 's/.*Command: //p' "$report")" "$findings"
        fi
    done
    count "$STAGE, what valgrind reports" "$((bad == 0))" "$bad" 0
}

# findings_of REPORT: every wrong use of memory, and what was lost of what Latch had allocated. PHP
# itself loses this and that when a process ends by a signal or in the middle of something.
findings_of() {
    sed -E 's/^==[0-9]+== ?//' "$1" | awk -v ours="$LATCH_ROOT/" '
        BEGIN { RS = ""; ORS = "\n\n" }
        /^[^\n]* definitely lost in loss record/ { if (index($0, ours)) print; next }
        /(^|\n)(Invalid|Conditional jump|Use of uninit|Syscall param|Mismatched|Source and dest)/
        /(^|\n)Process terminating with default action of signal (4|6|7|8|11) /'
}
