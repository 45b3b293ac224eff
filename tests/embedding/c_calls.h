/* The C interface from C, for c_test.cpp. */
#ifndef HALO_TESTS_C_CALLS_H
#define HALO_TESTS_C_CALLS_H

#ifdef __cplusplus
extern "C" {
#endif

/* Steps of heat on a grid of nx by ny, from `values` back into it; NULL, or what went wrong. */
const char* run_heat_in_c(float* values, int nx, int ny, int steps, double* change);
/* The same on memory of the caller's, half of the steps by each of two simulations that share it. */
const char* run_heat_on_views_in_c(float* values, int nx, int ny, int steps);

#ifdef __cplusplus
}
#endif

#endif
