/* Several devices from C, for pieces_test.cpp. */
#ifndef HALO_TESTS_C_PIECES_H
#define HALO_TESTS_C_PIECES_H

#ifdef __cplusplus
extern "C" {
#endif

/* Steps of the spec's field u on 9 x 8 x 20 cells in `count` pieces, each on a CPU device of its own, from
 * `values` back into it, where each piece has them; NULL, or what went wrong. */
const char* run_pieces_in_c(const char* spec, float* values, int count, int steps);

#ifdef __cplusplus
}
#endif

#endif
