#!/bin/sh
# Builds docker/Dockerfile with buildah on a Debian that debootstrap makes, and
# grades lab 02 inside: the starter earns no task points, the solution all.
# Takes minutes and a network; needs root.
# Usage: build-and-grade.sh [BASE-FOLDER]: a debootstrap'ed folder to use.
set -eu
image=localhost/warp-up-test base=localhost/warp-up-base
work=build/docker-test
mkdir -p "$work"

tree=${1:-$work/base}
if ! [ -e "$tree/etc/debian_version" ]; then
    echo "debootstrap: a Debian in $tree"
    rm -rf "$tree.new"
    debootstrap --variant=minbase bookworm "$tree.new" >"$work/debootstrap.log"
    mv "$tree.new" "$tree"
fi

inside='' container=$(buildah from scratch)
clean_up() {
    buildah rm $inside "$container" >/dev/null
    buildah rmi -f "$image" "$base" >/dev/null 2>&1 || :
}
trap clean_up EXIT

echo "buildah: the base image"
buildah add -q "$container" "$tree" / >/dev/null
# The base trusts whom this machine trusts, as behind a company's proxy.
buildah add -q "$container" /etc/ssl/certs/ca-certificates.crt \
    /usr/local/share/ca-certificates/host.crt >/dev/null
buildah commit -q --rm=false "$container" "$base" >/dev/null

echo "buildah: docker/Dockerfile"
buildah build -q --isolation chroot --build-arg "BASE=$base" \
    -t "$image" -f docker/Dockerfile . >"$work/build.log" 2>&1 || {
    tail -n 30 "$work/build.log"
    exit 1
}

inside=$(buildah from "$image")
failures=0

# expect TEXT COMMAND...: the command, run inside, succeeds and says TEXT.
expect() {
    text=$1
    shift
    if buildah run --isolation chroot "$inside" -- "$@" >"$work/out" 2>&1 &&
        grep -q "$text" "$work/out"; then
        echo "ok: $*"
    else
        echo "failed: $* (expected: $text)"
        cat "$work/out"
        failures=$((failures + 1))
    fi
}
expect '^Score: 0/100' make grade LAB=02
expect '^Score: 100/100' make grade LAB=02 SUBMISSION=solutions/02-vector-add
expect 'virtual GPU' make gpus
[ "$failures" -eq 0 ]
