# What the tests of the installed tree share. Sourced, never run.
# shellcheck shell=bash
die() {
    echo "error: $*" >&2
    exit 1
}
# library TREE NAME: the installed library's path.
library() {
    local found
    found=$(find "$1" -name "$2.so" | head -1)
    [[ -n $found ]] || die "$2.so is not installed"
    echo "$found"
}
# compiler_in FILE: what of a compiler a program or library names or needs, one a line; nothing is well.
compiler_in() {
    nm -DC "$1" | grep -E 'llvm::|clang::|nvrtc|halo::(driver|emit|ir|kernel|lower|passes|schedule|sema|syntax|tune)::' || true
    readelf -d "$1" | grep NEEDED | grep -E 'LLVM|clang|nvrtc|libhalocline\.so' || true
}
