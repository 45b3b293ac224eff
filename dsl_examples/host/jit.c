/* C, with a spec that is compiled while the program runs: on the first GPU, else on the CPU. */
#include <math.h>
#include <stdio.h>

#include "halocline/halocline.h"

static const char* const kSpec =
    "stencil wave(x) {\n"
    "    param c2 = 0.25\n"
    "    field p: f64 { boundary fixed 0 }\n"
    "    p[t+1] = 2 * p - p[t-1] + c2 * (p[x-1] - 2 * p + p[x+1])\n"
    "}\n";

enum { kCells = 400, kSteps = 100 };

static int run(halo_simulation* simulation) {
    /* A pulse to the left: a step ago it was half a cell further right. */
    static double now[kCells], before[kCells];
    for (int i = 0; i < kCells; ++i) {
        now[i] = exp(-0.01 * (i - 100.0) * (i - 100.0));
        before[i] = exp(-0.01 * (i - 100.5) * (i - 100.5));
    }
    if (halo_write_f64(simulation, "p", now, kCells, 0) || halo_write_f64(simulation, "p", before, kCells, -1) ||
        halo_step(simulation, kSteps) || halo_read_f64(simulation, "p", now, kCells, 0))
        return 1;
    int top = 0;
    for (int i = 0; i < kCells; ++i)
        if (now[i] > now[top]) top = i;
    printf("after %d steps the pulse is at cell %d, and %.3f high\n", kSteps, top, now[top]);
    return top < 48 || top > 52; /* half a cell a step */
}

int main(void) {
    halo_device* device = NULL;
    halo_program* program = NULL;
    halo_simulation* simulation = NULL;
    const int64_t grid[1] = {kCells};
    int failed = halo_device_best(&device) || halo_compile(kSpec, "wave.halo", NULL, &program) ||
                 halo_simulation_create(program, device, grid, 1, &simulation) || run(simulation);
    if (failed) fprintf(stderr, "%s\n", halo_message());
    halo_simulation_release(simulation);
    halo_program_release(program);
    halo_device_release(device);
    return failed;
}
