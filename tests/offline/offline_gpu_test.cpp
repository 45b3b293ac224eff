// Compiled with nvcc, linked to a small C program and run on a GPU, the offline files compute what the
// interpreter does, bit for bit.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "catch.h"
#include "compare_engines.h"
#include "compiler/emit/launcher_model.h"
#include "offline_files.h"
#include "skip.h"
#include "temporary_folder.h"

using namespace halo;
using namespace halo::test;

namespace {

bool gpu_present() {
    return run_command("nvidia-smi -L").code == 0;
}

const SkipUnless kToolkit(*HALO_NVCC != 0, "nvcc was not found; install the CUDA toolkit");
const SkipUnless kGpu(gpu_present(), "there is no NVIDIA GPU (nvidia-smi -L)");

constexpr int kSteps = 5;

std::string number(double value) {
    char text[64];
    std::snprintf(text, sizeof(text), "%.17g", value);
    return text;
}

const emit::LevelName& level_of(const emit::LauncherModel& model, const Reference::Level& level) {
    std::size_t field = 0;
    while (model.plan.fields[field].name != level.field)
        ++field;
    return model.fields[field].level(level.time);
}

bool is_f32(const ir::Program& program, const std::string& name) {
    for (const ir::Field& field : program.fields) {
        if (field.name == name) return field.type == ir::Scalar::f32;
    }
    return false;
}

// A user's program: start values from start.bin, results to end.bin, all as the fields' types.
std::string c_program(const Offline& offline, const Reference& reference) {
    const rt::LaunchPlan& plan = offline.lowered.plan;
    const emit::LauncherModel model(offline.lowered.kernels, plan, plan.name);
    const std::string check = "    if (";
    const std::string failed = ") { puts(" + model.message + "()); return 1; }\n";
    std::int64_t cells = 1;
    std::string extents;
    for (int axis = 0; axis < plan.rank; ++axis) {
        cells *= reference.extent[axis];
        extents += std::to_string(reference.extent[axis]) + ", ";
    }
    std::string text = "#include <stdio.h>\n#include \"" + plan.name + ".h\"\n";
    text += "static double values[" + std::to_string(cells) + "];\nint main(void) {\n";
    text += "    " + model.solver + "* solver = NULL;\n    double value = 0;\n";
    text += "    FILE* in = fopen(\"start.bin\", \"rb\");\n    FILE* out = fopen(\"end.bin\", \"wb\");\n";
    text += check + model.create + "(" + extents + "&solver)" + failed;
    for (std::size_t n = 0; n < plan.params.size(); ++n) {
        const double value = plan.params[n].default_value.value_or(0.25 + 0.125 * static_cast<double>(n));
        text += check + model.set_param[n] + "(solver, " + number(value) + ")" + failed;
    }
    for (const Reference::Level& level : reference.levels()) {
        const bool f32 = is_f32(offline.program, level.field);
        text += "    if (fread(values, " + std::string(f32 ? "4, " : "8, ") + std::to_string(cells) +
                ", in) == 0) return 2;\n";
        text += check + level_of(model, level).set + "(solver, (" + (f32 ? "float" : "double") + "*)values)" +
                failed;
    }
    text += check + model.advance + "(solver, " + std::to_string(kSteps - 2) + ")" + failed;
    text += check + model.advance + "(solver, 2)" + failed;
    for (const Reference::Level& level : reference.levels()) {
        const bool f32 = is_f32(offline.program, level.field);
        text += check + level_of(model, level).get + "(solver, (" + (f32 ? "float" : "double") + "*)values)" +
                failed;
        text +=
            "    fwrite(values, " + std::string(f32 ? "4, " : "8, ") + std::to_string(cells) + ", out);\n";
    }
    for (const std::string& get : model.get_reduction) {
        text += check + get + "(solver, &value)" + failed + "    fwrite(&value, 8, 1, out);\n";
    }
    text += check + model.wait + "(solver)" + failed;
    return text + "    " + model.destroy + "(solver);\n    return fclose(out);\n}\n";
}

void append(std::string& bytes, const std::vector<double>& values, bool f32) {
    for (const double value : values) {
        const float narrow = static_cast<float>(value);
        bytes.append(f32 ? reinterpret_cast<const char*>(&narrow) : reinterpret_cast<const char*>(&value),
                     f32 ? 4 : 8);
    }
}

std::string read_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

TEST_CASE("offline files compute what the interpreter does", "[offline][gpu]") {
    for (const OfflineCase& offline_case : offline_cases()) {
        const Offline offline = make_offline(offline_case);
        const std::string& name = offline.program.name;
        INFO(name << " " << offline_case.schedule);
        const Reference reference(offline.program, offline_case.extent, kSteps, 7);
        std::string start, end;
        for (const Reference::Level& level : reference.levels()) {
            append(start, level.start, is_f32(offline.program, level.field));
            append(end, level.end, is_f32(offline.program, level.field));
        }
        const TemporaryFolder folder;
        write_file(folder / (name + ".cu"), offline.files.source);
        write_file(folder / (name + ".h"), offline.files.header);
        write_file(folder / "main.c", c_program(offline, reference));
        write_file(folder / "start.bin", start);
        const CommandResult run =
            run_command("cd '" + folder.path().string() +
                        "' && " HALO_NVCC " -std=c++17 -arch=sm_90 -fmad=false -o program main.c " + name +
                        ".cu && ./program");
        INFO(run.output);
        REQUIRE(run.code == 0);
        const std::string result = read_file(folder / "end.bin");
        const auto& reductions = offline.lowered.plan.reductions;
        REQUIRE(result.size() == end.size() + 8 * reductions.size());
        CHECK(std::memcmp(result.data(), end.data(), end.size()) == 0);
        for (std::size_t n = 0; n < reductions.size(); ++n) {
            double value = 0;
            std::memcpy(&value, result.data() + end.size() + 8 * n, 8);
            INFO(reductions[n].name);
            CHECK(value == Approx(reference.reduction(reductions[n].name)).epsilon(1e-12));
        }
    }
}
