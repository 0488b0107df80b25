# Stages "phpt…": PHP's own test runner over tests/phpt, with the PHP that Debian has; with the same
# under valgrind; with one that has threads and asserts; with the PHPs of newer Debians.
# shellcheck shell=bash

case $STAGE in
    phpt-8.4*) export LATCH_PHP_VERSION=8.4 LATCH_SUITE=trixie ;;
    phpt-8.5*) export LATCH_PHP_VERSION=8.5 LATCH_SUITE=sid ;;
esac

# shellcheck source=tools/lib/build.sh
source "$(dirname "${BASH_SOURCE[0]}")/../build.sh"
# shellcheck source=tools/lib/newer_php.sh
source "$(dirname "${BASH_SOURCE[0]}")/../newer_php.sh"
# shellcheck source=tools/lib/phpt.sh
source "$(dirname "${BASH_SOURCE[0]}")/../phpt.sh"

case $STAGE in
    phpt-8.*) STAGE_PACKAGES=("${LATCH_FOLDER_PACKAGES[@]}" git) ;;
    # zsh: the completion for it is tested where the tests run on the machine itself
    *) STAGE_PACKAGES=("${LATCH_BUILD_PACKAGES[@]}" "php$LATCH_PHP_VERSION-fpm"
        "php$LATCH_PHP_VERSION-pgsql" "php$LATCH_PHP_VERSION-mysql" "php$LATCH_PHP_VERSION-sqlite3"
        "php$LATCH_PHP_VERSION-redis" "${LATCH_TOOL_PACKAGES[@]}" zsh) ;;
esac
case $STAGE in
    phpt-valgrind) STAGE_PACKAGES+=(valgrind libc6-dbg) ;;
    phpt-zts-debug) STAGE_PACKAGES+=("${LATCH_PHP_BUILD_PACKAGES[@]}") ;;
    phpt-asan) STAGE_PACKAGES+=("${LATCH_PHP_BUILD_PACKAGES[@]}" binutils) ;;
esac

# All that a test may use and that a PHP configured for nothing else would not have.
ZTS_DEBUG=(--disable-all --disable-cgi --disable-phpdbg --enable-cli --enable-fpm
    --enable-zts --enable-debug --enable-pcntl --enable-posix --enable-sysvsem)

stage() {
    local php so
    find_php_and_extension
    case $STAGE in
        phpt-valgrind) run_phpt_under_valgrind "$php" "$so" ;;
        # Allocations are malloc()'s, as PHP's allocator hides accesses to its memory from ASan. Leaks are
        # what the stages phpt-…-zts-debug and phpt-valgrind look for. LATCH_INSTRUMENTED: PHP is slow, most of all to
        # start; tests that start it many times to run the same C code as others are skipped.
        phpt-asan) USE_ZEND_ALLOC=0 USE_TRACKED_ALLOC=1 LATCH_INSTRUMENTED=1 run_phpt "$php" "$so" ;;
        *) run_phpt "$php" "$so" ;;
    esac
}

# find_php_and_extension: sets `php` and `so` to those of the stage, and LATCH_FOLDER.
find_php_and_extension() {
    local prefix
    php=/usr/bin/php$LATCH_PHP_VERSION
    case $STAGE in
        phpt-8.4*) LATCH_FOLDER=$(latch_folder_with_8.4) ;;
        phpt-8.5) LATCH_FOLDER=$(latch_folder_with_8.5) ;;
    esac
    case $STAGE in
        *-zts-debug)
            prefix=$(latch_php zts-debug "${ZTS_DEBUG[@]}")
            php=$prefix/bin/php
            so=$(latch_build_copy "$STAGE" "$prefix/bin/phpize" "$prefix/bin/php-config" CFLAGS="-O0 $LATCH_STRICT")
            ;;
        phpt-asan)
            # A helper thread that was cancelled has ASan's marks on its stack, over which its own handling of
            # the signal stack stumbles at the thread's end.
            export ASAN_OPTIONS=detect_leaks=0:use_sigaltstack=0
            prefix=$(latch_php asan "${ZTS_DEBUG[@]}" --enable-address-sanitizer)
            php=$prefix/bin/php
            # In the compiler's name, because libtool drops them from the flags when it links, which is when
            # objects for -flto get what the sanitizers add.
            so=$(latch_build_copy "$STAGE" "$prefix/bin/phpize" "$prefix/bin/php-config" \
                CC='gcc -fsanitize=address,undefined -fno-sanitize-recover=all' \
                CFLAGS='-O1 -g -fno-lto -fno-omit-frame-pointer')
            nm -D "$so" | grep __asan_report > /dev/null || latch_die "$so has nothing of ASan in it"
            ;;
        phpt-8.*) so=$(latch_build_on_debian) ;;
        *)
            latch_build
            so=$LATCH_ROOT/modules/latch.so
            ;;
    esac
}

# run_phpt_under_valgrind PHP LATCH_SO: every PHP that the tests run, their children too, is watched
# by valgrind and writes a report of its own. The runner's own option -m has all of them write to
# one file, where a later process wipes out what an earlier one said. Redis servers, which are started
# by setpriv, are not watched.
run_phpt_under_valgrind() {
    local php=$1 so=$2 reports=$LATCH_WORK/valgrind report findings bad=0
    rm -rf "$reports"
    mkdir -p "$reports"
    cat > "$reports/php" <<END
#!/bin/sh
case \$* in
    *run-test-info.php*) exec '$php' "\$@" ;; # of the runner, which loads all that there is
esac
# What the JIT of pcre makes is nothing that valgrind understands.
exec valgrind --trace-children=yes --trace-children-skip='*/setpriv' \\
    --log-file='$reports/%p.log' --num-callers=30 --fullpath-after= \\
    --leak-check=full --show-leak-kinds=definite \\
    --suppressions='$LATCH_ROOT/tests/utils/valgrind.supp' '$php' -d pcre.jit=0 "\$@"
END
    chmod +x "$reports/php"
    # PHP's allocator hides from valgrind what is done to its memory. The tracking one is malloc()
    # that still frees all memory of a request which ended in a fatal error.
    USE_ZEND_ALLOC=0 USE_TRACKED_ALLOC=1 ZEND_DONT_UNLOAD_MODULES=1 LATCH_VALGRIND=1 LATCH_INSTRUMENTED=1 \
        RUN_AS=$reports/php run_phpt "$php" "$so"
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
