// What driver_test.cpp tells the fake driver, and what it sees of it.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

struct FakeLibcuda {
    // Told.
    int init_result = 0;
    int devices = 1;
    std::int64_t total_bytes = std::int64_t{1} << 30;
    std::map<std::string, int> fail_next;  // by full name: the next call's result
    int capability_major = 9;
    bool barriers_hang = false;     // of all blocks (runtime/limits): as where not all of them run at once
    bool copies_are_wrong = false;  // of the same kernels
    std::set<const void*> streams_recorded_by_caller;  // to graphs of the caller's
    // Seen.
    int capture_mode = 0;  // of the calling thread
    std::int64_t used_bytes = 0;
    int live_allocations = 0;
    int live_modules = 0;
    int live_graphs = 0;  // also those ready to run
    int live_streams = 0;
    int live_events = 0;
    int retained_contexts = 0;
    int launches = 0;
    int resident_launches = 0;  // among them
    int graph_launches = 0;
    void* last_stream = nullptr;            // that work was put into
    void* fetching_stream = nullptr;        // of the last copy of cells to the host
    int launches_before_fetch = 0;          // when it was made
    void* recorded_stream = nullptr;        // whose work the last event marks
    void* waiting_stream = nullptr;         // that was last told to wait for an event
    std::map<const void*, int> priorities;  // by stream; smaller numbers come first
    int last_dynamic_shared_bytes = 0;
    int allowed_dynamic_shared_bytes = 0;
    void* (*current_context)() = nullptr;  // of the calling thread
    float constants[4] = {0, 0, 0, 0};
};

using FakeLibcudaAccess = FakeLibcuda* (*)();  // the library's function `fake_libcuda`
