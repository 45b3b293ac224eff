#include "runtime/nccl/nccl_messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <set>
#include <vector>

#include "runtime/core/background.h"
#include "runtime/nccl/library.h"

namespace halo::rt {

namespace {

using nccl::Library;
using Clock = std::chrono::steady_clock;

class NcclMessages final : public Messages {
public:
    NcclMessages(const Library& library, Ranks& ranks, CudaDevice& device);
    ~NcclMessages() override;
    std::string name() const override { return "NCCL " + version_; }
    void wait() override;

private:
    void move(Device& device, const MessageList& receives, const MessageList& sends) override;
    void check(int result, const char* doing) const;
    void connect();
    // Waits for `done` and these ranks, as long as it is given; `what` has not been done then.
    void wait_for(const std::function<bool()>& done, const std::set<int>& peers, const char* what);

    const Library& library_;
    CudaDevice& device_;
    std::string version_;
    nccl::Comm comm_ = nullptr;
    std::set<int> peers_;  // of what may not be done yet
    std::set<int> met_;    // that were in an exchange
};

NcclMessages::NcclMessages(const Library& library, Ranks& ranks, CudaDevice& device)
    : Messages(ranks), library_(library), device_(device) {
    int version = 0;
    check(library_.version(&version), "asking its version");
    version_ = fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
    connect();
}

// NCCL waits for all ranks and cannot be interrupted, so it runs in a thread of its own, while this one
// checks that they are alive.
void NcclMessages::connect() {
    nccl::UniqueId id;
    if (ranks().is_first()) check(library_.unique_id(&id), "beginning");
    const std::string all = ranks().broadcast({id.bytes.data(), id.bytes.size()});
    std::memcpy(id.bytes.data(), all.data(), id.bytes.size());
    std::set<int> others;
    for (int rank = 0; rank < ranks().count(); ++rank)
        if (rank != ranks().rank()) others.insert(rank);
    struct Connection {
        int result = nccl::kSuccess;
        nccl::Comm comm = nullptr;
    };
    const auto connected = run_in_background(
        [&library = library_, &device = device_, id, count = ranks().count(), rank = ranks().rank()] {
            Connection made;
            device.is_idle();  // makes the GPU this thread's
            made.result = library.init(&made.comm, count, id, rank);
            return made;
        });
    wait_for([&] { return connected.wait_for(std::chrono::seconds(0)) == std::future_status::ready; }, others,
             "connected the GPUs of all ranks by NCCL");
    const Connection made = connected.get();
    check(made.result, "connecting the GPUs of all ranks");
    comm_ = made.comm;
}

// Kernels of a broken exchange never end by themselves.
NcclMessages::~NcclMessages() {
    if (comm_ == nullptr) return;
    if (std::uncaught_exceptions() > 0)
        library_.abort(comm_);
    else
        library_.destroy(comm_);
}

void NcclMessages::check(int result, const char* doing) const {
    if (result == nccl::kSuccess || result == nccl::kInProgress) return;
    throw Error(
        ErrorCode::peer_lost,
        fmt::format("NCCL reported '{}' while {}{}; NCCL_DEBUG=INFO makes it say more, and --transport mpi "
                    "goes without it",
                    library_.error_text(result), doing,
                    ranks().step() < 0 ? "" : fmt::format(", at step {}", ranks().step())));
}

// The first exchange with a rank connects the two, and waits for it; later ones are only begun.
void NcclMessages::move(Device&, const MessageList& receives, const MessageList& sends) {
    std::set<int> peers;
    for (const MessageList* messages : {&receives, &sends})
        for (const Ranks::Message& message : *messages)
            peers.insert(message.peer);
    const auto begin = [&library = library_, &device = device_, comm = comm_, stream = device_.stream(),
                        receives, sends] {
        device.is_idle();  // makes the GPU this thread's
        int result = library.group_start();
        for (const Ranks::Message& message : receives)
            if (result == nccl::kSuccess)
                result = library.receive(message.bytes, static_cast<std::size_t>(message.count), nccl::kBytes,
                                         message.peer, comm, stream);
        for (const Ranks::Message& message : sends)
            if (result == nccl::kSuccess)
                result = library.send(message.bytes, static_cast<std::size_t>(message.count), nccl::kBytes,
                                      message.peer, comm, stream);
        const int ended = library.group_end();
        return result == nccl::kSuccess ? ended : result;
    };
    if (std::ranges::includes(met_, peers)) {
        check(begin(), "exchanging cells");
    } else {
        const auto begun = run_in_background(begin);
        wait_for([&] { return begun.wait_for(std::chrono::seconds(0)) == std::future_status::ready; }, peers,
                 "connected to its neighbours by NCCL");
        check(begun.get(), "exchanging cells");
        met_.insert(peers.begin(), peers.end());
    }
    peers_.merge(peers);
}

void NcclMessages::wait() {
    if (peers_.empty()) return;
    const auto done = [&] {
        int result = nccl::kSuccess;
        check(library_.async_error(comm_, &result), "checking the exchange");
        check(result, "exchanging cells");
        return device_.is_idle();
    };
    wait_for(done, peers_, "done its steps and exchanged its cells");
    peers_.clear();
}

void NcclMessages::wait_for(const std::function<bool()>& done, const std::set<int>& peers, const char* what) {
    const Clock::time_point since = Clock::now();
    const auto in_time = [&] {
        if (done()) return true;
        // Ranks that wait for their GPUs answer each other, and could do so endlessly.
        if (std::chrono::duration<double>(Clock::now() - since).count() > 2 * ranks().timeout())
            throw Error(ErrorCode::peer_lost,
                        fmt::format("the GPU of rank {} on {} has not {} for {:g} s", ranks().rank(),
                                    ranks().host(ranks().rank()), what, 2 * ranks().timeout()));
        return false;
    };
    ranks().wait(in_time, std::vector<int>(peers.begin(), peers.end()));
}

}  // namespace

std::string why_no_nccl() {
    std::string why;
    return Library::find(why) != nullptr ? "" : why;
}

std::unique_ptr<Transport> make_nccl_messages(Ranks& ranks, CudaDevice& device) {
    std::string why;
    const Library* const library = Library::find(why);
    if (library == nullptr) throw Error(ErrorCode::no_device, "there is no NCCL here: " + why);
    return std::make_unique<NcclMessages>(*library, ranks, device);
}

}  // namespace halo::rt
