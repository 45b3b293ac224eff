// A stand-in for libnccl.so.2 on host memory, for ranks that take turns in one thread: what is sent is kept
// until it is received, and what is to be received must have been sent.
#include "fake_libnccl.h"

#include <atomic>
#include <chrono>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>

#include "runtime/nccl/library.h"

using halo::rt::nccl::Comm;
using halo::rt::nccl::CommTag;
using halo::rt::nccl::UniqueId;

namespace halo::rt::nccl {
struct CommTag {
    int rank = 0;
};
}  // namespace halo::rt::nccl

namespace {

FakeNccl state;
bool in_group = false;
std::map<std::pair<int, int>, std::deque<std::string>> under_way;  // by sender and receiver
constexpr int kInvalidUsage = 5;
constexpr std::string_view kId = "the same for all ranks";

std::mutex mutex;  // of what follows, and of the calls
std::map<Comm, std::unique_ptr<CommTag>> comms;

void note(const std::string& call) {
    const std::scoped_lock lock(mutex);
    state.calls.push_back(call);
}

// A thread of the test ends it.
void wait_while(bool& waits) {
    while (std::atomic_ref(waits).load())
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

int rank_of(Comm comm) {
    const std::scoped_lock lock(mutex);
    return comm->rank;
}

int end(Comm comm, const std::string& call) {
    note(call);
    const std::scoped_lock lock(mutex);
    return comms.erase(comm) == 1 ? 0 : kInvalidUsage;
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) FakeNccl* fake_nccl() {
    return &state;
}

int ncclGetVersion(int* version) {
    return *version = 22803, 0;
}
const char* ncclGetErrorString(int result) {
    return result == kInvalidUsage ? "invalid usage" : "remote process exited or there was a network error";
}
int ncclGetUniqueId(UniqueId* id) {
    std::memcpy(id->bytes.data(), kId.data(), kId.size());
    return 0;
}
int ncclCommInitRank(Comm* comm, int ranks, UniqueId id, int rank) {
    wait_while(state.never_connects);
    if (std::memcmp(id.bytes.data(), kId.data(), kId.size()) != 0) return kInvalidUsage;
    note("init " + std::to_string(rank) + " of " + std::to_string(ranks));
    auto made = std::make_unique<CommTag>(CommTag{rank});
    *comm = made.get();
    const std::scoped_lock lock(mutex);
    comms[*comm] = std::move(made);
    return 0;
}
int ncclCommGetAsyncError(Comm, int* result) {
    return *result = state.async_result, 0;
}
int ncclCommDestroy(Comm comm) {
    return end(comm, "destroy");
}
int ncclCommAbort(Comm comm) {
    return end(comm, "abort");
}
int ncclGroupStart() {
    in_group = true;
    return 0;
}
int ncclGroupEnd() {
    wait_while(state.never_begins);
    in_group = false;
    return 0;
}
int ncclSend(const void* bytes, std::size_t count, int type, int peer, Comm comm, void* stream) {
    if (!in_group || type != 0 || stream == nullptr) return kInvalidUsage;
    note("send " + std::to_string(count) + " to " + std::to_string(peer));
    under_way[{rank_of(comm), peer}].emplace_back(static_cast<const char*>(bytes), count);
    return state.send_result;
}
int ncclRecv(void* bytes, std::size_t count, int type, int peer, Comm comm, void* stream) {
    if (!in_group || type != 0 || stream == nullptr) return kInvalidUsage;
    std::deque<std::string>& sent = under_way[{peer, rank_of(comm)}];
    if (sent.empty() || sent.front().size() != count) return kInvalidUsage;
    std::memcpy(bytes, sent.front().data(), count);
    sent.pop_front();
    return 0;
}

}  // extern "C"
