// Work that a thread of its own does, in order and within limits.
#include "compiler/driver/running/background_writer.h"

#include <atomic>
#include <future>
#include <vector>

#include "catch.h"
#include "runtime/core/error.h"

using halo::driver::BackgroundWriter;

TEST_CASE("work is done in order, and all of it when the writer goes") {
    std::vector<int> done;
    {
        BackgroundWriter writer(100);
        for (int i = 0; i < 50; ++i) {
            writer.make_room(40);
            writer.put(40, [&done, i] { done.push_back(i); });
        }
        writer.wait();
        CHECK(done.size() == 50);
        writer.put(0, [&done] { done.push_back(50); });
    }
    REQUIRE(done.size() == 51);
    for (int i = 0; i < 51; ++i)
        CHECK(done[static_cast<std::size_t>(i)] == i);
}

TEST_CASE("copies wait only as far as there is room for them") {
    BackgroundWriter writer(100);
    CHECK(writer.has_room_for(100));
    CHECK(!writer.has_room_for(101));
    std::promise<void> go;
    std::atomic<int> done = 0;
    writer.make_room(60);
    writer.put(60, [&] {
        go.get_future().wait();
        ++done;
    });
    writer.make_room(40);  // beside the first, which is not done
    CHECK(done == 0);
    writer.put(40, [&] { ++done; });
    go.set_value();
    writer.make_room(60);
    CHECK(done >= 1);
    writer.make_room(100);
    CHECK(done == 2);
}

TEST_CASE("what goes wrong is said at the next call, and no work follows it") {
    BackgroundWriter writer(100);
    bool is_done = false;
    writer.put(0, [] { throw halo::rt::Error(halo::rt::ErrorCode::io, "the disk is full"); });
    CHECK_THROWS_AS(writer.wait(), halo::rt::Error);
    CHECK_THROWS_AS(writer.make_room(1), halo::rt::Error);
    CHECK_THROWS_AS(writer.put(0, [&] { is_done = true; }), halo::rt::Error);
    CHECK(!is_done);
}

TEST_CASE("memory is used again for copies of the same size") {
    BackgroundWriter writer(100);
    std::vector<std::byte> memory = writer.take_memory(64);
    const std::byte* const place = memory.data();
    writer.give_memory(std::move(memory));
    memory = writer.take_memory(64);
    CHECK(memory.data() == place);
    CHECK(writer.take_memory(32).size() == 32);
}
