# What the scripts share. Sourced, never run.
# shellcheck shell=bash

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

say() { printf '%s\n' "$*" >&2; }
die() {
    say "error: $*"
    exit 1
}

# How many compilers may run at once: one a core, but no more than memory carries (a clang header unit needs 1.2 GB).
jobs() {
    local cores memory
    cores=$(nproc)
    memory=$(awk '/MemAvailable/ { print int($2 / 1300000) }' /proc/meminfo)
    if ((memory < 1)); then memory=1; fi
    echo $((cores < memory ? cores : memory))
}

# What GCC may keep before it looks for garbage, which saves a tenth of its time and takes 0.4 GB more a compiler: of the
# memory that the machine has, as what is free changes from one configuration to the next.
options_of_gcc() {
    "${CXX:-c++}" --version | grep -q 'Free Software Foundation' || return 0
    awk -v cores="$(nproc)" '/MemTotal/ && $2 / cores > 3000000 { print "--param=ggc-min-expand=300 --param=ggc-min-heapsize=2000000" }' \
        /proc/meminfo
}

# configure_release [options of cmake]: build/release, with the compiler cache and the fast linker where they are installed, and
# the tests of GPUs where there is one.
configure_release() {
    local options=(-DHALO_GPU_TESTS=OFF)
    if [[ -e /dev/nvidia0 ]]; then options=(-DHALO_GPU_TESTS=ON); fi
    if command -v ccache >/dev/null; then options+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
    if command -v mold >/dev/null; then
        options+=(-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=mold -DCMAKE_SHARED_LINKER_FLAGS=-fuse-ld=mold)
    fi
    options+=("-DCMAKE_CXX_FLAGS=$(options_of_gcc)")
    cmake --preset release -DHALO_TESTS=ON "${options[@]}" "$@" >build/configure.log 2>&1 </dev/null ||
        { tail -30 build/configure.log >&2; die "cmake could not configure; the whole log is build/configure.log"; }
    grep -h 'not found' build/configure.log >&2 || true
}

build_release() { # [ninja arguments]
    cmake --build --preset release -j "$(jobs)" "$@" </dev/null
}
