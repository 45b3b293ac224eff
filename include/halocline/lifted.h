/* For sources in which `haloc lift --replace` has put calls of stencils in place of loops, and for the
 * programs that they are part of (docs/lift.md). */
#ifndef HALOCLINE_LIFTED_H
#define HALOCLINE_LIFTED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halocline/halocline.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- for programs */

/* Without this each call of a stencil copies the arrays that it uses to the GPU and back. After
 * halo_lift_keep_arrays(1) they stay there from call to call: what stencils have computed reaches the
 * program's array when the program says that it wants it, by halo_lift_take_back(). On the CPU stencils work
 * on the program's arrays themselves; copies stay of those alone whose rows are not as far apart as those of
 * other arrays of the same loops. */
void halo_lift_keep_arrays(int keep);
/* Before the program itself reads, changes or frees an array that stencils use: brings the array up to date
 * and forgets the copy on the GPU. array: an address in it; NULL: all arrays. */
halo_code halo_lift_take_back(const void* array);

/* ---- for the calls that are written */

/* An array of the program's, of which the loops touch cells `from` to before `to`. Axes are x, y, z; where
 * rows are reached by pointers, level says behind how many of them an axis is. */
typedef struct halo_lift_array {
    void* first;
    int64_t bytes; /* of an element */
    int64_t from[3], to[3], stride[3];
    int level[3];
    int is_overwritten; /* the loops write each of these cells, and read none before */
} halo_lift_array;

typedef struct halo_lift_stencil halo_lift_stencil;
/* Each thread has its own of a call, until the program ends. */
typedef struct halo_lifted {
    const char* name;
    halo_lift_stencil* stencil;
    int failed;
} halo_lifted;

halo_code halo_lift_open(const halo_program* program, halo_lift_stencil** stencil);
/* A call is these in their order; the program's arrays are changed by the last two alone, or by none. */
halo_code halo_lift_begin(halo_lift_stencil* stencil, const int64_t* grid, int axes);
halo_code halo_lift_set(halo_lifted* lifted, const char* param, double value);
halo_code halo_lift_write(halo_lifted* lifted, const char* field, const halo_lift_array* array);
halo_code halo_lift_step(halo_lifted* lifted, int64_t count);
halo_code halo_lift_reduce(halo_lifted* lifted, const char* reduction, double* value);
halo_code halo_lift_copy_back(halo_lifted* lifted, const char* field, const halo_lift_array* array);
/* Where the loops run instead. */
halo_code halo_lift_give_back(const halo_lift_array* array);

#ifdef __cplusplus
#define HALO_LIFT_THREAD thread_local
#else
#define HALO_LIFT_THREAD _Thread_local
#endif

static inline void halo_lift_failed(halo_lifted* lifted) {
    fprintf(stderr, "stencil %s: %s; its loops run instead\n", lifted->name, halo_message());
#ifdef HALO_LIFT_REQUIRED
    abort();
#endif
    lifted->failed = 1;
}

/* 0: it cannot run here. */
static inline int halo_lift_ready(halo_lifted* lifted, const char* name, const char* text, int axes,
                                  const int64_t* grid) {
    lifted->name = name;
    if (lifted->failed) return 0;
    if (!lifted->stencil) {
        halo_compile_options options;
        halo_program* program = NULL;
        memset(&options, 0, sizeof options);
#ifdef HALO_LIFT_REGROUP
        options.strict_fp = 0; /* sums are regrouped, which is faster */
#else
        options.strict_fp = 1; /* the bits of the loops */
#endif
        if (halo_compile(text, name, &options, &program) || halo_lift_open(program, &lifted->stencil))
            halo_lift_failed(lifted);
        halo_program_release(program);
        if (lifted->failed) return 0;
    }
    if (!halo_lift_begin(lifted->stencil, grid, axes)) return 1;
    halo_lift_failed(lifted);
    return 0;
}

/* From here on the loops can no longer run instead. */
static inline void halo_lift_read(halo_lifted* lifted, const char* field, const halo_lift_array* array) {
    if (!halo_lift_copy_back(lifted, field, array)) return;
    fprintf(stderr, "stencil %s: %s\n", lifted->name, halo_message());
    abort();
}

/* Gives the arrays back to the loops, which run instead. count: -1 is all that there are. */
static inline int halo_lift_loops(const halo_lift_array* const* arrays, int count) {
    if (count < 0 && halo_lift_take_back(NULL)) {
        fprintf(stderr, "arrays of stencils: %s\n", halo_message());
        abort();
    }
    for (int i = 0; i < count; ++i) {
        if (!halo_lift_give_back(arrays[i])) continue;
        fprintf(stderr, "arrays of stencils: %s\n", halo_message());
        abort();
    }
    return 0;
}

#ifdef __cplusplus
}
#endif

#endif /* HALOCLINE_LIFTED_H */
