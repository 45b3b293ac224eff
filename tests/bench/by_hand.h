// What cpu_bench is measured against: loops as one writes them, with OpenMP.
#pragma once

#include <cstddef>

namespace halo::bench {

// A step of 3D diffusion on a dense cube of n + 2 cells a side, one of them halo: next = u + k * (sum of 6 -
// 6 u).
template <class T>
void diffuse_plane(const T* u, T* next, int n, T k);  // the same in 2D: the sum of 4 - 4 u

template <class T>
void diffuse(const T* u, T* next, int n, T k);

void fill(void* array, std::size_t bytes, double value,
          bool single);                                        // by all threads, so that pages lie near them
void copy(double* to, const double* from, std::size_t count);  // plain stores
int threads();

}  // namespace halo::bench
