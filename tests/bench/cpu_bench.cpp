// The CPU back end against the same loops written by hand and compiled by this build's compiler with OpenMP:
// diffusion in two and three dimensions, on grids beyond the last cache, from the same random cells, by many
// steps. Halocline runs twice: in time tiles as it chooses them, and a step at a time. Rounds of the three
// alternate, because other work on the machine comes and goes; medians count. In the end the cells of all
// three are compared: time tiles must not change a bit, and what is written by hand may differ in rounding.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "by_hand.h"
#include "compare_engines.h"
#include "compiler/emit/emit.h"
#include "random_program.h"
#include "runtime/core/session.h"
#include "runtime/cpu/cpu_device.h"
#include "runtime/cpu/jit.h"
#include "runtime/host/host_memory.h"

namespace {

using namespace halo;

constexpr int kRounds = 4, kSteps = 32;

struct Asked {
    int rank = 0;  // 0: all cases
    int n = 0;
    rt::TimeTileOptions tiles;
};

template <class Work>
double seconds(const Work& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

std::string spec(int rank, bool single) {
    return fmt::format(
        "stencil diffusion({}) {{\n    param k = 0.1\n    field u: {} {{ boundary fixed 1 }}\n"
        "    u[t+1] = u + k * (u[x-1] + u[x+1] + u[y-1] + u[y+1]{} * u)\n}}\n",
        rank == 2 ? "x, y" : "x, y, z", single ? "f32" : "f64",
        rank == 2 ? " - 4" : " + u[z-1] + u[z+1] - 6");
}

// The loops by hand, on cells with a halo of one.
template <class T>
class ByHand {
public:
    ByHand(int rank, int n) : rank_(rank), n_(n) {
        for (T*& array : arrays_) {
            array = static_cast<T*>(rt::allocate_host(static_cast<std::int64_t>(bytes())));
            bench::fill(array, bytes(), 1, sizeof(T) == 4);
        }
    }
    ~ByHand() {
        for (T* array : arrays_)
            rt::release_host(array);
    }
    ByHand(const ByHand&) = delete;
    ByHand& operator=(const ByHand&) = delete;

    std::size_t bytes() const {
        const std::size_t side = static_cast<std::size_t>(n_) + 2;
        return side * side * (rank_ == 3 ? side : 1) * sizeof(T);
    }
    void step() {
        if (rank_ == 2) {
            bench::diffuse_plane(arrays_[0], arrays_[1], n_, T(0.1));
        } else {
            bench::diffuse(arrays_[0], arrays_[1], n_, T(0.1));
        }
        std::swap(arrays_[0], arrays_[1]);
    }
    double copy_seconds() {
        return seconds([&] {
            bench::copy(reinterpret_cast<double*>(arrays_[1]), reinterpret_cast<double*>(arrays_[0]),
                        bytes() / 8);
        });
    }
    // Calls work(row of cells, its first cell's number) for each row.
    template <class Work>
    void for_rows(const Work& work) {
        const std::size_t n = static_cast<std::size_t>(n_), side = n + 2;
        for (std::size_t z = 0; z < (rank_ == 3 ? n : 1); ++z)
            for (std::size_t y = 0; y < n; ++y)
                work(arrays_[0] + ((rank_ == 3 ? z + 1 : 0) * side + y + 1) * side + 1, (z * n + y) * n);
    }

private:
    int rank_, n_;
    T* arrays_[2];
};

template <class T>
rt::Session make_session(rt::Device& device, int rank, int n, const rt::TimeTileOptions& tiles,
                         const std::vector<T>& cells) {
    const ir::Program program = test::load_program(spec(rank, sizeof(T) == 4));
    const lower::Lowered lowered = lower::lower_cpu(program);
    std::vector<std::unique_ptr<rt::Module>> modules;
    modules.push_back(device.load(rt::compile_object(emit::print_cpp(lowered.kernels)).bytes, "diffusion"));
    rt::SessionOptions options;
    options.time_tiles = tiles;
    rt::Session session(lowered.plan, {n, n, rank == 3 ? n : 1}, device, std::move(modules), options);
    session.upload("u", 0, std::span<const T>(cells));
    return session;
}

template <class T>
bool measure(rt::Device& device, int rank, int n, const rt::TimeTileOptions& asked) {
    const std::size_t count = static_cast<std::size_t>(n) * n * (rank == 3 ? n : 1);
    std::vector<T> cells(count);
    test::Random random(1);
    for (T& cell : cells)
        cell = static_cast<T>(random.next() >> 40) / T(1 << 24);
    rt::Session tiled = make_session(device, rank, n, asked, cells);
    rt::Session plain = make_session(device, rank, n, {1, 0}, cells);
    ByHand<T> by_hand(rank, n);
    by_hand.for_rows([&](T* row, std::size_t first) { std::memcpy(row, &cells[first], sizeof(T) * n); });

    std::vector<double> tiled_times, plain_times, hand_times, copy_times;
    for (int round = 0; round < kRounds; ++round) {
        tiled_times.push_back(seconds([&] { tiled.step(kSteps); }));
        plain_times.push_back(seconds([&] { plain.step(kSteps); }));
        hand_times.push_back(seconds([&] {
            for (int step = 0; step < kSteps; ++step)
                by_hand.step();
        }));
        if (round == 0) {  // the first round meets fresh pages
            tiled_times.clear();
            plain_times.clear();
            hand_times.clear();
        }
    }
    std::vector<T> a_step_at_a_time(count);
    tiled.download("u", 0, std::span<T>(cells));
    plain.download("u", 0, std::span<T>(a_step_at_a_time));
    const bool same = std::memcmp(cells.data(), a_step_at_a_time.data(), count * sizeof(T)) == 0;
    double worst = 0;
    by_hand.for_rows([&](const T* row, std::size_t first) {
        for (std::size_t x = 0; x < static_cast<std::size_t>(n); ++x)
            worst = std::max(worst,
                             std::abs(static_cast<double>(row[x]) - static_cast<double>(cells[first + x])));
    });
    for (int round = 0; round < kRounds; ++round)
        copy_times.push_back(by_hand.copy_seconds());

    const double updates = 1e-9 * static_cast<double>(count) * kSteps;
    const double ours = median(tiled_times), stepwise = median(plain_times), hand = median(hand_times);
    fmt::print("| {}D {} {}{} | {} | {:.2f} | {:.2f} | {:.2f} | {:.2f} | {:.0f} GB/s | {} |\n", rank,
               sizeof(T) == 4 ? "f32" : "f64", n, rank == 2 ? "²" : "³", tiled.steps_at_once(),
               updates / ours, updates / stepwise, updates / hand, hand / ours,
               2e-9 * static_cast<double>(by_hand.bytes()) / median(copy_times),
               worst == 0 ? std::string("same bits") : fmt::format("{:.1e}", worst));
    std::fflush(stdout);
    const double bound = sizeof(T) == 4 ? 1e-4 : 1e-12;
    if (!same) fmt::print(stderr, "time tiles changed the result\n");
    if (worst > bound) fmt::print(stderr, "the loops by hand give other numbers\n");
    return same && worst <= bound;
}

bool parse(int argc, char** argv, Asked& asked) {
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        if (i + 1 >= argc) return false;
        const int value = std::atoi(argv[++i]);
        if (value < 1) return false;
        if (word == "2d" || word == "3d") {
            asked.rank = word == "2d" ? 2 : 3;
            asked.n = value;
        } else if (word == "--at-once") {
            asked.tiles.steps = value;
        } else if (word == "--rows") {
            asked.tiles.rows = value;
        } else {
            return false;
        }
    }
    return asked.n <= 65536 && (asked.rank != 3 || asked.n <= 2048);
}

}  // namespace

int main(int argc, char** argv) {
    Asked asked;
    if (!parse(argc, argv, asked)) {
        fmt::print(stderr, "usage: cpu_bench [2d CELLS | 3d CELLS] [--at-once STEPS] [--rows ROWS]\n");
        return 2;
    }
    const std::unique_ptr<rt::Device> device = rt::make_cpu_device();
    fmt::print("{}; by hand: {} OpenMP threads; {} steps a round, medians of {} rounds; GStencil/s\n\n",
               device->description(), bench::threads(), kSteps, kRounds - 1);
    fmt::print(
        "| diffusion | steps at once | Halocline | a step at a time | by hand | Halocline / by hand | copy | "
        "against by hand |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n");
    bool good = true;
    for (const auto& [rank, n] : {std::pair{2, 8192}, {3, 384}, {3, 512}}) {
        if (asked.rank != 0 && (asked.rank != rank || n == 512)) continue;
        const int cells = asked.rank != 0 ? asked.n : n;
        good = measure<float>(*device, rank, cells, asked.tiles) && good;
        good = measure<double>(*device, rank, cells, asked.tiles) && good;
    }
    return good ? 0 : 1;
}
