// Cells between two ranks by NCCL, and over the host. Both are of this thread: one rank's exchange is over
// before the other's begins, so that each transfer is looked at by itself.
#include <dlfcn.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <thread>

#include "catch.h"
#include "fake_libnccl.h"
#include "runtime/core/background.h"
#include "runtime/core/geometry.h"
#include "runtime/nccl/nccl_messages.h"

using namespace halo::rt;

namespace {

const bool set_up = [] {
    ::setenv("HALOCLINE_LIBCUDA", HALO_FAKE_LIBCUDA, 1);
    ::setenv("HALOCLINE_NCCL", HALO_FAKE_LIBNCCL, 1);
    return true;
}();

FakeNccl& fake() {
    void* const handle = dlopen(HALO_FAKE_LIBNCCL, RTLD_NOW | RTLD_LOCAL);
    return *reinterpret_cast<FakeNccl* (*)()>(dlsym(handle, "fake_nccl"))();
}

// Ends what waits in the background: the next test has the stand-in to itself.
void let_go(bool& waits) {
    std::atomic_ref(waits).store(false);
    while (background_is_busy())
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

// One of two, in the same thread: what the first broadcasts is there for the second.
class Turn final : public Ranks {
public:
    explicit Turn(int rank) : rank_(rank) { set_timeout(0.05); }
    int rank() const override { return rank_; }
    int count() const override { return 2; }
    const std::string& host(int) const override { return host_; }
    void exchange(std::span<const Message> receives, std::span<const Message> sends) override {
        static std::string said;
        for (const Message& message : sends)
            said.append(static_cast<const char*>(message.bytes), static_cast<std::size_t>(message.count));
        for (const Message& message : receives) {
            REQUIRE(said.size() >= static_cast<std::size_t>(message.count));
            said.copy(static_cast<char*>(message.bytes), static_cast<std::size_t>(message.count));
            said.erase(0, static_cast<std::size_t>(message.count));
        }
    }
    void wait(const std::function<bool()>& done, std::span<const int>) override {
        while (!done()) {
        }
    }
    void end_all(const Failure&, const std::function<void(const Failure&)>&) override {}

private:
    int rank_;
    std::string host_ = "here";
};

constexpr std::array<std::array<int, 2>, kMaxRank> kHalo{{{1, 1}, {1, 1}, {0, 0}}};

// A piece of 4 x 3 cells and two levels, of floats and doubles.
struct Side {
    explicit Side(int rank) : ranks(rank), device(open_cuda_device()) {
        geometry = make_geometry(2, {4, 3, 1}, kHalo, RowLayout::padded);
        for (const std::int64_t element : {4, 8}) {
            memory.emplace_back(*device, geometry.elements * element);
            device->set_bytes(memory.back().address(), rank + 1, geometry.elements * element);
        }
    }
    std::vector<PieceArrays> pieces() {
        return {
            {ranks.rank(), device.get(), &geometry, {{memory[0].address(), 4}, {memory[1].address(), 8}}}};
    }
    int byte_at(std::size_t level, std::int64_t x, std::int64_t y) {
        const std::int64_t element = level == 0 ? 4 : 8;
        unsigned char byte = 0;
        const std::int64_t place = (geometry.origin + x + y * geometry.pitch) * element + element - 1;
        device->copy_to_host(&byte, static_cast<char*>(memory[level].address()) + place, 1);
        return byte;
    }
    Turn ranks;
    std::unique_ptr<CudaDevice> device;
    Geometry geometry;
    std::vector<DeviceMemory> memory;
};

// A row, which goes from array to array.
Transfer transfer(int from, int to) {
    Transfer result;
    result.from = from;
    result.to = to;
    result.axis = 1;
    result.source = {-1, 2, 0};
    result.target = {-1, 0, 0};
    result.count = {6, 1, 1};
    return result;
}

// A column, which is packed.
Transfer column(int from, int to) {
    Transfer result = transfer(from, to);
    result.axis = 0;
    result.source = {3, -1, 0};
    result.target = {0, -1, 0};
    result.count = {1, 5, 1};
    return result;
}

}  // namespace

TEST_CASE("cells go from one GPU to another") {
    fake() = {};
    REQUIRE(why_no_nccl().empty());
    Side first(0), second(1);
    {
        const std::unique_ptr<Transport> here = make_nccl_messages(first.ranks, *first.device);
        const std::unique_ptr<Transport> there = make_nccl_messages(second.ranks, *second.device);
        CHECK(here->name() == "NCCL 2.28.3");
        here->exchange({transfer(0, 1)}, first.pieces());
        there->exchange({transfer(0, 1)}, second.pieces());
        here->wait();
        there->wait();
        for (const std::size_t level : {0U, 1U}) {
            for (std::int64_t x = -1; x < 5; ++x) {
                CHECK(second.byte_at(level, x, 0) == 1);
                CHECK(second.byte_at(level, x, 1) == 2);
                CHECK(first.byte_at(level, x, 2) == 1);
            }
        }
        there->exchange({transfer(1, 0)}, second.pieces());
        here->exchange({transfer(1, 0)}, first.pieces());
        CHECK(first.byte_at(0, 3, 0) == 2);
        here->exchange({column(0, 1)}, first.pieces());
        there->exchange({column(0, 1)}, second.pieces());
        for (const std::size_t level : {0U, 1U}) {
            CHECK(second.byte_at(level, 0, 2) == 1);
            CHECK(second.byte_at(level, 1, 2) == 2);
        }
    }
    // Rows of 64 elements, level by level; then 5 cells of 4 and of 8 bytes, both levels in one message.
    CHECK(fake().calls == std::vector<std::string>{"init 0 of 2", "init 1 of 2", "send 256 to 1",
                                                   "send 512 to 1", "send 256 to 0", "send 512 to 0",
                                                   "send 60 to 1", "destroy", "destroy"});
}

TEST_CASE("cells go from one GPU to another over the host") {
    Side first(0), second(1);
    const std::unique_ptr<Transport> here = make_host_messages(first.ranks);
    const std::unique_ptr<Transport> there = make_host_messages(second.ranks);
    for (const bool is_again : {false, true}) {  // with the room of the first time
        CHECK(second.byte_at(0, 2, 0) == (is_again ? 1 : 2));
        here->exchange({transfer(0, 1)}, first.pieces());
        there->exchange({transfer(0, 1)}, second.pieces());
        for (const std::size_t level : {0U, 1U}) {
            for (std::int64_t x = -1; x < 5; ++x) {
                CHECK(second.byte_at(level, x, 0) == 1);
                CHECK(second.byte_at(level, x, 1) == 2);
            }
        }
    }
}

TEST_CASE("what NCCL reports ends the exchange") {
    fake() = {};
    Side side(0);
    const auto run = [&](int result, const std::string& words) {
        INFO(words);
        std::optional<std::string> said;
        try {
            const std::unique_ptr<Transport> transport = make_nccl_messages(side.ranks, *side.device);
            fake().async_result = result;
            side.ranks.at_step(12);
            transport->exchange({transfer(0, 1)}, side.pieces());
            transport->wait();
        } catch (const Error& error) {
            CHECK(error.code() == ErrorCode::peer_lost);
            said = error.what();
        }
        REQUIRE(said);
        CHECK(said->find(words) != std::string::npos);
        CHECK(fake().calls.back() == "abort");
    };
    run(6, "a network error' while exchanging cells, at step 12");
    fake() = {};
    fake().send_result = 5;
    run(0, "invalid usage");
}

TEST_CASE("an exchange is not waited for for ever") {
    fake() = {};
    Side side(0);
    fake().never_connects = true;
    std::string said;
    try {
        make_nccl_messages(side.ranks, *side.device);
    } catch (const Error& error) {
        said = error.what();
    }
    CHECK(said.find("the GPU of rank 0 on here has not connected") != std::string::npos);
    let_go(fake().never_connects);
}

TEST_CASE("nor is a neighbour that does not come to the first exchange") {
    fake() = {};
    Side side(0);
    std::string said;
    try {
        const std::unique_ptr<Transport> transport = make_nccl_messages(side.ranks, *side.device);
        fake().never_begins = true;
        transport->exchange({transfer(0, 1)}, side.pieces());
    } catch (const Error& error) {
        said = error.what();
    }
    CHECK(said.find("has not connected to its neighbours by NCCL") != std::string::npos);
    CHECK(fake().calls.back() == "abort");
    let_go(fake().never_begins);
}
