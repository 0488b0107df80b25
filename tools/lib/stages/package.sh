# Stage "package": what is handed to users. PIE's manifest, the package for PECL from its list of files
# to its uninstallation, the stubs for IDEs, PHPStan and Psalm.
# shellcheck shell=bash

# shellcheck source=tools/lib/build.sh
source "$(dirname "${BASH_SOURCE[0]}")/../build.sh"
# shellcheck source=tools/lib/check.sh
source "$(dirname "${BASH_SOURCE[0]}")/../check.sh"
# shellcheck source=tools/lib/package.sh
source "$(dirname "${BASH_SOURCE[0]}")/../package.sh"
# shellcheck source=tools/lib/peers.sh
source "$(dirname "${BASH_SOURCE[0]}")/../peers.sh"

STAGE_PACKAGES=("${LATCH_BUILD_PACKAGES[@]}" "${LATCH_PECL_PACKAGES[@]}" "${LATCH_PEER_PACKAGES[@]}"
    "php$LATCH_PHP_VERSION-xml" "php$LATCH_PHP_VERSION-redis" busybox)

PHP=php$LATCH_PHP_VERSION
WORK=$LATCH_WORK/package

stage() {
    local passed=0 failed=0
    latch_build
    rm -rf "$WORK"
    mkdir -p "$WORK"
    # For the tests, which run in shells of their own.
    LATCH_MANIFEST_VENDOR=$(latch_composer manifest \
        "$LATCH_ROOT/tools/lib/package/composer/composer.json")
    LATCH_VENDOR=$(latch_composer phpstan "$LATCH_ROOT/tests/phpstan/composer.json")
    LATCH_PSALM_VENDOR=$(latch_composer psalm "$LATCH_ROOT/tests/psalm/composer.json")
    export LATCH_MANIFEST_VENDOR LATCH_VENDOR LATCH_PSALM_VENDOR

    check 'composer.json is a manifest for PIE' manifest_is_valid
    check 'stubs/composer.json is valid' stubs_manifest_is_valid
    check 'the lists of files are in step with the tree' "$LATCH_ROOT/tools/package" --check
    check 'a file that is missing in a list is found' missing_file_is_found
    check 'all versions are the same' versions_agree
    check 'tools/package makes the package' package_is_made
    check 'it needs neither PHP nor Debian, and names what is missing' package_is_made_anywhere
    check 'pecl takes the package' package_is_valid
    check 'pecl install builds and installs it' package_is_installed
    check 'the installed extension locks' extension_locks
    check 'the installed script locks' script_locks
    check 'scripts, documents, stubs and tests are installed' files_are_installed
    check 'pecl uninstall leaves nothing' package_is_uninstalled
    check 'make enable writes where php --ini says, and nothing anew' make_enables
    check "a user's project gets the stubs by Composer" project_has_stubs
    check 'PHPStan passes it without the extension, and it uses the whole API' project_passes
    check 'what is not used is found' unused_is_found
    check 'the project does what PHPStan was told' project_runs
    check 'PHPStan finds wrong uses' wrong_uses_are_found
    check 'Psalm passes it with the extension' project_passes_psalm
    check 'Psalm finds wrong uses' wrong_uses_are_found_by_psalm
    count package "$passed" "$failed" 0
}

manifest_is_valid() {
    "$PHP" "$LATCH_ROOT/tools/lib/package/manifest.php" "$LATCH_MANIFEST_VENDOR" "$LATCH_ROOT"
}

stubs_manifest_is_valid() {
    COMPOSER_ALLOW_SUPERUSER=1 composer validate --strict --no-interaction --no-check-lock \
        "$LATCH_ROOT/stubs/composer.json"
}

# The check of the lists must fail in a tree with one source, one header and one test more.
missing_file_is_found() {
    local output file
    latch_copy "$WORK/more"
    for file in src/store/forgotten.c src/forgotten.h tests/phpt/module/forgotten.phpt; do
        touch "$WORK/more/$file"
    done
    if output=$(cd "$WORK/more" && find . -type f -printf '%P\0' | sort -z \
        | "$PHP" "$LATCH_ROOT/tools/lib/package/lists.php" . --check); then
        echo 'nothing was found'
        return 1
    fi
    for file in 'config.m4 does not compile src/store/forgotten.c' 'name="src/store/forgotten.c"' \
        'name="src/forgotten.h"' 'name="tests/phpt/module/forgotten.phpt"'; do
        grep -qF "$file" <<< "$output" || { echo "not found: $file" && return 1; }
    done
}

# In the C source, the built extension, package.xml and the changelog.
versions_agree() {
    local version stability heading date
    version=$(latch_version)
    case $version in
        *-dev) stability=devel heading='## Unreleased' ;;
        *alpha*) stability=alpha ;;
        *beta* | *RC*) stability=beta ;;
        *) stability=stable ;;
    esac
    date=$(in_package_xml date)
    is "$("$PHP" -d extension="$LATCH_ROOT/modules/latch.so" -r 'echo phpversion("latch");')" "$version"
    is "$(in_package_xml version/release)" "$(latch_pecl_version)"
    is "$(in_package_xml version/api)" "$(latch_pecl_version)"
    is "$(in_package_xml stability/release)" "$stability"
    is "$(in_package_xml stability/api)" "$stability"
    # A release has its date in both.
    is "$(grep -m 1 '^## ' "$LATCH_ROOT/CHANGELOG.md")" "${heading:-## $version ($date)}"
}

# in_package_xml PATH: the text of that element of package.xml.
in_package_xml() {
    # shellcheck disable=SC2016 # PHP's variables
    "$PHP" -r 'echo simplexml_load_string(str_replace(" xmlns=", " was=", file_get_contents($argv[1])))
        ->xpath("/package/$argv[2]")[0];' "$LATCH_ROOT/package.xml" "$1"
}

# is ACTUAL EXPECTED
is() {
    if [[ $1 != "$2" ]]; then
        echo "is \"$1\", should be \"$2\""
        return 1
    fi
}

package_is_valid() {
    local output
    output=$(latch_pecl "$WORK/pecl" package-validate "$WORK/latch-$(latch_pecl_version).tgz")
    echo "$output"
    # A release has a date, which is not today's on most days.
    grep -qE '^Validation: 0 error\(s\), [0-9]+ warning' <<< "$output" \
        && ! grep '^Warning: ' <<< "$output" | grep -qvE 'field "date" - Release Date "[0-9-]+" is not today$'
}

# Users build the same files as in git, byte by byte.
package_is_made() {
    local name
    name=latch-$(latch_pecl_version)
    is "$("$LATCH_ROOT/tools/package" "$WORK" 2> "$WORK/said")" "$WORK/$name.tgz"
    is "$(< "$WORK/said")" ''
    tar -xzf "$WORK/$name.tgz" -C "$WORK" "$name"
    is "$(find "$WORK/$name" -type f | wc -l)" "$(grep -c '<file ' "$LATCH_ROOT/package.xml")"
    cd "$WORK/$name"
    find . -type f -print0 | xargs -0 -I FILE cmp FILE "$LATCH_ROOT/FILE"
}

# With the programs of busybox alone, none of which installs anything or asks for root: the same package, and which of
# the programs that build it are missing.
package_is_made_anywhere() {
    local bin=$WORK/bin made=$WORK/anywhere program
    mkdir -p "$bin" "$made"
    for program in $(busybox --list); do
        ln -sf "$(command -v busybox)" "$bin/$program"
    done
    rm -f "$bin"/{dpkg,rpm,su}
    said() {
        env -i PATH="$bin" "$bin/sh" "$LATCH_ROOT/tools/package" "$made" 2>&1 > /dev/null
    }
    is "$(said)" "tools/package: to build Latch here, this is missing: php phpize cc make autoconf
    (docs/install.md says what it takes)"
    is "$(tar -xzOf "$made"/latch-*.tgz | sha256sum)" "$(tar -xzOf "$WORK"/latch-*.tgz | sha256sum)"
    ln -s "$(command -v true)" "$bin/apt-get"
    is "$(said)" "tools/package: to build Latch here, this is missing: php phpize cc make autoconf
    sudo apt install php-cli php-dev gcc libc6-dev make autoconf"
    ln -s "$(command -v "$PHP")" "$bin/php"
    is "$(said)" "tools/package: to build Latch here, this is missing: phpize cc make autoconf
    sudo apt install php$LATCH_PHP_VERSION-dev gcc libc6-dev make autoconf"
    for program in cc make autoconf; do
        ln -s "$(command -v "$program")" "$bin/$program"
    done
    ln -s "$(command -v "phpize$LATCH_PHP_VERSION")" "$bin/phpize"
    ln -s "$(command -v "php-config$LATCH_PHP_VERSION")" "$bin/php-config"
    is "$(said)" ''
}

package_is_installed() {
    local output
    # An installation asks nothing, or takes the answer that it proposes for an empty line. Stage "install" compiles as
    # users do.
    output=$(CFLAGS='-O0 -fno-lto' CONFIG_SHELL=/bin/sh latch_pecl "$WORK/pecl" install \
        "$WORK/latch-$(latch_pecl_version).tgz" < <(yes ''))
    printf '%s\n' "$output" | tail -n 50
    grep -q '^install ok: channel://pecl.php.net/latch-' <<< "$output"
    test -f "$WORK/pecl/ext/latch.so"
}

extension_locks() {
    # shellcheck disable=SC2016 # PHP's variables
    "$PHP" -n -d extension="$WORK/pecl/ext/latch.so" -r '
        $lock = (new Latch\LockFactory(new Latch\Store\FlockStore($argv[1])))->createLock("package");
        exit($lock->synchronized(fn () => $lock->isHeld()) && !$lock->isHeld() ? 0 : 1);' "$WORK/locks"
}

# The script that is in the PATH after an installation, with the installed extension.
script_locks() {
    local status=0
    mkdir -p "$WORK/ini" "$WORK/php" "$WORK/locks"
    echo "extension=$WORK/pecl/ext/latch.so" > "$WORK/ini/latch.ini"
    ln -s "$(command -v "$PHP")" "$WORK/php/php"
    export PHP_INI_SCAN_DIR=:$WORK/ini PATH=$WORK/pecl/bin:$WORK/php:$PATH
    latch --version
    latch doctor --store="flock://$WORK/locks"
    run() {
        timeout --signal=KILL 20 latch run --store="flock://$WORK/locks" job -- "$@"
    }
    run true
    # Exclusion while a command runs under the lock: the inner command ends with 75.
    run latch run --store="flock://$WORK/locks" job -- true || status=$?
    is "$status" 75
}

# Files that are not compiled are installed as docs/install.md says, with the tree's contents.
files_are_installed() {
    local file role place
    while IFS=$'\t' read -r file role; do
        case $role in
            src) continue ;;
            script) place=bin/${file##*/} ;;
            doc) place=pear/docs/latch/$file ;;
            test) place=pear/tests/latch/$file ;;
            data) place=pear/data/latch/$file ;;
        esac
        cmp "$LATCH_ROOT/$file" "$WORK/pecl/$place"
    done < <(sed -nE 's/^ *<file name="([^"]+)" role="([^"]+)".*/\1\t\2/p' "$LATCH_ROOT/package.xml")
}

package_is_uninstalled() {
    local left
    latch_pecl "$WORK/pecl" uninstall latch
    # Files other than pecl's own and this test's would be Latch's.
    left=$(cd "$WORK/pecl" && find . -type f ! -path './pear/php/*' ! -path './tools/*' ! -name '*.conf')
    is "$left" ''
}

# Where there is no phpenmod; stage "install" has Debian's.
make_enables() {
    local ini=$WORK/scanned output
    enable() {
        make -s -f "$LATCH_ROOT/Makefile.frag" -f <(echo install:) enable PHP_EXECUTABLE="env PHP_INI_SCAN_DIR=$1 $PHP"
    }
    mkdir "$ini"
    is "$(enable "$ini")" "Enabled by:                      $ini/latch.ini"
    is "$(< "$ini/latch.ini")" 'extension=latch'
    echo 'latch.symfony=1' >> "$ini/latch.ini"
    is "$(enable "$ini:/elsewhere")" "Enabled already, by:             $ini/latch.ini"
    is "$(< "$ini/latch.ini")" $'extension=latch\nlatch.symfony=1'
    output=$(enable '' 2>&1) && return 1
    grep -qF 'Put the line extension=latch into the php.ini' <<< "$output"
    grep -q '^Configuration File (php.ini) Path: /' <<< "$output"
}

# Follows docs/install.md, with a folder of the stubs.
project_has_stubs() {
    latch_copy "$WORK/copy" tests/phpstan
    mv "$WORK/copy/tests/phpstan/project" "$WORK/project"
    cd "$WORK/project"
    export COMPOSER_ALLOW_SUPERUSER=1
    composer config repositories.latch path "$LATCH_ROOT/stubs"
    # Disables Packagist, which is not needed.
    composer config repositories.packagist.org false
    composer install --no-interaction --no-progress
    test -f vendor/latch/stubs/phpstan.neon
}

# phpstan CONFIGURATION [OPTION...]: runs PHPStan in a PHP that has no Latch.
phpstan() {
    local configuration=$1
    shift
    "$PHP" -r 'exit(extension_loaded("latch") ? 1 : 0);' \
        || { echo 'this PHP has Latch, so that the stubs would not be tested' && return 1; }
    "$PHP" "$LATCH_VENDOR/bin/phpstan" analyse --configuration="$configuration" --no-progress \
        --autoload-file="$LATCH_ROOT/tests/phpstan/autoload.php" "$@"
}

# strictly CONFIGURATION: a configuration with the project's own, the strict rules and the rule that
# all of the API is used.
strictly() {
    cat > "$1" <<END
includes:
    - $WORK/project/phpstan.neon
    - $LATCH_VENDOR/phpstan/phpstan-strict-rules/rules.neon
    - $LATCH_ROOT/tests/phpstan/rules/rules.neon
parameters:
    tmpDir: $1.cache
END
}

project_passes() {
    "$PHP" -d extension="$LATCH_ROOT/modules/latch.so" "$LATCH_ROOT/tests/phpstan/api.php" \
        > "$WORK/api"
    strictly "$WORK/strict.neon"
    LATCH_API=$WORK/api phpstan "$WORK/strict.neon" --error-format=raw
}

unused_is_found() {
    local output line
    cat "$WORK/api" - > "$WORK/more-api" <<'END'
Latch\Store\ForgottenStore
Latch\Lock::forgotten
Latch\Key::FORGOTTEN
END
    strictly "$WORK/more.neon"
    output=$(LATCH_API=$WORK/more-api phpstan "$WORK/more.neon" --error-format=raw) && return 1
    for line in 'Store\ForgottenStore' 'Lock::forgotten' 'Key::FORGOTTEN'; do
        grep -qF "does not use Latch\\$line." <<< "$output"
    done
    is "$(grep -c . <<< "$output")" 3
}

project_runs() {
    # Also under nohup: the project finds out that it ends with its terminal.
    env --default-signal=HUP "$PHP" -d extension="$LATCH_ROOT/modules/latch.so" -d error_reporting=-1 -d display_errors=1 \
        -d auto_prepend_file="$LATCH_VENDOR/autoload.php" "$WORK/project/main.php" "$WORK/locks" \
        > "$WORK/output"
    is "$(< "$WORK/output")" 'all went well'
}

wrong_uses_are_found() {
    cat > "$WORK/wrong.neon" <<END
includes:
    - $LATCH_ROOT/stubs/phpstan.neon
parameters:
    level: max
    paths: [$LATCH_ROOT/tests/phpstan/wrong]
    tmpDir: $WORK/wrong.cache
END
    phpstan "$WORK/wrong.neon" --error-format=json > "$WORK/wrong.json" || true
    "$PHP" "$LATCH_ROOT/tests/phpstan/compare.php" "$LATCH_ROOT/tests/phpstan/wrong/wrong.php" \
        < "$WORK/wrong.json"
}

# psalm FILE_OR_FOLDER...: runs Psalm on parts of the project, as docs/install.md says, in a PHP with Latch and phpredis:
# without the plugin it crashes there, as it takes phpredis's classes for known, without knowing them.
psalm() {
    local path
    mkdir -p "$WORK/psalm"
    echo "extension=$LATCH_ROOT/modules/latch.so" > "$WORK/psalm/latch.ini"
    export PHP_INI_SCAN_DIR=:$WORK/psalm
    "$PHP" -r 'exit(extension_loaded("latch") && extension_loaded("redis") ? 0 : 1);' \
        || { echo 'this PHP lacks Latch or phpredis' && return 1; }
    # Psalm's folder has psr/log, too, which a project has for itself.
    cat > "$WORK/project/psalm-autoload.php" <<END
<?php
require '$LATCH_PSALM_VENDOR/autoload.php';
require __DIR__ . '/vendor/autoload.php';
END
    {
        echo '<psalm xmlns="https://getpsalm.org/schema/config" errorLevel="2" autoloader="psalm-autoload.php">'
        echo '<projectFiles>'
        for path; do
            if [[ -d $path ]]; then echo "<directory name=\"$path\"/>"; else echo "<file name=\"$path\"/>"; fi
        done
        echo '</projectFiles><plugins>'
        sed -n '/<pluginClass/p' "$LATCH_ROOT/docs/install.md"
        echo '</plugins></psalm>'
    } > "$WORK/project/psalm.xml"
    cd "$WORK/project"
    "$PHP" "$LATCH_PSALM_VENDOR/bin/psalm" --no-cache --threads=1 --no-progress --output-format=text
}

project_passes_psalm() {
    psalm "$WORK/project/src" "$WORK/project/main.php"
}

# Whatever PHPStan is to complain of in that file, Psalm complains of as well.
wrong_uses_are_found_by_psalm() {
    local file=$LATCH_ROOT/tests/phpstan/wrong/wrong.php output line
    output=$(psalm "$file") && return 1
    while IFS=: read -r line _; do
        grep -q "wrong\.php:$line:" <<< "$output" || { printf 'line %d is not found:\n%s\n' "$line" "$output"; return 1; }
    done < <(grep -n '// error: ' "$file")
}
