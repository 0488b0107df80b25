# Stage "build": what must be true of the sources and of what is built from them.
# shellcheck shell=bash

# shellcheck source=tools/lib/build.sh
source "$(dirname "${BASH_SOURCE[0]}")/../build.sh"
# shellcheck source=tools/lib/arginfo.sh
source "$(dirname "${BASH_SOURCE[0]}")/../arginfo.sh"
# shellcheck source=tools/lib/check.sh
source "$(dirname "${BASH_SOURCE[0]}")/../check.sh"
# shellcheck source=tools/lib/dev.sh
source "$(dirname "${BASH_SOURCE[0]}")/../dev.sh"
# shellcheck source=tools/lib/pages.sh
source "$(dirname "${BASH_SOURCE[0]}")/../pages.sh"

STAGE_PACKAGES=("${LATCH_BUILD_PACKAGES[@]}" "${LATCH_UNIT_PACKAGES[@]}" "${LATCH_ARGINFO_PACKAGES[@]}" clang binutils
    clang-format)

# gcc as users have it: with -flto, which warns once more when it links.
compiles_without_warning() {
    latch_build_copy "$1" "phpize$LATCH_PHP_VERSION" "php-config$LATCH_PHP_VERSION" \
        CC="$1" CFLAGS='-O2 -g -Wall -Wextra -Wshadow -Werror'
}

exports_get_module_alone() {
    local exported
    exported=$(nm -D --defined-only "$LATCH_WORK/build/$1/modules/latch.so" | cut -d ' ' -f 3)
    if [[ $exported != get_module ]]; then
        printf 'exported:\n%s\n' "$exported"
        return 1
    fi
}

# Client libraries are opened when a store needs them: other programs are not to pay for their loading.
loads_no_client_library() {
    local so=$LATCH_WORK/build/$1/modules/latch.so needed called library
    # The loader itself serves thread-local variables.
    needed=$(readelf -d "$so" | grep NEEDED | grep -vE '\[(libc|ld-linux.*)\.so') || true
    called=$(nm -D --undefined-only "$so" \
        | grep -E ' (redis|freeReply|hi_|PQ|mysql_|mariadb_|sqlite3_|SSL_|TLS_|BIO_|ERR_|X509_|OPENSSL_|CRYPTO_)') || true
    if [[ -n $needed$called ]]; then
        printf 'needs:\n%s\ncalls directly (see src/base/library.h):\n%s\n' "$needed" "$called"
        return 1
    fi
    # But it knows them all.
    for library in hiredis ssl pq mariadb sqlite3; do
        grep -qaE "lib$library\.so" "$so" || { echo "built without $library" && return 1; }
    done
}

# A client library that is not where the system has its own is opened by its path. Without OpenSSL, for the next check.
opens_a_library_elsewhere() {
    local prefix=$LATCH_WORK/elsewhere so file
    file=$(basename "$(realpath "$(gcc -print-file-name=libhiredis.so)")")
    rm -rf "$prefix"
    mkdir -p "$prefix/lib/pkgconfig"
    cp "$(gcc -print-file-name="$file")" "$prefix/lib"
    ln -s "$file" "$prefix/lib/libhiredis.so"
    cat > "$prefix/lib/pkgconfig/hiredis.pc" <<PC
Name: hiredis
Description: hiredis
Version: 0.0.1
Cflags: $(pkg-config --cflags hiredis)
Libs: -L$prefix/lib -lhiredis
PC
    so=$(PKG_CONFIG_PATH=$prefix/lib/pkgconfig latch_build_copy elsewhere "phpize$LATCH_PHP_VERSION" \
        "php-config$LATCH_PHP_VERSION" --with-latch-openssl=no \
        CFLAGS='-O0 -fno-lto -Wall -Wextra -Wshadow -Werror')
    # shellcheck disable=SC2016 # PHP's variables
    "php$LATCH_PHP_VERSION" -n -d extension="$so" -r '
        new Latch\Store\RedisStore("redis://localhost");
        preg_match("~\S+/libhiredis\S+$~m", file_get_contents("/proc/self/maps"), $match);
        echo "$match[0]\n";
        exit(str_starts_with($match[0], "$argv[1]/lib/") ? 0 : 1);' "$prefix"
}

# Stores without a server work without the client libraries; a store with a server says what to install.
works_without_libraries() {
    local so output
    so=$(latch_build_copy no-libraries "phpize$LATCH_PHP_VERSION" "php-config$LATCH_PHP_VERSION" \
        --with-latch-redis=no --with-latch-pgsql=no --with-latch-mysql=no --with-latch-sqlite=no \
        CFLAGS='-O0 -fno-lto -Wall -Wextra -Wshadow -Werror')
    if grep -aoE 'lib(hiredis|ssl|pq|mariadb|sqlite3)\.so' "$so"; then
        return 1
    fi
    # shellcheck disable=SC2016 # PHP's variables
    output=$("php$LATCH_PHP_VERSION" -n -d extension="$so" -r '
        echo (new Latch\LockFactory(new Latch\Store\InMemoryStore()))->createLock("r")->acquire() ? "locked\n" : "";
        foreach (["RedisStore" => "redis:", "RedisStringStore" => "redis+string:", "PostgreSqlStore" => "pgsql:", "MysqlStore" => "mysql:"] as $class => $dsn) {
            try { new ("Latch\\Store\\$class")("{$dsn}//localhost"); }
            catch (Latch\Exception\InvalidArgumentException $e) { echo $e->getMessage(), "\n"; }
        }
        try { (new Latch\Store\PdoStore("sqlite::memory:"))->save(new Latch\Key("r")); }
        catch (Latch\Exception\LockStorageException $e) { echo $e->getMessage(), "\n"; }')
    printf '%s\n' "$output"
    [[ $output == locked$'\n'*'no RedisStore: '*hiredis*$'\n'*'no RedisStringStore: '*hiredis*$'\n'*libpq*$'\n'*libmariadb*$'\n'*'a DSN needs PHP'* ]]
}

# A build without OpenSSL has Redis, and says how to have TLS.
works_without_openssl() {
    local so=$1 output
    if grep -ao 'libssl\.so' "$so"; then
        return 1
    fi
    # shellcheck disable=SC2016 # PHP's variables
    output=$("php$LATCH_PHP_VERSION" -n -d extension="$so" -r '
        echo get_class(new Latch\Store\RedisStore("redis://localhost")), "\n";
        try { new Latch\Store\RedisStore("rediss://localhost"); }
        catch (Latch\Exception\InvalidArgumentException $e) { echo $e->getMessage(), "\n"; }')
    printf '%s\n' "$output"
    [[ $output == 'Latch\Store\RedisStore'$'\n'*'this build of Latch does not have'*libssl-dev* ]]
}

# make builds anew what is made of a Lua script when any of them changes, or one is added.
scripts_are_watched() {
    local file new=src/store/redis/script/lua/added.lua
    # shellcheck disable=SC2064 # the folder of now
    trap "rm -f '$LATCH_WORK/build/gcc/$new'" EXIT
    cd "$LATCH_WORK/build/gcc"
    make -q src/store/redis/script/script.lo || { echo 'make builds although nothing has changed' && return 1; }
    for file in src/store/redis/script/lua/*.{lua,awk}; do
        if make -q -W "$PWD/$file" src/store/redis/script/script.lo; then
            echo "make builds nothing after a change of $file"
            return 1
        fi
    done
    touch "$new"
    ! make -q src/store/redis/script/script.lo || { echo 'make does not see a new script' && return 1; }
}

# CONTRIBUTING.md's own commands; then a header's change rebuilds what includes it, and nothing is linked as a whole.
developer_loop() {
    local loop
    loop=$(commands "$LATCH_ROOT/CONTRIBUTING.md" 'Build, change, test')
    (cd "$LATCH_ROOT" && latch_sharing "$LATCH_ROOT" bash -euxc "$loop")
    cd "$LATCH_DEV/build"
    make -q src/engine/op.lo || { echo 'make builds although nothing has changed' && return 1; }
    # By ccache its name is a relative one.
    ! make -q -W "$LATCH_DEV/source/src/latch.h" -W ../source/src/latch.h src/engine/op.lo || { echo 'make does not watch headers' && return 1; }
    ! readelf -S src/engine/.libs/op.o | grep -q '\.gnu\.lto_' || { echo 'objects for -flto' && return 1; }
}

# Names missing packages to a user without sudo.
missing_packages_are_named() {
    local said
    ! said=$(dpkg-query() { printf 'installed gcc\n'; } && latch_name_missing gcc libcmocka-dev make 2>&1) || return 1
    [[ $said == *': missing: sudo apt-get install libcmocka-dev make ' ]] || { echo "$said" && return 1; }
}

# The engine knows neither PHP nor Zend.
engine_is_free_of_php() {
    ! grep -rnEi '#[[:space:]]*include[[:space:]]*["<](php|zend|tsrm|sapi|main/|ext/)' \
        "$LATCH_ROOT/src"
}

# The objects of clang: gcc's are not machine code before they are linked (-flto).
calls_go_down_only() {
    "php$LATCH_PHP_VERSION" "$LATCH_ROOT/tools/lib/layers.php" "$LATCH_ROOT/tools/lib/layers.txt" "$1"
}

# The check finds a call from a lower layer to a higher one.
upward_call_is_found() {
    local copy=$LATCH_WORK/upward output
    rm -rf "$copy"
    mkdir "$copy"
    (cd "$1" && find src ext -path '*/.libs/*.o' -exec cp --parents -t "$copy" {} +)
    clang -c -o "$copy/src/base/.libs/planted.o" -xc - <<< 'int latch_op_begin(void);
        int planted(void) { return latch_op_begin(); }'
    if output=$(calls_go_down_only "$copy"); then
        echo 'nothing was found'
        return 1
    fi
    grep -qF 'src/base/planted.c uses latch_op_begin of src/engine/op.c' <<< "$output"
}

# Length of the path of an uncontended acquire, and of a release.
main_path_is_short() {
    "$LATCH_ROOT/tools/path" | awk '
        { print }
        $2 > 45 || $5 > 9 || $7 > 25 { failed = 1; print "more than 45 functions, 9 files or 25 changes of file" }
        END { exit failed || NR != 2 }'
}

# Function names are unique.
functions_have_names_of_their_own() {
    (cd "$LATCH_ROOT" && git ls-files -z 'src/*.[ch]' 'ext/*.[ch]' \
        | xargs -0 "php$LATCH_PHP_VERSION" tools/lib/function_names.php)
}

# Documents name files and folders that are there.
named_files_exist() {
    local name missing=0
    # In documents `src/latch.h`, in the benchmarks' script "$root/src/latch.h".
    # shellcheck disable=SC2016 # that script's variable
    for name in $(cd "$LATCH_ROOT" && {
        grep -ohE '`(src|ext|tests|tools|bin|stubs|benchmark)/[][A-Za-z0-9_./*-]*`' README.md docs/*.md | tr -d '`'
        grep -ohE '\$root/(src|ext|tests|tools)/[A-Za-z0-9_./-]+' benchmark/run | sed 's,^\$root/,,'
    } | sort -u); do
        # shellcheck disable=SC2086 # there are wildcards
        (cd "$LATCH_ROOT" && ls -d $name > /dev/null 2>&1) || { echo "no $name" && missing=1; }
    done
    return "$missing"
}

arginfo_is_current() {
    local directory header
    directory=$(mktemp -d)
    # shellcheck disable=SC2064 # the directory of now
    trap "rm -rf '$directory'" EXIT
    latch_arginfo "$directory" > /dev/null
    for header in "$LATCH_ROOT"/stubs/*.stub.php; do
        header=${header##*/}
        header=${header%.stub.php}_arginfo.h
        diff -u "$LATCH_ROOT/stubs/$header" "$directory/$header" \
            || { echo 'Run tools/arginfo.' && return 1; }
    done
}

sources_are_formatted() {
    (cd "$LATCH_ROOT" && git ls-files 'src/*.[ch]' 'ext/*.[ch]' | xargs clang-format --dry-run -Werror)
}

stage() {
    local compiler passed=0 failed=0
    for compiler in gcc clang; do
        check "$compiler has nothing to warn of" compiles_without_warning "$compiler"
        check "built by $compiler, only get_module is exported" exports_get_module_alone "$compiler"
        check "built by $compiler, it is loaded without a client library" loads_no_client_library "$compiler"
    done
    check 'make builds anew when any Lua script changes' scripts_are_watched
    check 'a client library elsewhere is opened by its path' opens_a_library_elsewhere
    check 'it works without client libraries, and says so' works_without_libraries
    check 'it works without OpenSSL, and says so' works_without_openssl "$LATCH_WORK/build/elsewhere/modules/latch.so"
    check "tools/dev builds, runs a test and follows headers, by CONTRIBUTING.md's commands" developer_loop
    check 'tools/dev names what is missing' missing_packages_are_named
    check 'src/ includes no header of PHP' engine_is_free_of_php
    check 'calls go down only, from layer to layer' calls_go_down_only "$LATCH_WORK/build/clang"
    check 'a call that goes up is found' upward_call_is_found "$LATCH_WORK/build/clang"
    check 'the main path is short' main_path_is_short
    check 'no two functions have the same name' functions_have_names_of_their_own
    check 'the files that documents and benchmarks name are there' named_files_exist
    check 'stubs/*_arginfo.h are current' arginfo_is_current
    check 'src/ and ext/ are formatted by .clang-format' sources_are_formatted
    count build "$passed" "$failed" 0
}
