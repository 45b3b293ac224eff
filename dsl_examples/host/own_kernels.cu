// A CUDA program with kernels of its own: they and Halocline's work on the same array, in the same stream.
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "halocline/halocline.hpp"

using namespace halocline;

// Warms a square of the field. `u` points at cell (0,0).
__global__ void warm(float* u, long long pitch, int x0, int y0, float by) {
    const int x = x0 + static_cast<int>(threadIdx.x), y = y0 + static_cast<int>(threadIdx.y);
    u[x + pitch * y] += by;
}

int main(int argc, char** argv) try {
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        std::printf("skipped: there is no GPU\n");
        return 77;
    }
    const std::string spec = argc > 1 ? argv[1] : "plate.halo";
    const int n = 512, rounds = 50, side = 16;
    cudaStream_t stream = nullptr;
    cudaStreamCreate(&stream);

    CudaHandles handles;
    handles.stream = stream;
    double total = 0;
    {
        const Device device = Device::cuda(handles);
        const Program program = compile_file(spec);
        // Two arrays of our own, which lie as the program needs it.
        const Layout layout = common_layout({program}, device, {n, n});
        std::vector<View> arrays(2);
        for (View& array : arrays) {
            array.bytes = layout.elements * static_cast<long long>(sizeof(float));
            array.first_cell = layout.first_cell;
            array.pitch = layout.pitch;
            array.slice = layout.slice;
            if (cudaMalloc(&array.memory, array.bytes) != cudaSuccess) return 1;
            cudaMemsetAsync(array.memory, 0, array.bytes, stream);
        }
        Field u = Field::of_views(device, Type::f32, {n, n}, arrays);
        Simulation heat(program, device, {n, n});
        heat.bind("u", u);
        for (int round = 0; round < rounds; ++round) {
            const View now = u.view();  // steps move the field from array to array
            float* const cells = static_cast<float*>(now.memory) + now.first_cell;
            warm<<<1, dim3(side, side), 0, stream>>>(cells, now.pitch, n / 2, n / 3, 1.0f);
            u.changed();
            heat.step(20);  // nothing waits until the end
        }
        total = heat.reduce("total");
        for (const View& array : arrays)
            cudaFree(array.memory);
    }
    cudaStreamDestroy(stream);
    const double expected = double{rounds} * side * side;
    std::printf("heat put in: %.1f, found: %.4f\n", expected, total);
    return std::abs(total - expected) < 1e-3 * expected ? 0 : 1;
} catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
