// What a test tells the stand-in for libnccl, and learns from it.
#pragma once

#include <string>
#include <vector>

struct FakeNccl {
    int async_result = 0;            // of ncclCommGetAsyncError
    int send_result = 0;             // of ncclSend
    bool never_connects = false;     // ncclCommInitRank, as long as this is so
    bool never_begins = false;       // ncclGroupEnd
    std::vector<std::string> calls;  // "init 0 of 2", "send 8 to 1", …
};
