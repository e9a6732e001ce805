# Packages of the distribution: which are missing, and how they get here.
# Sourced by setup.sh; reads packages.txt beside it.

# Is the thing that a line of packages.txt names as its proof on this machine?
is_here() {
    case $1 in
    cmd:*) command -v "${1#cmd:}" >/dev/null 2>&1 ;;
    header:*) has_header "${1#header:}" ;;
    module:*) python3 -c "import ${1#module:}" >/dev/null 2>&1 ;;
    *) return 1 ;;
    esac
}

has_header() {
    for folder in /usr/include /usr/include/*-linux-gnu* /usr/local/include; do
        [ -e "$folder/$1" ] && return 0
    done
    return 1
}

# Prints the packages of a group that are not there, separated by blanks.
missing_packages() {
    while read -r group proof package purpose; do
        [ "$group" = "$1" ] || continue
        is_here "$proof" || printf '%s ' "$package"
    done <"$here/packages.txt"
}

# Asks on a terminal; elsewhere, or with YES=1, the answer is yes.
agree() {
    if [ "${YES:-}" = 1 ] || ! [ -t 0 ] || ! [ -t 2 ]; then
        return 0
    fi
    printf 'setup: go ahead? [Y/n] ' >&2
    read -r answer || return 1
    case $answer in
    '' | y | Y | yes | Yes) return 0 ;;
    *) return 1 ;;
    esac
}

# install_packages GROUPS PACKAGE...: 0 when the package manager was content.
install_packages() {
    purpose=$(purposes $1)
    shift
    if ! command -v apt-get >/dev/null 2>&1; then
        echo "setup: to $purpose these are missing (Debian's names): $*" >&2
        echo "setup: there is no apt-get here; please install them with" \
            "the package manager of this system." >&2
        return 1
    fi
    if [ "$(id -u)" -ne 0 ]; then
        echo "setup: to $purpose an administrator has to run once:" >&2
        echo "    apt-get update && apt-get install -y" \
            "--no-install-recommends $*" >&2
        return 1
    fi
    apt_install "$@"
}

apt_install() {
    fresh_lists "$@" || return 1
    echo "setup: to $purpose this will be installed: $*" >&2
    LC_ALL=C apt-get install --no-install-recommends --assume-no "$@" \
        2>/dev/null | sed -n -e 's/^Need to get/setup: download:/p' \
        -e 's/^After this operation,/setup: on disk:/p' >&2
    agree || return 1
    logged apt-get install -y --no-install-recommends \
        -o DPkg::Lock::Timeout=300 "$@"
}

# The package lists know these packages, or are fetched.
fresh_lists() {
    apt-get install --simulate -qq "$@" >/dev/null 2>&1 && return 0
    echo "setup: fetching the package lists (apt-get update)" >&2
    logged apt-get update -o DPkg::Lock::Timeout=300
}

# Runs a command with its output in build/setup.log; shows the end of it when
# the command fails.
logged() {
    mkdir -p build
    if DEBIAN_FRONTEND=noninteractive "$@" >build/setup.log 2>&1; then
        return 0
    fi
    echo "setup: $1 failed; the end of build/setup.log:" >&2
    tail -n 15 build/setup.log >&2
    return 1
}

group_purpose() {
    case $1 in
    grade) echo "grade labs" ;;
    sandbox) echo "grade the code of others safely" ;;
    class) echo "grade a class" ;;
    test) echo "run the tests" ;;
    book) echo "build the book" ;;
    wheels) echo "fetch the CUDA toolkit from PyPI" ;;
    image) echo "build the container image" ;;
    *) echo "use the group $1" ;;
    esac
}

# purposes GROUP...: those that lack something, in words.
purposes() {
    text=''
    for group in "$@"; do
        if [ -n "$(missing_packages "$group")" ]; then
            text="${text:+$text, }$(group_purpose "$group")"
        fi
    done
    echo "$text"
}

# without GROUP: what can be had all the same. 0 when work can go on.
without() {
    case $1 in
    sandbox)
        echo "setup: without bubblewrap your own code is graded without" \
            "isolation; the results say so." >&2
        return 0
        ;;
    book)
        echo "setup: without them no pages are built; the chapters can be" \
            "read as they are, in chapters/." >&2
        ;;
    grade)
        echo "setup: without them nothing can be graded; the chapters can be" \
            "read, and labs compiled with nvcc by hand." >&2
        ;;
    class)
        echo "setup: without them single labs can be graded, not classes." >&2
        ;;
    wheels)
        echo "setup: or install CUDA Toolkit 13 and say where it is:" \
            "make CUDA_HOME=/path/to/cuda ..." >&2
        ;;
    *)
        echo "setup: the rest of the repository works without them." >&2
        ;;
    esac
    return 1
}
