#include "compiler/driver/planning/edited_cuda.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <sstream>

#include "compiler/driver/console/exit_code.h"
#include "compiler/driver/console/files.h"
#include "compiler/kernel/part.h"
#include "compiler/kernel/print.h"

namespace halo::driver {

namespace {

constexpr std::size_t kMaxBytes = std::size_t{16} << 20;
// These marks enclose a sentence for the user within the compiler's message; NVRTC has no backticks.
constexpr const char* kBefore = "[haloc: ";
constexpr const char* kAfter = " :haloc]";

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);)
        lines.push_back(line);
    return lines;
}

std::string trimmed_line(const std::string& line) {
    const std::size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string::npos) return "";
    return line.substr(begin, line.find_last_not_of(" \t\r") - begin + 1);
}

// The directive of a preprocessor's line: "ifndef"; empty where it is another line.
std::string directive(const std::string& line) {
    const std::string text = trimmed_line(line);
    if (!text.starts_with('#')) return "";
    const std::size_t begin = std::min(text.find_first_not_of(" \t", 1), text.size());
    std::size_t end = begin;
    while (end < text.size() && std::isalpha(static_cast<unsigned char>(text[end])) != 0)
        ++end;
    return text.substr(begin, end - begin);
}

// Blanks what stands between `#ifndef __CUDACC_RTC__` and its #endif: the includes and the launcher.
std::string device_part(const std::vector<std::string>& lines) {
    std::string text;
    int depth = 0;  // of the host's part, with those within it
    for (const std::string& line : lines) {
        const std::string word = directive(line);
        const bool begins_host = word == "ifndef" && line.find("__CUDACC_RTC__") != std::string::npos;
        const bool is_host = depth > 0 || begins_host;
        if (begins_host || (depth > 0 && word.starts_with("if"))) ++depth;
        if (depth > 0 && word == "endif") --depth;
        text += is_host ? "\n" : line + '\n';
    }
    return text;
}

// The text with comments and string literals blanked out.
std::string without_comments(const std::string& text) {
    std::string plain = text;
    const auto blank = [&](std::size_t from, std::size_t to) {
        for (std::size_t i = from; i < std::min(to, plain.size()); ++i)
            if (plain[i] != '\n') plain[i] = ' ';
    };
    for (std::size_t i = 0; i < text.size(); ++i) {
        std::size_t end = i;
        if (text.compare(i, 2, "//") == 0) {
            end = std::min(text.find('\n', i), text.size());
        } else if (text.compare(i, 2, "/*") == 0) {
            end = std::min(text.find("*/", i + 2), text.size() - 2) + 2;
        } else if (text[i] == '"') {
            end = i + 1;
            while (end < text.size() && text[end] != '"' && text[end] != '\n')
                end += text[end] == '\\' ? 2 : 1;
            ++end;
        }
        if (end == i) continue;
        blank(i, end);
        i = end - 1;
    }
    return plain;
}

bool is_name_character(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

std::vector<std::string> names_of_text(const std::string& plain) {
    std::vector<std::string> words;
    for (std::size_t i = 0; i < plain.size();) {
        std::size_t end = i;
        while (end < plain.size() && is_name_character(plain[end]))
            ++end;
        if (end > i) words.push_back(plain.substr(i, end - i));
        i = end + 1;
    }
    return words;
}

// Finds the kernels' names: what follows each __global__ and is no word of CUDA.
std::vector<std::string> kernels_of(const std::vector<std::string>& words) {
    std::vector<std::string> kernels;
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (words[i] != "__global__") continue;
        const auto name = std::find_if(words.begin() + static_cast<std::ptrdiff_t>(i) + 1, words.end(),
                                       [](const std::string& word) {
                                           return !word.starts_with("__") && word != "void" &&
                                                  std::isdigit(static_cast<unsigned char>(word[0])) == 0;
                                       });
        if (name != words.end()) kernels.push_back("`" + *name + "`");
    }
    return kernels;
}

void require_names(const Code& code, const EditedCuda& edited) {
    const std::vector<std::string> words = names_of_text(without_comments(edited.text));
    const auto has = [&](const std::string& name) { return std::ranges::find(words, name) != words.end(); };
    const char* const mend =
        "give it its name back, or emit the kernels anew with `haloc emit` and take the edits over";
    for (const kernel::KernelFunction& function : code.lowered.kernels.functions) {
        if (function.kind != kernel::KernelFunction::Kind::kernel || has(function.name)) continue;
        const std::vector<std::string> there = kernels_of(words);
        throw CommandError(ExitCode::spec,
                           fmt::format("{} has no kernel `{}`, which a step of `{}` launches; it has {}",
                                       edited.file, function.name, code.lowered.plan.name,
                                       there.empty() ? "none" : fmt::format("{}", fmt::join(there, ", "))),
                           mend);
    }
    for (const kernel::ConstantArray& array : code.lowered.kernels.constant_arrays) {
        if (!has(array.name))
            throw CommandError(
                ExitCode::spec,
                fmt::format("{} has no array `{}` in constant memory, which is set for each run", edited.file,
                            array.name),
                mend);
    }
}

// Static assertions on what each kernel takes. Pointers of all types are alike: they are launched with
// addresses.
std::string parameter_checks(const kernel::Program& kernels) {
    std::string text = R"(
#line 1 "the parameters of the kernels"
namespace haloc_checks {
template <class T> struct Value { using type = T; };
template <class T> struct Value<T*> { using type = void*; };
template <class Kernel> struct Launch;
template <class... Parameters> struct Launch<void(Parameters...)> {
    using type = void(typename Value<Parameters>::type...);
};
template <class A, class B> struct Same { static constexpr bool value = false; };
template <class A> struct Same<A, A> { static constexpr bool value = true; };
}
)";
    for (const kernel::KernelFunction& function : kernels.functions) {
        if (function.kind != kernel::KernelFunction::Kind::kernel) continue;
        std::string plain, shown;
        for (const kernel::Parameter& parameter : function.parameters) {
            const bool is_pointer = parameter.kind != kernel::Parameter::Kind::scalar;
            const std::string word = kernel::c_type_name(parameter.type);
            plain += (plain.empty() ? "" : ", ") + (is_pointer ? "void*" : word);
            shown += fmt::format(
                "{}{} {}", shown.empty() ? "" : ", ",
                is_pointer ? (parameter.kind == kernel::Parameter::Kind::input ? "const " : "") + word + "*"
                           : word,
                parameter.name);
        }
        text += fmt::format(
            "static_assert(haloc_checks::Same<haloc_checks::Launch<decltype({0})>::type, void({1})>::value, "
            "\"{2}kernel {0} is launched with ({3}), and takes something else{4}\");\n",
            function.name, plain, kBefore, shown, kAfter);
    }
    return text;
}

}  // namespace

EditedCuda parse_edited_cuda(const std::string& file, const std::string& text) {
    EditedCuda edited;
    edited.file = file;
    const std::vector<std::string> lines = lines_of(text);
    edited.text = device_part(lines);
    for (const std::string& line : lines) {
        std::string option = trimmed_line(line);
        if (!option.starts_with("//")) continue;
        option = trimmed_line(option.substr(2));
        const std::string schedule = "--schedule '";
        if (option.starts_with(schedule) && option.size() > schedule.size() && option.ends_with('\''))
            edited.schedules.push_back(option.substr(schedule.size(), option.size() - schedule.size() - 1));
        if (option == "--strict-fp") edited.strict_fp = true;
        if (option.starts_with("--fixed-grid")) edited.fixed_grid = true;
        if (option == "--style kernel-only") edited.has_launcher = false;
    }
    return edited;
}

EditedCuda read_edited_cuda(const std::string& path) {
    return parse_edited_cuda(display_name(path), read_text(path, kMaxBytes));
}

void take_edited(EditedCuda edited, const ir::Program& program, const std::optional<schedule::Extent>& grid,
                 CodeOptions& options) {
    if (edited.fixed_grid)
        throw CommandError(
            ExitCode::usage,
            fmt::format("{} was emitted by --fixed-grid, which --cuda does not take: its kernels are "
                        "for one grid, and are checked on another",
                        edited.file),
            "edit what `haloc emit` writes without --fixed-grid");
    options.tuned = nullptr;
    options.strict_fp = options.strict_fp || edited.strict_fp;
    if (edited.has_launcher) options.watched.clear();
    if (options.schedules.empty()) {
        options.schedules = edited.schedules;
        options.whole_schedules = true;
    }
    if (options.schedules.empty()) {
        CodeOptions of_emit = options;
        of_emit.whole_schedules = false;
        of_emit.target = schedule::Target();
        of_emit.extent = grid;
        of_emit.steps.reset();
        of_emit.single_steps = true;
        of_emit.shares_launches = false;
        const ir::Program optimized = optimize_for_gpu(program, of_emit);
        options.schedules = schedule::texts_of(choose_plan(optimized, of_emit).plan(), optimized.rank());
    }
    options.file_schedule.clear();
    const schedule::GroupingKind* const kind =
        schedule::find_grouping(pinned_grouping(options, program.rank()));
    if (kind != nullptr && kind->needs_whole_grid)
        throw CommandError(ExitCode::usage,
                           fmt::format("{} was emitted by a `{}` schedule, which --cuda does not take: "
                                       "its kernels fit some grids alone, and wait for each other",
                                       edited.file, kind->name),
                           "emit it by another schedule, such as `temporal`");
    options.edited = std::make_shared<const EditedCuda>(std::move(edited));
}

void use_edited(Code& code, const EditedCuda& edited) {
    require_names(code, edited);
    code.text = edited.text + parameter_checks(code.lowered.kernels);
    code.edited = edited.file;
}

std::string trouble_of_edited(const std::string& message) {
    const std::size_t begin = message.find(kBefore);
    const std::size_t end = begin == std::string::npos ? begin : message.find(kAfter, begin);
    if (end == std::string::npos) return message;
    const std::size_t from = begin + std::string(kBefore).size();
    return message.substr(from, end - from);
}

}  // namespace halo::driver
