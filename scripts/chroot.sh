# Common functions of the scripts that use a chroot of Debian. Scripts source this file; $root is
# the root of the sources.
# shellcheck shell=sh disable=SC2154

# Prints the reason why this machine cannot make a chroot; prints nothing if it can.
chroot_obstacle() {
    if [ "$(id -u)" -ne 0 ]; then
        printf 'a chroot needs root\n'
        return
    fi
    for program in debootstrap unshare chroot; do
        if ! command -v "$program" >/dev/null; then
            printf '%s is missing\n' "$program"
            return
        fi
    done
    unshare --mount --pid --fork true 2>/dev/null || printf 'this machine cannot create namespaces\n'
}

# chroot_make SUITE FOLDER [OPTION...]: makes a chroot by debootstrap from the mirror that apt uses
# here.
chroot_make() {
    suite=$1 system=$2
    shift 2
    uri=$("$root/scripts/setup" --print-backports | sed -n 's/^URIs: //p')
    rm -rf --one-file-system "$system"
    debootstrap --variant=minbase "$@" "$suite" "$system" "$uri"
}

# chroot_connect FOLDER: copies this machine's name resolution and proxies to the chroot.
chroot_connect() {
    cp /etc/resolv.conf "$1/etc/" 2>/dev/null || true
    apt-config dump | grep -i '^Acquire::[a-z]*::proxy' >"$1/etc/apt/apt.conf.d/90proxy" || true
}

# chroot_run FOLDER [NAME=VALUE...] COMMAND...: runs a command in its own mount and process
# namespaces and without this machine's other environment. All its mounts and processes end with it,
# in every case. It replaces the shell, so call it in a subshell. With chroot_network=none there is no
# network. chroot_lend=FOLDER lends a folder of this machine under its own path, read-only.
chroot_run() {
    network=
    [ "${chroot_network:-}" != none ] || network=--net
    export chroot_lend="${chroot_lend:-}"
    # shellcheck disable=SC2016,SC2086
    exec unshare --mount --propagation private $network --pid --fork --kill-child=KILL sh -c '
        mount -t proc proc "$0/proc" && mount --bind /dev "$0/dev" &&
            mount --bind /sys "$0/sys" || exit 1
        if [ -n "$chroot_lend" ]; then
            mkdir -p "$0$chroot_lend" && mount --bind "$chroot_lend" "$0$chroot_lend" &&
                mount -o remount,bind,ro "$0$chroot_lend" || exit 1
        fi
        chroot "$0" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root "$@"' "$@"
}
