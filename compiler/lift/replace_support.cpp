#include "compiler/lift/replace.h"

namespace halo::lift {

std::string call_support() {
    return R"(/* From here to "end of haloc lift": written by haloc lift --replace. The stencils below are called in place of
 * loops, which still run where a stencil cannot: on grids that are too small for it, and where nothing can run it
 * (a message says so, once). Each call copies the arrays to the device (the first GPU, else the CPU) and back.
 * Compile with Halocline's headers, and link -lhalocline -lhalocline-runtime; in CMake, Halocline::compiler. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halocline/halocline.h"

#ifdef __cplusplus
#define HALO_LIFT_THREAD thread_local
#else
#define HALO_LIFT_THREAD _Thread_local
#endif

/* A stencil, on the grid of its last call. Each thread has its own, until the program ends. */
typedef struct halo_lifted {
    const char* name;
    halo_device* device;
    halo_program* program;
    halo_simulation* simulation;
    int64_t grid[3];
    char* cells; /* a dense copy of one array */
    size_t room;
    int failed;
} halo_lifted;

/* An array of the program's, of which the loops touch cells `from` to before `to`. Axes are x, y, z; where rows
 * are reached by pointers, level says behind how many of them an axis is. */
typedef struct halo_lift_array {
    void* first;
    int64_t bytes; /* of an element */
    int64_t from[3], to[3], stride[3];
    int level[3];
} halo_lift_array;

static int halo_lift_failed(halo_lifted* stencil) {
    fprintf(stderr, "stencil %s: %s; its loops run instead\n", stencil->name, halo_message());
#ifdef HALO_LIFT_REQUIRED
    abort();
#endif
    stencil->failed = 1;
    return 0;
}

/* 0: it cannot run here. */
static int halo_lift_ready(halo_lifted* stencil, const char* name, const char* text, int axes, const int64_t* grid,
                           size_t bytes) {
    halo_compile_options options;
    memset(&options, 0, sizeof options);
    options.strict_fp = 1; /* the bits of the loops; without it sums are regrouped, which is faster */
    stencil->name = name;
    if (stencil->failed) return 0;
    if (stencil->room < bytes) {
        char* cells = (char*)realloc(stencil->cells, bytes);
        if (!cells) return 0;
        stencil->cells = cells;
        stencil->room = bytes;
    }
    if (!stencil->program &&
        (halo_device_best(&stencil->device) || halo_compile(text, name, &options, &stencil->program)))
        return halo_lift_failed(stencil);
    if (stencil->simulation && memcmp(stencil->grid, grid, sizeof stencil->grid) == 0) return 1;
    halo_simulation_release(stencil->simulation);
    stencil->simulation = NULL;
    if (halo_simulation_create(stencil->program, stencil->device, grid, axes, &stencil->simulation))
        return halo_lift_failed(stencil);
    memcpy(stencil->grid, grid, sizeof stencil->grid);
    return 1;
}

/* How many cells the field has along an axis; one where the array is the same all along it. */
static int64_t halo_lift_cells(const halo_lifted* stencil, const halo_lift_array* array, int axis) {
    return array->stride[axis] ? stencil->grid[axis] : 1;
}

static int64_t halo_lift_bytes(const halo_lifted* stencil, const halo_lift_array* array) {
    return halo_lift_cells(stencil, array, 0) * halo_lift_cells(stencil, array, 1) *
           halo_lift_cells(stencil, array, 2) * array->bytes;
}

static void halo_lift_copy(halo_lifted* stencil, const halo_lift_array* array, int back) {
    const int64_t nx = halo_lift_cells(stencil, array, 0), ny = halo_lift_cells(stencil, array, 1);
    for (int64_t z = array->from[2]; z < array->to[2]; ++z)
        for (int64_t y = array->from[1]; y < array->to[1]; ++y) {
            const int64_t at[3] = {0, y, z};
            char* row = (char*)array->first;
            for (int level = 0; level <= array->level[0]; ++level) {
                int64_t index = 0;
                for (int axis = 1; axis < 3; ++axis)
                    if (array->level[axis] == level) index += at[axis] * array->stride[axis];
                row = level < array->level[0] ? ((char**)row)[index] : row + index * array->bytes;
            }
            char* cells = stencil->cells + (z * ny + y) * nx * array->bytes;
            for (int64_t x = array->from[0]; x < array->to[0]; ++x) {
                char* own = row + x * array->stride[0] * array->bytes;
                char* cell = cells + x * array->bytes;
                memcpy(back ? own : cell, back ? cell : own, (size_t)array->bytes);
            }
        }
}

static halo_code halo_lift_write(halo_lifted* stencil, const char* field, const halo_lift_array* array) {
    const size_t bytes = (size_t)halo_lift_bytes(stencil, array);
    memset(stencil->cells, 0, bytes);
    halo_lift_copy(stencil, array, 0);
    return halo_write_elements(stencil->simulation, field, stencil->cells, bytes, 0);
}

/* From here on the loops can no longer run instead. */
static void halo_lift_read(halo_lifted* stencil, const char* field, const halo_lift_array* array) {
    const size_t bytes = (size_t)halo_lift_bytes(stencil, array);
    if (halo_read_elements(stencil->simulation, field, stencil->cells, bytes, 0)) {
        fprintf(stderr, "stencil %s: %s\n", stencil->name, halo_message());
        abort();
    }
    halo_lift_copy(stencil, array, 1);
}
)";
}

}  // namespace halo::lift
