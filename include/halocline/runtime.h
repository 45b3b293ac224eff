/* runtime.hpp for C: runs compiled stencils in your own program. No compiler is in this library.
 *
 *   halo_device* device;
 *   halo_program* heat;
 *   halo_simulation* simulation;
 *   int64_t grid[2] = {512, 512};
 *   if (halo_device_best(&device) || halo_program_load("heat.halobundle", &heat) ||
 *       halo_simulation_create(heat, device, grid, 2, &simulation) ||
 *       halo_write_f32(simulation, "u", start, 512 * 512, 0) || halo_step(simulation, 1000) ||
 *       halo_read_f32(simulation, "u", result, 512 * 512, 0))
 *       fprintf(stderr, "%s\n", halo_message());
 *
 * Calls return HALO_OK or say what was wrong: halo_message() has the words. No exception leaves a call.
 * Handles are given back with their _release(), in any order: what is still needed stays. NULL may be
 * released. Strings are UTF-8 and are copied. Threads, order of work and what may be shared are as in
 * runtime.hpp. */
#ifndef HALOCLINE_RUNTIME_H
#define HALOCLINE_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum halo_code {
    HALO_OK = 0,
    HALO_SPEC = 1,           /* mistakes in a spec */
    HALO_BAD_ARGUMENT = 2,   /* a name, size, value or pointer that cannot be; nothing was done */
    HALO_UNSUPPORTED = 3,    /* a schedule, or a grid for it, that cannot be built */
    HALO_NO_DEVICE = 4,      /* no driver, device or compiler, or no code for this one */
    HALO_DRIVER_TOO_OLD = 5, /* the driver cannot load what was compiled */
    HALO_OUT_OF_MEMORY = 6,  /* on the device or the host */
    HALO_IO = 7,             /* a file or folder */
    HALO_COMPILE_FAILED = 8, /* generated text was refused: a defect of Halocline */
    HALO_LAUNCH_FAILED = 9,  /* a kernel could not start, or stopped with an error */
    HALO_INTERNAL = 10       /* a defect of Halocline or a driver */
} halo_code;

/* Why the last failing call on this thread failed; "" where none has. Valid until the thread's next call. */
const char* halo_message(void);
const char* halo_version(void); /* "0.1.0" */

typedef enum halo_type {
    HALO_F32 = 0,
    HALO_F64 = 1,
    HALO_F16 = 2,
    HALO_BF16 = 3,
    HALO_U8 = 4,
    HALO_I32 = 5,
    HALO_I64 = 6,
    HALO_BOOLEAN = 7 /* a byte, 0 or 1 */
} halo_type;

typedef struct halo_device halo_device;
typedef struct halo_program halo_program;
typedef struct halo_field halo_field;
typedef struct halo_simulation halo_simulation;

/* ---- devices */

halo_code halo_device_cuda(int ordinal, halo_device** device); /* the primary context, a stream of its own */
/* In the caller's context (a CUcontext; NULL: the primary one of GPU `ordinal`) and stream (a CUstream or
 * cudaStream_t; NULL: the default one), which are the caller's to destroy, after the device. */
halo_code halo_device_cuda_in(int ordinal, void* context, void* stream, halo_device** device);
halo_code halo_device_cpu(int threads, halo_device** device); /* to 4096; 0: as the machine has cores */
halo_code halo_device_best(halo_device** device);             /* the first GPU, else the CPU */
halo_code halo_device_wait(halo_device* device);              /* until everything is done */
const char* halo_device_kind(const halo_device* device); /* "cuda:0" or "cpu"; lives as long as the device */
void halo_device_release(halo_device* device);

/* ---- programs */

/* A kernel that is linked into the program; lists of them end with a NULL name. */
typedef struct halo_linked_kernel {
    const char* name;
    void (*function)(void* const* arguments, long begin, long end, long planes, bool streams);
} halo_linked_kernel;

halo_code halo_program_load(const char* path, halo_program** program);
/* The bundle is copied; the kernels (of the code for the CPU, or NULL) must stay. name: for messages. */
halo_code halo_program_from_memory(const void* bundle, size_t bytes, const halo_linked_kernel* kernels,
                                   const char* name, halo_program** program);
const char* halo_program_name(const halo_program* program); /* lives as long as the program */
int halo_program_axes(const halo_program* program);
typedef struct halo_field_info {
    const char* name; /* lives as long as the program */
    halo_type type;
    int role; /* 0 input, 1 state, 2 output */
    int past; /* levels kept besides t */
} halo_field_info;
halo_code halo_program_field(const halo_program* program, int index, halo_field_info* info);
void halo_program_release(halo_program* program);

/* ---- arrays */

enum { HALO_MAX_AXES = 4 };

/* How the arrays of a simulation lie, in elements: cell (x, y, z) is element first_cell + x + pitch * y +
 * slice * z. */
typedef struct halo_layout {
    int axes;
    int64_t grid[HALO_MAX_AXES];
    int64_t pitch, slice, first_cell, elements;
    int64_t alignment; /* the address of cell (0,0,0) is a multiple of so many elements */
    int64_t volume;    /* of four axes: elements from a volume to the next */
} halo_layout;

/* One that suits all of the programs, so that they can share fields. grid: `axes` numbers, x first. */
halo_code halo_common_layout(const halo_program* const* programs, int count, const halo_device* device,
                             const int64_t* grid, int axes, halo_layout* layout);

/* An array of the caller's: device memory on a GPU, host memory on the CPU. */
typedef struct halo_view {
    void* memory;
    int64_t bytes;      /* that may be used, from `memory` on */
    int64_t first_cell; /* element of cell (0,0,0) */
    int64_t pitch, slice;
    int64_t volume; /* of four axes; 0: planes lie one after the other */
} halo_view;

/* See Field in runtime.hpp. */
halo_code halo_field_create(const halo_device* device, halo_type type, const halo_layout* layout, int past,
                            int scratch, halo_field** field);
halo_code halo_field_of_views(const halo_device* device, halo_type type, const int64_t* grid, int axes,
                              const halo_view* arrays, int count, int past, halo_field** field);
halo_code halo_field_view(const halo_field* field, int level, halo_view* view);
halo_code halo_field_changed(halo_field* field); /* the caller has changed cells */
void halo_field_release(halo_field* field);

/* ---- simulations. Levels: 0 is t, -1 is t-1. Arrays on the host are dense, x fastest, and `count` elements
 * long. */

halo_code halo_simulation_create(const halo_program* program, const halo_device* device, const int64_t* grid,
                                 int axes, halo_simulation** simulation);
/* The same with the layout of halo_common_layout(). */
halo_code halo_simulation_create_in(const halo_program* program, const halo_device* device,
                                    const halo_layout* layout, halo_simulation** simulation);
/* In pieces on `device_count` devices, piece i on devices[i]. exchange_every: steps from one exchange of
 * cells to the next, 0 for what a model chooses. */
halo_code halo_simulation_create_on(const halo_program* program, const halo_device* const* devices,
                                    int device_count, const int64_t* grid, int axes, int64_t exchange_every,
                                    halo_simulation** simulation);
void halo_simulation_release(halo_simulation* simulation);

halo_code halo_set(halo_simulation* simulation, const char* param, double value);
halo_code halo_get(const halo_simulation* simulation, const char* param, double* value);
halo_code halo_set_weights(halo_simulation* simulation, const char* coefficient, const double* weights,
                           size_t count);
halo_code halo_set_table(halo_simulation* simulation, const char* table, const double* rows, size_t count);
/* At 0, 1, …; one value at least. */
halo_code halo_set_series(halo_simulation* simulation, const char* series, const double* values,
                          size_t count);
halo_code halo_set_points(halo_simulation* simulation, const char* points, const double* positions,
                          size_t count);
halo_code halo_set_point_values(halo_simulation* simulation, const char* points, const char* name,
                                const double* values, size_t count);
/* A trace, [step][point]: `count` is the room in `values`, and afterwards how many there are; with too little
 * room nothing is written and HALO_BAD_ARGUMENT returned. */
halo_code halo_trace(halo_simulation* simulation, const char* points, const char* name, double* values,
                     size_t* count);

halo_code halo_bind(halo_simulation* simulation, const char* name, const halo_field* field);
halo_code halo_share(halo_simulation* simulation, const char* name,
                     halo_field** field); /* the arrays it is in */

halo_code halo_write_f32(halo_simulation* simulation, const char* field, const float* values, size_t count,
                         int level);
halo_code halo_write_f64(halo_simulation* simulation, const char* field, const double* values, size_t count,
                         int level);
halo_code halo_read_f32(halo_simulation* simulation, const char* field, float* values, size_t count,
                        int level);
halo_code halo_read_f64(halo_simulation* simulation, const char* field, double* values, size_t count,
                        int level);
/* In the field's own type. */
halo_code halo_write_elements(halo_simulation* simulation, const char* field, const void* elements,
                              size_t bytes, int level);
halo_code halo_read_elements(halo_simulation* simulation, const char* field, void* elements, size_t bytes,
                             int level);

/* Asynchronous on a GPU. Where it fails, some of the steps may have been done: halo_steps_done() says how
 * many. */
halo_code halo_step(halo_simulation* simulation, int64_t count);
halo_code halo_wait(halo_simulation* simulation);
halo_code halo_reduce(halo_simulation* simulation, const char* reduction, double* value); /* waits */
halo_code halo_steps_done(const halo_simulation* simulation, int64_t* steps);
halo_code halo_simulation_layout(const halo_simulation* simulation, halo_layout* layout);

/* The cells that a device has: those from begin[axis] to end[axis] - 1, and 0 to 0 along axes that the grid
 * has not. */
typedef struct halo_piece {
    int64_t begin[HALO_MAX_AXES], end[HALO_MAX_AXES];
} halo_piece;
halo_code halo_simulation_piece_count(const halo_simulation* simulation, int* count);
halo_code halo_simulation_piece(const halo_simulation* simulation, int piece, halo_piece* cells);
/* Where a level of a piece is now, to be read; see Simulation::view() in runtime.hpp. */
halo_code halo_simulation_view(halo_simulation* simulation, const char* field, int piece, int level,
                               halo_view* view);

#ifdef __cplusplus
}
#endif

#endif /* HALOCLINE_RUNTIME_H */
