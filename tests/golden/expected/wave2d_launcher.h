// wave2d_launcher.h: runs the stencil wave2d on a GPU, from C or C++.
// Made by Halocline. wave2d_launcher.cu has the kernels; it needs the CUDA runtime and nothing else:
//
//   nvcc -std=c++17 -arch=sm_90 -fmad=false -c wave2d_launcher.cu
//
//   wave2d_solver* solver;
//   wave2d_create(512, 512, &solver);
//   wave2d_set_u(solver, values);
//   wave2d_set_u_before(solver, values);
//   wave2d_advance(solver, 1000);
//   wave2d_get_u(solver, values);
//   wave2d_destroy(solver);
//
// `set` and `get` take dense arrays with x fastest: element x + nx * y.
// `copy` takes the first cell of an array of yours, whose rows lie `pitch` elements apart.
// It does not wait: the array is to stay as it is until the stream has come so far. All of them take
// arrays on the host or on the device, of any alignment.
// On the device every level of a field has rows that start on a multiple of 32 elements, and halo
// cells around the grid: 2 before and 2 after along x, 2 before and 2 after along y.
//
// All calls return WAVE2D_OK; after any other answer wave2d_message() says what was wrong. A solver lives
// on the device that was current when it was made, and is used by one thread at a time.
#ifndef WAVE2D_LAUNCHER_H
#define WAVE2D_LAUNCHER_H

#ifdef __cplusplus
extern "C" {
#endif

typedef struct wave2d_solver wave2d_solver;

typedef enum wave2d_status {
    WAVE2D_OK = 0,
    WAVE2D_BAD_ARGUMENT = 1,   // a size, value or pointer that cannot be; nothing was done
    WAVE2D_OUT_OF_MEMORY = 2,  // on the device or the host
    WAVE2D_CUDA_ERROR = 3      // no device, or an error of the CUDA runtime
} wave2d_status;

// Why the last failing call on this thread failed; "" where none has. Valid until the next call.
const char* wave2d_message(void);

// A grid of nx x ny cells, at least 1 along each axis. All fields start at 0.
wave2d_status wave2d_create(long long nx, long long ny, wave2d_solver** solver);
void wave2d_destroy(wave2d_solver* solver);  // NULL is allowed

// What follows is done in that stream, a cudaStream_t, in the order of the calls. The default
// stream unless set; a solver that changes streams must have been waited for.
wave2d_status wave2d_use_stream(wave2d_solver* solver, void* stream);

// What may differ from run to run; a new value holds from the next step on.
wave2d_status wave2d_set_c(wave2d_solver* solver, double value);  // 1 unless set
wave2d_status wave2d_set_dt(wave2d_solver* solver, double value);  // 0.5 unless set

// u: advanced by every step; `before` is one step earlier than now. nx * ny values.
wave2d_status wave2d_set_u(wave2d_solver* solver, const float* values);
wave2d_status wave2d_get_u(wave2d_solver* solver, float* values);
wave2d_status wave2d_set_u_before(wave2d_solver* solver, const float* values);
wave2d_status wave2d_get_u_before(wave2d_solver* solver, float* values);
wave2d_status wave2d_copy_u_from(wave2d_solver* solver, const float* cells, long long pitch);
wave2d_status wave2d_copy_u_to(wave2d_solver* solver, float* cells, long long pitch);
wave2d_status wave2d_copy_u_before_from(wave2d_solver* solver, const float* cells, long long pitch);
wave2d_status wave2d_copy_u_before_to(wave2d_solver* solver, float* cells, long long pitch);

// Starts so many time steps and does not wait for them; reading a field or a reduction does.
// They are one launch where the grid can stay on the chip meanwhile: nx >= 3, nx % 4 == 0, ny >= 3, all blocks of the
// kernel on the device at once. Otherwise they are done one by one, which gives the same.
wave2d_status wave2d_advance(wave2d_solver* solver, long long steps);
wave2d_status wave2d_wait(wave2d_solver* solver);  // until all steps are done

// height: a greatest value over the grid, of the last step.
wave2d_status wave2d_get_height(wave2d_solver* solver, double* value);

#ifdef __cplusplus
}
#endif

#endif  // WAVE2D_LAUNCHER_H
