// What a kind of file cannot hold of what a run saves to it, as far as the spec tells. What the command line
// adds is checked by the run in the same way.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "compiler/sema/run_analyzer.h"

namespace halo::sema {

namespace {

std::filesystem::path normal(const std::string& path) {
    return std::filesystem::path(path).lexically_normal();
}

// Names that files with rows or frames have for lists of their own.
bool is_list_of_rows(std::string_view name) {
    return name == "step" || name == "time";
}

std::string_view convention(std::string_view path) {
    return is_of(path, FileFormat::netcdf) ? "NetCDF" : "VTK";
}

}  // namespace

// Traces beside each other, of one number in each place.
bool RunAnalyzer::can_fill(const Reference& field, const syntax::LoadStatement& load) {
    if (!is_of(load.path.text, FileFormat::segy)) return true;
    const bool is_number = field.shape->leaves() == 1;
    if (is_number && stencil_.fields[field.first].grid.rank(symbols_.rank()) > 1) return true;
    sink_.report(DiagnosticKind::file_format, load.path.where,
                 is_number
                     ? fmt::format("SEG-Y has traces beside each other, and `{}` has one axis", field.name)
                     : fmt::format("SEG-Y has one number in each place, and `{}` is {}", field.name,
                                   describe(*field.shape)));
    return false;
}

bool RunAnalyzer::can_hold(const syntax::SaveStatement& save, const Reference& field) {
    const std::string& path = save.path.text;
    const bool is_netcdf = is_of(path, FileFormat::netcdf), is_vtk = is_of(path, FileFormat::vtkhdf);
    const auto refuse = [&](const std::string& why, const std::string& mend) {
        sink_
            .report(DiagnosticKind::file_format, save.path.where,
                    fmt::format("`{}` cannot be saved to this file: {}", field.name, why))
            .note(mend);
        return false;
    };
    if (save.together && is_list_of_rows(field.name))
        return refuse("a file with frames has a list of that name", "leave `together` out");
    if (!is_netcdf && !is_vtk) return true;
    if (field.shape->kind == Shape::Kind::complex)
        return refuse(fmt::format("it has complex numbers, and {} has none", convention(path)),
                      fmt::format("save its parts, `{0}.re` and `{0}.im`, or name an .h5 file", field.name));
    const ir::Field& first = stencil_.fields[field.first];
    for (std::uint32_t leaf = 1; leaf < field.shape->leaves(); ++leaf) {
        if (stencil_.fields[field.first + leaf].staggered == first.staggered) continue;
        return refuse(is_vtk ? "its components lie at different places, and an image of VTK has one grid"
                             : "its components lie at different places, and an array of NetCDF has one place "
                               "for each element",
                      is_vtk ? "save its components to files of their own"
                             : "save its components, which may share a file");
    }
    if (is_netcdf && is_list_of_rows(field.name))
        return refuse("the steps or times of the run have that name there", "name an .h5 file");
    for (const Save& other : result_.saves) {
        if (!is_vtk || normal(other.path) != normal(path)) continue;
        const auto there = std::ranges::find_if(stencil_.fields, [&](const ir::Field& each) {
            return each.name == other.field || each.name.starts_with(other.field + ".");
        });
        if (there == stencil_.fields.end() ||
            (there->staggered == first.staggered && there->grid == first.grid))
            continue;
        return refuse(
            fmt::format("its values lie at other places than those of `{}`, and an image of VTK has "
                        "one grid",
                        other.field),
            "give them files of their own, or name an .h5 file");
    }
    return true;
}

bool RunAnalyzer::can_hold_column(const syntax::SaveStatement& save, const std::string& reduction) {
    if (!needs_hdf5(save.path.text) || !is_list_of_rows(reduction)) return true;
    sink_
        .report(DiagnosticKind::file_format, save.path.where,
                fmt::format("`{}` cannot be saved to this file: it has a list of that name", reduction))
        .note("name a .csv file");
    return false;
}

// SEG-Y has places in three directions, and the time between two samples.
bool RunAnalyzer::can_hold_trace(const syntax::SaveStatement& save, const std::string& trace) {
    const auto refuse = [&](const std::string& why, const std::string& mend) {
        sink_
            .report(DiagnosticKind::file_format, save.path.where,
                    fmt::format("`{}` cannot be saved to this file: {}", trace, why))
            .note(mend);
        return false;
    };
    const std::string last = trace.substr(trace.rfind('.') + 1);
    if (needs_hdf5(save.path.text) && (is_list_of_rows(last) || last == "positions"))
        return refuse("it has a list of that name", "name a .npy file");
    if (!is_of(save.path.text, FileFormat::segy)) return true;
    for (const std::string& axis : symbols_.axes())
        if (axis != "x" && axis != "y" && axis != "z")
            return refuse(fmt::format("SEG-Y has coordinates along x, y and z, and `{}` has an axis `{}`",
                                      result_.stencil, axis),
                          "name an .npy or .h5 file");
    const auto dt = std::ranges::find(stencil_.params, "dt", &ir::Param::name);
    if (dt == stencil_.params.end())
        return refuse("SEG-Y has the time between two samples, and the stencil has no param `dt`",
                      "name an .npy or .h5 file");
    if (!dt->unit.empty() && dt->unit != "s")
        return refuse(
            fmt::format("SEG-Y counts microseconds, and `dt` is in \"{}\", where seconds, \"s\", are "
                        "needed",
                        dt->unit),
            "nothing is converted between units");
    return true;
}

}  // namespace halo::sema
