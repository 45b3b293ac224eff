// Emulated CUDA that notes what a run asks of it beside kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "catch.h"
#include "emulated_device.h"

namespace halo::test {

// A device that counts what comes to the host, and levels that are copied within its memory.
class CountingDevice : public emulator::EmulatedDevice {
public:
    // level_bytes: of a level; what is smaller does not count as one.
    explicit CountingDevice(std::int64_t level_bytes) : level_bytes_(level_bytes) {}

    int to_host = 0, within = 0;

    void copy_to_host(void* host, const void* address, std::int64_t bytes) override {
        ++to_host;
        EmulatedDevice::copy_to_host(host, address, bytes);
    }
    void download_cells(void* dense, const void* array, const rt::Geometry& geometry,
                        rt::ElementType type) override {
        ++to_host;
        EmulatedDevice::download_cells(dense, array, geometry, type);
    }
    void synchronize() override { ++to_host; }
    void copy_on_device(void* destination, const void* source, std::int64_t bytes) override {
        if (bytes >= level_bytes_) ++within;
        EmulatedDevice::copy_on_device(destination, source, bytes);
    }
    void copy_planes(rt::Device& other, const rt::BoxCopy& box) override {
        if (box.row_bytes * box.rows * box.planes >= level_bytes_) ++within;
        EmulatedDevice::copy_planes(other, box);
    }

private:
    const std::int64_t level_bytes_;
};

// Copies beside its work as early as they may be done, or as late as somebody waits for them.
class CopyingDevice final : public CountingDevice {
public:
    CopyingDevice(std::int64_t level_bytes, bool late) : CountingDevice(level_bytes), late_(late) {}
    ~CopyingDevice() override { CHECK(reserved_ == 0); }

    void* allocate_on_host(std::int64_t bytes) override {
        ++reserved_;
        return new char[static_cast<std::size_t>(bytes)];
    }
    void release_on_host(void* memory) noexcept override {
        --reserved_;
        delete[] static_cast<char*>(memory);
    }
    void begin_copy_to_device(void* address, const void* memory, std::int64_t bytes) override {
        const std::vector<char> nothing(static_cast<std::size_t>(bytes), static_cast<char>(0xff));
        EmulatedDevice::copy_to_device(address, nothing.data(), bytes);
        begin([=, this] { EmulatedDevice::copy_to_device(address, memory, bytes); });
    }
    void begin_copy_to_host(void* memory, const void* address, std::int64_t bytes) override {
        begin([=, this] { EmulatedDevice::copy_to_host(memory, address, bytes); });
    }
    void use_stream(StreamKind kind) override { kind_ = kind; }
    void wait_for_stream(StreamKind other) override {
        if (other == StreamKind::fetch) finish(begun_.size());
    }
    void synchronize() override {
        CountingDevice::synchronize();
        finish(begun_.size());
    }
    std::unique_ptr<rt::WorkMark> make_mark() override { return std::make_unique<Mark>(*this); }

private:
    class Mark final : public rt::WorkMark {
    public:
        explicit Mark(CopyingDevice& of) : of_(of) {}
        void set() override { place_ = of_.begun_.size(); }
        void wait() override { of_.finish(place_); }

    private:
        CopyingDevice& of_;
        std::size_t place_ = 0;
    };
    void begin(const std::function<void()>& copy) {
        CHECK(kind_ == StreamKind::fetch);
        begun_.push_back(copy);
        if (!late_) finish(begun_.size());
    }
    void finish(std::size_t count) {
        for (; done_ < count; ++done_)
            begun_[done_]();
    }

    bool late_;
    StreamKind kind_ = StreamKind::main;
    int reserved_ = 0;
    std::vector<std::function<void()>> begun_;
    std::size_t done_ = 0;
};

}  // namespace halo::test
