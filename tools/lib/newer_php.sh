# The PHPs of newer Debians, in folders, with all that the tests need beside them.
# shellcheck shell=bash

# shellcheck source=tools/lib/build.sh
source "$(dirname "${BASH_SOURCE[0]}")/build.sh"
# shellcheck source=tools/lib/php.sh
source "$(dirname "${BASH_SOURCE[0]}")/php.sh"

# Requirements of the tests beside PHP: a client of PHP-FPM; ipcs and setpriv; servers, which they start.
LATCH_TOOL_PACKAGES=(libfcgi-bin util-linux redis-server "${LATCH_SQL_SERVER_PACKAGES[@]}")
LATCH_STRICT='-g -Wall -Wextra -Wshadow -Werror'

latch_folder_with_8.4() {
    latch_folder trixie ccache "${LATCH_BUILD_PACKAGES[@]}" php8.4-fpm php8.4-pgsql php8.4-mysql \
        php8.4-mbstring php8.4-redis php8.4-xml "${LATCH_TOOL_PACKAGES[@]}" "${LATCH_PHP_BUILD_PACKAGES[@]}"
}

# 8.5 is in experimental, whose packages cannot be installed beside sid's, only unpacked: so what they
# would have brought is named here, and their libraries.
latch_folder_with_8.5() {
    latch_folder sid gcc make libc6-dev pkgconf libhiredis-dev libssl-dev libpq-dev libmariadb-dev libsqlite3-dev "${LATCH_TOOL_PACKAGES[@]}" \
        autoconf automake libtool shtool libpcre2-dev libargon2-1 libsodium26 libxml2-16 libapparmor1 \
        -- php8.5-cli php8.5-common php8.5-dev php8.5-fpm php8.5-pgsql php8.5-mysql php8.5-sqlite3
}

# latch_build_on_debian: builds for the PHP of LATCH_FOLDER, without a warning, and prints the path of
# the .so.
latch_build_on_debian() {
    latch_build_copy "php-$LATCH_PHP_VERSION" "phpize$LATCH_PHP_VERSION" "php-config$LATCH_PHP_VERSION" \
        CFLAGS="-O2 $LATCH_STRICT"
}
