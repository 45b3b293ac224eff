#include "compiler/emit/launcher_writer.h"

#include <fmt/format.h>

namespace halo::emit {

namespace {

constexpr std::size_t kWidth = 104;  // of a line, within one level of indentation

}  // namespace

LauncherWriter::LauncherWriter(const LauncherModel& model, Writer& out)
    : model_(model),
      plan_(model.plan),
      names_{[this](int index) { return "solver." + model_.param_member(index); },
             [this](int axis) { return "solver." + model_.extents[static_cast<std::size_t>(axis)]; }},
      out_(out) {}

std::string LauncherWriter::number(double value) {
    rt::HostScalar scalar;
    scalar.steps.push_back({rt::HostScalar::Op::constant, value, 0});
    return print_host_scalar(scalar, {});
}

std::string LauncherWriter::block_product(const std::string& blocks) {
    return fmt::format("1LL * {0}.x * {0}.y * {0}.z", blocks);
}

void LauncherWriter::comment(const std::string& text) {
    out_.blank_line();
    out_.line("// {}", text);
}

void LauncherWriter::return_unless_ok(const std::string& call, const std::string& before) {
    out_.line("{}if (const {} status = {}) return status;", before, model_.status, call);
}

void LauncherWriter::fill(const std::string& open, const std::vector<std::string>& items,
                          const std::string& close) {
    std::string line = open;
    const std::string margin(std::min<std::size_t>(open.size(), 40), ' ');
    for (std::size_t index = 0; index < items.size(); ++index) {
        const bool last = index + 1 == items.size();
        const std::string piece = items[index] + (last ? close : ",");
        const bool first_of_line = line == open || line == margin;
        if (!first_of_line && line.size() + 1 + piece.size() > kWidth) {
            out_.line("{}", line);
            line = margin;
        }
        line += (line == open || line == margin ? "" : " ") + piece;
    }
    if (items.empty()) line += close;
    out_.line("{}", line);
}

}  // namespace halo::emit
