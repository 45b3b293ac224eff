// What a run loads and saves.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "compiler/ir/analysis.h"
#include "compiler/sema/field_axes.h"
#include "compiler/sema/run_analyzer.h"
#include "compiler/sema/types.h"
#include "compiler/support/file_kinds.h"

namespace halo::sema {

// Of a field that is loaded the name may have that of a dataset in it.
bool RunAnalyzer::check_path(const syntax::FilePath& path, FileUse use) {
    const bool may_name_dataset = use == FileUse::load_field;
    if (serves(may_name_dataset ? parse_array_name(path.text).file : path.text, use)) return true;
    sink_.report(DiagnosticKind::file_format, path.where,
                 fmt::format("the name of this file must end in {}{}", endings_for(use),
                             may_name_dataset ? " (\"in.h5:/u\" names a dataset)" : ""));
    return false;
}

Frames RunAnalyzer::read_frames(const std::optional<syntax::Every>& every, bool starts) {
    Frames frames;
    if (!every) return frames;
    frames.every =
        settings_.integer(every->steps, "the number of steps between files", 1, kMaxRunCount).value_or(0);
    frames.from = frames.every;
    if (every->from) {
        frames.from = settings_.integer(*every->from, "the step of the first file", 0, kMaxRunCount)
                          .value_or(frames.every);
        if (frames.from == 0 && !starts) {
            sink_
                .report(DiagnosticKind::out_of_range, settings_.where(*every->from),
                        "there is nothing to write before the first step: this is computed in each step")
                .note("states and inputs have their values at step 0");
        }
    }
    if (every->to)
        frames.to = settings_.integer(*every->to, "the step of the last file", frames.from, kMaxRunCount)
                        .value_or(frames.from);
    return frames;
}

// Of frames in one file: that there are some, and a file that holds them.
bool RunAnalyzer::check_together(const syntax::SaveStatement& save, bool is_trace) {
    if (!save.together) return true;
    if (!save.every) {
        sink_
            .report(DiagnosticKind::unexpected_token, *save.together,
                    "`together` needs frames: how many steps apart?")
            .note("`save u to \"u.h5\" every 100 together` has the state after every 100 steps in one file");
        return false;
    }
    if (!is_trace && serves(save.path.text, FileUse::frames)) return true;
    Diagnostic& diagnostic =
        sink_.report(DiagnosticKind::file_format, is_trace ? *save.together : save.path.where,
                     is_trace ? "a trace has all its steps in one file already"
                              : "frames in one file need HDF5, a name that ends in .h5");
    if (!is_trace) diagnostic.note("without `together` each frame is a file of its own");
    return false;
}

bool RunAnalyzer::starts(const Reference& field) const {
    return stencil_.fields[field.first].role != ir::Role::output;
}

void RunAnalyzer::read(const syntax::LoadStatement& load) {
    const Target target = target_of(load.field);
    if (const Symbol* points = find_points(target.name)) return load_points(load, *points, target);
    const syntax::Name& table = target.name;
    if (is_table(table)) {
        if (check_path(load.path, FileUse::load_rows) &&
            is_first(fmt::format("the rows of `{}`", table.text), load.where))
            result_.table_loads.push_back({table.text, load.path.text, load.where});
        return;
    }
    const std::optional<Reference> field = field_of(load.field);
    const bool is_picture = serves(load.path.text, FileUse::load_picture);
    const bool valid = is_picture
                           ? !field || can_show(*field, load)
                           : check_path(load.path, FileUse::load_field) && (!field || can_fill(*field, load));
    if (!field || !is_first_start(*field, settings_.where(load.field)) || !valid) return;
    result_.loads.push_back({field->name, load.path.text, load.where});
}

// A picture has one number for each cell of a plane.
bool RunAnalyzer::can_show(const Reference& field, const syntax::LoadStatement& load) {
    const ir::Field& first = stencil_.fields[field.first];
    const int rank = first.grid.rank(symbols_.rank());
    const bool is_plane = rank == 2;
    const bool is_number = field.shape->leaves() == 1;
    const bool is_truth = first.type == ir::Scalar::boolean;
    if (is_plane && is_number && !is_truth) return true;
    Diagnostic& diagnostic = sink_.report(
        DiagnosticKind::file_format, load.path.where,
        !is_plane ? fmt::format("a picture is loaded into a field of two axes, and `{}` has {}",
                                first.grid.has_all_axes() ? symbols_.stencil().name.text : field.name, rank)
        : is_number
            ? fmt::format("a picture has numbers from 0 to 255, and `{}` is true or false", field.name)
            : fmt::format("a picture has one number for each cell, and `{}` is {}", field.name,
                          describe(*field.shape)));
    if (is_plane && is_number)
        diagnostic.note("load it into a field of u8, and compare that with a number");
    else
        diagnostic.note(
            fmt::format("other arrays are loaded from {} files", endings_for(FileUse::load_field, " and ")));
    return false;
}

// Whether a field has the axis along which it is cut; reported otherwise.
bool RunAnalyzer::has_axis(const Reference& field, int axis, SourceRange where) {
    const rt::FieldGrid& grid = stencil_.fields[field.first].grid;
    if (grid.has(axis)) return true;
    report_missing_axis(field.name, grid, "cells along " + symbols_.axes()[static_cast<std::size_t>(axis)],
                        where, symbols_.axes(), sink_);
    return false;
}

bool RunAnalyzer::is_reduction(const Target& target) const {
    const Symbol* symbol = symbols_.find(target.name.text);
    return symbol && symbol->kind == Symbol::Kind::reduction && target.member == nullptr;
}

// A reduction: a column of a table.
void RunAnalyzer::read_column(const syntax::SaveStatement& save, const Target& target) {
    const Frames frames = read_frames(save.every, false);
    if (!save.cuts.empty() || !save.ranges.empty()) {
        sink_.report(DiagnosticKind::invalid_cut, save.where, "a reduction is one number, and has no part");
        return;
    }
    if (save.together) {
        sink_.report(DiagnosticKind::file_format, *save.together,
                     "a table has all its rows in one file already");
        return;
    }
    if (check_path(save.path, FileUse::save_column) && can_hold_column(save, target.name.text))
        result_.reduction_saves.push_back({target.name.text, save.path.text, frames, save.where});
}

void RunAnalyzer::read(const syntax::SaveStatement& save) {
    const Target target = target_of(save.field);
    if (is_reduction(target)) return read_column(save, target);
    if (const Symbol* points = find_points(target.name)) {
        const std::optional<std::string> trace = sampled_trace(*points, target);
        const Frames frames = read_frames(save.every, false);
        if (!save.cuts.empty() || !save.ranges.empty()) {
            sink_.report(DiagnosticKind::invalid_cut, save.where,
                         "a trace is saved with all its points and steps");
            return;
        }
        if (check_together(save, true) && check_path(save.path, FileUse::save_trace) && trace &&
            can_hold_trace(save, *trace))
            result_.trace_saves.push_back({*trace, save.path.text, frames, save.where});
        return;
    }
    const std::optional<Reference> field = field_of(save.field);
    // Of what is no field it is not known what files there are.
    const bool valid = field && check_path(save.path, FileUse::save_field) && check_together(save, false);
    Frames frames = read_frames(save.every, !field || starts(*field));
    frames.together = save.together.has_value();
    Save made;
    if (!read_part(save, made) || !valid || !can_hold(save, *field)) return;
    for (const Cut& cut : made.cuts)
        if (!has_axis(*field, cut.axis, cut.where)) return;
    for (const PartRange& range : made.ranges)
        if (!has_axis(*field, range.axis, range.where)) return;
    made.field = field->name;
    made.path = save.path.text;
    made.frames = frames;
    made.where = save.where;
    result_.saves.push_back(std::move(made));
}

// What of a field is saved: of each axis a cell or a range, said once.
bool RunAnalyzer::read_part(const syntax::SaveStatement& save, Save& made) {
    std::array<const SourceRange*, ir::kMaxRank> said{};
    const auto take = [&](const Symbol& axis, const SourceRange& where) {
        const SourceRange*& before = said[static_cast<std::size_t>(axis.index)];
        if (before != nullptr) {
            sink_
                .report(DiagnosticKind::duplicate_setting, where,
                        fmt::format("the cells along `{}` are given twice", axis.name))
                .label(*before, "given here before");
            return false;
        }
        before = &where;
        return true;
    };
    for (const syntax::Cut& cut : save.cuts) {
        const std::optional<Cut> plane = read_cut(cut);
        if (!plane || !take(*symbols_.find(cut.axis.text), cut.axis.where)) return false;
        made.cuts.push_back(*plane);
    }
    if (made.cuts.size() == static_cast<std::size_t>(symbols_.rank()) && symbols_.rank() > 0) {
        sink_.report(DiagnosticKind::invalid_cut, save.where, "a file of one cell has no axis left")
            .note("a reduction `on` that cell is printed, and points sample a cell in each step");
        return false;
    }
    for (const syntax::PartRange& range : save.ranges) {
        const std::optional<PartRange> along = read_part_range(range);
        if (!along || !take(*symbols_.find(range.axis.text), range.axis.where)) return false;
        made.ranges.push_back(*along);
    }
    return true;
}

std::optional<PartRange> RunAnalyzer::read_part_range(const syntax::PartRange& range) {
    const Symbol* symbol = symbols_.find(range.axis.text);
    if (!symbol || symbol->kind != Symbol::Kind::axis) {
        settings_.report_unknown_axis(range.axis.text, range.axis.where);
        return std::nullopt;
    }
    PartRange made;
    made.axis = symbol->index;
    constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
    const auto read = [&](const std::optional<syntax::ExprId>& from, const char* what, std::int64_t low,
                          std::int64_t& to) {
        if (!from) return true;
        const std::optional<std::int64_t> value = settings_.integer(*from, what, low, kMost);
        to = value.value_or(to);
        return value.has_value();
    };
    if (!read(range.low, "the first cell of a part", -kMost, made.low) ||
        !read(range.high, "the last cell of a part", -kMost, made.high) ||
        !read(range.stride, "the distance of the cells of a part", 1, made.stride))
        return std::nullopt;
    made.where = range.where;
    if ((made.low < 0) != (made.high < 0) || made.low <= made.high) return made;
    sink_.report(DiagnosticKind::empty_range, range.where,
                 fmt::format("the range {}..{} has no cell", made.low, made.high));
    return std::nullopt;
}

// On the grid of the run; where the command line gives another, the command sees to it.
void RunAnalyzer::check_part(const Save& save) {
    for (const Cut& cut : save.cuts)
        check_cell(cut, cut.where);
    for (const PartRange& range : save.ranges) {
        if (!result_.grid) return;
        const std::int64_t cells = (*result_.grid)[static_cast<std::size_t>(range.axis)];
        const std::int64_t low = range.low < 0 ? range.low + cells : range.low;
        const std::int64_t high = range.high < 0 ? range.high + cells : range.high;
        if (low >= 0 && low <= high && high < cells) continue;
        sink_.report(DiagnosticKind::invalid_cut, range.where,
                     fmt::format("the grid has {0} cells along `{1}`, from 0 to {2}, and {3}..{4} {5}", cells,
                                 symbols_.axes()[static_cast<std::size_t>(range.axis)], cells - 1, range.low,
                                 range.high, low > high ? "has no cell" : "goes past them"));
    }
}

std::optional<Cut> RunAnalyzer::read_cut(const syntax::Cut& cut) {
    const Symbol* symbol = symbols_.find(cut.axis.text);
    if (!symbol || symbol->kind != Symbol::Kind::axis) {
        settings_.report_unknown_axis(cut.axis.text, cut.axis.where);
        return std::nullopt;
    }
    if (symbols_.rank() == 1) {
        sink_.report(DiagnosticKind::invalid_cut, cut.axis.where,
                     fmt::format("`{}` has one axis: a cut through it leaves nothing", result_.stencil));
        return std::nullopt;
    }
    Cut made;
    made.axis = symbol->index;
    made.where = settings_.where(cut.value);
    if (cut.kind == syntax::CutKind::position) {
        made.at_position = true;
        for (const ir::StretchedAxis& stretched : stencil_.stretched) {
            if (stretched.axis != made.axis) continue;
            sink_
                .report(
                    DiagnosticKind::not_built_yet, made.where,
                    fmt::format("a cut at a coordinate is not built yet where the spacing of `{}` differs "
                                "from cell to cell",
                                cut.axis.text))
                .note(fmt::format("`at {} = …` names a cell", cut.axis.text));
            return std::nullopt;
        }
        const std::optional<double> position = settings_.known(cut.value, "the place of a cut");
        if (!position) return std::nullopt;
        made.position = *position;
        return made;
    }
    const std::optional<std::int64_t> index =
        settings_.integer(cut.value, "the cell of a cut", 0, std::numeric_limits<std::int32_t>::max());
    if (!index) return std::nullopt;
    made.index = *index;
    return made;
}

void RunAnalyzer::check_cuts() {
    for (const auto* plots : {&result_.plots, &result_.movies})
        for (const Plot& plot : *plots)
            if (plot.cut) check_cell(*plot.cut, plot.cut->where);
    for (const Save& save : result_.saves)
        check_part(save);
}

void RunAnalyzer::check_cell(const Cut& cut, SourceRange where) {
    if (cut.at_position || !result_.grid || cut.index < (*result_.grid)[cut.axis]) return;
    const std::string& axis = symbols_.axes()[cut.axis];
    sink_
        .report(DiagnosticKind::invalid_cut, where,
                fmt::format("the grid has {0} cells along `{1}`, and this is cell {2}; the last is {3}",
                            (*result_.grid)[cut.axis], axis, cut.index, (*result_.grid)[cut.axis] - 1))
        .note(fmt::format("`at pos({0}) = …` names a coordinate", axis));
}

}  // namespace halo::sema
