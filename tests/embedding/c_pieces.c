#include "c_pieces.h"

#include <string.h>

#include "halocline/halocline.h"

enum { MOST = 8, NX = 9, NY = 8, NZ = 20 };

/* From the memory of the pieces, cell by cell. */
static int gather(halo_simulation* simulation, float* values) {
    int count = 0;
    if (halo_simulation_piece_count(simulation, &count)) return 1;
    for (int i = 0; i < count; ++i) {
        halo_piece piece;
        halo_view view;
        if (halo_simulation_piece(simulation, i, &piece) || halo_simulation_view(simulation, "u", i, 0, &view))
            return 1;
        const float* const first = (const float*)view.memory + view.first_cell;
        for (int64_t z = piece.begin[2]; z < piece.end[2]; ++z)
            for (int64_t y = piece.begin[1]; y < piece.end[1]; ++y)
                memcpy(values + piece.begin[0] + NX * (y + NY * z),
                       first + (y - piece.begin[1]) * view.pitch + (z - piece.begin[2]) * view.slice,
                       (size_t)(piece.end[0] - piece.begin[0]) * sizeof(float));
    }
    return 0;
}

const char* run_pieces_in_c(const char* spec, float* values, int count, int steps) {
    const int64_t grid[3] = {NX, NY, NZ};
    const size_t cells = NX * NY * NZ;
    halo_device* devices[MOST] = {NULL};
    halo_program* program = NULL;
    halo_task* ready = NULL;
    halo_simulation* simulation = NULL;
    int failed = count > MOST || halo_compile(spec, "spec.halo", NULL, &program);
    for (int i = 0; !failed && i < count; ++i)
        failed = halo_device_cpu(1, &devices[i]);
    const halo_device* const* const list = (const halo_device* const*)devices;
    failed = failed || halo_precompile_on(program, list, count, grid, 3, 1, 0, &ready) || halo_task_wait(ready) ||
             halo_simulation_create_on(program, list, count, grid, 3, 0, &simulation) ||
             halo_set(simulation, "k", 0.1) || halo_write_f32(simulation, "u", values, cells, 0) ||
             halo_step(simulation, steps) || halo_wait(simulation);
    memset(values, 0, cells * sizeof(float));
    failed = failed || gather(simulation, values);
    for (int i = 0; i < count; ++i)
        halo_device_release(devices[i]);
    halo_task_release(ready);
    halo_program_release(program);
    halo_simulation_release(simulation);
    return failed ? halo_message() : NULL;
}
