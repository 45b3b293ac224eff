// Random programs on grids that are cut into pieces: the interpreter's results on the whole grid, bit by bit.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <vector>

#include "catch.h"
#include "compiler/driver/planning/pieces_plan.h"
#include "compiler/ir/repeats.h"
#include "cut_engines.h"
#include "emulated_device.h"
#include "emulator.h"
#include "load_cpp.h"
#include "property.h"
#include "random_pieces.h"
#include "random_schedule.h"
#include "runtime/core/error.h"
#include "runtime/cpu/cpu_device.h"

using namespace halo;
using namespace halo::test;

namespace {

constexpr int kSteps = 7;

GeneratorOptions programs_to_cut() {
    GeneratorOptions options;
    options.max_cells = 4000;
    options.max_radius = 2;
    options.tables = true;
    options.series = true;
    options.points = true;
    options.fewer_axes = true;
    options.stretched = true;
    options.sweeps = true;
    options.repeats = true;
    options.shared_cells = true;
    return options;
}

std::string complaint_of_cut(const CutRun& run, std::uint64_t& cut) {
    cut += run.is_cut ? 1 : 0;
    return run.wrong.empty() ? std::string() : run.description + ": " + run.wrong;
}

}  // namespace

// Most of the time is LLVM's: many texts run once each, on few cells.
[[maybe_unused]] const int kOptimization = halo::emulator::CudaModule::optimization = 0;

TEST_CASE("random programs in pieces on the CPU") {
    const std::unique_ptr<rt::Device> one = rt::make_cpu_device(2), other = rt::make_cpu_device(1);
    const Seeds seeds = seeds_from_environment(11001, 80);
    std::uint64_t cut = 0;
    check_engine(
        programs_to_cut(), seeds,
        [&](const RandomProgram& source, const ir::Program& program, const Reference& reference) {
            return complaint_of_cut(run_in_pieces(program, reference, source.seed, {one.get(), other.get()},
                                                  lower::lower_cpu, load_cpp_unoptimized),
                                    cut);
        },
        kSteps);
    CHECK(cut * 3 >= seeds.count);
}

TEST_CASE("random programs in pieces with components side by side") {
    GeneratorOptions options = programs_to_cut();
    options.interleaved = true;
    options.f64 = false;
    const std::unique_ptr<rt::Device> device = rt::make_cpu_device(2);
    const Seeds seeds = seeds_from_environment(12001, 40);
    std::uint64_t cut = 0;
    check_engine(
        options, seeds,
        [&](const RandomProgram& source, const ir::Program& program, const Reference& reference) {
            return complaint_of_cut(run_in_pieces(program, reference, source.seed, {device.get()},
                                                  lower::lower_cpu, load_cpp_unoptimized),
                                    cut);
        },
        kSteps);
    CHECK(cut * 4 >= seeds.count);
}

TEST_CASE("random programs in pieces on emulated CUDA") {
    GeneratorOptions options = programs_to_cut();
    options.reductions = false;  // their blocks are planes by a schedule of their own
    options.max_cells = 1200;
    const Seeds seeds = seeds_from_environment(13001, 40);
    std::uint64_t cut = 0;
    check_engine(
        options, seeds,
        [&](const RandomProgram& source, const ir::Program& program, const Reference& reference) {
            Random random(source.seed + 1);
            const auto strategy =
                random.pick<schedule::Strategy>({schedule::Direct{}, schedule::Tile{}, schedule::Stream{}});
            if (random_schedules(program, strategy, random).empty()) return std::string();
            emulator::EmulatedDevice one, other;
            // A piece in which a region has no cells has fewer stages.
            const auto lower = [&](const ir::Program& piece) {
                return lower::lower_cuda(piece, {random_schedules(piece, strategy, random)});
            };
            return complaint_of_cut(
                run_in_pieces(program, reference, source.seed, {&one, &other}, lower, load_cuda), cut);
        },
        4);
    CHECK(cut * 4 >= seeds.count);
}

TEST_CASE("random repeats in pieces, until reductions say so") {
    GeneratorOptions options = programs_to_cut();
    options.min_rank = options.max_rank = 2;
    options.max_cells = 2500;
    options.max_radius = 1;
    options.max_statements = 3;
    options.sweeps = false;
    const Seeds seeds = seeds_from_environment(17001, 80);
    const std::unique_ptr<rt::Device> cpu = rt::make_cpu_device(2);
    std::uint64_t cut = 0;
    check_engine(
        options, seeds,
        [&](const RandomProgram& source, const ir::Program& program, const Reference& reference) {
            if (!ir::has_repeats(program)) return std::string();
            std::string wrong = complaint_of_cut(run_in_pieces(program, reference, source.seed, {cpu.get()},
                                                               lower::lower_cpu, load_cpp_unoptimized),
                                                 cut);
            if (!wrong.empty()) return "on the CPU, " + wrong;
            emulator::EmulatedDevice one, other;
            const auto lower = [&](const ir::Program& piece) {
                return lower::lower_cuda(piece, {schedules_by_plane(piece)});
            };
            wrong = complaint_of_cut(
                run_in_pieces(program, reference, source.seed + 1, {&one, &other}, lower, load_cuda), cut);
            return wrong.empty() ? wrong : "on emulated CUDA, " + wrong;
        },
        2);
    CHECK(cut * 4 >= seeds.count);
}

// Shrunk from random programs: a piece of two rows has no third one that the mirror shows; it has one as a
// ghost, which the exchange writes after the mirror was made; and cells next to the cut were left as they
// were, like those at the face, though nothing is read so far once two terms have cancelled out.
TEST_CASE("faces of pieces that are no thicker than what is read past them") {
    CHECK(difference_in_pieces(R"(stencil up(x, y) {
        field a: f64 { boundary x clamp, y.low clamp, y.high mirror }
        a[t+1] = 1/4*a + 1/4*a[y+1] + 1/4*a[x-1] + 1/8*a[y+2]
    }
    )",
                               {3, 12, 1}, {1, 6, 1}) == "");
    CHECK(difference_in_pieces(R"(stencil thin(x, y) {
        field u: f32 { boundary x periodic, y mirror }
        u[t+1] = 1/2*u + 1/4*u[y-1] + 1/8*u[y+1]
    }
    )",
                               {1, 3, 1}, {1, 2, 1}) == "");
    CHECK(difference_in_pieces(R"(stencil cancelled(x, y) {
        field a: f32 { boundary x.low free, x.high clamp, y clamp }
        a[t+1] = 7/64*a + 1/64*a[x-2] + 3/64*a[x+1] - 1/64*a[x-2]
    }
    )",
                               {20, 3, 1}, {2, 1, 1}) == "");
}

TEST_CASE("boundaries that are computed from all cells that a thin piece has") {
    for (const std::string boundary : {"gradient 1/4", "symmetric", "antimirror", "antisymmetric"}) {
        INFO(boundary);
        const auto reading = [&](const std::string& more) {
            return "stencil thin(x, y) {\n    field u: f64 { boundary x clamp, y.low clamp, y.high " +
                   boundary + " }\n    u[t+1] = 1/2*u + 1/4*u[y-1] + 1/8*u[y+1]" + more + "\n}\n";
        };
        CHECK(difference_in_pieces(reading(""), {2, 6, 1}, {1, 3, 1}) == "");
        CHECK(difference_in_pieces(reading(" + 1/16*u[y+2]"), {2, 9, 1}, {1, 3, 1}) == "");
    }
}

// Shrunk from a random program: the middle piece lies in the regions as a whole.
TEST_CASE("cells that margins leave out keep what they held, also where a region is all of a piece") {
    CHECK(difference_in_pieces(R"(stencil kept(x, y) {
        field u, a, b: f32
        on y in 1..-2 { a = u[x-1] }
        on y in 1..-2 { b = a }
    }
    )",
                               {1, 3, 1}, {1, 3, 1}) == "");
}

// Shrunk from a random program, where the mirror of a component that is not the first was taken for none.
TEST_CASE("components side by side have boundaries of their own") {
    CHECK(difference_in_pieces(R"(stencil shown(x, y) {
        field s: (c: f32, v: f32) { boundary s.c periodic; boundary s.v x periodic, s.v y mirror; layout aos }
        s[t+1].v = 1/2*s[y-1].v + 1/4*s[y+1].v
        s[t+1].c = 1/2*s.c
    }
    )",
                               {1, 3, 1}, {1, 3, 1}) == "");
}

TEST_CASE("pieces whose reductions are not of single planes are refused before a step") {
    const ir::Program program = load_program(R"(stencil summed(x, y) {
        field u: f32 { boundary clamp }
        u[t+1] = 1/2*u + 1/4*u[y+1]
        reduce total = sum(u)
    }
    )");
    const driver::CutRules rules = driver::cut_rules(program, {40, 24, 1});
    const rt::Decomposition cut = rt::decompose(rules.grid, {1, 2, 1}, rules.ghosts(1), {"x", "y"});
    const auto made_with = [&](int rows) {
        schedule::Schedule schedule;
        schedule.threads = {32, rows, 1};
        emulator::EmulatedDevice device;
        std::vector<rt::Session> sessions;
        std::vector<rt::Session*> pointers;
        sessions.reserve(2);
        for (std::size_t i = 0; i < 2; ++i) {
            const lower::Lowered lowered =
                lower::lower_cuda(driver::program_of_piece(program, cut, i), {{schedule}});
            sessions.emplace_back(lowered.plan, cut.pieces[i].extent(), device, load_cuda(lowered, device));
            pointers.push_back(&sessions.back());
        }
        rt::Pieces(cut, pointers, {1, rules.carried_names()});
    };
    CHECK_NOTHROW(made_with(1));
    CHECK_THROWS_AS(made_with(4), rt::Error);
}

namespace {

// A device on which work in other streams begins as early as it may: before all work in the main stream that
// they do not wait for.
class EagerDevice : public emulator::EmulatedDevice {
public:
    void use_stream(StreamKind kind) override { stream_ = kind; }
    void wait_for_stream(StreamKind other) override {
        if (other == StreamKind::main) not_waited_for_[stream_] = false;
    }
    void launch(rt::Kernel& kernel, const std::array<std::int64_t, 3>& blocks, void** arguments) override {
        note();
        EmulatedDevice::launch(kernel, blocks, arguments);
    }
    void copy_planes(rt::Device& other, const rt::BoxCopy& box) override {
        note();
        EmulatedDevice::copy_planes(other, box);
    }
    bool overtook() const { return overtook_; }

private:
    void note() {
        if (stream_ == StreamKind::main) {
            not_waited_for_[StreamKind::side] = not_waited_for_[StreamKind::urgent] = true;
        } else {
            overtook_ = overtook_ || not_waited_for_[stream_];
        }
    }
    StreamKind stream_ = StreamKind::main;
    std::map<StreamKind, bool> not_waited_for_;
    bool overtook_ = false;
};

// A device on which work in other streams ends as late as it may: where the main stream waits for it.
class LateDevice : public emulator::EmulatedDevice {
public:
    void use_stream(StreamKind kind) override { stream_ = kind; }
    void wait_for_stream(StreamKind other) override {
        if (stream_ != StreamKind::main) return;
        for (Late& late : late_[other]) {
            std::vector<void*> arguments;
            for (std::int64_t& value : late.values)
                arguments.push_back(&value);
            EmulatedDevice::launch(*late.kernel, late.blocks, arguments.data());
        }
        late_[other].clear();
    }
    void launch(rt::Kernel& kernel, const std::array<std::int64_t, 3>& blocks, void** arguments) override {
        if (stream_ == StreamKind::main) return EmulatedDevice::launch(kernel, blocks, arguments);
        Late& late = late_[stream_].emplace_back(Late{&kernel, blocks, {}});
        for (std::size_t i = 0; i < arguments_of_block; ++i) {  // of 8 bytes each, whatever is in them
            late.values.push_back(0);
            std::memcpy(&late.values.back(), arguments[i], sizeof(std::int64_t));
        }
        ++launched_late;
    }
    std::size_t arguments_of_block = 0;
    int launched_late = 0;

private:
    struct Late {
        rt::Kernel* kernel;
        std::array<std::int64_t, 3> blocks;
        std::vector<std::int64_t> values;
    };
    StreamKind stream_ = StreamKind::main;
    std::map<StreamKind, std::vector<Late>> late_;
};

// Heat in pieces, one above the other, by an emulated kernel for two steps at once.
class HeatInPieces {
public:
    using Change = std::function<void(lower::Lowered& code, std::size_t piece)>;
    // change: of a piece's code, before it is loaded.
    HeatInPieces(const std::vector<rt::Device*>& devices, bool of_pieces, rt::ExchangeScheme scheme,
                 std::int64_t interval, const Change& change = {}) {
        schedule::TemporalSchedule temporal;
        temporal.steps = 2;
        temporal.warps = 1;
        temporal.cells = {1, 1};
        temporal.of_pieces = of_pieces;
        temporal.gives_ghosts = of_pieces && scheme == rt::ExchangeScheme::direct;
        const driver::CutRules rules = driver::cut_rules(program_, reference_.extent);
        const int count = static_cast<int>(devices.size());
        const rt::Decomposition cut =
            rt::decompose(rules.grid, {1, count, 1}, rules.ghosts(interval), {"x", "y"});
        std::vector<rt::Session*> pointers;
        sessions_.reserve(devices.size());
        for (std::size_t i = 0; i < devices.size(); ++i) {
            lower::Lowered code = lower::lower_cuda(driver::program_of_piece(program_, cut, i),
                                                    {{schedule::Schedule{}}, temporal});
            if (change) change(code, i);
            sessions_.emplace_back(code.plan, cut.pieces[i].extent(), *devices[i],
                                   load_cuda(code, *devices[i]), rt::SessionOptions{.poison = true});
            pointers.push_back(&sessions_.back());
        }
        pieces_.emplace(cut, pointers, rt::PiecesOptions{interval, rules.carried_names(), scheme, {1, 1}});
    }
    rt::ExchangeScheme scheme() const { return pieces_->scheme(); }
    // As of all pieces, where so many of the reference's steps are asked for first.
    std::string difference(std::int64_t first) {
        return test::difference(
            reference_, *pieces_,
            [&] {
                pieces_->step(first);
                pieces_->step(reference_.steps - first);
            },
            0);
    }

private:
    const ir::Program program_ = load_program(R"(stencil heat(x, y) {
        field u: f32 { boundary clamp }
        u[t+1] = 1/2*u + 1/8*u[x-1] + 1/8*u[x+1] + 1/8*u[y-1] + 1/8*u[y+1]
    }
    )");
    const Reference reference_{program_, {40, 25, 1}, 11, 5};
    std::vector<rt::Session> sessions_;
    std::optional<rt::Pieces> pieces_;
};

}  // namespace

TEST_CASE("the interior needs neither ghosts nor borders, and neither of them needs it") {
    std::array<LateDevice, 3> devices;
    HeatInPieces heat({devices.data(), &devices[1], &devices[2]}, true, rt::ExchangeScheme::asynchronous, 2,
                      [&](lower::Lowered& code, std::size_t piece) {
                          devices[piece].arguments_of_block = code.plan.time_block->kernel.arguments.size();
                      });
    REQUIRE(heat.scheme() == rt::ExchangeScheme::asynchronous);
    CHECK(heat.difference(1) == "");
    CHECK(devices[0].launched_late == 10);  // of 11 steps, the first of which is done by itself
    CHECK(devices[1].launched_late == 10);
    CHECK(devices[2].launched_late == 5);  // its border is in the main kind
}

TEST_CASE("the interior comes after all that was asked for before, and borders after the exchange") {
    std::array<EagerDevice, 3> devices;
    HeatInPieces heat({devices.data(), &devices[1], &devices[2]}, true, rt::ExchangeScheme::asynchronous, 2);
    REQUIRE(heat.scheme() == rt::ExchangeScheme::asynchronous);
    CHECK(heat.difference(1) == "");
    for (const EagerDevice& device : devices)
        CHECK_FALSE(device.overtook());
}

TEST_CASE("of the blocks of steps up to an exchange, the first alone has borders") {
    std::array<LateDevice, 3> devices;
    HeatInPieces heat({devices.data(), &devices[1], &devices[2]}, true, rt::ExchangeScheme::asynchronous, 6,
                      [&](lower::Lowered& code, std::size_t piece) {
                          devices[piece].arguments_of_block = code.plan.time_block->kernel.arguments.size();
                      });
    REQUIRE(heat.scheme() == rt::ExchangeScheme::asynchronous);
    CHECK(heat.difference(1) == "");
    CHECK(devices[0].launched_late == 4);  // of 11 steps one by itself, three blocks, and two
    CHECK(devices[2].launched_late == 2);
    std::array<EagerDevice, 3> eager;
    HeatInPieces again({eager.data(), &eager[1], &eager[2]}, true, rt::ExchangeScheme::asynchronous, 4);
    CHECK(again.difference(3) == "");
    for (const EagerDevice& device : eager)
        CHECK_FALSE(device.overtook());
}

TEST_CASE("kernels store ghosts at the neighbours that are as deep as they themselves need") {
    emulator::EmulatedDevice device;
    HeatInPieces heat({&device, &device}, true, rt::ExchangeScheme::direct, 4);
    CHECK(heat.scheme() == rt::ExchangeScheme::asynchronous);
    CHECK(heat.difference(2) == "");
}

TEST_CASE("pieces of which one is too small for several steps at once") {
    emulator::EmulatedDevice device;
    HeatInPieces heat({&device, &device}, false, rt::ExchangeScheme::direct, 2,
                      [](lower::Lowered& code, std::size_t piece) {
                          if (piece == 1) code.plan.time_block->least_extent[1] = 26;  // the grid has 25
                      });
    CHECK(heat.scheme() == rt::ExchangeScheme::synchronous);
    CHECK(heat.difference(2) == "");
}
