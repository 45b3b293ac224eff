// One run of a function in a process of its own, in memory that both processes see; for whole_run.cpp.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "compiler/lift/stand_ins.h"
#include "runtime/cpu/jit.h"

namespace halo::lift {

// Memory that a child process shares, between inaccessible pages.
class GuardedMemory {
public:
    explicit GuardedMemory(std::size_t bytes);  // throws std::bad_alloc
    ~GuardedMemory();
    GuardedMemory(const GuardedMemory&) = delete;
    GuardedMemory& operator=(const GuardedMemory&) = delete;
    char* begin() const { return begin_; }
    char* end() const { return begin_ + bytes_; }
    std::size_t size() const { return bytes_; }

private:
    std::size_t bytes_, all_;
    char *mapped_, *begin_;
};

// A global variable of the function's file.
struct GlobalPlace {
    const std::vector<char>* first;  // what it holds before the first call
    GuardedMemory* last;             // what it holds after the last one
};

struct ProcessRun {
    rt::JitModule* module;      // with halo_lift_whole() and halo_lift_globals()
    RunRecord* record;          // shared with the child
    std::vector<void*> values;  // for halo_lift_whole()
    std::vector<GlobalPlace> globals;
    int calls = 1;
    double seconds = 1;         // of the processor, after which it counts as failed
    unsigned char garbage = 0;  // what lies where the function's variables will be
};

struct Outcome {
    bool has_failed = false, was_too_long = false;
    std::string why;
    std::string printed;
    bool has_exited = false;
    int exit_code = 0;
    std::vector<std::vector<char>> memory, globals;  // memory is for the caller to fill

    bool operator==(const Outcome&) const = default;
};

// Throws SourceError where no process can be made.
Outcome run_process(const ProcessRun& run);

}  // namespace halo::lift
