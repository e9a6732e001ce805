#!/bin/sh
# What is wrong with this machine, and the cure. Usage: make doctor
#
# A line a subject: "ok", "note" (something works less well than it could) or
# "fault" (something will not work), and below it what to do. Exit status: 1
# when there was a fault.
set -u
here=${0%/*}
. "$here/packages.sh"
. "$here/toolkit.sh"

faults=0
ok() { printf 'ok     %-12s %s\n' "$1" "$2"; }
note() { printf 'note   %-12s %s\n' "$1" "$2"; shift 2; cure "$*"; }
fault() { faults=1; printf 'fault  %-12s %s\n' "$1" "$2"; shift 2; cure "$*"; }
cure() { printf '       %-12s -> %s\n' "" "$1"; }

check_packages() {
    for group in grade sandbox class test book; do
        missing=$(missing_packages "$group")
        [ -z "$missing" ] && continue
        case $group in
        grade) fault packages "to grade labs these are missing: $missing" \
            "make setup" ;;
        *) note packages "to $(group_purpose $group): $missing" \
            "make setup FOR=$group" ;;
        esac
    done
    [ -z "$(missing_packages grade)" ] &&
        ok packages "all that grading needs is installed"
}

check_toolkit() {
    home=$(toolkit_places | while IFS= read -r place; do
        toolkit_usable "$place" 2>/dev/null && echo "$place" && break
    done)
    if [ -z "$home" ]; then
        fault toolkit "no CUDA $toolkit_wanted toolkit found" \
            "make setup FOR=toolkit (NVIDIA's wheels, $(wheels_size toolkit) MB)"
        return
    fi
    version=$("$home/bin/nvcc" --version |
        sed -n 's/.*release \([0-9.]*\).*/\1/p')
    ok toolkit "CUDA $version in $home"
}

# Facts of NVML: build/bin/gpus --plain, where the programs are built.
check_driver() {
    if ! [ -x build/bin/gpus ]; then
        note driver "build/bin/gpus is not built yet" "make gpus"
        return
    fi
    facts=$(build/bin/gpus --plain)
    state=$(fact state "$facts")
    case $state in
    no-library)
        note driver "no NVIDIA driver: labs run on the virtual GPU" \
            "if this machine has a GPU, install its driver, 580 or later"
        return ;;
    no-driver)
        fault driver "the driver does not answer: $(fact why "$facts")" \
            "in a container: start it with --gpus all; else reboot"
        return ;;
    esac
    driver=$(fact driver "$facts")
    if [ "${driver%%.*}" -lt 580 ]; then
        fault driver "driver $driver is too old for CUDA 13" \
            "install driver 580 or later; until then TARGET=virtual works"
    else
        ok driver "driver $driver runs CUDA up to $(fact cuda "$facts")"
    fi
    printf '%s\n' "$facts" | grep '^gpu=' >build/doctor.gpus || :
    while read -r line; do
        check_gpu "$line"
    done <build/doctor.gpus
    rm -f build/doctor.gpus
}

# fact NAME TEXT: the value of the first line NAME=value.
fact() { printf '%s\n' "$2" | sed -n "s/^$1=//p" | head -n 1; }
# field NAME LINE: the value of NAME=value within a line.
field() { printf '%s\n' "$2" | sed -n "s/.*$1=\([^ ]*\).*/\1/p"; }

check_gpu() {
    gpu="GPU $(field gpu "$1")"
    name=${1##*name=}
    capability=$(field capability "$1")
    dotted=${capability%?}.${capability#"${capability%?}"}
    if [ "$capability" -lt 75 ]; then
        fault "$gpu" "$name has capability $dotted; CUDA 13 needs 7.5" \
            "use TARGET=virtual"
        return
    fi
    ok "$gpu" "$name, capability $dotted"
    case $(field mode "$1") in
    prohibited) fault "$gpu" "its compute mode is 'prohibited'" \
        "an administrator runs: nvidia-smi -i ${gpu#GPU } -c DEFAULT" ;;
    exclusive*) fault "$gpu" \
        "its compute mode allows one process, judge and worker are two" \
        "an administrator runs: nvidia-smi -i ${gpu#GPU } -c DEFAULT" ;;
    esac
    [ "$(field mig "$1")" = 1 ] && note "$gpu" \
        "MIG is on: memory cannot be shared between processes by IPC" \
        "timings are made in copy mode, and say so"
    [ "$(field processes "$1")" -gt 0 ] && note "$gpu" \
        "$(field processes "$1") other processes compute on it" \
        "speed is measured only while it is idle"
}

# The levels that autograder/worker/probe.c chooses from.
check_isolation() {
    if bwrap --unshare-all --ro-bind / / true 2>/dev/null; then
        ok isolation "namespaces: bubblewrap can start a sandbox"
    elif [ "$(id -u)" -eq 0 ]; then
        ok isolation "user: root without namespaces, as in a container"
    elif ! command -v bwrap >/dev/null 2>&1; then
        note isolation "bubblewrap is not installed: isolation 'none'" \
            "make setup FOR=sandbox"
    else
        note isolation "bubblewrap may not make namespaces here" \
            "docs/troubleshooting.md, under 'isolation'; your own code can" \
            "be graded without, a class cannot"
    fi
}

check_memory() {
    shm=$(df -Pm /dev/shm 2>/dev/null | awk 'NR == 2 { print $2 }')
    if [ "${shm:-0}" -lt 1024 ]; then
        note /dev/shm "${shm:-0} MB: NCCL wants 1 GB for several GPUs" \
            "in Docker: --shm-size=1g; else: mount -o remount,size=1g /dev/shm"
    else
        ok /dev/shm "$shm MB"
    fi
    free=$(awk '/^MemAvailable/ { print int($2 / 1024) }' /proc/meminfo)
    if [ "${free:-0}" -lt 2048 ]; then
        note memory "${free:-0} MB are available" \
            "a lab on the virtual GPU takes up to 1.5 GB: close something"
    else
        ok memory "$free MB available"
    fi
}

check_profiler() {
    [ -r /proc/driver/nvidia/params ] || return 0
    if [ "$(id -u)" -ne 0 ] &&
        grep -q '^RmProfilingAdminOnly: 1' /proc/driver/nvidia/params; then
        note profiler "Nsight Compute may not read counters (ERR_NVGPUCTRPERM)" \
            "docs/troubleshooting.md, under 'profiler'; or make counters"
    fi
}

check_packages
check_toolkit
check_driver
check_profiler
check_isolation
check_memory
exit $faults
