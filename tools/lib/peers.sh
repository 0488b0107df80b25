# The PHP packages that the behaviour tests run on or compare with, all of them in the cache.
# shellcheck shell=bash

# shellcheck source=tools/lib/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
# shellcheck source=tools/lib/debian.sh
source "$(dirname "${BASH_SOURCE[0]}")/debian.sh"

# Packages for Composer, on this machine's own PHP.
LATCH_COMPOSER_PACKAGES=(composer ca-certificates git unzip xz-utils)
# shellcheck disable=SC2034 # for the scripts that source this file
LATCH_PEER_PACKAGES=("php$LATCH_PHP_VERSION-cli" "php$LATCH_PHP_VERSION-xml"
    "php$LATCH_PHP_VERSION-mbstring" "${LATCH_COMPOSER_PACKAGES[@]}")

# latch_composer NAME MANIFEST: prints the vendor folder with what that composer.json requires, in
# the newest releases that there were when it was first asked for.
latch_composer() {
    latch_alone "composer-$1" latch_composer_alone "$@"
}

latch_composer_alone() {
    local name=$1 manifest=$2 directory
    directory=$LATCH_CACHE/composer/$name-$(sha256sum < "$manifest" | cut -c 1-8)
    if [[ ! -f $directory/.complete ]]; then
        rm -rf "$directory"
        mkdir -p "$directory"
        cp "$manifest" "$directory/composer.json"
        latch_say "fetching what $name needs from Packagist"
        COMPOSER_ALLOW_SUPERUSER=1 COMPOSER_VENDOR_DIR=$directory/vendor \
            latch_quietly "$LATCH_WORK/log/composer-$name.log" composer update \
            --working-dir="$directory" --no-interaction --no-progress --no-plugins || return
        touch "$directory/.complete"
    fi
    printf '%s\n' "$directory/vendor"
}

# latch_symfony_components VERSION: unpacks components of that version of Symfony that the registry does not have:
# those of Debian 13, or of sid or, if newer, of its experimental.
latch_symfony_components() {
    local version=$1 suite=sid polyfills=(php-symfony-polyfill-{deepclone,php85}) packages
    if [[ $version == 6.4 ]]; then
        suite=trixie polyfills=()
    fi
    mapfile -t packages < <(printf "php-symfony-%s=$version*\n" \
        clock messenger rate-limiter redis-messenger scheduler)
    [[ $version != 8.1 ]] || packages+=("php-symfony-doctrine-messenger=$version*")
    LATCH_SUITE=$suite latch_debian_files "symfony-$version" "${packages[@]}" "${polyfills[@]}" > /dev/null
}

# latch_laravel: prints the vendor folder with the Laravel that is measured.
latch_laravel() {
    latch_symfony_components 7.4 || return
    COMPOSER_MIRROR_PATH_REPOS=1 latch_composer laravel "$LATCH_ROOT/benchmark/laravel/composer.json"
}

# latch_symfony_app VERSION: prints the vendor folder of the tests' application on that version of Symfony.
latch_symfony_app() {
    local version=$1
    latch_symfony_components "$version" || return
    # Copies the files, instead of linking into that folder.
    COMPOSER_MIRROR_PATH_REPOS=1 latch_composer "symfony-app-$version" \
        "$LATCH_ROOT/tests/phpunit/symfony-app/symfony-$version/composer.json"
}

# latch_symfony_bundle VERSION: prints the vendor folder of the application that tests the bundle on that version of
# Symfony.
latch_symfony_bundle() {
    local version=$1
    latch_symfony_components "$version" || return
    if [[ $version == 7.4 ]]; then
        LATCH_SUITE=sid latch_debian_files "symfony-amqp-$version" "php-symfony-amqp-messenger=$version*" > /dev/null || return
    fi
    COMPOSER_MIRROR_PATH_REPOS=1 latch_composer "symfony-bundle-$version" \
        "$LATCH_ROOT/bridge/symfony/tests/Behaviour/symfony-$version/composer.json"
}

# latch_laravel_app VERSION: prints the vendor folder of the application that tests latch/laravel on that Laravel.
latch_laravel_app() {
    local version=$1
    LATCH_SUITE=sid latch_debian_files laravel php-fruitcake-php-cors php-symfony-clock=7.4* \
        php-symfony-polyfill-php8{5,6} > /dev/null || return
    COMPOSER_MIRROR_PATH_REPOS=1 latch_composer "laravel-app-$version" \
        "$LATCH_ROOT/bridge/laravel/tests/laravel-$version/composer.json"
}

# latch_debian_lock: prints the autoload.php of Debian's php-symfony-lock, which is not installed.
latch_debian_lock() {
    local directory
    directory=$(latch_debian_files lock php-symfony-lock php-psr-log \
        php-symfony-deprecation-contracts) || return
    printf '%s\n' "$directory/usr/share/php/Symfony/Component/Lock/autoload.php"
}

# latch_debian_semaphore [VERSION]: prints the autoload.php of the php-symfony-semaphore of LATCH_SUITE, or of that
# version in sid or, if newer, in experimental, with the php-symfony-lock of that version beside it; they are not
# installed. Packagist's copy may lack the package.
latch_debian_semaphore() {
    local directory
    if (($# > 0)); then
        directory=$(LATCH_SUITE=sid latch_debian_files "semaphore-$1" "php-symfony-semaphore=$1*" \
            "php-symfony-lock=$1*" php-symfony-deprecation-contracts php-psr-log) || return
    else
        directory=$(latch_debian_files semaphore php-symfony-semaphore php-psr-log) || return
    fi
    printf '%s\n' "$directory/usr/share/php/Symfony/Component/Semaphore/autoload.php"
}

# latch_symfony_tests [VERSION]: prints the folder with the tests of Debian's php-symfony-lock, of LATCH_SUITE.
latch_symfony_tests() {
    latch_alone symfony-tests latch_symfony_tests_alone Lock '' "$@"
}

# latch_semaphore_tests: the same of php-symfony-semaphore.
latch_semaphore_tests() {
    latch_alone symfony-tests latch_symfony_tests_alone Semaphore -semaphore
}

# latch_symfony_tests_alone COMPONENT SUFFIX [VERSION]
latch_symfony_tests_alone() {
    local component=$1 suffix=$2 tarball directory
    shift 2
    tarball=$(latch_debian_source symfony '*.orig.tar.xz' "$@") || return
    directory=$LATCH_CACHE/symfony-tests/$(basename "$tarball" .orig.tar.xz)$suffix
    if [[ ! -f $directory/.complete ]]; then
        rm -rf "$directory"
        mkdir -p "$directory"
        tar -xJf "$tarball" -C "$directory" --strip-components=6 --wildcards \
            "*/src/Symfony/Component/$component/Tests/*" || return
        touch "$directory/.complete"
    fi
    printf '%s\n' "$directory"
}
