#include "compiler/driver/planning/emission.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "compiler/driver/planning/offline_target.h"
#include "compiler/emit/launch_rule.h"
#include "compiler/emit/launcher.h"
#include "compiler/ir/print.h"
#include "compiler/kernel/print.h"
#include "compiler/support/error.h"
#include "runtime/core/plan_json.h"
#include "runtime/nvrtc/nvrtc.h"

namespace halo::driver {

// Kernels that go to a .cu file get their host side with them.
bool is_cuda_file(const Emission& options) {
    return options.target == EmitTarget::cuda && std::filesystem::path(options.output).extension() == ".cu";
}

bool has_launcher(const Emission& options) {
    return is_cuda_file(options) && options.style == EmitStyle::launcher;
}

namespace {

std::string file_beside(const Emission& options, const std::string& ending) {
    return std::filesystem::path(options.output).replace_extension(ending).string();
}

std::vector<std::string> archs_of(const Emission& options) {
    return options.archs.empty() ? std::vector<std::string>{"sm_90"} : options.archs;
}

std::string stem_of(const Emission& options) {
    return std::filesystem::path(options.output).stem().string();
}

// Names of targets are letters, digits and a few marks (CMake's policy CMP0037).
std::string target_name(const std::string& stem) {
    std::string name = stem;
    for (char& c : name) {
        const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                              c == '_' || c == '-' || c == '+' || c == '.';
        if (!is_plain) c = '_';
    }
    return name;
}

// Escapes the name for CMake's quotes.
std::string quoted_for_cmake(const std::string& name) {
    std::string text;
    for (const char c : name) {
        if (c == '\\' || c == '"' || c == '$') text += '\\';
        text += c;
    }
    return text;
}

// The name of the source in CMake. Lists of sources are split at semicolons, and what looks like a variable
// is expanded even within quotes, so a source of such a name is compiled as a copy.
std::string cmake_source(const std::string& stem, const std::string& target) {
    const std::string source = "${CMAKE_CURRENT_LIST_DIR}/" + quoted_for_cmake(stem) + ".cu";
    if (stem == target) return fmt::format("add_library({} STATIC \"{}\")\n", target, source);
    return fmt::format(
        "configure_file(\"{1}\" \"${{CMAKE_CURRENT_BINARY_DIR}}/{0}.cu\" COPYONLY)\n"
        "add_library({0} STATIC \"${{CMAKE_CURRENT_BINARY_DIR}}/{0}.cu\")\n",
        target, source);
}

std::string cmake_file(const Emission& options) {
    const std::string target = target_name(stem_of(options));
    std::string archs;
    for (const std::string& arch : archs_of(options))
        archs +=
            fmt::format("{}{}-real", archs.empty() ? "" : ";", arch.substr(arch.find('_') + 1));  // sm_90
    return fmt::format(
        "# Makes the library {0}. Include it, then: target_link_libraries(app PRIVATE {0})\n"
        "# Made by Halocline.\n"
        "enable_language(CUDA)\n"
        "{1}"
        "target_include_directories({0} PUBLIC \"${{CMAKE_CURRENT_LIST_DIR}}\")\n"
        "target_compile_features({0} PRIVATE cuda_std_17)\n"
        "target_compile_options({0} PRIVATE -fmad=false{2})\n"
        "set_target_properties({0} PROPERTIES CUDA_ARCHITECTURES \"{3}\" POSITION_INDEPENDENT_CODE ON)\n",
        target, cmake_source(stem_of(options), target), options.line_info ? " -lineinfo" : "", archs);
}

// Adds #line directives, by which messages and profilers name the lines of the emitted file.
std::string with_lines(const std::string& kernels, const std::string& source, const std::string& file) {
    const std::size_t at = source.find(kernels);
    const auto line = 1 + std::count(source.begin(), source.begin() + static_cast<std::ptrdiff_t>(at), '\n');
    return fmt::format("#line {} \"{}\"\n{}", line, file, kernels);
}

void add_compiled(const Emission& options, const std::string& kernels, std::vector<TextFile>& files) {
    const auto asks_for = [&](EmitBeside what) {
        return std::ranges::find(options.with, what) != options.with.end();
    };
    if (!asks_for(EmitBeside::cubin) && !asks_for(EmitBeside::ptx)) return;
    rt::Nvrtc* const nvrtc = rt::Nvrtc::find();
    if (nvrtc == nullptr) throw rt::Error(rt::ErrorCode::no_device, rt::Nvrtc::why_missing());
    const std::string name = stem_of(options) + ".cu";
    const std::string text = options.line_info ? with_lines(kernels, files.front().text, name) : kernels;
    const std::vector<std::string> archs = archs_of(options);
    for (const std::string& arch : archs) {
        rt::NvrtcOptions compile;
        compile.arch = arch;
        if (options.line_info) compile.extra.emplace_back("-lineinfo");
        const std::string of_arch = archs.size() > 1 ? "." + arch : "";
        if (asks_for(EmitBeside::cubin))
            files.push_back(
                {file_beside(options, of_arch + ".cubin"), nvrtc->compile(text, name, compile).cubin});
        if (asks_for(EmitBeside::ptx))
            files.push_back(
                {file_beside(options, of_arch + ".ptx"), nvrtc->compile_to_ptx(text, name, compile)});
    }
}

// Makes the file that was asked for, which comes first, and those beside it.
std::vector<TextFile> cuda_files(const Code& code, const Emission& options,
                                 const std::vector<std::string>& made_with) {
    const rt::LaunchPlan& plan = code.lowered.plan;
    std::vector<TextFile> files;
    if (is_cuda_file(options) && !emit::can_have_launcher(plan))
        throw UnsupportedError(
            fmt::format("a .cu file that can be launched by itself is not built yet where {}; "
                        "without -o the kernels are printed, and host programs run them through the library",
                        emit::why_no_launcher(plan)));
    if (has_launcher(options)) {
        emit::OfflineFiles made =
            emit::print_offline(code.lowered.kernels, plan, stem_of(options), made_with);
        files = {{options.output, std::move(made.source)},
                 {file_beside(options, ".h"), std::move(made.header)}};
    } else {
        const std::string rule = is_cuda_file(options)
                                     ? '\n' + emit::print_launch_rule(code.lowered.kernels, plan) + "//\n" +
                                           emit::print_made_with(made_with)
                                     : "";
        files = {{options.output, code.text + rule}};
    }
    add_compiled(options, code.text, files);
    for (const EmitBeside what : options.with) {
        if (what == EmitBeside::plan)
            files.push_back({file_beside(options, ".json"), rt::plan_to_json(plan) + '\n'});
        if (what == EmitBeside::cmake) files.push_back({file_beside(options, ".cmake"), cmake_file(options)});
    }
    return files;
}

}  // namespace

schedule::Target target_of_archs(const Emission& options) {
    std::vector<schedule::Target> targets;
    for (const std::string& arch : archs_of(options))
        targets.push_back(offline_target(arch));
    return *std::ranges::min_element(targets, {}, &schedule::Target::max_shared_bytes);
}

std::vector<TextFile> emitted_files(const ir::Program& checked, const Emission& options,
                                    const CodeOptions& code_options, const CudaDetails& details) {
    const bool is_of_gpu = options.target != EmitTarget::stencil && options.target != EmitTarget::cpu;
    ir::Program program =
        is_of_gpu ? optimize_for_gpu(checked, code_options) : optimize(checked, code_options);
    const auto alone = [&](std::string text) {
        return std::vector<TextFile>{{options.output, std::move(text)}};
    };
    if (options.target == EmitTarget::stencil) return alone(ir::print(program));
    if (options.target == EmitTarget::cpu) return alone(cpu_code(program).text);
    CodeOptions of_plan = code_options;
    of_plan.shares_launches = details.fixed_grid.has_value();
    const schedule::Plan plan = choose_plan(program, of_plan).plan();
    const Code code = cuda_code(program, plan, details);
    if (has_launcher(options) && code.lowered.plan.stretched.size() != checked.stretched.size())
        throw CommandError(ExitCode::usage,
                           "a launcher is not built yet where a spacing is made of a `param coef`",
                           "params can stand in place of the weights; --style kernel-only has no launcher");
    if (options.target == EmitTarget::plan) return alone(rt::plan_to_json(code.lowered.plan) + '\n');
    if (options.target == EmitTarget::kernel) return alone(kernel::Printer().print(code.lowered.kernels));
    std::vector<std::string> made_with;
    for (const std::string& text : schedule::texts_of(plan, program.rank()))
        made_with.push_back("--schedule '" + text + "'");
    if (options.strict_fp) made_with.emplace_back("--strict-fp");
    if (options.fixed_grid) {
        const schedule::Extent& extent = *details.fixed_grid;
        made_with.push_back(fmt::format("--fixed-grid --grid {}",
                                        fmt::join(extent.begin(), extent.begin() + program.rank(), ",")));
    }
    if (options.style == EmitStyle::kernels_only) made_with.emplace_back("--style kernel-only");
    return cuda_files(code, options, made_with);
}

}  // namespace halo::driver
