// The points of a session: their lists on the device, what is injected, and what was sampled. Not for other
// rooms.
//
// Traces lie on the device as rows of a step's values. Of those that are injected all rows are there; of
// those that are sampled as many as fit a buffer, which goes to the host when it is full and when it is asked
// for.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/core/points.h"
#include "runtime/core/session/kernels.h"
#include "runtime/core/session/parts.h"

namespace halo::rt::session {

class PointSets {
public:
    PointSets(const Setup& setup, const Clock& clock, Due& due);

    void set(int index, std::span<const double> positions);
    void set_values(int index, const std::string& name, std::span<const double> values);
    std::vector<double> trace(int index, const std::string& name);
    void go_back_to(std::int64_t step);  // rows from there on are sampled anew
    void continue_trace(int index, const std::string& name, const std::vector<double>& rows);

    PointGrid grid(const std::vector<double>& params) const;
    // Makes all lists anew, and says how many blocks the kernels over them have. Throws where something was
    // not given.
    void place(const std::vector<double>& params, Kernels& kernels);
    bool is_trace(const Argument& argument) const;  // another row in each step
    void* address(const Argument& argument, std::int64_t step);
    std::int64_t count(const Argument& argument) const;

    // Recorded steps read and write rows that stay where they are: step n of a recording has row n. Those
    // that are injected are copied there before it is replayed, and those that were sampled are copied from
    // there after it.
    bool can_stage(std::int64_t steps) const;
    void make_rows(std::int64_t steps);  // before it is recorded
    void* row(const Argument& argument, std::int64_t step_of_recording);
    void load_rows(std::int64_t first_step, std::int64_t steps);
    void store_rows(std::int64_t first_step, std::int64_t steps);

private:
    struct Values {  // of a column, or of a trace that is injected
        std::vector<double> host;
        bool given = false;
        DeviceMemory memory;
    };
    struct Sampled {
        std::vector<double> host;  // rows of the steps before `first`
        std::int64_t first = 0;    // step of the first row in `memory`
        std::int64_t rows = 0;     // that `memory` has room for
        DeviceMemory memory;
    };
    struct Points {
        std::vector<double> positions;
        bool placed = false;
        std::int64_t count = 0, touched = 0;
        std::vector<DeviceMemory> arrays;     // by PointsPart, before first_column
        std::vector<Values> columns, traces;  // by PointsPlan
        DeviceMemory zeros;                   // a row, for steps past a trace's end
        std::vector<Sampled> sampled;         // by trace
        std::vector<DeviceMemory> staged;     // by trace: rows of recorded steps
    };
    Points& at(int index) { return sets_[static_cast<std::size_t>(index)]; }
    const Points& at(int index) const { return sets_[static_cast<std::size_t>(index)]; }
    const PointsPlan& plan_of(int index) const { return setup_.plan.points[static_cast<std::size_t>(index)]; }
    void check_values(int index) const;
    void place_set(int index, const PointGrid& grid);
    void fetch(Sampled& sampled, std::int64_t points, std::int64_t before);
    int sampled_trace(int index, const std::string& name) const;  // throws where there is none
    template <class Work>
    void for_each_trace(Work&& work);  // of sets that have points: work(points, trace, whether it is sampled)

    const Setup& setup_;
    const Clock& clock_;
    Due& due_;
    std::vector<Points> sets_;  // by PointsPlan
};

}  // namespace halo::rt::session
