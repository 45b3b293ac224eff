// The CPU back end against the same loops written by hand and compiled by this build's compiler with OpenMP:
// 3D diffusion, 7 points, on 256^3 cells (or the size given). Rounds of the two alternate, because other work
// on the machine comes and goes; the best round of each counts, beside the best memory copy in the same run.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "by_hand.h"
#include "compare_engines.h"
#include "compiler/emit/emit.h"
#include "runtime/core/session.h"
#include "runtime/cpu/cpu_device.h"
#include "runtime/cpu/host_memory.h"
#include "runtime/cpu/jit.h"

namespace {

using namespace halo;

constexpr int kRounds = 60, kSteps = 2;

template <class Work>
double seconds(const Work& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::string spec(bool single) {
    return fmt::format(
        "stencil diffusion(x, y, z) {{\n    param k = 0.1\n    field u: {} {{ boundary fixed 1 }}\n"
        "    u[t+1] = u + k * (u[x-1] + u[x+1] + u[y-1] + u[y+1] + u[z-1] + u[z+1] - 6 * u)\n}}\n",
        single ? "f32" : "f64");
}

template <class T>
void measure(rt::Device& device, int n) {
    constexpr bool single = std::is_same_v<T, float>;
    const ir::Program program = test::load_program(spec(single));
    const lower::Lowered lowered = lower::lower_cpu(program);
    std::vector<std::unique_ptr<rt::Module>> modules;
    modules.push_back(device.load(rt::compile_object(emit::print_cpp(lowered.kernels)).bytes, "diffusion"));
    rt::Session session(lowered.plan, {n, n, n}, device, std::move(modules));

    const std::vector<T> ones(static_cast<std::size_t>(session.cells()), T(1));
    // Ones on both sides: numbers that fade away would end as denormals, which are slow.
    session.upload("u", 0, std::span<const T>(ones));

    const std::size_t cells = static_cast<std::size_t>(n + 2) * (n + 2) * (n + 2), bytes = cells * sizeof(T);
    T* u = static_cast<T*>(rt::allocate_host(static_cast<std::int64_t>(bytes)));
    T* next = static_cast<T*>(rt::allocate_host(static_cast<std::int64_t>(bytes)));
    bench::fill(u, bytes, 1, single);
    bench::fill(next, bytes, 1, single);

    double ours = 1e30, by_hand = 1e30, copying = 1e30;
    session.step(2);
    for (int round = 0; round < kRounds; ++round) {
        ours = std::min(ours, seconds([&] {
                            session.step(kSteps);
                            session.synchronize();
                        }));
        by_hand = std::min(by_hand, seconds([&] {
                               for (int step = 0; step < kSteps; ++step) {
                                   bench::diffuse(u, next, n, T(0.1));
                                   std::swap(u, next);
                               }
                           }));
        copying = std::min(copying, seconds([&] {
                               for (int step = 0; step < kSteps; ++step)
                                   bench::copy(reinterpret_cast<double*>(next), reinterpret_cast<double*>(u),
                                               bytes / 8);
                           }));
    }
    const double updates = 1e-9 * n * n * n * kSteps;
    fmt::print(
        "{}  Halocline {:6.3f} GStencil/s   by hand {:6.3f} GStencil/s   ratio {:5.3f}   copy {:6.2f} GB/s, "
        "a sweep moves {:6.2f} GB/s\n",
        single ? "f32" : "f64", updates / ours, updates / by_hand, by_hand / ours,
        2e-9 * static_cast<double>(bytes) * kSteps / copying, 2 * sizeof(T) * updates / ours);
    rt::release_host(u);
    rt::release_host(next);
}

}  // namespace

int main(int argc, char** argv) {
    const int n = argc > 1 ? std::atoi(argv[1]) : 256;
    if (n < 1 || n > 4096) {
        fmt::print(stderr, "usage: cpu_bench [cells a side, 1 to 4096]\n");
        return 2;
    }
    const std::unique_ptr<rt::Device> device = rt::make_cpu_device();
    fmt::print("3D 7-point diffusion, {0} x {0} x {0} cells; {1}; by hand: {2} OpenMP threads\n", n,
               device->description(), bench::threads());
    measure<float>(*device, n);
    measure<double>(*device, n);
}
