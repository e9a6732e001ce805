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

# Packages of all groups at once; then, what each group is left without.
packages_ready() {
    missing=$(for group in "$@"; do missing_packages "$group"; done)
    [ -z "$missing" ] && return 0
    # Packages that failed to come are told group by group.
    install_packages "$*" $missing || :
    ready=0
    for group in "$@"; do
        missing=$(missing_packages "$group")
        [ -z "$missing" ] && continue
        echo "setup: still missing: $missing" >&2
        without "$group" || ready=1
    done
    return $ready
}

groups='' toolkit='' status=0
for group in "$@"; do
    case $group in
    toolkit | libraries) toolkit="$toolkit $group" ;;
    *) groups="$groups $group" ;;
    esac
done
if [ -n "$toolkit" ] && ! toolkit_found; then
    groups="$groups wheels"
fi
packages_ready $groups || status=1
for group in $toolkit; do
    "${group}_ready" || status=1
done
exit $status
