#include "compiler/emit/launcher_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace halo::emit {

namespace {

constexpr std::size_t kWidth = 104;  // of a line, within one level of indentation

}  // namespace

LauncherWriter::LauncherWriter(const LauncherModel& model, Writer& out)
    : model_(model),
      plan_(model.plan),
      names_{[this](int index) { return "solver." + model_.param_member(index); },
             [this](int axis) { return "solver." + model_.extents[static_cast<std::size_t>(axis)]; },
             [] { return std::string("double(solver.steps)"); },
             [this](int index) { return "solver." + model_.latest_member(index); },
             [this](int index, const std::string& at) {
                 return fmt::format("series_value(solver.{}, {})", model_.values_member(index), at);
             }},
      out_(out) {}

std::string LauncherWriter::number(double value) {
    rt::HostScalar scalar;
    scalar.steps.push_back({rt::HostScalar::Op::constant, value, 0});
    return print_host_scalar(scalar, {});
}

void LauncherWriter::comment(const std::string& text) {
    out_.blank_line();
    out_.line("// {}", text);
}

void LauncherWriter::return_unless_ok(const std::string& call, const std::string& before) {
    const std::string line = fmt::format("if (const {} status = {}) return status;", model_.status, call);
    if (line.size() <= kWidth) {
        out_.line("{}{}", before, line);
        return;
    }
    out_.line("{}if (const {} status = {}) {{", before, model_.status, call);
    out_.line("{}    return status;", before);
    out_.line("{}}}", before);
}

void LauncherWriter::refuse(const std::string& scope, const std::string& condition,
                            const std::string& message, const std::vector<std::string>& values) {
    std::string more;
    for (const std::string& value : values)
        more += ", " + value;
    const std::string call = fmt::format("return {}fail({}, ", scope, model_.code("BAD_ARGUMENT"));
    const std::string line = fmt::format("if ({}) {}\"{}\"{});", condition, call, message, more);
    if (line.size() <= kWidth) {
        out_.line("{}", line);
        return;
    }
    out_.line("if ({}) {{", condition);
    {
        const auto body = out_.indent();
        std::vector<std::string> arguments{model_.code("BAD_ARGUMENT"), "\"" + message + "\""};
        arguments.insert(arguments.end(), values.begin(), values.end());
        fill(fmt::format("return {}fail(", scope), arguments, ");");
    }
    out_.line("}}");
}

std::string LauncherWriter::global_name(const std::string& name) {
    static const std::set<std::string> own{"last_message",
                                           "fail",
                                           "check",
                                           "round_up",
                                           "ceil_div",
                                           "copy_level",
                                           "copy_cells",
                                           "planes",
                                           "fill_halo",
                                           "fill_halos",
                                           "lay_out",
                                           "allocate",
                                           "source_cell",
                                           "f16_bits",
                                           "bf16_bits",
                                           "nearest",
                                           "copy_rows",
                                           "block_count",
                                           "copy_component",
                                           "Interleaved",
                                           "Points",
                                           "Series",
                                           "PointAxis",
                                           "PointLists",
                                           "AxisWeight",
                                           "TouchedCell",
                                           "weight_of",
                                           "weights_along",
                                           "touch",
                                           "list_cells",
                                           "send",
                                           "send_lists",
                                           "place",
                                           "place_points",
                                           "release",
                                           "injected_row",
                                           "sampled_row",
                                           "fetch",
                                           "read_rows",
                                           "set_positions",
                                           "set_numbers",
                                           "bessel_i0",
                                           "make_room",
                                           "launch_together",
                                           "make_resident",
                                           "clear_exchanges",
                                           "is_done",
                                           "iterations_ahead",
                                           "is_recorded",
                                           "series_value",
                                           "AxisPoints",
                                           "distance",
                                           "way",
                                           "position",
                                           "place_cells",
                                           "difference_weights",
                                           "weight_at",
                                           "store_axis",
                                           "read_axis"};
    const bool hidden = own.contains(name) || name.starts_with("launch_") || name.starts_with("blocks_of_") ||
                        name.starts_with("combine_") || name.starts_with("fill_axis_");
    return (hidden ? "::" : "") + name;
}

void LauncherWriter::write_rotation(const FieldNames& field) {
    const auto& levels = field.levels;
    for (std::size_t index = levels.size() - 1; index > 0; --index) {
        out_.line("std::swap(solver->{}, solver->{});", levels[index].member, levels[index - 1].member);
    }
}

void LauncherWriter::write_state_rotations() {
    for (int index = 0; index < count(plan_.fields); ++index) {
        if (plan_.fields[index].role == rt::Role::state && model_.has_array(index))
            write_rotation(model_.fields[index]);
    }
}

void LauncherWriter::write_exchanges(const rt::RepeatPlan& repeat) {
    for (const rt::RepeatPlan::Exchange& each : repeat.exchanges)
        out_.line("std::swap(solver->{}, solver->{});", model_.fields[each.field].level(each.time).member,
                  model_.fields[each.other].level(0).member);
}

std::vector<const rt::KernelPlan*> LauncherWriter::launched_kernels() const {
    std::vector<const rt::KernelPlan*> kernels;
    const auto is_exchange = [&](const rt::KernelPlan& kernel) {  // pointers are exchanged in its place
        return std::ranges::any_of(plan_.repeats, [&](const rt::RepeatPlan& repeat) {
            if (copies_exchanged(static_cast<int>(&repeat - plan_.repeats.data()))) return false;
            return std::ranges::any_of(repeat.exchanges, [&](const rt::RepeatPlan::Exchange& each) {
                return &plan_.kernels[static_cast<std::size_t>(each.kernel)] == &kernel;
            });
        });
    };
    for (const rt::KernelPlan& kernel : plan_.kernels) {
        if (is_exchange(kernel)) continue;
        // One that fills a halo may stand in a step more than once.
        const bool is_known = std::ranges::any_of(
            kernels, [&](const rt::KernelPlan* known) { return known->name == kernel.name; });
        if (!is_known) kernels.push_back(&kernel);
    }
    if (plan_.time_block) {
        const std::vector<const rt::KernelPlan*> of_block = plan_.time_block->kernels();
        kernels.insert(kernels.end(), of_block.begin(), of_block.end());
    }
    return kernels;
}

bool LauncherWriter::may_be_empty(const rt::KernelPlan& kernel) {
    if (rt::is_halo(kernel.domain)) return false;
    if (kernel.domain.kind != rt::Domain::Kind::grid) return true;
    return kernel.blocks == 0 && std::ranges::any_of(kernel.domain.ranges, [](const rt::Range& range) {
               return rt::may_be_empty(range);
           });
}

bool LauncherWriter::counts_blocks() const {
    return is_resident() || !plan_.reductions.empty() ||
           std::ranges::any_of(plan_.kernels,
                               [](const rt::KernelPlan& kernel) { return may_be_empty(kernel); });
}

bool LauncherWriter::counts_steps() const {
    const auto changes = [](const rt::Argument& argument) {
        return argument.kind == rt::Argument::Kind::scalar && rt::changes_with_step(argument.scalar);
    };
    if (!plan_.reductions.empty() || !plan_.points.empty()) return true;
    return std::ranges::any_of(plan_.kernels, [&](const rt::KernelPlan& kernel) {
        return kernel.fills_halo || !kernel.within.is_all() || std::ranges::any_of(kernel.arguments, changes);
    });
}

bool LauncherWriter::has_turns() const {
    return !plan_.full_steps.empty() || std::ranges::any_of(plan_.kernels, [](const rt::KernelPlan& kernel) {
        return !kernel.within.is_all();
    });
}

std::string LauncherWriter::condition_of(const rt::StepRange& steps) {
    const std::string first = fmt::format("solver->steps >= {}", steps.first),
                      past = fmt::format("solver->steps < {}", steps.past);
    if (steps.past == rt::StepRange::kNoEnd) return first;
    return steps.first == 0 ? past : first + " && " + past;
}

bool LauncherWriter::any_halo() const {
    for (int index = 0; index < count(plan_.fields); ++index) {
        if (model_.has_halo(index)) return true;
    }
    return false;
}

void LauncherWriter::fill(const std::string& open, const std::vector<std::string>& items,
                          const std::string& close) {
    // Aligned behind the opening; where that leaves too little room, on lines of their own.
    std::size_t longest = 0;
    for (const std::string& item : items) {
        longest = std::max(longest, item.size() + close.size());
    }
    const bool below = open.size() + longest > kWidth;
    const std::string margin(below ? 4 : open.size(), ' ');
    if (below) out_.line("{}", open);
    std::string line = below ? margin : open;
    bool empty = true;
    for (std::size_t index = 0; index < items.size(); ++index) {
        const std::string piece = items[index] + (index + 1 == items.size() ? close : ",");
        if (!empty && line.size() + 1 + piece.size() > kWidth) {
            out_.line("{}", line);
            line = margin;
            empty = true;
        }
        line += (empty ? "" : " ") + piece;
        empty = false;
    }
    out_.line("{}", items.empty() ? open + close : line);
}

}  // namespace halo::emit
