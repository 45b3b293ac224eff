// What a function may call while it is run beside its stencils: a closed list of the C library, with memory
// and output that can be compared; and the C interface of Halocline, answered by the reference interpreter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace halo::lift {

// Memory that a run may touch. Elements that it has read or written lie in [low, high).
struct Region {
    char* begin = nullptr;
    char* end = nullptr;
    char* low = nullptr;
    char* high = nullptr;
    // Of the boxes that stencils copy: where they lie, and how far a row or plane of them is from the next.
    char* copied_low = nullptr;
    char* copied_high = nullptr;
    std::ptrdiff_t pitch = 0;
};

// Shared with the process of the run.
struct RunRecord {
    static constexpr int kMostRegions = 64;
    Region regions[kMostRegions];
    int region_count = 0;
    char *first = nullptr, *last = nullptr;  // all regions lie between them
    static constexpr int kProcesses = 3;
    int rank = 0;              // of MPI
    unsigned turn = 0;         // in which order loops run that have none
    int failing_request = -1;  // the one for memory or the time that is refused; -1: none
    int requests = 0;
    char called[128] = {};  // a function that is not in the list, and ended the run
    bool overlaps = false;  // a stencil has written to an array in the memory of another one
    bool has_exited = false;
    int exit_code = 0;
    char ran[1024] = {};  // the stencils that were run, each with a space after it
};

// The record that this process writes to from now on.
void record_run(RunRecord* record);
RunRecord* recorded_run();  // null: none

// Where JIT-compiled code finds what it calls; null: a call ends the run, and the record says so.
void* library_symbol(const std::string& name);
// Where there is no record: the next process runs its loops that have no order in another one than the last.
void begin_order();
// What a kernel knows of its thread and launch: four times unsigned x, y, z.
std::map<std::string, void*> thread_symbols();
// These, the calls that a traced object makes, and those of the C interface.
std::map<std::string, void*> stand_in_symbols();
// A function as JIT-compiled code is linked to it.
template <class Function>
void* address(Function* function) {
    return reinterpret_cast<void*>(function);
}

// Ends the run with the name of what was called.
void* stop_at_call(const std::string& name);

// What call_support() (replace.h) is in a text that is run here: declarations without headers.
extern const char kCallDeclarations[];
// And halo_lift_run_block(): the threads of a block that share memory.
extern const char kRunBlock[];

}  // namespace halo::lift
