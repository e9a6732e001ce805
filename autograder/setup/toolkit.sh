# The CUDA toolkit: found in the usual places or, failing that, NVIDIA's own
# wheels of it from PyPI in build/toolkit. Sourced by setup.sh.
#
# What was found is written to build/toolkit.mk, which the Makefile includes:
#   CUDA_HOME := /usr/local/cuda
#   NVCC := /usr/local/cuda/bin/nvcc

toolkit_wanted=13   # major version; labs link libcudart.so.13

# 0 when build/toolkit.mk names a toolkit that is there, or one was found and
# recorded now.
toolkit_found() {
    toolkit_recorded && return 0
    home=$(toolkit_places | while IFS= read -r place; do
        toolkit_usable "$place" && echo "$place" && break
    done)
    [ -n "$home" ] || return 1
    toolkit_record "$home"
    echo "setup: CUDA toolkit in $home" >&2
}

toolkit_ready() {
    toolkit_recorded || fetch_toolkit
}

# Does the record of an earlier run still hold, and is CUDA_HOME, when it is
# set, what the record says?
toolkit_recorded() {
    [ -r build/toolkit.mk ] || return 1
    read -r name is recorded <build/toolkit.mk
    [ "$name $is" = "CUDA_HOME :=" ] || return 1
    [ -z "${CUDA_HOME:-}" ] || [ "$CUDA_HOME" -ef "$recorded" ] || return 1
    [ -x "$recorded/bin/nvcc" ]
}

# Prints candidate folders, the most particular first.
toolkit_places() {
    echo "${CUDA_HOME:-}"
    echo "${CUDA_PATH:-}"
    if on_path=$(command -v nvcc); then
        on_path=$(readlink -f "$on_path")
        echo "${on_path%/bin/nvcc}"
    fi
    echo /usr/local/cuda
    ls -d /usr/local/cuda-13* 2>/dev/null | sort -rV
    echo /opt/cuda
    echo "$PWD/build/toolkit"
}

# A toolkit of the right version that can compile and link a lab?
toolkit_usable() {
    [ -x "$1/bin/nvcc" ] || return 1
    release=$("$1/bin/nvcc" --version 2>/dev/null |
        sed -n 's/.*release \([0-9]*\).*/\1/p')
    if [ "${release:-0}" -ne "$toolkit_wanted" ]; then
        echo "setup: passing over $1: CUDA ${release:-unknown}," \
            "the labs need CUDA $toolkit_wanted" >&2
        return 1
    fi
    for folder in "$1/lib64" "$1/lib" "$1"/targets/*/lib; do
        if [ -e "$folder/libcudart.so" ]; then
            return 0
        fi
    done
    echo "setup: passing over $1: it has no libcudart.so" >&2
    return 1
}

toolkit_record() {
    mkdir -p build
    # Without symbolic links: a sandbox sees the folder, not the way to it.
    home=$(cd "$1" && pwd -P)
    printf 'CUDA_HOME := %s\nNVCC := %s/bin/nvcc\n' "$home" "$home" \
        >build/toolkit.mk.new
    mv build/toolkit.mk.new build/toolkit.mk
}

# wheels_of PART: requirement specifiers, and wheels_size PART: megabytes.
wheels_of() {
    while read -r part wheel version size; do
        [ "$part" = "$1" ] && printf '%s==%s ' "$wheel" "$version"
    done <"$here/wheels.txt"
}
wheels_size() {
    total=0
    while read -r part wheel version size; do
        [ "$part" = "$1" ] && total=$((total + size))
    done <"$here/wheels.txt"
    echo "$total"
}

fetch_toolkit() {
    echo "setup: no CUDA $toolkit_wanted toolkit on this machine;" \
        "NVIDIA's wheels of it can go into build/toolkit" >&2
    [ -z "$(missing_packages wheels)" ] && fetch_wheels toolkit || return 1
    toolkit_usable "$PWD/build/toolkit" || return 1
    toolkit_record "$PWD/build/toolkit"
}

# cuBLAS and NCCL, into the same folder; a full toolkit has cuBLAS itself.
libraries_ready() {
    toolkit_recorded || return 1
    read -r name is recorded <build/toolkit.mk
    [ "$recorded" = "$PWD/build/toolkit" ] || return 0
    [ -e build/toolkit/lib/libcublas.so ] && return 0
    fetch_wheels libraries
}

# fetch_wheels PART: unpacks its wheels over build/toolkit.
fetch_wheels() {
    echo "setup: download: $(wheels_size "$1") MB from PyPI, under NVIDIA's" \
        "licence (docs/licences.md)" >&2
    agree || return 1
    rm -rf build/wheels
    if ! logged python3 -m pip install --disable-pip-version-check \
        --no-deps --no-compile --target build/wheels $(wheels_of "$1"); then
        rm -rf build/wheels
        return 1
    fi
    mkdir -p build/toolkit
    cp -a build/wheels/nvidia/cu13/. build/toolkit/
    [ -d build/wheels/nvidia/nccl ] &&
        cp -a build/wheels/nvidia/nccl/. build/toolkit/
    rm -rf build/wheels
    mend_layout build/toolkit
}

# The wheels hold libraries as the loader wants them (libcudart.so.13); the
# linker wants libcudart.so, and nvcc.profile looks in lib64.
mend_layout() {
    [ -e "$1/lib64" ] || ln -s lib "$1/lib64"
    for library in "$1"/lib/lib*.so.[0-9]*; do
        link=${library%%.so.*}.so
        [ -e "$link" ] || ln -s "${library##*/}" "$link"
    done
    chmod +x "$1"/bin/* "$1"/nvvm/bin/* 2>/dev/null || :
}
