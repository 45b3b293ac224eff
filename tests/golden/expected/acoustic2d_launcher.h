// acoustic2d_launcher.h: runs the stencil acoustic2d on a GPU, from C or C++.
// Made by Halocline. acoustic2d_launcher.cu has the kernels; it needs the CUDA runtime and nothing else:
//
//   nvcc -std=c++17 -arch=sm_90 -fmad=false -c acoustic2d_launcher.cu
//
//   acoustic2d_solver* solver;
//   acoustic2d_create(512, 512, &solver);
//   acoustic2d_place_shots(solver, positions, 48);
//   acoustic2d_set_shots_wavelet(solver, values, 1000);
//   acoustic2d_place_phones(solver, positions, 48);
//   acoustic2d_set_p(solver, values);
//   acoustic2d_set_p_before(solver, values);
//   acoustic2d_set_v(solver, values);
//   acoustic2d_advance(solver, 1000);
//   acoustic2d_get_p(solver, values);
//   acoustic2d_get_v(solver, values);
//   acoustic2d_get_phones_trace(solver, values, 0, 1000);
//   acoustic2d_destroy(solver);
//
// `set` and `get` take dense arrays with x fastest: element x + nx * y.
// `copy` takes the first cell of an array of yours, whose rows lie `pitch` elements apart.
// It does not wait: the array is to stay as it is until the stream has come so far. All of them take
// arrays on the host or on the device, of any alignment.
// On the device every level of a field has rows that start on a multiple of 32 elements, and halo
// cells around the grid: 4 before and 4 after along x, 4 before and 4 after along y.
//
// All calls return ACOUSTIC2D_OK; after any other answer acoustic2d_message() says what was wrong. A solver lives
// on the device that was current when it was made, and is used by one thread at a time.
#ifndef ACOUSTIC2D_LAUNCHER_H
#define ACOUSTIC2D_LAUNCHER_H

#ifdef __cplusplus
extern "C" {
#endif

typedef struct acoustic2d_solver acoustic2d_solver;

typedef enum acoustic2d_status {
    ACOUSTIC2D_OK = 0,
    ACOUSTIC2D_BAD_ARGUMENT = 1,   // a size, value or pointer that cannot be; nothing was done
    ACOUSTIC2D_OUT_OF_MEMORY = 2,  // on the device or the host
    ACOUSTIC2D_CUDA_ERROR = 3      // no device, or an error of the CUDA runtime
} acoustic2d_status;

// Why the last failing call on this thread failed; "" where none has. Valid until the next call.
const char* acoustic2d_message(void);

// A grid of nx x ny cells, at least 1 along each axis. All fields start at 0.
acoustic2d_status acoustic2d_create(long long nx, long long ny, acoustic2d_solver** solver);
void acoustic2d_destroy(acoustic2d_solver* solver);  // NULL is allowed

// What follows is done in that stream, a cudaStream_t, in the order of the calls. The default
// stream unless set; a solver that changes streams must have been waited for.
acoustic2d_status acoustic2d_use_stream(acoustic2d_solver* solver, void* stream);

// What may differ from run to run; a new value holds from the next step on.
acoustic2d_status acoustic2d_set_dt(acoustic2d_solver* solver, double value);  // 0.001 unless set
acoustic2d_status acoustic2d_set_f0(acoustic2d_solver* solver, double value);  // 15 unless set

// shots: `count` points, anywhere between the grid's first and last cell along each axis; coordinates in the
// units of the spec, x, y for each point, one point after the other. The first cell lies at x = 0.0, y =
// -995.0, the next one 5.0 along x, 5.0 along y further. A point is spread over the 8 nearest cells along
// each axis. To be placed before the first step; there may be none. Placed anew they count from the next step
// on; how many they are stays as it is from the first step on. A point outside of the grid is refused by
// acoustic2d_advance().
acoustic2d_status acoustic2d_place_shots(acoustic2d_solver* solver, const double* positions, long long count);

// shots.wavelet: what is injected at the points. Takes `rows` rows of a number for each point, one row after
// the other: row n is for step n, where the first step of a solver is 0; steps after the last row read zeros.
// To be set once the points are placed and before the first step.
acoustic2d_status acoustic2d_set_shots_wavelet(acoustic2d_solver* solver, const double* values, long long rows);

// phones: `count` points, anywhere between the grid's first and last cell along each axis; coordinates in the
// units of the spec, x, y for each point, one point after the other. The first cell lies at x = 0.0, y =
// -995.0, the next one 5.0 along x, 5.0 along y further. A point is spread over the 8 nearest cells along
// each axis. To be placed before the first step; there may be none. Placed anew they count from the next step
// on; how many they are stays as it is from the first step on. A point outside of the grid is refused by
// acoustic2d_advance().
acoustic2d_status acoustic2d_place_phones(acoustic2d_solver* solver, const double* positions, long long count);

// phones.trace: what is sampled at the points. Gives `rows` rows of a number for each point, one row after
// the other: row n is of step n, where the first step of a solver is 0. They begin with row `first`, and all
// must be of steps that were started. acoustic2d_advance() waits for the device where it takes full buffers
// of them to the host.
acoustic2d_status acoustic2d_get_phones_trace(acoustic2d_solver* solver, double* values, long long first, long long rows);

// p: advanced by every step; `before` is one step earlier than now. nx * ny values.
acoustic2d_status acoustic2d_set_p(acoustic2d_solver* solver, const float* values);
acoustic2d_status acoustic2d_get_p(acoustic2d_solver* solver, float* values);
acoustic2d_status acoustic2d_set_p_before(acoustic2d_solver* solver, const float* values);
acoustic2d_status acoustic2d_get_p_before(acoustic2d_solver* solver, float* values);
acoustic2d_status acoustic2d_copy_p_from(acoustic2d_solver* solver, const float* cells, long long pitch);
acoustic2d_status acoustic2d_copy_p_to(acoustic2d_solver* solver, float* cells, long long pitch);
acoustic2d_status acoustic2d_copy_p_before_from(acoustic2d_solver* solver, const float* cells, long long pitch);
acoustic2d_status acoustic2d_copy_p_before_to(acoustic2d_solver* solver, float* cells, long long pitch);

// v: read by every step. nx * ny values.
acoustic2d_status acoustic2d_set_v(acoustic2d_solver* solver, const float* values);
acoustic2d_status acoustic2d_get_v(acoustic2d_solver* solver, float* values);
acoustic2d_status acoustic2d_copy_v_from(acoustic2d_solver* solver, const float* cells, long long pitch);
acoustic2d_status acoustic2d_copy_v_to(acoustic2d_solver* solver, float* cells, long long pitch);

// Starts so many time steps and does not wait for them; reading a field or a reduction does.
acoustic2d_status acoustic2d_advance(acoustic2d_solver* solver, long long steps);
acoustic2d_status acoustic2d_wait(acoustic2d_solver* solver);  // until all steps are done

#ifdef __cplusplus
}
#endif

#endif  // ACOUSTIC2D_LAUNCHER_H
