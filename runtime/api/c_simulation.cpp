// The C interface: what a simulation does.
#include <algorithm>
#include <span>

#include "runtime/api/c_handles.h"

using namespace halocline;
using namespace halocline::detail;

namespace {

Simulation& of(halo_simulation* simulation) {
    return need_handle(simulation, "the simulation").simulation;
}
const Simulation& of(const halo_simulation* simulation) {
    return need_handle(simulation, "the simulation").simulation;
}

template <class Element>
std::span<Element> span_of(Element* values, size_t count) {
    if (count > 0) need(values, "the array of values");
    return {values, count};
}

}  // namespace

void halo_simulation_release(halo_simulation* simulation) {
    delete simulation;
}

halo_code halo_set(halo_simulation* simulation, const char* param, double value) {
    return guarded([&] { of(simulation).set(text_of(param, "the parameter"), value); });
}
halo_code halo_get(const halo_simulation* simulation, const char* param, double* value) {
    return guarded([&] {
        need(value, "the place for the value");
        *value = of(simulation).get(text_of(param, "the parameter"));
    });
}
halo_code halo_set_weights(halo_simulation* simulation, const char* coefficient, const double* weights,
                           size_t count) {
    return guarded([&] {
        of(simulation).set_weights(text_of(coefficient, "the coefficient"), span_of(weights, count));
    });
}
halo_code halo_set_table(halo_simulation* simulation, const char* table, const double* rows, size_t count) {
    return guarded([&] { of(simulation).set_table(text_of(table, "the table"), span_of(rows, count)); });
}
halo_code halo_set_series(halo_simulation* simulation, const char* series, const double* values,
                          size_t count) {
    return guarded([&] { of(simulation).set_series(text_of(series, "the series"), span_of(values, count)); });
}
halo_code halo_set_points(halo_simulation* simulation, const char* points, const double* positions,
                          size_t count) {
    return guarded(
        [&] { of(simulation).set_points(text_of(points, "the points"), span_of(positions, count)); });
}
halo_code halo_set_point_values(halo_simulation* simulation, const char* points, const char* name,
                                const double* values, size_t count) {
    return guarded([&] {
        of(simulation)
            .set_point_values(text_of(points, "the points"), text_of(name, "the name"),
                              span_of(values, count));
    });
}
halo_code halo_trace(halo_simulation* simulation, const char* points, const char* name, double* values,
                     size_t* count) {
    return guarded([&] {
        need(count, "the place for the number of values");
        const std::vector<double> trace =
            of(simulation).trace(text_of(points, "the points"), text_of(name, "the name"));
        const size_t room = *count;
        *count = trace.size();
        if (trace.size() > room)
            throw Error(ErrorCode::bad_argument, "the trace has " + std::to_string(trace.size()) +
                                                     " values, and there is room for " +
                                                     std::to_string(room));
        std::copy(trace.begin(), trace.end(), span_of(values, trace.size()).begin());
    });
}

halo_code halo_bind(halo_simulation* simulation, const char* name, const halo_field* field) {
    return guarded(
        [&] { of(simulation).bind(text_of(name, "the name"), need_handle(field, "the field").field); });
}
halo_code halo_share(halo_simulation* simulation, const char* name, halo_field** field) {
    return guarded([&] {
        need(field, "the place for the handle");
        *field = nullptr;
        *field = new halo_field{of(simulation).field(text_of(name, "the name"))};
    });
}

halo_code halo_write_f32(halo_simulation* simulation, const char* field, const float* values, size_t count,
                         int level) {
    return guarded([&] { of(simulation).write(text_of(field, "the field"), span_of(values, count), level); });
}
halo_code halo_write_f64(halo_simulation* simulation, const char* field, const double* values, size_t count,
                         int level) {
    return guarded([&] { of(simulation).write(text_of(field, "the field"), span_of(values, count), level); });
}
halo_code halo_read_f32(halo_simulation* simulation, const char* field, float* values, size_t count,
                        int level) {
    return guarded([&] { of(simulation).read(text_of(field, "the field"), span_of(values, count), level); });
}
halo_code halo_read_f64(halo_simulation* simulation, const char* field, double* values, size_t count,
                        int level) {
    return guarded([&] { of(simulation).read(text_of(field, "the field"), span_of(values, count), level); });
}
halo_code halo_write_elements(halo_simulation* simulation, const char* field, const void* elements,
                              size_t bytes, int level) {
    return guarded([&] {
        need(elements, "the array of elements");
        of(simulation)
            .write_elements(text_of(field, "the field"), elements, static_cast<int64_t>(bytes), level);
    });
}
halo_code halo_read_elements(halo_simulation* simulation, const char* field, void* elements, size_t bytes,
                             int level) {
    return guarded([&] {
        need(elements, "the array of elements");
        of(simulation)
            .read_elements(text_of(field, "the field"), elements, static_cast<int64_t>(bytes), level);
    });
}

halo_code halo_step(halo_simulation* simulation, int64_t count) {
    return guarded([&] { of(simulation).step(count); });
}
halo_code halo_wait(halo_simulation* simulation) {
    return guarded([&] { of(simulation).wait(); });
}
halo_code halo_reduce(halo_simulation* simulation, const char* reduction, double* value) {
    return guarded([&] {
        need(value, "the place for the value");
        *value = of(simulation).reduce(text_of(reduction, "the reduction"));
    });
}
halo_code halo_steps_done(const halo_simulation* simulation, int64_t* steps) {
    return guarded([&] {
        need(steps, "the place for the number of steps");
        *steps = of(simulation).steps_done();
    });
}

halo_code halo_simulation_piece_count(const halo_simulation* simulation, int* count) {
    return guarded([&] {
        need(count, "the place for the number of pieces");
        *count = static_cast<int>(of(simulation).pieces().size());
    });
}
halo_code halo_simulation_piece(const halo_simulation* simulation, int piece, halo_piece* cells) {
    return guarded([&] {
        need(cells, "the place for the piece");
        const std::vector<Piece> pieces = of(simulation).pieces();
        if (piece < 0 || piece >= static_cast<int>(pieces.size()))
            throw Error(ErrorCode::bad_argument, "the simulation has " + std::to_string(pieces.size()) +
                                                     (pieces.size() == 1 ? " piece" : " pieces"));
        const Piece& known = pieces[static_cast<std::size_t>(piece)];
        *cells = {{0, 0, 0, 0}, {1, 1, 1, 1}};
        std::copy(known.begin.begin(), known.begin.end(), cells->begin);
        std::copy(known.end.begin(), known.end.end(), cells->end);
    });
}
halo_code halo_simulation_view(halo_simulation* simulation, const char* field, int piece, int level,
                               halo_view* view) {
    return guarded([&] {
        need(view, "the place for the view");
        const View found = of(simulation).view(text_of(field, "the field"), piece, level);
        *view = {found.memory, found.bytes, found.first_cell, found.pitch, found.slice, found.volume};
    });
}
