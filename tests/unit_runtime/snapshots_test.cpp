// States that a session goes back to, and what it notes of its steps, on a device that counts what comes to
// the host.
#include "runtime/core/snapshots.h"

#include <algorithm>
#include <string>
#include <vector>

#include "catch.h"
#include "contains.h"
#include "refusal.h"
#include "sample_plans.h"

using namespace halo::rt;

namespace {

class CountingDevice : public FakeDevice {
public:
    int to_host = 0;
    bool is_full = false;

    void copy_to_host(void* host, const void* address, std::int64_t bytes) override {
        ++to_host;
        FakeDevice::copy_to_host(host, address, bytes);
    }
    void download_cells(void* dense, const void* array, const Geometry& geometry, ElementType type) override {
        ++to_host;
        FakeDevice::download_cells(dense, array, geometry, type);
    }
    void synchronize() override {
        ++to_host;
        FakeDevice::synchronize();
    }
    void* allocate(std::int64_t bytes) override {
        if (is_full) throw Error(ErrorCode::out_of_memory, "nothing is free");
        return FakeDevice::allocate(bytes);
    }
};

Session open_sample(Sample sample, const halo::rt::Extent& extent, Device& device) {
    std::vector<std::unique_ptr<Module>> modules;
    modules.push_back(std::move(sample.module));
    Session session(std::move(sample.plan), extent, device, std::move(modules));
    session.set_param("rate", 0.05);
    return session;
}

std::vector<double> wavy(std::int64_t count) {
    std::vector<double> values;
    for (std::int64_t i = 0; i < count; ++i)
        values.push_back(static_cast<double>((i * 37) % 64) / 16);
    return values;
}

}  // namespace

TEST_CASE("a session goes back to states on the device and on the host, and on from there as before") {
    CountingDevice device;
    Session wave = open_sample(wave_sample(), {21, 1, 1}, device);
    const std::vector<double> start = wavy(21);
    wave.upload("p", 0, std::span<const double>(start));
    wave.upload("p", -1, std::span<const double>(start));
    wave.step(1);
    std::vector<std::vector<double>> by_step;
    Snapshots kept(wave, {1, 2});
    for (int step = 1; step < 4; ++step) {
        kept.keep(step - 1);
        by_step.push_back(wave.download("p"));
        wave.step(2);
    }
    const std::vector<double> end = wave.download("p"), before_end = wave.download("p", -1);
    for (const int slot : {2, 0, 1}) {
        kept.restore(slot);
        wave.go_back_to(1 + 2 * slot);
        CHECK(wave.steps_done() == 1 + 2 * slot);
        CHECK(wave.download("p") == by_step[static_cast<std::size_t>(slot)]);
        wave.step(7 - wave.steps_done());
        CHECK(wave.download("p") == end);
        CHECK(wave.download("p", -1) == before_end);
    }
    CHECK(Snapshots::bytes_each(wave) >= 2 * 21 * 8);
    CHECK(contains(refusal([&] { wave.go_back_to(8); }), "8 of 7"));
}

TEST_CASE("snapshots on the device let the host wait for nothing") {
    CountingDevice device;
    Session heat = open_sample(heat_sample(2, ElementType::f64), {19, 6, 1}, device),
            other = open_sample(heat_sample(2, ElementType::f64), {19, 6, 1}, device);
    const std::vector<double> start = wavy(19 * 6);
    heat.upload("u", 0, std::span<const double>(start));
    heat.step(1);
    const std::vector<double> first = heat.download("u");
    device.to_host = 0;
    Snapshots kept(heat, {0, 2});
    kept.keep(0);
    heat.step(3);
    kept.keep(1);
    CHECK(kept.give_level(0, "u", 0, other, "u"));
    kept.restore(0);
    heat.go_back_to(1);
    CHECK(device.to_host == 0);
    CHECK(other.download("u") == first);
    // With the halos of the copy, not those that were there.
    other.step(3);
    heat.step(3);
    CHECK(other.download("u") == heat.download("u"));

    Snapshots on_host(heat, {1, 0});
    on_host.keep(0);
    CHECK_FALSE(on_host.give_level(0, "u", 0, other, "u"));
    device.is_full = true;
    std::string refusal;
    try {
        const Snapshots too_many(heat, {0, 3});
    } catch (const Error& error) {
        refusal = error.what();
    }
    CHECK(contains(refusal, "3 snapshots of "));
    CHECK(contains(refusal, ": nothing is free; keep fewer"));
}

TEST_CASE("what is kept stays as it is whatever is written, and the session ends in its own arrays") {
    CountingDevice device;
    Session wave = open_sample(wave_sample(), {21, 1, 1}, device);
    const std::vector<double> start = wavy(21), other(21, 3.5);
    wave.upload("p", 0, std::span<const double>(start));
    wave.upload("p", -1, std::span<const double>(start));
    std::vector<void*> own = wave.level_arrays("p");
    std::ranges::sort(own);
    {
        Snapshots kept(wave, {0, 2});
        kept.keep(0);
        wave.step(2);
        kept.keep(1);
        const std::vector<double> second = wave.download("p"), before = wave.download("p", -1);
        for (const int way : {0, 1, 2, 3}) {
            if (way == 0) wave.upload("p", 0, std::span<const double>(other));
            if (way == 1) wave.upload_box("p", -1, {{0, 0, 0}, {3, 1, 1}}, other.data());
            if (way == 2) wave.start_again();
            if (way == 3) wave.step(50);
            kept.restore(1);
            CHECK(wave.download("p") == second);
            CHECK(wave.download("p", -1) == before);
        }
        kept.restore(0);
        CHECK(wave.download("p") == start);
        kept.restore(1);
        kept.forget();
        CHECK(wave.download("p") == second);
        kept.keep(0);
        wave.step(1);
    }
    std::vector<void*> arrays = wave.level_arrays("p");
    std::ranges::sort(arrays);
    CHECK(arrays == own);
}

TEST_CASE("what steps give is noted on the device, and read at the end") {
    CountingDevice device;
    Session heat = open_sample(heat_sample(2, ElementType::f64), {19, 6, 1}, device);
    const std::vector<double> start = wavy(19 * 6);
    std::vector<double> read;
    for (const bool at_once : {true, false}) {
        heat.upload("u", 0, std::span<const double>(start));
        device.to_host = 0;
        for (int step = 0; step < 5; ++step) {
            heat.step(1);
            if (at_once)
                read.push_back(heat.reduction("total"));
            else
                heat.note_reduction("total");
        }
        CHECK(device.to_host == (at_once ? 5 : 0));
    }
    CHECK(heat.noted_reductions("total") == read);
    CHECK(device.to_host == 1);
    CHECK(heat.noted_reductions("total").empty());
}
