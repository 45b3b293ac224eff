#include "runtime/cpu/jit.h"

#include <cmath>
#include <string>
#include <vector>

#include "catch.h"
#include "contains.h"
#include "runtime/core/error.h"
#include "temporary_folder.h"

using namespace halo::rt;

TEST_CASE("jit: text becomes a function") {
    JitOptions options;
    options.use_cache = false;
    const CompiledObject object = compile_object(R"(
        extern "C" void saxpy(void* const* args, long begin, long end) {
            const float* x = *(const float**)args[0];
            float* y = *(float**)args[1];
            const float a = *(const float*)args[2];
            for (long i = begin; i < end; ++i) y[i] = a * x[i] + y[i];
        }
        extern "C" double e(double x) { return __builtin_exp(x) + __builtin_sqrt(x); })",
                                                 options);
    CHECK(object.seconds > 0);
    const JitModule module(object);
    float x[3] = {1, 2, 3}, y[3] = {10, 20, 30}, a = 2;
    float *px = x, *py = y;
    void* arguments[] = {&px, &py, &a};
    auto* saxpy = module.function<void(void* const*, long, long)>("saxpy");
    REQUIRE(saxpy != nullptr);
    saxpy(arguments, 1, 3);
    CHECK(y[0] == 10);
    CHECK(y[2] == 36);
    CHECK(module.find("saxpby") == nullptr);
    auto* e = module.function<double(double)>("e");
    CHECK(e(0.3) == std::exp(0.3) + std::sqrt(0.3));
}

namespace {

JitOptions uncached() {
    JitOptions options;
    options.use_cache = false;
    return options;
}

}  // namespace

TEST_CASE("jit: vectorised loops keep glibc's scalar results, and nothing is contracted") {
    const CompiledObject object = compile_object(R"(
        extern "C" void f(const double* x, double* y, long n) {
            for (long i = 0; i < n; ++i) y[i] = __builtin_exp(x[i]) * x[i] + __builtin_sqrt(x[i]);
        })",
                                                 uncached());
    const JitModule module(object);
    std::vector<double> x, y(1000);
    for (int i = 0; i < 1000; ++i)
        x.push_back(0.013 * i);
    module.function<void(const double*, double*, long)>("f")(x.data(), y.data(), 1000);
    for (int i = 0; i < 1000; ++i) {
        volatile double product = std::exp(x[i]) * x[i];
        CHECK(y[i] == product + std::sqrt(x[i]));
    }
}

TEST_CASE("jit: libmvec is used when asked for, within its error") {
    JitOptions options = uncached();
    options.vector_math = true;
    const JitModule module(compile_object(R"(
        extern "C" void f(const double* x, double* y, long n) {
            for (long i = 0; i < n; ++i) y[i] = __builtin_sin(x[i]);
        })",
                                          options));
    std::vector<double> x, y(1000);
    for (int i = 0; i < 1000; ++i)
        x.push_back(0.013 * i);
    module.function<void(const double*, double*, long)>("f")(x.data(), y.data(), 1000);
    for (int i = 0; i < 1000; ++i)
        CHECK(std::fabs(y[i] - std::sin(x[i])) <= 4 * 1.2e-16);
}

TEST_CASE("jit: refused text is shown around the first complaint") {
    try {
        compile_object("int a;\nint b;\nint c = nothing;\nint d;\n", uncached());
        CHECK(false);
    } catch (const Error& error) {
        CHECK(error.code() == ErrorCode::compile_failed);
        CHECK(contains(error.what(), "kernel.cpp:3: use of undeclared identifier 'nothing'"));
        CHECK(contains(error.what(), "> 3 | int c = nothing;"));
        CHECK(contains(error.what(), "  4 | int d;"));
    }
    CHECK_THROWS_AS(compile_object("#include <cmath>\n", uncached()), Error);
}

TEST_CASE("jit: unknown names are an error; given ones are used") {
    const CompiledObject object = compile_object(
        "extern \"C\" int given(int); extern \"C\" int f(int x) { return given(x); }", uncached());
    try {
        const JitModule module(object);
        CHECK(false);
    } catch (const Error& error) {
        CHECK(contains(error.what(), "given"));
    }
    JitOptions options;
    int (*given)(int) = [](int x) { return x + 1; };
    options.symbols["given"] = reinterpret_cast<void*>(given);
    CHECK(JitModule(object, options).function<int(int)>("f")(2) == 3);
    options.symbols.clear();
    options.resolve = [&](const std::string& name) {
        return name == "given" ? reinterpret_cast<void*>(given) : nullptr;
    };
    CHECK(JitModule(object, options).function<int(int)>("f")(3) == 4);
}

TEST_CASE("jit: a prelude leaves line numbers alone, and code addresses lead back to lines") {
    static void* seen = nullptr;
    JitOptions options = uncached();
    options.line_table = true;
    options.prelude = "extern \"C\" void note();\n\n#define NOTE note()\n";
    void (*note)() = [] { seen = __builtin_return_address(0); };
    options.symbols["note"] = reinterpret_cast<void*>(note);
    const CompiledObject object = compile_object(
        "extern \"C\" void f() {}\nextern \"C\" void g() {\n\n    f();\n    NOTE;\n}\n", options);
    const JitModule module(object, options);
    module.function<void()>("g")();
    CHECK(module.line(seen) == 5);
    CHECK(module.line(&options) == std::nullopt);
}

TEST_CASE("jit: variables are listed, those of functions, too") {
    const JitModule module(compile_object(
        "float w[5] = {1}; extern \"C\" int f() { static volatile int calls[2]; return ++calls[0]; }",
        uncached()));
    bool w = false, calls = false;
    for (const JitModule::Variable& variable : module.variables()) {
        if (variable.name == "w") w = variable.bytes == 20 && *static_cast<float*>(variable.address) == 1;
        if (contains(variable.name, "calls")) calls = variable.bytes == 8;
    }
    CHECK(w);
    CHECK(calls);
}

TEST_CASE("jit: what was compiled once comes from the cache, by text and options") {
    TemporaryFolder folder;
    ::setenv("HALOCLINE_CACHE", folder.path().c_str(), 1);
    const std::string text = "extern \"C\" int f() { return 42; }";
    CHECK_FALSE(compile_object(text).from_cache);
    const CompiledObject again = compile_object(text);
    CHECK(again.from_cache);
    CHECK(JitModule(again).function<int()>("f")() == 42);
    JitOptions other;
    other.optimization = 1;
    CHECK_FALSE(compile_object(text, other).from_cache);
    CHECK_FALSE(compile_object(text + " ").from_cache);
    ::unsetenv("HALOCLINE_CACHE");
}
