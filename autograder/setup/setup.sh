#!/bin/sh
# Gets a machine ready. Usage: autograder/setup/setup.sh GROUP...
#
#   GROUP  a group of packages.txt, or "toolkit" (CUDA), or "libraries"
#          (cuBLAS and NCCL beside the toolkit, for the labs that use them)
#
# Says what it will install and how large it is; asks on a terminal, goes
# ahead without one or with YES=1; never calls sudo. Without the right to
# install it prints the line for an administrator and what can be had without.
# Exit status: 0 ready, 1 something that is needed is missing.
# Where all is there it starts no program and takes milliseconds.
set -u
here=${0%/*}
. "$here/packages.sh"
. "$here/toolkit.sh"

# The group's packages are there, or get installed. 0, or 1 without them.
need() {
    missing=$(missing_packages "$1")
    [ -z "$missing" ] && return 0
    if install_packages "$1" $missing; then
        missing=$(missing_packages "$1")
        [ -z "$missing" ] && return 0
        echo "setup: still missing after the installation:" $missing >&2
    fi
    without "$1"
}

status=0
for group in "$@"; do
    case $group in
    toolkit) toolkit_ready || status=1 ;;
    libraries) libraries_ready || status=1 ;;
    *) need "$group" || status=1 ;;
    esac
done
exit $status
