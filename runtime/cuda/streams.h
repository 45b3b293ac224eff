// What a device of the driver holds: its context and streams, recorded work, and marks in the order of work.
// Not for other rooms.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <string>

#include "runtime/core/device.h"
#include "runtime/cuda/cuda.h"
#include "runtime/cuda/driver.h"

namespace halo::rt::cuda {

inline constexpr unsigned kNonBlocking = 1;  // CU_STREAM_NON_BLOCKING
inline constexpr unsigned kWithoutTime = 2;  // CU_EVENT_DISABLE_TIMING

// While another library of this thread records a stream of its own to a CUDA graph, the driver refuses what
// is not put into streams, such as reserving memory and copies of pageable memory, and waiting, and ends that
// recording. What is done here has nothing to do with it.
class BesideRecordings {
public:
    explicit BesideRecordings(const Driver& driver) : driver_(driver) {
        driver_.ThreadExchangeStreamCaptureMode(&mode_);
    }
    ~BesideRecordings() { driver_.ThreadExchangeStreamCaptureMode(&mode_); }
    BesideRecordings(const BesideRecordings&) = delete;
    BesideRecordings& operator=(const BesideRecordings&) = delete;

private:
    const Driver& driver_;
    int mode_ = 2;  // CU_STREAM_CAPTURE_MODE_RELAXED; then the thread's
};

class GraphRecording final : public Recording {
public:
    GraphRecording(const Driver& driver, Context context, GraphExec ready)
        : driver_(driver), context_(context), ready_(ready) {}
    ~GraphRecording() override {
        driver_.CtxSetCurrent(context_);
        driver_.GraphExecDestroy(ready_);
    }
    GraphRecording(const GraphRecording&) = delete;
    GraphRecording& operator=(const GraphRecording&) = delete;
    GraphExec ready() const { return ready_; }

private:
    const Driver& driver_;
    Context context_;
    GraphExec ready_;
};

// Makes a graph, which goes, ready to run.
inline std::unique_ptr<GraphRecording> made_ready(const Driver& driver, Context context, Graph graph,
                                                  const std::string& doing) {
    GraphExec ready = nullptr;
    const int result = driver.GraphInstantiate(&ready, graph, 0);
    driver.GraphDestroy(graph);
    driver.check(result, doing);
    return std::make_unique<GraphRecording>(driver, context, ready);
}

class EventTimer final : public CudaTimer {
public:
    EventTimer(const Driver& driver, Context context, Stream stream)
        : driver_(driver), context_(context), stream_(stream) {
        driver_.check(driver_.EventCreate(&start_, 0), "making a timer");
        driver_.check(driver_.EventCreate(&stop_, 0), "making a timer");
    }
    ~EventTimer() override {
        driver_.CtxSetCurrent(context_);
        driver_.EventDestroy(start_);
        if (stop_ != nullptr) driver_.EventDestroy(stop_);
    }
    EventTimer(const EventTimer&) = delete;
    EventTimer& operator=(const EventTimer&) = delete;
    void start() override { driver_.check(driver_.EventRecord(start_, stream_), "starting a timer"); }
    void stop() override { driver_.check(driver_.EventRecord(stop_, stream_), "stopping a timer"); }
    double milliseconds() override {
        float elapsed = 0;
        driver_.check(driver_.EventSynchronize(stop_), "waiting for a timer");
        driver_.check(driver_.EventElapsedTime(&elapsed, start_, stop_), "reading a timer");
        return static_cast<double>(elapsed);
    }

private:
    const Driver& driver_;
    Context context_;
    Stream stream_;
    Event start_ = nullptr, stop_ = nullptr;
};

// A place in the order of a stream's work.
class StreamEvent {
public:
    StreamEvent(const Driver& driver, Context context) : driver_(driver), context_(context) {
        driver_.check(driver_.EventCreate(&event_, kWithoutTime), "making an event");
    }
    ~StreamEvent() {
        driver_.CtxSetCurrent(context_);
        driver_.EventDestroy(event_);
    }
    StreamEvent(const StreamEvent&) = delete;
    StreamEvent& operator=(const StreamEvent&) = delete;
    void record(Stream stream) const { driver_.check(driver_.EventRecord(event_, stream), "marking work"); }
    Event get() const { return event_; }

private:
    const Driver& driver_;
    Context context_;
    Event event_ = nullptr;
};

// Whether a stream's owner records what is put into it to a CUDA graph. That would be done when the graph is
// run, as often as it is, and not now, as everything here takes for granted: steps are counted, and arrays
// move, on the host.
inline bool is_recorded(const Driver& driver, Stream stream) {
    int status = 0;
    return driver.StreamIsCapturing(stream, &status) != kSuccess || status != 0;
}
[[noreturn]] inline void refuse_recorded() {
    throw Error(ErrorCode::launch_failed,
                "this stream is being recorded to a CUDA graph, and what is asked for here is done at once; "
                "do it before "
                "or after the recording, or in another stream");
}

// A GPU's primary context, given back at the end, or the caller's; and a stream in it, which is our own where
// the caller names none. Steps are recorded in another stream, so that the caller's is left to the caller
// meanwhile, and may be the default one, which cannot record.
class ContextAndStream {
public:
    ContextAndStream(const Driver& driver, const CudaOptions& options) : driver_(driver) {
        context = static_cast<Context>(options.context);
        owns_stream_ = !options.stream.has_value();
        if (options.stream) stream = static_cast<Stream>(*options.stream);
        if (context == nullptr) retain_primary(options.ordinal);
        const int current = driver_.CtxSetCurrent(context);
        if (current == kSuccess && !owns_stream_ && is_recorded(driver_, stream)) {
            release_primary();
            refuse_recorded();
        }
        callers_ = stream;
        int made =
            current == kSuccess && owns_stream_ ? make_stream(stream, Device::StreamKind::main) : current;
        if (made == kSuccess) made = make_stream(recording_, Device::StreamKind::main);
        if (made == kSuccess) return;
        if (owns_stream_ && stream != nullptr) driver_.StreamDestroy(stream);
        release_primary();
        driver_.fail(made, "making a stream");
    }
    ~ContextAndStream() {
        driver_.CtxSetCurrent(context);
        use_stream(Device::StreamKind::main);
        if (owns_stream_ || !is_recorded(driver_, stream))  // to wait would end the recording
            driver_.StreamSynchronize(stream);
        driver_.StreamDestroy(recording_);
        for (std::size_t kind = 1; kind < streams_.size(); ++kind) {
            if (streams_[kind] == nullptr) continue;
            driver_.StreamSynchronize(streams_[kind]);
            driver_.StreamDestroy(streams_[kind]);
        }
        if (owns_stream_) driver_.StreamDestroy(stream);
        release_primary();
    }
    ContextAndStream(const ContextAndStream&) = delete;
    ContextAndStream& operator=(const ContextAndStream&) = delete;

    // From one call to the next, `stream` is the one to record in.
    void switch_streams() { std::swap(stream, recording_); }
    // From then on `stream` is the one of this kind, which is made at its first use.
    void use_stream(Device::StreamKind kind) {
        if (kind == kind_) return;
        streams_[static_cast<std::size_t>(kind_)] = stream;
        Stream& of_kind = streams_[static_cast<std::size_t>(kind)];
        if (of_kind == nullptr && kind != Device::StreamKind::main)
            driver_.check(make_stream(of_kind, kind), "making a stream");
        stream = of_kind;
        kind_ = kind;
    }
    Device::StreamKind kind() const { return kind_; }

    void check_caller_records_nothing() const {
        if (!owns_stream_ && is_recorded(driver_, callers_)) refuse_recorded();
    }

    Context context = nullptr;
    Stream stream = nullptr;  // where work goes now

private:
    void retain_primary(int ordinal) {
        driver_.check(driver_.DeviceGet(&device_, ordinal), "choosing the GPU");
        driver_.check(driver_.DevicePrimaryCtxRetain(&context, device_),
                      "making a context (is the GPU in use by a process of its own?)");
        is_primary_ = true;
    }
    // The main stream comes before the side stream: a sweep that fills the GPU begins at once, and what is
    // done beside it takes what is left. Smaller numbers come first.
    int make_stream(Stream& made, Device::StreamKind kind) {
        int least = 0, greatest = 0;
        const int asked = driver_.CtxGetStreamPriorityRange(&least, &greatest);
        if (asked != kSuccess) return asked;
        const int of_main = std::max(greatest, least - 1);
        const int priority = kind == Device::StreamKind::urgent ? greatest
                             : kind == Device::StreamKind::main ? of_main
                                                                : least;
        return driver_.StreamCreateWithPriority(&made, kNonBlocking, priority);
    }
    void release_primary() {
        if (is_primary_) driver_.DevicePrimaryCtxRelease(device_);
    }

    const Driver& driver_;
    int device_ = 0;
    bool is_primary_ = false, owns_stream_ = true;
    Stream recording_ = nullptr, callers_ = nullptr;
    Device::StreamKind kind_ = Device::StreamKind::main;
    std::array<Stream, 4> streams_{};  // by kind; the one in use is `stream`
};

class StreamMark final : public WorkMark {
public:
    StreamMark(const Driver& driver, const ContextAndStream& here)
        : driver_(driver), here_(here), place_(driver, here.context) {}
    void set() override {
        driver_.check(driver_.CtxSetCurrent(here_.context), "choosing the GPU");
        place_.record(here_.stream);
    }
    void wait() override {
        driver_.check(driver_.CtxSetCurrent(here_.context), "choosing the GPU");
        driver_.check(driver_.StreamWaitEvent(here_.stream, place_.get(), 0), "waiting for another stream");
    }

private:
    const Driver& driver_;
    const ContextAndStream& here_;
    StreamEvent place_;
};

// Into memory of the host that the GPU writes to by itself.
class PinnedCopy final : public EarlyCopy {
public:
    PinnedCopy(const Driver& driver, const ContextAndStream& here, std::int64_t bytes)
        : driver_(driver), here_(here), bytes_(static_cast<std::size_t>(bytes)), done_(driver, here.context) {
        const BesideRecordings beside(driver_);
        driver_.check(driver_.MemAllocHost(&host_, bytes_), "reserving memory of the host");
    }
    ~PinnedCopy() override {
        driver_.CtxSetCurrent(here_.context);
        const BesideRecordings beside(driver_);
        if (is_begun_) driver_.EventSynchronize(done_.get());
        driver_.MemFreeHost(host_);
    }
    PinnedCopy(const PinnedCopy&) = delete;
    PinnedCopy& operator=(const PinnedCopy&) = delete;
    void begin(const void* address) override {
        driver_.check(driver_.CtxSetCurrent(here_.context), "choosing the GPU");
        driver_.check(driver_.MemcpyDtoHAsync(host_, to_address(address), bytes_, here_.stream),
                      "copying from the GPU");
        done_.record(here_.stream);
        is_begun_ = true;
    }
    const void* wait() override {
        const BesideRecordings beside(driver_);
        driver_.check(driver_.EventSynchronize(done_.get()), "waiting for a copy from the GPU");
        return host_;
    }

private:
    const Driver& driver_;
    const ContextAndStream& here_;
    std::size_t bytes_;
    StreamEvent done_;
    void* host_ = nullptr;
    bool is_begun_ = false;
};

}  // namespace halo::rt::cuda
