// What the threads of a block have done so far, where they share memory: for the executor alone.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/lift/model.h"

namespace halo::lift {

inline constexpr char kBarrier[] = "halo_lift_syncthreads";  // what __syncthreads is (stand_in_headers.cpp)

struct BlockOfThreads {
    // Along each axis: the threads, and how far the cells of a block are from those of the next.
    ThreadPlace size{1, 1, 1}, stride{1, 1, 1};
    // To find these, a thread is executed whose place is a symbol, and for which shared memory holds zeros.
    bool is_probe = false;
    ThreadPlace thread{};       // the one that runs
    int passed = 0;             // barriers that it has passed
    int stop = 0;               // those after which it stops
    std::int64_t work = 0;      // of all threads so far
    std::vector<int> arrivals;  // the conditions by which it has not left the kernel

    using Slot = std::pair<int, std::int64_t>;  // an element of shared memory: its variable and index
    struct Written {
        ThreadPlace thread{};
        int value = -1;  // of kept
        SourceRange where;
    };
    struct Phase {  // between two barriers
        std::map<Slot, std::vector<Written>> written;
        std::map<Slot, std::map<ThreadPlace, SourceRange>> read;
    };
    std::vector<Phase> phases;
    // Loops with barriers: the phase in which an iteration begins and the one in which it ends.
    std::set<std::pair<int, int>> loops;
    int visible = 0;  // since which phase it is known what has been written
    // The body of such a loop is executed to see what it does: nothing of it is kept.
    bool is_rehearsal = false;
    // Terms and reads that outlive the execution of their thread; loops are named by their symbols in them.
    Model kept;
    std::map<std::string, int> loop_symbols;  // a loop has the same one for all threads
    std::map<std::string, int> loops_seen;    // by this thread: how often each has begun
    std::map<std::string, int> interned;      // expressions by what they are made of
    std::set<int> loaded;                     // arrays from which shared memory is filled
    // The first thread that stores something, and what it stores, of kept.
    ThreadPlace first{};
    std::vector<Store> stores;
    std::set<ThreadPlace> storing;
    // As in Model, of all threads.
    std::vector<Polynomial> needs;
    std::vector<std::string> remarks;
};

}  // namespace halo::lift
