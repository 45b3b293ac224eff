// What the launcher keeps of repeats that a condition ends.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/emit/launcher_writer.h"
#include "runtime/core/plan_repeats.h"

namespace halo::emit {

bool LauncherWriter::has_conditions() const {
    return std::ranges::any_of(plan_.repeats,
                               [](const rt::RepeatPlan& repeat) { return repeat.until.has_value(); });
}

bool LauncherWriter::copies_exchanged(int repeat) const {
    return plan_.repeats[static_cast<std::size_t>(repeat)].until || rt::ended_around(plan_, repeat) >= 0;
}

namespace {

class IterationsWriter : LauncherWriter {
public:
    IterationsWriter(const LauncherModel& model, Writer& out) : LauncherWriter(model, out) {}

    void write_members() {
        for_each_repeat([&](int index) {
            out_.line("long long* {} = nullptr;  // done, even, iterations; total, most, unfinished",
                      words_member(index));
            out_.line("long long* {} = nullptr;  // two copies of the first, on the host",
                      done_member(index));
            out_.line("cudaEvent_t {}[2] = {{}};", copied_member(index));
        });
    }

    void write_allocation() {
        for_each_repeat([&](int index) {
            return_unless_ok(fmt::format("allocate(solver.{}, {})", words_member(index),
                                         static_cast<int>(rt::RepeatWord::words)));
            return_unless_ok(
                fmt::format("check(cudaMallocHost(&solver.{}, 2 * sizeof(long long)), "
                            "\"allocating memory of the host\")",
                            done_member(index)));
            out_.line("for (cudaEvent_t& copied : solver.{})", copied_member(index));
            return_unless_ok(
                "check(cudaEventCreateWithFlags(&copied, cudaEventDisableTiming), \"making an event\")",
                "    ");
        });
    }

    void write_release() {
        for_each_repeat([&](int index) {
            out_.line("cudaFree(solver->{});", words_member(index));
            out_.line("cudaFreeHost(solver->{});", done_member(index));
            out_.line("for (cudaEvent_t copied : solver->{})", copied_member(index));
            out_.line("    if (copied != nullptr) cudaEventDestroy(copied);");
        });
    }

private:
    template <class Write>
    void for_each_repeat(Write&& write) {
        for (int index = 0; index < count(plan_.repeats); ++index)
            if (plan_.repeats[index].until) write(index);
    }
};

}  // namespace

void write_iterations_members(const LauncherModel& model, Writer& out) {
    IterationsWriter(model, out).write_members();
}

void write_iterations_allocation(const LauncherModel& model, Writer& out) {
    IterationsWriter(model, out).write_allocation();
}

void write_iterations_release(const LauncherModel& model, Writer& out) {
    IterationsWriter(model, out).write_release();
}

}  // namespace halo::emit
