/* A host program in C that goes on after a call has failed: it calls again, which must work, as a call that is
 * refused has changed nothing, but for steps, of which some may have been done. Prints what failed, and in the end the result. Exits with 0, or with 1 where a call
 * failed twice, or failed without a code and words of the interface. */
#include <stdio.h>
#include <string.h>

#include "heat.h"

enum { kCells = 48 };

static int failures = 0;

static int is_well(halo_code code, const char* what) {
    if (code == HALO_OK) return 1;
    fprintf(stderr, "%s: code %d: %s\n", what, (int)code, halo_message());
    ++failures;
    if (code < HALO_SPEC || code >= HALO_COMPILE_FAILED || halo_message()[0] == '\0') failures += 100;
    return 0;
}

#define TWICE(call) \
    if (!is_well(call, #call) && !is_well(call, "again, " #call)) return 1

static halo_code step_to(halo_simulation* simulation, int64_t last) {
    int64_t done = 0;
    const halo_code code = halo_steps_done(simulation, &done);
    return code == HALO_OK ? halo_step(simulation, last - done) : code;
}

int main(int argc, char** argv) {
    halo_device* device = NULL;
    halo_program* program = NULL;
    halo_program* bundle = NULL;
    halo_simulation* simulation = NULL;
    halo_simulation* other = NULL;
    halo_field* field = NULL;
    halo_layout layout;
    halo_view view;
    const int64_t grid[2] = {8, 6};
    float cells[kCells];
    double change = 0;
    if (argc != 2) return 2;
    for (int i = 0; i < kCells; ++i)
        cells[i] = (float)(i * 37 % 64) / 16.0f;
    TWICE(halo_device_cpu(4, &device));
    TWICE(heat_open(&program));
    TWICE(halo_program_load(argv[1], &bundle));
    TWICE(halo_common_layout((const halo_program* const*)&program, 1, device, grid, 2, &layout));
    TWICE(halo_field_create(device, HALO_F32, &layout, 0, 2, &field));
    TWICE(halo_simulation_create_in(program, device, &layout, &simulation));
    TWICE(halo_set(simulation, "dt", 0.1));
    TWICE(halo_bind(simulation, "u", field));
    TWICE(halo_write_f32(simulation, "u", cells, kCells, 0));
    for (int i = 1; i <= 3; ++i)
        TWICE(step_to(simulation, i));
    TWICE(halo_simulation_create_in(program, device, &layout, &other));
    TWICE(halo_set(other, "dt", 0.1));
    TWICE(halo_bind(other, "u", field));
    TWICE(step_to(other, 2));
    halo_field_release(field);
    field = NULL;
    TWICE(halo_share(other, "u", &field));
    TWICE(halo_field_view(field, 0, &view));
    TWICE(halo_reduce(other, "change", &change));
    TWICE(halo_read_f32(other, "u", cells, kCells, 0));
    if (memcmp(cells, (const float*)view.memory + view.first_cell, 8 * sizeof(float)) != 0) return 1;
    printf("%a\n", change);
    for (int i = 0; i < kCells; ++i)
        printf("%a\n", (double)cells[i]);
    halo_simulation_release(simulation);
    halo_simulation_release(other);
    halo_field_release(field);
    halo_program_release(bundle);
    halo_program_release(program);
    halo_device_release(device);
    return failures <= 1 ? 0 : 1;
}
