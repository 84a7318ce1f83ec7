# What scripts with a chroot of Debian have in common. To be sourced; $root is the root of the sources.
# shellcheck shell=sh disable=SC2154

# The reason why no chroot can be made here; nothing when one can.
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
    unshare --mount --pid --fork true 2>/dev/null || printf 'no namespaces can be made here\n'
}

# chroot_make SUITE FOLDER [OPTION...]: debootstrap, from the mirror that apt uses here.
chroot_make() {
    suite=$1 system=$2
    shift 2
    uri=$("$root/scripts/setup" --print-backports | sed -n 's/^URIs: //p')
    rm -rf --one-file-system "$system"
    debootstrap --variant=minbase "$@" "$suite" "$system" "$uri"
}

# chroot_connect FOLDER: the names and proxies that this machine uses now.
chroot_connect() {
    cp /etc/resolv.conf "$1/etc/" 2>/dev/null || true
    apt-config dump | grep -i '^Acquire::[a-z]*::proxy' >"$1/etc/apt/apt.conf.d/90proxy" || true
}

# chroot_run FOLDER [NAME=VALUE...] COMMAND...: with nothing else of this machine's environment, in
# mount and process namespaces of its own, so that what is mounted and started there ends with it,
# however that happens. Replaces the shell: call it in a subshell.
chroot_run() {
    # shellcheck disable=SC2016
    exec unshare --mount --propagation private --pid --fork --kill-child=KILL sh -c '
        mount -t proc proc "$0/proc" && mount --bind /dev "$0/dev" &&
            mount --bind /sys "$0/sys" || exit 1
        chroot "$0" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root "$@"' "$@"
}
