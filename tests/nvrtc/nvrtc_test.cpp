// Text to sm_90 code, without a GPU.
#include "runtime/nvrtc/nvrtc.h"

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "catch.h"
#include "contains.h"
#include "skip.h"
#include "temporary_folder.h"

using namespace halo::rt;

namespace {

#ifndef HALO_EXPECT_NVRTC
const SkipUnless found(Nvrtc::find() != nullptr, Nvrtc::why_missing());
#endif

const std::string kText = R"(
__constant__ float weights[4];

extern "C" __global__ void shift(float* __restrict__ out, const float* __restrict__ in, int n) {
    __shared__ float tile[128];
    const int i = blockIdx.x * 128 + threadIdx.x;
    tile[threadIdx.x] = i < n ? in[i] : 0.0f;
    __syncthreads();
    if (i < n) out[i] = weights[1] * tile[127 - threadIdx.x] + weights[2];
}
)";

Nvrtc& nvrtc() {
    INFO(Nvrtc::why_missing());
    REQUIRE(Nvrtc::find() != nullptr);
    return *Nvrtc::find();
}

// The message of the error that compiling throws.
std::string refusal(const std::string& text, const NvrtcOptions& options, ErrorCode code) {
    try {
        nvrtc().compile(text, "broken.cu", options);
    } catch (const Error& error) {
        CHECK(error.code() == code);
        return error.what();
    }
    FAIL("it compiled");
    return {};
}

}  // namespace

TEST_CASE("the library says what it is") {
    CHECK(nvrtc().major() >= 12);
    CHECK(contains(nvrtc().path(), "nvrtc"));
    const auto known = nvrtc().architectures();
    CHECK(std::find(known.begin(), known.end(), 90) != known.end());
    CHECK(Nvrtc::why_missing().empty());
}

TEST_CASE("text becomes sm_90 code with its use of registers and shared memory") {
    const CompiledCuda compiled = nvrtc().compile(kText, "shift.cu", {});
    CHECK(compiled.cubin.substr(0, 4) ==
          "\x7f"
          "ELF");
    CHECK(contains(compiled.cubin, "shift"));
    CHECK(contains(compiled.cubin, "weights"));
    CHECK_FALSE(compiled.from_cache);
    REQUIRE(compiled.usage.size() == 1);
    CHECK(compiled.usage[0].name == "shift");
    CHECK(compiled.usage[0].registers > 0);
    CHECK(compiled.usage[0].registers <= 255);
    CHECK(compiled.usage[0].static_shared_bytes == 512);
    CHECK(compiled.usage[0].spill_store_bytes == 0);
}

TEST_CASE("spills are seen") {
    NvrtcOptions options;
    options.extra = {"-maxrregcount=16"};
    // Forty values that live at once cannot be in sixteen registers.
    std::string text = "extern \"C\" __global__ void wide(float* p) {\n";
    for (int i = 0; i < 40; ++i)
        text += "float v" + std::to_string(i) + " = p[" + std::to_string(i * 32) + " + threadIdx.x];\n";
    text += "__syncthreads();\n";
    for (int i = 0; i < 40; ++i)
        text += "p[" + std::to_string((39 - i) * 32) + " + threadIdx.x] = v" + std::to_string(i) + " * v" +
                std::to_string((i * 7) % 40) + ";\n";
    const CompiledCuda compiled = nvrtc().compile(text + "}\n", "wide.cu", options);
    REQUIRE(compiled.usage.size() == 1);
    CHECK(compiled.usage[0].registers <= 24);
    CHECK(compiled.usage[0].spill_store_bytes > 0);
}

TEST_CASE("multiplication and addition are not contracted") {
    const std::string text = "extern \"C\" __global__ void k(float* p) { p[0] = p[1] * p[2] + p[3]; }\n";
    const std::string plain = nvrtc().compile(text, "k.cu", {}).cubin;
    NvrtcOptions contracting;
    contracting.extra = {"-fmad=true"};
    CHECK(plain != nvrtc().compile(text, "k.cu", contracting).cubin);
}

TEST_CASE("refused text is an internal error that shows the place") {
    const std::string message = refusal(
        "// one\n// two\nextern \"C\" __global__ void k(float* p) {\n    p[0] = missing_name;\n}\n// six\n",
        {}, ErrorCode::compile_failed);
    CHECK(contains(message, "internal error"));
    CHECK(contains(message, "please report"));
    CHECK(contains(message, "broken.cu(4): error"));
    CHECK(contains(message, ">     4 |     p[0] = missing_name;"));
    CHECK(contains(message, "      1 | // one"));
    CHECK(contains(message, "      6 | // six"));

    const std::string shared = refusal(
        "extern \"C\" __global__ void k(int* p) { __shared__ int big[100000]; "
        "big[*p] = 1; __syncthreads(); *p = big[p[1]]; }\n",
        {}, ErrorCode::compile_failed);
    INFO(shared);
    CHECK(contains(shared, "400000 bytes smem"));
}

TEST_CASE("unknown architectures and options are the caller's mistake") {
    NvrtcOptions options;
    for (const char* arch : {"sm_12", "compute_90", "", "sm_", "sm_ninety"}) {
        options.arch = arch;
        CHECK(contains(refusal(kText, options, ErrorCode::bad_argument), "it knows sm_"));
    }
    options.arch = "sm_90";
    options.extra = {"--no-such-option"};
    CHECK(contains(refusal(kText, options, ErrorCode::bad_argument), "--no-such-option"));
}

TEST_CASE("the cache gives back what was compiled, and only that") {
    const TemporaryFolder folder;
    const DiskCache cache(folder.path() / "cache");
    CHECK_FALSE(nvrtc().find_compiled(kText, {}, cache));
    const CompiledCuda first = nvrtc().compile(kText, "shift.cu", {}, &cache);
    const std::optional<CompiledCuda> found = nvrtc().find_compiled(kText, {}, cache);
    REQUIRE(found);
    CHECK(found->cubin == first.cubin);
    CHECK(found->usage.size() == first.usage.size());
    const CompiledCuda second = nvrtc().compile(kText, "shift.cu", {}, &cache);
    CHECK_FALSE(first.from_cache);
    CHECK(second.from_cache);
    CHECK(second.cubin == first.cubin);
    CHECK(second.log == first.log);
    REQUIRE(second.usage.size() == 1);
    CHECK(second.usage[0].registers == first.usage[0].registers);

    NvrtcOptions other;
    other.extra = {"-maxrregcount=32"};
    CHECK_FALSE(nvrtc().compile(kText, "shift.cu", other, &cache).from_cache);
    other.extra.clear();
    other.arch = "sm_80";
    CHECK_FALSE(nvrtc().compile(kText, "shift.cu", other, &cache).from_cache);
    CHECK_FALSE(nvrtc().compile(kText + "\n", "shift.cu", {}, &cache).from_cache);

    // An entry that is whole but says nonsense is compiled anew.
    for (const auto& entry : std::filesystem::directory_iterator(cache.folder())) {
        const std::string key = entry.path().stem().string();
        REQUIRE(cache.put(key, "no entry of this kind"));
    }
    const CompiledCuda again = nvrtc().compile(kText, "shift.cu", {}, &cache);
    CHECK_FALSE(again.from_cache);
    CHECK(again.cubin == first.cubin);
}

TEST_CASE("threads compile at once") {
    std::vector<std::size_t> sizes(2);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < sizes.size(); ++i)
        threads.emplace_back(
            [i, &sizes] { sizes[i] = Nvrtc::find()->compile(kText, "shift.cu", {}).cubin.size(); });
    for (std::thread& thread : threads)
        thread.join();
    CHECK(sizes[0] > 0);
    CHECK(sizes[0] == sizes[1]);
}
