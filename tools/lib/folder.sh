# Newer Debians in folders, for the PHP versions that this one does not have: they are made by
# debootstrap, and programs are run in them by chroot.
# shellcheck shell=bash

# shellcheck source=tools/lib/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
# shellcheck source=tools/lib/packages.sh
source "$(dirname "${BASH_SOURCE[0]}")/packages.sh"
# shellcheck source=tools/lib/debian.sh
source "$(dirname "${BASH_SOURCE[0]}")/debian.sh"

# shellcheck disable=SC2034 # for the scripts that source this file
LATCH_FOLDER_PACKAGES=(debootstrap util-linux)

# The folder in which the PHP in question is installed; empty: it is installed here.
LATCH_FOLDER=${LATCH_FOLDER:-}

# latch_beside_php FILE FUNCTION [ARGUMENT...]: like latch_in_shell, but where that PHP is.
latch_beside_php() {
    if [[ -n $LATCH_FOLDER ]]; then
        latch_isolated latch_enter "$LATCH_FOLDER" "$@"
    else
        latch_in_shell "$@"
    fi
}

# latch_isolated FUNCTION [ARGUMENT...]: calls a function of this file as root, in a private mount
# namespace. At its end, also by a signal, the kernel removes its mounts, the processes that it has
# left behind, and their semaphores.
latch_isolated() {
    latch_as_root unshare --mount true 2> /dev/null \
        || latch_die "a newer PHP runs in a folder by chroot, which needs root with the right to mount" \
            "(CAP_SYS_ADMIN, which Docker gives with --privileged)"
    # sudo removes most variables.
    latch_as_root env "HOME=$HOME" "LATCH_CACHE=$LATCH_CACHE" "LATCH_SUITE=$LATCH_SUITE" \
        "LATCH_PHP_VERSION=$LATCH_PHP_VERSION" "LATCH_USER=$(id -u):$(id -g)" \
        ${CCACHE_BASEDIR:+"CCACHE_BASEDIR=$CCACHE_BASEDIR"} ${CCACHE_NOHASHDIR:+CCACHE_NOHASHDIR=1} \
        unshare --mount --pid --ipc --fork --kill-child -- \
        "${LATCH_SHELL[@]}" "$1" "$LATCH_ROOT/tools/lib/folder.sh" "$@"
}

# latch_enter FOLDER FILE FUNCTION [ARGUMENT...]: calls a function of that file in the folder, which
# there has this tree and the cache by their usual names; only the cache and /tmp can be written
# to. This shell is the init of the processes that it starts: it has to stay and to take the orphans.
latch_enter() {
    local folder=$1 path
    shift
    mount --bind "$folder" "$folder"
    mount -t proc proc "$folder/proc"
    mount --rbind /dev "$folder/dev"
    mount -t tmpfs -o mode=1777 tmpfs "$folder/tmp"
    # Programs there look up the name of their user.
    if ! grep -q "^[^:]*:[^:]*:${LATCH_USER%:*}:" "$folder/etc/passwd"; then
        getent passwd "${LATCH_USER%:*}" >> "$folder/etc/passwd"
    fi
    for path in "$LATCH_ROOT" "$LATCH_CACHE"; do
        mkdir -p "$folder$path"
        mount --bind "$path" "$folder$path"
    done
    for path in "$LATCH_ROOT" ''; do
        mount -o remount,bind,ro "$folder$path"
    done
    # Another Debian's ccache has a folder of its own.
    env -u TMPDIR LC_ALL=C PATH=/usr/lib/ccache:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        CCACHE_DIR="$LATCH_CACHE/ccache-${folder##*/}" CCACHE_MAXSIZE=1G \
        chroot --userspec="$LATCH_USER" "$folder" \
        "${LATCH_SHELL[@]}" "$2" "$LATCH_ROOT/tools/lib/$1" "${@:2}"
}

# latch_folder SUITE PACKAGE... [-- PACKAGE...]: prints a folder with that Debian and these packages.
# Packages after "--" are only unpacked: they are from the suite, or from experimental, where not all
# can be installed. Made at the first call, in a minute or two.
latch_folder() {
    local folder
    folder=$LATCH_CACHE/folder/$1-$({ declare -f latch_folder_make && printf '%s\n' "$@"; } \
        | sha256sum | cut -c 1-8)
    if [[ ! -f $folder/.complete ]]; then
        latch_say "making a folder with Debian's $1; this is done once"
        mkdir -p "$LATCH_CACHE/folder"
        LATCH_SUITE=$1 latch_quietly "$LATCH_WORK/log/folder-$1.log" \
            latch_isolated latch_folder_make "$folder" "$@" || return
    fi
    printf '%s\n' "$folder"
}

# latch_folder_make FOLDER SUITE PACKAGE... [-- PACKAGE...]: one process at a time.
latch_folder_make() {
    local folder=$1 suite=$2 packages=()
    shift 2
    exec 9> "$folder.lock"
    flock 9
    [[ ! -f $folder/.complete ]] || return 0
    while (($# > 0)) && [[ $1 != -- ]]; do
        packages+=("$1")
        shift
    done
    rm -rf "$folder"
    # Keeps packages from starting servers here, too.
    install -D -m 755 /dev/stdin "$folder/usr/sbin/policy-rc.d" <<< $'#!/bin/sh\nexit 101'
    debootstrap --variant=minbase --include="$(IFS=, && echo "${packages[*]}")" \
        "$suite" "$folder" http://deb.debian.org/debian
    rm "$folder"/var/cache/apt/archives/*.deb
    if (($# > 1)); then
        latch_debian_unpack "$folder" "${@:2}"
        chroot "$folder" ldconfig
    fi
    touch "$folder/.complete"
}

# latch_walk FOLDER PLACE TREE SCRIPT: runs the script like a newcomer with a fresh clone of this tree: in that
# Debian, as a user with sudo, in a copy of the tree, with nothing of this machine. Changes are kept in memory and
# dropped afterwards, except the downloaded packages. Questions are answered by Enter.
latch_walk() {
    local folder=$1 place=$2 archives=$LATCH_CACHE/archives/${1##*/} root=$2/root
    mkdir -p "$place" "$archives"
    # Serializes calls of apt.
    exec 9> "$archives.lock"
    flock 9
    mount -t tmpfs -o size=6G tmpfs "$place"
    mkdir "$place"/{new,work,root}
    mount -t overlay -o "lowerdir=$folder,upperdir=$place/new,workdir=$place/work" overlay "$root"
    mount -t proc proc "$root/proc"
    mount --rbind /dev "$root/dev"
    mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
    mount --bind "$archives" "$root/var/cache/apt/archives"
    cp --remove-destination /etc/resolv.conf "$root/etc/resolv.conf"
    echo "127.0.0.1 localhost $(hostname)" > "$root/etc/hosts"
    echo 'Binary::apt::APT::Keep-Downloaded-Packages "true";' > "$root/etc/apt/apt.conf.d/99walk"
    chroot "$root" useradd --create-home --shell /bin/bash newcomer
    # sudo drops the flags by which the tests compile more quickly.
    printf '%s\n' 'newcomer ALL=(ALL) NOPASSWD: ALL' 'Defaults env_keep += "CFLAGS CONFIG_SHELL"' \
        > "$root/etc/sudoers.d/newcomer"
    # As in Docker's images of Debian, package files that no program needs are left out.
    printf '%s\n' force-unsafe-io path-exclude=/usr/share/{doc,info,locale,man}/'*' > "$root/etc/dpkg/dpkg.cfg.d/walk"
    cp -r "$3" "$root/home/newcomer/latch"
    cp "$4" "$root/home/newcomer/script"
    chroot "$root" chown -R newcomer: /home/newcomer
    env -i HOME=/home/newcomer USER=newcomer LANG=C.UTF-8 TERM=dumb PATH=/usr/local/bin:/usr/bin:/bin \
        /usr/sbin/chroot --userspec=newcomer:newcomer "$root" bash -c 'cd ~/latch && bash ~/script' < <(yes '')
}
