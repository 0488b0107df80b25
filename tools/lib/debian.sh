# Fetches files from Debian's archive without installing anything: source packages, and binary
# packages that are only unpacked. Everything stays in the cache; apt runs on a configuration of its
# own, so that neither the machine's sources nor its lists are touched.
# shellcheck shell=bash

# shellcheck source=tools/lib/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# The Debian that is asked: bookworm, trixie, or sid with experimental.
LATCH_SUITE=${LATCH_SUITE:-bookworm}

# latch_archives: the archives of that Debian, one per line.
latch_archives() {
    case $LATCH_SUITE in
        sid) printf 'debian %s\n' sid experimental ;;
        *) printf '%s\n' "debian $LATCH_SUITE" "debian-security $LATCH_SUITE-security" ;;
    esac
}

# latch_apt COMMAND...: runs an apt program on that configuration; the lists are read once a day.
latch_apt() {
    local directory=$LATCH_CACHE/apt/$LATCH_SUITE
    latch_alone "apt-$LATCH_SUITE" latch_apt_lists "$directory" || return
    APT_CONFIG=$directory/apt.conf "$@"
}

# latch_apt_lists DIRECTORY: the configuration and the lists.
latch_apt_lists() {
    local directory=$1
    if [[ -z $(find "$directory/fresh" -mtime -1 2> /dev/null) ]]; then
        mkdir -p "$directory"/{lists,cache}/partial
        : > "$directory/status"
        local signed='[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]' archive
        while read -r archive; do
            printf '%s %s http://deb.debian.org/%s main\n' \
                deb "$signed" "$archive" deb-src "$signed" "$archive"
        done < <(latch_archives) > "$directory/sources.list"
        cat > "$directory/apt.conf" <<END
Dir::Etc::sourcelist "$directory/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::State::lists "$directory/lists";
Dir::State::status "$directory/status";
Dir::Cache "$directory/cache";
APT::Sandbox::User "root";
Acquire::Languages "none";
Acquire::Retries "3";
END
        # These lists are meant to last a week, and mirrors lag behind.
        if [[ $LATCH_SUITE == sid ]]; then
            echo 'Acquire::Check-Valid-Until "false";' >> "$directory/apt.conf"
        fi
        APT_CONFIG=$directory/apt.conf latch_quietly "$LATCH_WORK/log/apt-lists.log" \
            apt-get -qq update || return
        touch "$directory/fresh"
    fi
}

# Source files of earlier releases, below the archive, with their SHA-256. After a point release a mirror can list new
# files for days before it serves them, while it still serves the earlier ones, which it lists no more.
declare -gA LATCH_EARLIER_SOURCES=(
    [symfony-6.4]='pool/main/s/symfony/symfony_6.4.41+dfsg.orig.tar.xz
        cb5a93b47cbfea37894e6907bdcf2e75373ca10fc377c85a58c4aeaae11d6083'
    [php8.4]='pool/main/p/php8.4/php8.4_8.4.24.orig.tar.xz
        e127be09a8506f4327c5cfa78a614b00d210714484ec215ce0011b4a03c00731'
)

# latch_earlier_source KEY DIRECTORY: fetches the file of that key into the directory.
latch_earlier_source() {
    local path digest
    read -r -d '' path digest <<< "${LATCH_EARLIER_SOURCES[$1]-}" || [[ -n $path ]] || return
    latch_apt /usr/lib/apt/apt-helper -qq download-file "http://deb.debian.org/debian/$path" \
        "$2/${path##*/}" "SHA256:$digest"
}

# latch_debian_source PACKAGE PATTERN [VERSION]: prints the path of that file of the newest source package,
# of those whose version begins so, which the archive really serves. It lists more: the newest ones of the
# security archive are often not found by the name that its list gives. The last resort is an earlier release.
latch_debian_source() {
    latch_alone "source-$1" latch_debian_source_alone "$@"
}

latch_debian_source_alone() {
    local package=$1 pattern=$2 directory=$LATCH_CACHE/source/$1${3:+-$3} version
    if [[ ! -f $directory/.complete ]]; then
        rm -rf "$directory"
        mkdir -p "$directory"
        latch_say "fetching the source package of $package"
        # The lists must be there before a pipeline reads them.
        latch_apt true || return
        while read -r version; do
            if (cd "$directory" && latch_apt apt-get -qq source --download-only \
                --only-source "$package=$version") > "$LATCH_WORK/log/source.log" 2>&1; then
                touch "$directory/.complete"
                break
            fi
        done < <(latch_apt apt-cache showsrc --only-source "$package" \
            | sed -n "s/^Version: \(${3:-}\)/\1/p" | sort -ruV)
        if [[ ! -f $directory/.complete ]] && latch_earlier_source "$package${3:+-$3}" "$directory" \
            >> "$LATCH_WORK/log/source.log" 2>&1; then
            touch "$directory/.complete"
        fi
        if [[ ! -f $directory/.complete ]]; then
            latch_say "no version of the source package $package can be fetched:"
            cat "$LATCH_WORK/log/source.log" >&2
            return 1
        fi
    fi
    find "$directory" -name "$pattern"
}

# latch_debian_unpack DIRECTORY [--with-libraries] PACKAGE...: unpacks these binary packages into the directory, or
# them and all libraries that they need, which are those of that Debian.
latch_debian_unpack() {
    local directory=$1 deb libraries=''
    shift
    mkdir -p "$directory/deb"
    latch_apt true || return
    if [[ $1 == --with-libraries ]]; then
        shift
        libraries=$(latch_debian_libraries "$@") || return
    fi
    # shellcheck disable=SC2086 # several packages
    (cd "$directory/deb" && latch_quietly "$LATCH_WORK/log/deb.log" \
        latch_apt apt-get -qq download "$@" $libraries) || return
    for deb in "$directory"/deb/*.deb; do
        dpkg -x "$deb" "$directory" || return
    done
    rm -r "$directory/deb"
}

# latch_debian_libraries PACKAGE...: prints the libraries that these packages need, without Perl and others that apt
# would install with them.
latch_debian_libraries() {
    latch_apt apt-get -s --no-install-recommends install "$@" | sed -nE 's/^Inst (lib[^ ]*|zlib1g) .*/\1/p' \
        | grep -v '^libperl'
}

# latch_debian_files NAME [--with-libraries] PACKAGE...: prints the folder with the files of these binary packages.
latch_debian_files() {
    latch_alone "unpacked-$1" latch_debian_files_alone "$@"
}

latch_debian_files_alone() {
    local directory=$LATCH_CACHE/unpacked/$1
    shift
    if [[ $(cat "$directory/.complete" 2> /dev/null) != "$*" ]]; then
        rm -rf "$directory"
        latch_say "fetching the Debian packages $*"
        latch_debian_unpack "$directory" "$@" || return
        printf '%s\n' "$*" > "$directory/.complete"
    fi
    printf '%s\n' "$directory"
}

# latch_debian_program DIRECTORY PROGRAM [ARGUMENT...]: prints the path of a script that runs this program of a folder with
# unpacked packages, with its own arguments and then these. Its C library and its loader are the folder's, too.
latch_debian_program() {
    local start=$1/start/${2##*/}
    if [[ ! -x $start ]]; then
        mkdir -p "${start%/*}"
        latch_write_start "$@" > "$start.$$"
        chmod +x "$start.$$"
        mv "$start.$$" "$start"
    fi
    printf '%s\n' "$start"
}

latch_write_start() {
    local directory=$1 program=$2 loader triplet
    shift 2
    # The file itself: links to it lead to the machine's own.
    loader=$(find "$directory" -type f -name 'ld-*.so*')
    triplet=$(basename "${loader%/*}")
    printf '#!/bin/sh\nexec %q --library-path %q %q "$@"' \
        "$loader" "$directory/lib/$triplet:$directory/usr/lib/$triplet" "$directory/$program"
    (($# == 0)) || printf ' %q' "$@"
    printf '\n'
}
