# MySQL, of which Debian 12 has MariaDB. Its packages, of sid, conflict with those of MariaDB's client, so they are only
# unpacked, and the server runs with the C library and the loader of its own Debian.
# shellcheck shell=bash

# shellcheck source=tools/lib/debian.sh
source "$(dirname "${BASH_SOURCE[0]}")/debian.sh"

# latch_mysql_server: prints the path of MySQL's server, for LATCH_MYSQL_SERVER.
latch_mysql_server() {
    local directory
    directory=$(LATCH_SUITE=sid latch_debian_files mysql-9 --with-libraries mysql-server-core) || return
    latch_debian_program "$directory" usr/sbin/mysqld --basedir="$directory/usr"
}
