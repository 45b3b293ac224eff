#include "c_calls.h"

#include <stdlib.h>
#include <string.h>

#include "heat.h"

const char* run_heat_in_c(float* values, int nx, int ny, int steps, double* change) {
    halo_device* device = NULL;
    halo_program* program = NULL;
    halo_simulation* simulation = NULL;
    const int64_t grid[2] = {nx, ny};
    const size_t cells = (size_t)nx * (size_t)ny;
    int64_t done = 0;
    const int failed =
        halo_device_cpu(2, &device) || heat_open(&program) ||
        halo_simulation_create(program, device, grid, 2, &simulation) || halo_set(simulation, "dt", 0.2) ||
        halo_write_f32(simulation, "u", values, cells, 0) || halo_step(simulation, steps) || halo_wait(simulation) ||
        halo_read_f32(simulation, "u", values, cells, 0) || halo_reduce(simulation, "change", change) ||
        halo_steps_done(simulation, &done) || done != steps;
    /* In the order of their making: what is still needed stays. */
    halo_device_release(device);
    halo_program_release(program);
    halo_simulation_release(simulation);
    return failed ? halo_message() : NULL;
}

const char* run_heat_on_views_in_c(float* values, int nx, int ny, int steps) {
    halo_device* device = NULL;
    halo_program* program = NULL;
    halo_simulation* simulations[2] = {NULL, NULL};
    halo_field* field = NULL;
    halo_layout layout;
    halo_view views[2];
    const int64_t grid[2] = {nx, ny};
    int failed = halo_device_cpu(1, &device) || heat_open(&program) ||
                 halo_common_layout((const halo_program* const*)&program, 1, device, grid, 2, &layout);
    for (int i = 0; !failed && i < 2; ++i) {
        views[i].bytes = layout.elements * (int64_t)sizeof(float);
        views[i].memory = calloc((size_t)layout.elements, sizeof(float));
        views[i].first_cell = layout.first_cell;
        views[i].pitch = layout.pitch;
        views[i].slice = layout.slice;
    }
    float* const cells = failed ? NULL : (float*)views[0].memory + layout.first_cell;
    for (int y = 0; !failed && y < ny; ++y)
        memcpy(cells + y * layout.pitch, values + y * nx, (size_t)nx * sizeof(float));
    failed = failed || halo_field_of_views(device, HALO_F32, grid, 2, views, 2, 0, &field);
    for (int i = 0; !failed && i < 2; ++i)
        failed = halo_simulation_create(program, device, grid, 2, &simulations[i]) ||
                 halo_bind(simulations[i], "u", field) || halo_set(simulations[i], "dt", 0.2);
    for (int i = 0; !failed && i < 2; ++i)
        failed = halo_step(simulations[i], steps / 2);
    halo_view now;
    failed = failed || halo_field_view(field, 0, &now);
    for (int y = 0; !failed && y < ny; ++y)
        memcpy(values + y * nx, (float*)now.memory + now.first_cell + y * now.pitch, (size_t)nx * sizeof(float));
    for (int i = 0; i < 2; ++i)
        halo_simulation_release(simulations[i]);
    halo_field_release(field);
    halo_program_release(program);
    halo_device_release(device);
    if (cells != NULL) {
        free(views[0].memory);
        free(views[1].memory);
    }
    return failed ? halo_message() : NULL;
}
