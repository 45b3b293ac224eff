/* halocline.hpp for C: the compiler in your own program. See runtime.h for the rest. */
#ifndef HALOCLINE_HALOCLINE_H
#define HALOCLINE_HALOCLINE_H

#include "halocline/runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All 0 is the default. Lists end with NULL. */
typedef struct halo_compile_options {
    const char* stencil;          /* which one, where the text has several */
    const char* const* include;   /* folders of modules */
    const char* const* schedules; /* as of `haloc run --schedule` */
    int strict_fp;                /* keep the order of arithmetic as written */
    int wait_for_all_kernels;     /* see CompileOptions in halocline.hpp */
} halo_compile_options;

/* name: of the text, in messages. options: NULL for the default. HALO_SPEC: halo_message() has all messages
 * about the text, and halo_diagnostic() each of them. */
halo_code halo_compile(const char* text, const char* name, const halo_compile_options* options,
                       halo_program** program);
halo_code halo_compile_file(const char* path, const halo_compile_options* options, halo_program** program);

typedef struct halo_diagnostic_info {
    int is_error; /* else a warning */
    const char *kind, *message, *file, *mend;
    int line, column; /* from 1 */
} halo_diagnostic_info;
/* Message `index` of the last call on this thread that ended with HALO_SPEC; HALO_BAD_ARGUMENT past the last.
 * The strings are valid until the thread's next call that compiles. */
halo_code halo_diagnostic(int index, halo_diagnostic_info* info);

/* Begins to compile in the background, for `count` grids of `axes` numbers each. */
typedef struct halo_task halo_task;
halo_code halo_precompile(const halo_program* program, const halo_device* device, const int64_t* grids,
                          int axes, int count, halo_task** task);
/* The same for halo_simulation_create_on(). */
halo_code halo_precompile_on(const halo_program* program, const halo_device* const* devices, int device_count,
                             const int64_t* grids, int axes, int count, int64_t exchange_every,
                             halo_task** task);
int halo_task_is_done(const halo_task* task);
halo_code halo_task_wait(halo_task* task); /* what became of it */
void halo_task_release(halo_task* task);   /* waits for nothing */

/* archs: `arch_count` strings such as "sm_90"; grids: `grid_count` grids of `axes` numbers each. */
halo_code halo_write_bundle(const halo_program* program, const char* path, const char* const* archs,
                            int arch_count, const int64_t* grids, int axes, int grid_count, int any_grid);

/* Files of simulations, as of halocline.hpp. fields: ends with NULL; NULL: all states and outputs. */
halo_code halo_save_fields(const halo_simulation* simulation, const char* path, const char* const* fields);
halo_code halo_save_checkpoint(halo_simulation* simulation, const char* folder);
typedef struct halo_checkpoint halo_checkpoint;
typedef struct halo_checkpoint_info {
    const char *path, *program; /* live as long as the checkpoint */
    int axes;
    int64_t grid[HALO_MAX_AXES];
    int64_t steps;
    int holds_data; /* inputs, weights, tables and points */
} halo_checkpoint_info;
halo_code halo_checkpoint_find(const char* path, halo_checkpoint** checkpoint);
halo_code halo_checkpoint_describe(const halo_checkpoint* checkpoint, halo_checkpoint_info* info);
halo_code halo_checkpoint_restore(const halo_checkpoint* checkpoint, halo_simulation* simulation);
void halo_checkpoint_release(halo_checkpoint* checkpoint);

/* Gradients, as of halocline.hpp. with: ends with NULL. snapshots: 0 for as many as fit. */
typedef struct halo_gradient halo_gradient;
typedef struct halo_gradient_report { /* GradientReport */
    double objective;
    int64_t steps, steps_done_again;
    int64_t snapshots, snapshots_on_host, snapshot_bytes;
    double seconds;
} halo_gradient_report;
halo_code halo_gradient_create(const halo_simulation* simulation, const char* of, const char* const* with,
                               int every_step, int64_t snapshots, halo_gradient** gradient);
/* Of a trace, `count` numbers for weights or measured, and NULL for the other; of a reduction NULL and NULL.
 */
halo_code halo_gradient_compute(halo_gradient* gradient, int64_t steps, const double* weights,
                                const double* measured, size_t count, halo_gradient_report* report);
halo_code halo_gradient_number(const halo_gradient* gradient, const char* param, double* number);
/* In each cell, dense and x fastest; of a trace that is injected [step][point], with `count` as of
 * halo_trace(). */
halo_code halo_gradient_read(const halo_gradient* gradient, const char* field, double* values, size_t count);
halo_code halo_gradient_trace(const halo_gradient* gradient, const char* injected, double* values,
                              size_t* count);

/* The vector-Jacobian product (GradientOptions::of_fields): the objective is the sum of the cells of fields
 * after the last step, each times a weight; the report's is 0. of: states and outputs, ends with NULL. What
 * nothing depends on is left out: it is refused when it is asked for, and 0. */
typedef struct halo_field_weights {
    const char* field;
    int level;            /* of a state also -1, for that before the last one … */
    const double* values; /* one for each cell, dense and x fastest; or NULL, and: */
    size_t count;
    halo_view cells; /* of the field's type, on the simulation's device */
} halo_field_weights;
halo_code halo_gradient_create_of_fields(const halo_simulation* simulation, const char* const* of,
                                         const char* const* with, int64_t snapshots,
                                         halo_gradient** gradient);
/* Levels that are not given have the weight 0. */
halo_code halo_gradient_compute_of_fields(halo_gradient* gradient, int64_t steps,
                                          const halo_field_weights* weights, int count,
                                          halo_gradient_report* report);
/* With respect to a level of a state, 0 for the present one, or to an input; as halo_gradient_read(). */
halo_code halo_gradient_read_level(const halo_gradient* gradient, const char* field, int level,
                                   double* values, size_t count);
void halo_gradient_release(halo_gradient* gradient);

#ifdef __cplusplus
}
#endif

#endif /* HALOCLINE_HALOCLINE_H */
