#include "compiler/api/linked_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

namespace halocline::detail {

namespace {

std::string print_header(const std::string& stem, const std::string& program, const std::string& spec) {
    return fmt::format(
        R"(// {0}.h: the stencil {1}, linked into your program with its code. Made by Halocline from {2}.
#ifndef HALOCLINE_LINKED_{0}_H
#define HALOCLINE_LINKED_{0}_H

#include "halocline/runtime.h"

#ifdef __cplusplus
#include "halocline/runtime.hpp"

// The same program each time. From any thread.
const halocline::Program& {0}_program();

extern "C" {{
#endif

// The same for C; to be given back with halo_program_release().
halo_code {0}_open(halo_program** program);

#ifdef __cplusplus
}}
#endif

#endif  // HALOCLINE_LINKED_{0}_H
)",
        stem, program, spec);
}

std::string print_bytes(const std::string& bytes) {
    constexpr std::size_t kPerLine = 24;
    std::string text;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        text += i % kPerLine == 0 ? "\n    " : " ";
        text += fmt::format("{},", static_cast<unsigned char>(bytes[i]));
    }
    return text;
}

// Kernels of two stencils may have one name, so that of the file goes before it.
std::string print_names(const std::vector<halo::rt::KernelPlan>& kernels, const std::string& stem,
                        const char* format) {
    std::vector<std::string> done;
    std::string text;
    for (const halo::rt::KernelPlan& kernel : kernels) {
        if (std::find(done.begin(), done.end(), kernel.name) != done.end()) continue;
        done.push_back(kernel.name);
        text += fmt::format(fmt::runtime(format), kernel.name, stem);
    }
    return text;
}

std::string print_source(const std::string& stem, const std::string& spec, const HostVariant& host,
                         const std::string& bundle) {
    const auto& kernels = host.variant.plan.kernels;
    return fmt::format(
        R"(// {0}.cpp: made by Halocline from {1}. To be compiled with -ffp-contract=off, as halo_add_stencil() does.
#include "{0}.h"

#include <string_view>

{2}
{3}
namespace {{

const halocline::LinkedKernel kKernels[] = {{
{4}    {{nullptr, nullptr}},
}};

// Launch plans, and code for GPUs.
const unsigned char kBundle[] = {{{5}
}};

}}  // namespace

const halocline::Program& {0}_program() {{
    static const halocline::Program program = halocline::Program::from_memory(
        std::string_view(reinterpret_cast<const char*>(kBundle), sizeof kBundle), kKernels, "{0}");
    return program;
}}

extern "C" halo_code {0}_open(halo_program** program) {{
    return halo_program_from_memory(kBundle, sizeof kBundle, kKernels, "{0}", program);
}}
)",
        stem, spec, print_names(kernels, stem, "#define {0} {1}_{0}\n"), host.text,
        print_names(kernels, stem, "    {{\"{0}\", {0}}},\n"), print_bytes(bundle));
}

}  // namespace

bool is_identifier(const std::string& word) {
    const auto is_of_word = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
    return !word.empty() && std::isdigit(static_cast<unsigned char>(word.front())) == 0 &&
           std::all_of(word.begin(), word.end(), is_of_word);
}

LinkedFiles print_linked(const CheckedProgram& checked, const std::string& stem, const std::string& spec,
                         std::vector<Variant> more) {
    HostVariant host = host_variant(checked);
    more.insert(more.begin(), host.variant);
    const std::string bundle = bundle_text(checked.program.name, more);
    return {print_header(stem, checked.program.name, spec), print_source(stem, spec, host, bundle)};
}

}  // namespace halocline::detail
