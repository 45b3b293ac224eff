// The text around what c_launcher.cpp writes. $WORDS$ are filled in.
#pragma once

namespace halo::driver {

inline constexpr const char* kHeaderText =
    R"(/* $NAME$: a stencil behind a plain C interface. Emitted by Halocline.
 *
 * Compile $FILE$.cu with: nvcc -O3 -fmad=false -c $FILE$.cu
 *
 *   $NAME$_params params = $NAME$_default_params();
 *   $NAME$_run* run;
 *   if ($NAME$_create(&run$EXTENTS$, &params) != 0) ...
 *   ... set the fields ...
 *   $NAME$_step(run, 100);
 *   ... get the fields ...
 *   $NAME$_destroy(run);
 *
 * Fields are dense host arrays: cell $INDEX$. time is 0 for t, -1 for t-1.
 * Functions return 0, or a cudaError_t. One run is used by one thread at a time.
 */
#ifndef $GUARD$_H
#define $GUARD$_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct $NAME$_params {
$PARAMS$} $NAME$_params;

typedef struct $NAME$_run $NAME$_run;

$NAME$_params $NAME$_default_params(void);
int $NAME$_create($NAME$_run** run$EXTENTS$, const $NAME$_params* params);
void $NAME$_destroy($NAME$_run* run);
int $NAME$_set_params($NAME$_run* run, const $NAME$_params* params);
int $NAME$_step($NAME$_run* run, int64_t steps); /* returns when they are done */

$FUNCTIONS$
#ifdef __cplusplus
}
#endif

#endif
)";

inline constexpr const char* kSourceText = R"(
// ---- The host side: what $FILE$.h declares ----

#include <cuda_runtime.h>

#include <cmath>
#include <new>
#include <vector>

#include "$FILE$.h"

struct $NAME$_run {
    $NAME$_params params;
    int64_t n[3];      // cells along each axis
    int64_t pitch;     // elements from row to row
    int64_t slice;     // from plane to plane
    int64_t origin;    // element of cell (0, 0, 0)
    int64_t elements;  // of an array
$MEMBERS$};

namespace {
namespace $NAME$_host {

enum Kind { kPeriodic, kFixed, kClamp, kMirror, kFree };
struct Face {
    int width = 0;  // halo cells past it
    Kind kind = kFree;
    double value = 0;  // of fixed
};
struct Halo {
    Face faces[3][2];
};
$FACES$
dim3 blocks(const $NAME$_run* run, int tile_x, int tile_y, int tile_z) {
    return dim3(static_cast<unsigned>((run->n[0] + tile_x - 1) / tile_x),
                static_cast<unsigned>((run->n[1] + tile_y - 1) / tile_y),
                static_cast<unsigned>((run->n[2] + tile_z - 1) / tile_z));
}
int64_t block_count(dim3 grid) { return int64_t{1} * grid.x * grid.y * grid.z; }

template <class T>
cudaError_t allocate(T** array, int64_t elements) {
    cudaError_t failed = cudaMalloc(reinterpret_cast<void**>(array), elements * sizeof(T));
    return failed != cudaSuccess ? failed : cudaMemset(*array, 0, elements * sizeof(T));
}

// Moves each level one step into the past; the oldest becomes the one to be written.
template <class T, int kCount>
void rotate(T* (&levels)[kCount]) {
    T* oldest = levels[kCount - 1];
    for (int i = kCount - 1; i > 0; --i) levels[i] = levels[i - 1];
    levels[0] = oldest;
}

// The cell that a halo cell shows along one axis; past a fixed or free face the face is set.
int64_t shown(const Face* faces, int64_t index, int64_t n, const Face*& past) {
    while (index < 0 || index >= n) {
        const Face& face = faces[index < 0 ? 0 : 1];
        int64_t edge = index < 0 ? 0 : n - 1;
        switch (face.kind) {
            case kPeriodic: return (index % n + n) % n;
            case kClamp: return edge;
            case kMirror:
                if (n == 1) return 0;
                index = 2 * edge - index;
                break;
            default:
                past = &face;
                return edge;
        }
    }
    return index;
}

// Fills the halo of a host copy of an array. Where a cell is past several faces, the first fixed one gives its value.
template <class T>
void fill_halo(const $NAME$_run* run, const Halo& halo, std::vector<T>& array) {
    const auto& faces = halo.faces;
    for (int64_t z = -faces[2][0].width; z < run->n[2] + faces[2][1].width; ++z) {
        for (int64_t y = -faces[1][0].width; y < run->n[1] + faces[1][1].width; ++y) {
            bool is_row_inside = z >= 0 && z < run->n[2] && y >= 0 && y < run->n[1];
            for (int64_t x = -faces[0][0].width; x < run->n[0] + faces[0][1].width; ++x) {
                if (is_row_inside && x >= 0 && x < run->n[0]) {
                    x = run->n[0] - 1;  // cells of the domain are left alone
                    continue;
                }
                const Face* past[3] = {};
                const int64_t from_x = shown(faces[0], x, run->n[0], past[0]);
                const int64_t from_y = shown(faces[1], y, run->n[1], past[1]);
                const int64_t from_z = shown(faces[2], z, run->n[2], past[2]);
                const Face* fixed = nullptr;
                bool is_free = false;
                for (const Face* face : past) {
                    if (face == nullptr) continue;
                    if (face->kind == kFree) is_free = true;
                    if (face->kind == kFixed && fixed == nullptr) fixed = face;
                }
                if (fixed == nullptr && is_free) continue;  // never read
                array[run->origin + z * run->slice + y * run->pitch + x] =
                    fixed ? static_cast<T>(fixed->value)
                          : array[run->origin + from_z * run->slice + from_y * run->pitch + from_x];
            }
        }
    }
}

// Puts values (or where there are none, the array's own) between the halos of an array on the device.
template <class T>
cudaError_t refill(const $NAME$_run* run, const Halo& halo, T* array, const T* values = nullptr) {
    std::vector<T> host(run->elements);
    cudaError_t failed = cudaMemcpy(host.data(), array, run->elements * sizeof(T), cudaMemcpyDeviceToHost);
    if (failed != cudaSuccess) return failed;
    for (int64_t z = 0; values && z < run->n[2]; ++z) {
        for (int64_t y = 0; y < run->n[1]; ++y) {
            for (int64_t x = 0; x < run->n[0]; ++x) {
                host[run->origin + z * run->slice + y * run->pitch + x] = values[x + run->n[0] * (y + run->n[1] * z)];
            }
        }
    }
    fill_halo(run, halo, host);
    return cudaMemcpy(array, host.data(), run->elements * sizeof(T), cudaMemcpyHostToDevice);
}

template <class T>
cudaError_t copy_out(const $NAME$_run* run, const T* array, T* values) {
    std::vector<T> host(run->elements);
    cudaError_t failed = cudaMemcpy(host.data(), array, run->elements * sizeof(T), cudaMemcpyDeviceToHost);
    if (failed != cudaSuccess) return failed;
    for (int64_t z = 0; z < run->n[2]; ++z) {
        for (int64_t y = 0; y < run->n[1]; ++y) {
            for (int64_t x = 0; x < run->n[0]; ++x) {
                values[x + run->n[0] * (y + run->n[1] * z)] = host[run->origin + z * run->slice + y * run->pitch + x];
            }
        }
    }
    return cudaSuccess;
}

}  // namespace $NAME$_host
}  // namespace

using namespace $NAME$_host;

extern "C" $NAME$_params $NAME$_default_params(void) {
    $NAME$_params params = {};
$DEFAULTS$    return params;
}

extern "C" void $NAME$_destroy($NAME$_run* run) {
    if (run == nullptr) return;
$RELEASE$    delete run;
}

extern "C" int $NAME$_set_params($NAME$_run* run, const $NAME$_params* params) {
    run->params = *params;
    cudaError_t failed = cudaSuccess;  // values of fixed faces may have changed
$REFILL$    return failed;
}

extern "C" int $NAME$_create($NAME$_run** result$EXTENTS$, const $NAME$_params* params) {
    *result = nullptr;
    $NAME$_run* run = new (std::nothrow) $NAME$_run();
    if (run == nullptr) return cudaErrorMemoryAllocation;
    run->params = *params;
$GEOMETRY$
    int failed = cudaSuccess;
$ALLOCATE$    if (!failed) failed = $NAME$_set_params(run, params);
    if (failed) {
        $NAME$_destroy(run);
        return failed;
    }
    *result = run;
    return cudaSuccess;
}

extern "C" int $NAME$_step($NAME$_run* run, int64_t steps) {
    [[maybe_unused]] const $NAME$_params& params = run->params;
    for (int64_t step = 0; step < steps; ++step) {
$BEFORE$$LAUNCHES$$AFTER$    }
    cudaError_t failed = cudaGetLastError();
    return failed != cudaSuccess ? failed : cudaDeviceSynchronize();
}
$ACCESSORS$)";

inline constexpr const char* kFieldText = R"(
extern "C" int $NAME$_set_$FIELD$($NAME$_run* run, int time, const $TYPE$* values) {
    if (time > 0 || time < -$HISTORY$) return cudaErrorInvalidValue;
    return refill(run, $FIELD$_halo(run), run->$FIELD$[$LATEST$ - time], values);
}

extern "C" int $NAME$_get_$FIELD$($NAME$_run* run, int time, $TYPE$* values) {
    if (time > 0 || time < -$HISTORY$) return cudaErrorInvalidValue;
    return copy_out(run, run->$FIELD$[$LATEST$ - time], values);
}
)";

inline constexpr const char* kCoefText = R"(
extern "C" int $NAME$_set_$COEF$($NAME$_run*, const double* weights) {
    $TYPE$ rounded[$COUNT$];
    for (int i = 0; i < $COUNT$; ++i) rounded[i] = static_cast<$TYPE$>(weights[i]);
    return cudaMemcpyToSymbol($SYMBOL$, rounded, sizeof rounded);
}
)";

inline constexpr const char* kReductionText = R"(
extern "C" int $NAME$_get_$REDUCTION$($NAME$_run* run, double* value) {
    std::vector<double> partials(block_count($GRID$));
    cudaError_t failed = cudaMemcpy(partials.data(), run->$REDUCTION$_partials, partials.size() * sizeof(double),
                                    cudaMemcpyDeviceToHost);
    double result = $START$;
    for (double partial : partials) result = $COMBINE$;
    *value = $RESULT$;
    return failed;
}
)";

}  // namespace halo::driver
