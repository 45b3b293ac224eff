#include "compiler/driver/running/turns.h"

#include <algorithm>

namespace halo::driver {

namespace {

using Kind = adjoint::Adjoint::Kind;

bool has_reduction(const ir::Program& program, const std::string& name) {
    return std::ranges::any_of(program.statements, [&](const ir::Statement& statement) {
        const auto* reduce = std::get_if<ir::Reduce>(&statement);
        return reduce != nullptr && reduce->name == name;
    });
}

bool gives_trace(const adjoint::Adjoint& adjoint, const std::string& name) {
    return std::ranges::any_of(adjoint.gradients, [&](const adjoint::Adjoint::Gradient& each) {
        return each.kind == Kind::trace && each.name == name;
    });
}

// Of a trace that only one step adds to the rows of the others are 0.
std::vector<double> rows_of(const Back& from, const Back& to, const std::string& points,
                            const std::string& trace, std::int64_t steps) {
    const std::string name = points + "." + trace;
    if (gives_trace(from.adjoint, name)) return from.engine.trace(points, trace);
    if (!gives_trace(to.adjoint, name)) return {};
    std::vector<double> rows = to.engine.trace(points, trace);
    rows.resize(rows.size() * static_cast<std::size_t>(steps));
    return rows;
}

void copy_level(const Back& from, const std::string& field, int time, const Back& to,
                const std::string& to_field, int to_time) {
    if (!to.engine.copy_level(to_field, to_time, from.engine, field, time))
        to.engine.upload(to_field, to_time, from.engine.download(field, time));
}

// A level's array, by its place as of rt::Session::bind_levels().
struct LevelArray {
    std::string field;
    std::size_t at = 0;
};

bool can_bind(const rt::Session& here, const std::string& field, const rt::Session& there,
              const std::vector<LevelArray>& places) {
    return here.level_arrays(field).size() == places.size() &&
           std::ranges::all_of(places, [&](const LevelArray& place) {
               return place.at < there.level_arrays(place.field).size() &&
                      here.has_like_arrays(field, there, place.field);
           });
}

// Puts arrays of the one engine in the place of those of a field of the other, in all pieces. False, and
// nothing is done, where that cannot be.
bool bind_arrays(const Back& to, const std::string& field, const Back& from,
                 const std::vector<LevelArray>& places) {
    const std::vector<rt::Session*> here = to.engine.sessions(), there = from.engine.sessions();
    if (here.empty() || here.size() != there.size()) return false;
    for (std::size_t i = 0; i < here.size(); ++i)
        if (!can_bind(*here[i], field, *there[i], places)) return false;
    for (std::size_t i = 0; i < here.size(); ++i) {
        std::vector<void*> arrays;
        for (const LevelArray& place : places)
            arrays.push_back(there[i]->level_arrays(place.field)[place.at]);
        here[i]->bind_levels(field, arrays);
    }
    return true;
}

bool bind_arrays(const Back& to, const Back& from, const std::string& field) {
    const std::vector<rt::Session*> here = to.engine.sessions(), there = from.engine.sessions();
    if (here.empty() || there.empty()) return false;
    std::vector<LevelArray> places(here.front()->level_arrays(field).size(), LevelArray{field, 0});
    for (std::size_t i = 0; i < places.size(); ++i)
        places[i].at = i;
    return there.front()->level_arrays(field).size() == places.size() && bind_arrays(to, field, from, places);
}

void pass_common(const Back& from, const Back& to) {
    for (const std::string& field : adjoint::common_fields(from.adjoint, to.adjoint))
        if (!bind_arrays(to, from, field)) copy_level(from, field, 0, to, field, 0);
}

// The arrays of `now`, and of what the last step gives as its past, are those of `now` and its past in the
// engine of earlier steps; that of `level` is the same in both.
bool bind_arrays_of_past(const Back& last, const Back& earlier, const adjoint::Adjoint::Past& past) {
    return bind_arrays(earlier, past.now, last, {{past.now, 0}, {past.before, 0}, {past.now, 1}}) &&
           bind_arrays(earlier, past.level, last, {{past.level, 0}});
}

std::vector<void*> latest_arrays(const Back& back, const std::string& field) {
    std::vector<void*> arrays;
    for (const rt::Session* session : back.engine.sessions())
        arrays.push_back(session->level_arrays(field).front());
    return arrays;
}

// The last step's engine has the memory of its arrays, each for a field: what lies in another one is copied.
void bring_back_level(const Back& earlier, const Back& last, const std::string& field) {
    const std::vector<void*> arrays = latest_arrays(earlier, field);
    if (arrays.empty() || arrays != latest_arrays(last, field))
        return copy_level(earlier, field, 0, last, field, 0);
    for (rt::Session* session : last.engine.sessions())
        session->mark_written(field);
}

void pass_traces(const Back& from, const Back& to, std::int64_t steps, rt::StepsBefore& before) {
    for (const ir::Points& points : to.adjoint.program.points)
        for (const ir::Points::Trace& trace : points.traces)
            if (trace.sampled)
                before.traces.push_back(
                    {points.name, trace.name, rows_of(from, to, points.name, trace.name, steps)});
}

}  // namespace

void share_arrays_of_turns(const Back& last, const Back& earlier) {
    for (const std::string& field : adjoint::common_fields(earlier.adjoint, last.adjoint))
        bind_arrays(earlier, last, field);
    for (const adjoint::Adjoint::Past& past : earlier.adjoint.pasts)
        bind_arrays_of_past(last, earlier, past);
}

void go_on(const Back& last, const Back& earlier) {
    pass_common(last, earlier);
    for (const adjoint::Adjoint::Past& past : earlier.adjoint.pasts) {
        if (bind_arrays_of_past(last, earlier, past)) continue;
        copy_level(last, past.now, 0, earlier, past.now, 0);
        copy_level(last, past.before, 0, earlier, past.now, -1);
    }
    rt::StepsBefore before;
    before.steps = 1;
    pass_traces(last, earlier, 1, before);
    earlier.engine.continue_from(before);
    earlier.engine.ghosts_due();
}

void bring_back(const Back& earlier, const Back& last, std::int64_t steps) {
    pass_common(earlier, last);
    for (const adjoint::Adjoint::Past& past : earlier.adjoint.pasts)
        for (const std::string& field : {past.now, past.level})
            bring_back_level(earlier, last, field);
    rt::StepsBefore before;
    before.steps = steps;
    for (const ir::Statement& statement : last.adjoint.program.statements) {
        const auto* reduce = std::get_if<ir::Reduce>(&statement);
        if (reduce == nullptr) continue;
        const bool is_earlier = has_reduction(earlier.adjoint.program, reduce->name);
        before.reductions[reduce->name] = (is_earlier ? earlier : last).engine.reduction(reduce->name);
    }
    pass_traces(earlier, last, steps, before);
    last.engine.continue_from(before);
    last.engine.ghosts_due();
}

}  // namespace halo::driver
