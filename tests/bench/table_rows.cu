// How the rows of a table reach the threads of a sum over it: through shared memory, a chunk after the other
// in one launch, or through constant memory, a launch per chunk. The sums are those of the image
// reconstruction in dsl_examples/mri_fhd.halo, four cells a thread. By hand, with nvcc alone:
//     nvcc -O3 -arch=sm_90 -o table_rows tests/bench/table_rows.cu && ./table_rows
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int kRows = 20000, kLength = 128;  // of the table; cells along each axis
constexpr int kCells = 4;
constexpr int kSharedRows = 256;
constexpr int kConstantRows = 3200;  // 64 KiB, less what the launch takes
constexpr int kRepeats = 5;

struct Row {
    float kx, ky, kz, re, im;
};
__constant__ Row constant_rows[kConstantRows];

struct Thread {
    float x[kCells], y, z, re[kCells], im[kCells];
};

__device__ Thread here() {
    Thread thread;
    for (int c = 0; c < kCells; ++c)
        thread.x[c] = static_cast<float>(blockIdx.x * 128 + threadIdx.x + 32 * c) / kLength - 0.5f;
    thread.y = static_cast<float>(blockIdx.y * 4 + threadIdx.y) / kLength - 0.5f;
    thread.z = static_cast<float>(blockIdx.z) / kLength - 0.5f;
    return thread;
}

__device__ long long cell_of(int c) {
    return (static_cast<long long>(blockIdx.z) * kLength + blockIdx.y * 4 + threadIdx.y) * kLength +
           blockIdx.x * 128 + threadIdx.x + 32 * c;
}

__device__ __forceinline__ void add(const Row& row, Thread& thread) {
    const float of_row = fmaf(row.ky, thread.y, row.kz * thread.z);
#pragma unroll
    for (int c = 0; c < kCells; ++c) {
        const float phase = 6.2831855f * fmaf(row.kx, thread.x[c], of_row);
        const float sine = __sinf(phase), cosine = __cosf(phase);
        thread.re[c] += fmaf(-row.im, sine, row.re * cosine);
        thread.im[c] += fmaf(row.re, sine, row.im * cosine);
    }
}

__global__ void __launch_bounds__(128, 8) through_shared(const Row* __restrict__ rows, float* re, float* im) {
    __shared__ Row chunk[kSharedRows];
    Thread thread = here();
    for (int c = 0; c < kCells; ++c)
        thread.re[c] = thread.im[c] = 0;
    for (int first = 0; first < kRows; first += kSharedRows) {
        const int count = min(kSharedRows, kRows - first);
        __syncthreads();
        for (int row = threadIdx.x + 32 * threadIdx.y; row < count; row += 128)
            chunk[row] = rows[first + row];
        __syncthreads();
        for (int row = 0; row < count; ++row)
            add(chunk[row], thread);
    }
    for (int c = 0; c < kCells; ++c) {
        re[cell_of(c)] = thread.re[c];
        im[cell_of(c)] = thread.im[c];
    }
}

__global__ void __launch_bounds__(128, 8) through_constant(int count, bool is_first, float* re, float* im) {
    Thread thread = here();
    for (int c = 0; c < kCells; ++c) {
        thread.re[c] = is_first ? 0 : re[cell_of(c)];
        thread.im[c] = is_first ? 0 : im[cell_of(c)];
    }
    for (int row = 0; row < count; ++row)
        add(constant_rows[row], thread);
    for (int c = 0; c < kCells; ++c) {
        re[cell_of(c)] = thread.re[c];
        im[cell_of(c)] = thread.im[c];
    }
}

void check(cudaError_t code) {
    if (code == cudaSuccess) return;
    std::fprintf(stderr, "%s\n", cudaGetErrorString(code));
    std::exit(1);
}

int main() {
    constexpr std::size_t kCount = static_cast<std::size_t>(kLength) * kLength * kLength;
    std::vector<Row> table(kRows);
    const auto number = [] { return static_cast<float>(std::rand()) / static_cast<float>(RAND_MAX) - 0.5f; };
    for (Row& row : table)
        row = {number(), number(), number(), number(), number()};
    Row* rows = nullptr;
    float *re = nullptr, *im = nullptr;
    check(cudaMalloc(&rows, kRows * sizeof(Row)));
    check(cudaMalloc(&re, kCount * sizeof(float)));
    check(cudaMalloc(&im, kCount * sizeof(float)));
    check(cudaMemcpy(rows, table.data(), kRows * sizeof(Row), cudaMemcpyHostToDevice));
    const dim3 blocks(kLength / 128, kLength / 4, kLength), threads(32, 4);
    const auto shared = [&] { through_shared<<<blocks, threads>>>(rows, re, im); };
    const auto constant = [&] {
        for (int first = 0; first < kRows; first += kConstantRows) {
            const int count = kRows - first < kConstantRows ? kRows - first : kConstantRows;
            check(cudaMemcpyToSymbolAsync(constant_rows, rows + first, count * sizeof(Row), 0,
                                          cudaMemcpyDeviceToDevice));
            through_constant<<<blocks, threads>>>(count, first == 0, re, im);
        }
    };
    cudaEvent_t begin, end;
    check(cudaEventCreate(&begin));
    check(cudaEventCreate(&end));
    const auto terms_per_second = [&](const auto& sum, std::vector<float>& result) {
        sum();
        check(cudaEventRecord(begin));
        for (int i = 0; i < kRepeats; ++i)
            sum();
        check(cudaEventRecord(end));
        check(cudaEventSynchronize(end));
        float milliseconds = 0;
        check(cudaEventElapsedTime(&milliseconds, begin, end));
        check(cudaMemcpy(result.data(), re, kCount * sizeof(float), cudaMemcpyDeviceToHost));
        return static_cast<double>(kRepeats) * kRows * kCount / milliseconds * 1e-6;
    };
    std::vector<float> by_shared(kCount), by_constant(kCount);
    const double of_shared = terms_per_second(shared, by_shared);
    const double of_constant = terms_per_second(constant, by_constant);
    double apart = 0;
    for (std::size_t i = 0; i < kCount; ++i)
        apart = std::fmax(apart, std::fabs(by_shared[i] - by_constant[i]));
    std::printf("10^9 terms/s through shared memory %.0f, constant memory %.0f; results apart by %g\n",
                of_shared, of_constant, apart);
    return apart == 0 ? 0 : 1;
}
