// What a run plots and films.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/sema/field_axes.h"
#include "compiler/sema/run_analyzer.h"
#include "compiler/sema/types.h"

namespace halo::sema {

// Of the picture of a trace.
void RunAnalyzer::flip_trace(const syntax::Name& axis, Plot& made) {
    static const std::vector<std::string> names{"point", "time"};
    for (std::size_t i = 0; i < names.size(); ++i)
        if (axis.text == names[i]) made.flipped[i] = true;
    if (std::ranges::find(names, axis.text) != names.end()) return;
    sink_
        .report(DiagnosticKind::unknown_axis, axis.where,
                fmt::format("the picture of a trace has no axis `{}`", axis.text))
        .note("`flip point` shows the last point at the left, `flip time` the first step at the bottom");
}

void RunAnalyzer::read_looks(const syntax::PlotStatement& plot, bool is_trace, Plot& made) {
    if (plot.range) {
        const auto low = settings_.known(plot.range->low, "the lowest value of a picture");
        const auto high = settings_.known(plot.range->high, "the highest value of a picture");
        if (low && high && !(*low < *high)) {
            sink_.report(
                DiagnosticKind::empty_range, plot.range->where,
                fmt::format("the values of a picture go from the lower to the higher, not from {} to {}",
                            *low, *high));
        } else if (low && high && plot.logarithmic && *low <= 0) {
            sink_.report(DiagnosticKind::out_of_range, plot.range->where,
                         fmt::format("a logarithmic scale has positive numbers alone, and this range begins "
                                     "with {}",
                                     *low));
        } else if (low && high) {
            made.range = {*low, *high};
        }
    }
    made.logarithmic = plot.logarithmic.has_value();
    for (const syntax::Name& axis : plot.flipped) {
        if (is_trace) {
            flip_trace(axis, made);
            continue;
        }
        const Symbol* symbol = symbols_.find(axis.text);
        if (!symbol || symbol->kind != Symbol::Kind::axis) {
            settings_.report_unknown_axis(axis.text, axis.where);
        } else {
            made.flipped[static_cast<std::size_t>(symbol->index)] = true;
        }
    }
}

void RunAnalyzer::read(const syntax::PlotStatement& plot) {
    const Target target = target_of(plot.field);
    if (is_reduction(target)) return read_reduction_picture(plot, target);
    if (const Symbol* points = find_points(target.name)) return read_trace_picture(plot, *points, target);
    Plot made;
    if (read_picture(plot, "plot", made)) result_.plots.push_back(std::move(made));
}

// Of a trace or reduction.
bool RunAnalyzer::refuse_layers(const syntax::PlotStatement& plot, std::string_view what, bool also_beside) {
    const SourceRange* where = nullptr;
    std::vector<syntax::ExprId> layers = plot.arrows;
    if (plot.contours) layers.push_back(plot.contours->field);
    if (also_beside) layers.insert(layers.end(), plot.beside.begin(), plot.beside.end());
    for (const syntax::ExprId layer : layers)
        if (where == nullptr) where = &file_[layer].where;
    if (where == nullptr) return false;
    sink_.report(DiagnosticKind::picture_parts, *where,
                 fmt::format("the picture of {} has nothing else in it", what));
    return true;
}

void RunAnalyzer::read_trace_picture(const syntax::PlotStatement& plot, const Symbol& points,
                                     const Target& target) {
    const std::optional<std::string> trace = sampled_trace(points, target);
    Plot made;
    made.frames = read_frames(plot.every, false);
    read_looks(plot, true, made);
    if (plot.cut) {
        sink_.report(DiagnosticKind::invalid_cut, plot.cut->axis.where,
                     "the picture of a trace shows all points and steps");
        return;
    }
    if (refuse_layers(plot, "a trace", true) || !check_path(plot.path, FileUse::plot) || !trace) return;
    made.field = *trace;
    made.path = plot.path.text;
    made.where = plot.where;
    made.is_asked = plot.is_asked;
    result_.trace_plots.push_back(std::move(made));
}

// Curves over the time.
void RunAnalyzer::read_reduction_picture(const syntax::PlotStatement& plot, const Target& target) {
    Plot made;
    made.field = target.name.text;
    made.path = plot.path.text;
    made.where = plot.where;
    made.is_asked = plot.is_asked;
    made.frames = read_frames(plot.every, false);
    syntax::PlotStatement without_axes = plot;
    without_axes.flipped.clear();
    read_looks(without_axes, false, made);
    bool is_good = check_path(plot.path, FileUse::plot);
    const auto refuse = [&](DiagnosticKind kind, SourceRange where, std::string message) {
        is_good = false;
        return &sink_.report(kind, where, std::move(message));
    };
    if (plot.cut)
        refuse(DiagnosticKind::invalid_cut, plot.cut->axis.where,
               "a reduction is one number, and has no part");
    if (!plot.flipped.empty())
        refuse(DiagnosticKind::unknown_axis, plot.flipped.front().where,
               "the picture of a reduction shows it over the time, from left to right");
    for (const syntax::ExprId id : plot.beside) {
        const Target beside = target_of(id);
        if (is_reduction(beside)) {
            made.layers.push_back({PlotLayer::Kind::curve, beside.name.text, {}});
            continue;
        }
        refuse(DiagnosticKind::picture_parts, settings_.where(id),
               fmt::format("`{}` is a reduction, whose picture shows it over the time; `{}` is none",
                           target.name.text, beside.name.text))
            ->note("fields along an axis have a picture of their own");
    }
    if (refuse_layers(plot, "reductions", false) || !is_good) return;
    result_.reduction_plots.push_back(std::move(made));
}

// What pictures and movies of fields have alike; false where something is wrong, which is reported.
bool RunAnalyzer::read_picture(const syntax::PlotStatement& plot, std::string_view word, Plot& made) {
    const std::optional<Reference> field = field_of(plot.field);
    const bool valid = check_path(plot.path, word == "movie" ? FileUse::movie : FileUse::plot);
    made.path = plot.path.text;
    made.frames = read_frames(plot.every, !field || starts(*field));
    read_looks(plot, false, made);
    made.where = plot.where;
    made.is_asked = plot.is_asked;
    if (plot.cut) {
        made.cut = read_cut(*plot.cut);
        if (!made.cut) return false;
    }
    if (!field || !valid || !check_plotted(*field, settings_.where(plot.field), word)) return false;
    if (made.cut && !stencil_.fields[field->first].grid.has_all_axes()) {
        sink_.report(DiagnosticKind::invalid_cut, made.cut->where,
                     fmt::format("a picture of `{}` shows all of it: it lies over {} alone", field->name,
                                 axes_text(stencil_.fields[field->first].grid, symbols_.axes())));
        return false;
    }
    made.field = field->name;
    return read_layers(plot, *field, word, made);
}

void RunAnalyzer::read(const syntax::MovieStatement& movie) {
    const Target target = target_of(movie.field);
    if (const Symbol* points = find_points(target.name)) {
        if (const std::optional<std::string> trace = sampled_trace(*points, target))
            sink_
                .report(DiagnosticKind::file_format, settings_.where(movie.field),
                        fmt::format("a movie shows a field, and `{}` is a trace", *trace))
                .note(fmt::format("`plot {} to \"trace.png\"` shows all its steps in one picture", *trace));
        return;
    }
    if (is_reduction(target)) {
        sink_
            .report(DiagnosticKind::file_format, settings_.where(movie.field),
                    fmt::format("a movie shows a field, and `{}` is a reduction", target.name.text))
            .note(fmt::format("`plot {0} to \"{0}.png\"` shows it over the time", target.name.text));
        return;
    }
    Plot made;
    made.fps = kUsualRate;
    if (movie.fps) {
        const std::int64_t most = movie.path.text.ends_with(".gif") ? kMostGifRate : kMostRate;
        made.fps =
            settings_.integer(*movie.fps, "the number of frames a second", 1, most).value_or(kUsualRate);
    }
    const bool is_good = read_picture(movie, "movie", made);
    if (!movie.every) {
        sink_
            .report(DiagnosticKind::unexpected_token, movie.where,
                    "a movie needs the number of steps between its frames")
            .note(fmt::format("`movie {0} every 50 to \"{0}.mp4\"` has a frame after every 50 steps",
                              target.name.text));
        return;
    }
    if (is_good) result_.movies.push_back(std::move(made));
}

bool RunAnalyzer::check_plotted(const Reference& field, SourceRange where, std::string_view word) {
    if (field.shape->kind == Shape::Kind::scalar) return true;
    sink_
        .report(DiagnosticKind::component_mismatch, where,
                fmt::format("a picture shows one number in each cell, and `{}` is {}", field.name,
                            describe(*field.shape)))
        .note(fmt::format("draw a component, as in `{} {}.{}`, or an output that is made of them", word,
                          field.name, part_name(*field.shape, 0)));
    return false;
}

// The axes that a picture of a field shows, the one to the right first.
std::vector<int> RunAnalyzer::shown_axes(const Reference& field, const Plot& made) const {
    const rt::FieldGrid& grid = stencil_.fields[field.first].grid;
    std::vector<int> axes;
    for (int axis = 0; axis < symbols_.rank(); ++axis)
        if (grid.has(axis) && !(made.cut && made.cut->axis == axis)) axes.push_back(axis);
    if (axes.size() > 2) axes.resize(2);  // the plane through the middle of the last
    return axes;
}

bool RunAnalyzer::read_layers(const syntax::PlotStatement& plot, const Reference& first,
                              std::string_view word, Plot& made) {
    const bool is_curve = shown_axes(first, made).size() == 1;
    if (is_curve && (plot.contours || !plot.arrows.empty())) {
        sink_
            .report(
                DiagnosticKind::picture_parts,
                file_[plot.contours ? plot.contours->field : plot.arrows.front()].where,
                fmt::format("lines and arrows lie over colours, and `{}` is drawn as a curve", first.name))
            .note(fmt::format("`{} {}, …` draws the curves of other fields beside it", word, first.name));
        return false;
    }
    if (!is_curve && !plot.beside.empty()) {
        sink_
            .report(DiagnosticKind::picture_parts, settings_.where(plot.beside.front()),
                    fmt::format("a picture has the colours of one field, and `{}` fills it", first.name))
            .note("`contours w` draws lines of `w` over the colours, `arrows v` arrows of a vector `v`");
        return false;
    }
    bool is_good = true;
    for (const syntax::ExprId id : plot.beside)
        is_good = add_curve(id, first, word, made) && is_good;
    if (plot.contours) is_good = add_contours(*plot.contours, first, word, made) && is_good;
    if (!plot.arrows.empty()) is_good = add_arrows(plot.arrows, first, made) && is_good;
    return is_good;
}

// A field on the axes of the first one; nullopt where that is not so, which is reported.
std::optional<Reference> RunAnalyzer::layer_of(syntax::ExprId id, const Reference& first) {
    const std::optional<Reference> field = field_of(id);
    if (!field) return std::nullopt;
    const rt::FieldGrid &own = stencil_.fields[field->first].grid, &other = stencil_.fields[first.first].grid;
    if (own == other) return field;
    if (own.along == other.along) {
        sink_.report(
            DiagnosticKind::picture_parts, settings_.where(id),
            fmt::format("`{}` and `{}` lie on grids of different cells: they have no picture in common",
                        field->name, first.name));
        return std::nullopt;
    }
    sink_.report(
        DiagnosticKind::picture_parts, settings_.where(id),
        fmt::format("`{}` lies over {}, and `{}` over {}: they have no picture in common", field->name,
                    axes_text(own, symbols_.axes()), first.name, axes_text(other, symbols_.axes())));
    return std::nullopt;
}

bool RunAnalyzer::add_curve(syntax::ExprId id, const Reference& first, std::string_view word, Plot& made) {
    const std::optional<Reference> field = layer_of(id, first);
    if (!field || !check_plotted(*field, settings_.where(id), word)) return false;
    made.layers.push_back({PlotLayer::Kind::curve, field->name, {}});
    return true;
}

bool RunAnalyzer::add_contours(const syntax::ContourClause& contours, const Reference& first,
                               std::string_view word, Plot& made) {
    const std::optional<Reference> field = layer_of(contours.field, first);
    if (!field || !check_plotted(*field, settings_.where(contours.field), word)) return false;
    PlotLayer layer{PlotLayer::Kind::contours, field->name, {}};
    for (const syntax::ExprId level : contours.levels) {
        const std::optional<double> value = settings_.known(level, "the value along a line");
        if (!value) return false;
        layer.levels.push_back(*value);
    }
    made.layers.push_back(std::move(layer));
    return true;
}

// A vector with a part for each axis, of which the picture shows two; or two numbers.
bool RunAnalyzer::add_arrows(const std::vector<syntax::ExprId>& arrows, const Reference& first, Plot& made) {
    std::vector<std::string> names;
    const std::vector<int> axes = shown_axes(first, made);
    for (const syntax::ExprId id : arrows) {
        const std::optional<Reference> field = layer_of(id, first);
        if (!field) return false;
        const bool is_number = field->shape->kind == Shape::Kind::scalar;
        if (arrows.size() == 2 && is_number) {
            names.push_back(field->name);
            continue;
        }
        for (const int axis : axes) {
            const std::optional<std::size_t> part =
                arrows.size() == 1 && field->shape->kind == Shape::Kind::vector
                    ? find_part(*field->shape, symbols_.axes()[static_cast<std::size_t>(axis)],
                                symbols_.axes())
                    : std::nullopt;
            if (part && field->shape->parts[*part].kind == Shape::Kind::scalar)
                names.push_back(field->name + "." + part_name(*field->shape, *part));
        }
        if (names.size() == 2) continue;
        sink_
            .report(DiagnosticKind::picture_parts, settings_.where(id),
                    arrows.size() == 2 ? fmt::format("an arrow has a number along each axis, and `{}` is {}",
                                                     field->name, describe(*field->shape))
                                       : fmt::format("an arrow is a vector along {} and {}, and `{}` is {}",
                                                     symbols_.axes()[static_cast<std::size_t>(axes[0])],
                                                     symbols_.axes()[static_cast<std::size_t>(axes[1])],
                                                     field->name, describe(*field->shape)))
            .note("`arrows u, w` takes `u` to the right and `w` upwards");
        return false;
    }
    made.layers.push_back({PlotLayer::Kind::arrows_across, names[0], {}});
    made.layers.push_back({PlotLayer::Kind::arrows_up, names[1], {}});
    return true;
}

}  // namespace halo::sema
