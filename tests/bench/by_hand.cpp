#include "by_hand.h"

#include <omp.h>

namespace halo::bench {

template <class T>
void diffuse(const T* __restrict u, T* __restrict next, int n, T k) {
    const std::ptrdiff_t pitch = n + 2, slice = pitch * pitch;
#pragma omp parallel for schedule(static)
    for (int z = 1; z <= n; ++z) {
        for (int y = 1; y <= n; ++y) {
            const T* __restrict c = u + z * slice + y * pitch;
            T* __restrict d = next + z * slice + y * pitch;
            for (int x = 1; x <= n; ++x) {
                d[x] = c[x] + k * (c[x - 1] + c[x + 1] + c[x - pitch] + c[x + pitch] + c[x - slice] +
                                   c[x + slice] - 6 * c[x]);
            }
        }
    }
}

template <class T>
void diffuse_plane(const T* __restrict u, T* __restrict next, int n, T k) {
    const std::ptrdiff_t pitch = n + 2;
#pragma omp parallel for schedule(static)
    for (int y = 1; y <= n; ++y) {
        const T* __restrict c = u + y * pitch;
        T* __restrict d = next + y * pitch;
        for (int x = 1; x <= n; ++x)
            d[x] = c[x] + k * (c[x - 1] + c[x + 1] + c[x - pitch] + c[x + pitch] - 4 * c[x]);
    }
}

template void diffuse_plane(const float*, float*, int, float);
template void diffuse_plane(const double*, double*, int, double);
template void diffuse(const float*, float*, int, float);
template void diffuse(const double*, double*, int, double);

void fill(void* array, std::size_t bytes, double value, bool single) {
    const auto count = static_cast<std::ptrdiff_t>(bytes / (single ? 4 : 8));
#pragma omp parallel for schedule(static)
    for (std::ptrdiff_t i = 0; i < count; ++i) {
        if (single) {
            static_cast<float*>(array)[i] = static_cast<float>(value);
        } else {
            static_cast<double*>(array)[i] = value;
        }
    }
}

void copy(double* __restrict to, const double* __restrict from, std::size_t count) {
#pragma omp parallel for schedule(static)
    for (std::ptrdiff_t i = 0; i < static_cast<std::ptrdiff_t>(count); ++i)
        to[i] = from[i];
}

int threads() {
    return omp_get_max_threads();
}

}  // namespace halo::bench
