#include "compiler/driver/running/request_files.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/driver/console/arguments.h"
#include "compiler/driver/console/exit_code.h"
#include "compiler/driver/running/field_series.h"
#include "compiler/driver/running/saved_traces.h"
#include "compiler/support/file_kinds.h"
#include "runtime/hdf5/hdf5.h"
#include "runtime/io/movie.h"
#include "runtime/segy/segy.h"

namespace halo::driver {

namespace fs = std::filesystem;

namespace {

void require_hdf5(const char* what, const std::string& path) {
    const rt::Hdf5Library library = rt::find_hdf5();
    if (library.found) return;
    throw CommandError(ExitCode::file, fmt::format("cannot {} {}: {}", what, path, library.detail),
                       "a name that ends in .npy is a numpy file, which needs no library");
}

void require_segy(const char* what, const std::string& path) {
    const rt::SegyLibrary library = rt::find_segy();
    if (!library.found)
        throw CommandError(ExitCode::file, fmt::format("cannot {} {}: {}", what, path, library.detail),
                           "a name that ends in .npy is a numpy file, which needs no library");
}

// What the command line names; files of the run block have been checked with the spec.
void check_ending(const Output& output, FileUse use) {
    if (serves(output.path, use)) return;
    const char* const option = output.kind == Output::Kind::plot    ? "plot"
                               : output.is_curve()                  ? "plot"
                               : output.kind == Output::Kind::movie ? "movie"
                                                                    : "save";
    refuse_usage(fmt::format("--{} {}: the name of this file must end in {}, and {} does not", option,
                             output.field.name, endings_for(use), output.path),
                 fmt::format("for example --{0} {1}={1}{2}", option, output.field.name, usual_ending(use)));
}

void check_loads(const RunRequest& request) {
    for (const Load& load : request.loads) {
        const FileKind* const kind = kind_of_file(parse_array_name(load.path).file);
        if (kind != nullptr && !kind->serves(FileUse::load_field) && !kind->serves(FileUse::load_picture))
            refuse_usage(fmt::format("{} cannot be loaded from {}: fields are read from {} files", load.field,
                                     load.path, endings_for(FileUse::load_field, " and ")),
                         fmt::format("for example --load {0}={0}.npy", load.field));
        if (needs_hdf5(parse_array_name(load.path).file)) require_hdf5("read", load.path);
        if (is_of(load.path, FileFormat::segy)) require_segy("read", load.path);
    }
    for (const auto* loads : {&request.table_loads, &request.point_loads})
        for (const Load& load : *loads)
            if (needs_hdf5(parse_array_name(load.path).file))
                refuse_usage(fmt::format("{} cannot be loaded from {}: HDF5 files are read into fields alone",
                                         load.field, load.path),
                             fmt::format("for example --load {0}={0}.npy", load.field));
}

void check_movie(const Output& output) {
    check_ending(output, FileUse::movie);
    const rt::MovieLack lack = rt::movie_lack(output.path);
    if (!lack.what.empty())
        throw CommandError(ExitCode::file, fmt::format("cannot write {}: {}", output.path, lack.what),
                           lack.mend);
}

void refuse_complex(const Output& output, const char* who) {
    if (!output.field.is_complex) return;
    refuse_usage(fmt::format("{} cannot be saved to {}: it has complex numbers, and {} has none",
                             output.field.name, output.path, who),
                 fmt::format("save its parts, {0}.re and {0}.im, or name an .h5 file", output.field.name));
}

// why: what the file has one of.
void refuse_apart(const Output& output, const char* why, const char* mend) {
    if (!output.lies_apart) return;
    refuse_usage(fmt::format("{} cannot be saved to {}: its components lie at different places, and {}",
                             output.field.name, output.path, why),
                 mend);
}

// NetCDF has one list of places for each axis of an array.
void check_netcdf(const Output& output) {
    const std::string& name = output.field.name;
    refuse_complex(output, "NetCDF");
    refuse_apart(output, "an array of NetCDF has one place for each element",
                 "save its components, which may share a file");
    if (name == "step" || name == "time")
        refuse_usage(fmt::format("{} cannot be saved to {}, in which the steps or times of the run have that "
                                 "name",
                                 name, output.path),
                     "name an .h5 file");
}

// An image of VTK has one grid for all its arrays, of real numbers.
void check_vtk_image(const RunRequest& request, const Output& output) {
    const std::string& name = output.field.name;
    refuse_complex(output, "VTK");
    const std::int64_t volumes = output.part ? output.part->count[3] : output.grid.extent(request.extent)[3];
    if (volumes > 1)
        refuse_usage(
            fmt::format("{} cannot be saved to {}: an image of VTK has three axes", name, output.path),
            fmt::format("save a part, as {}@{}=0, or name an .h5 file", name, request.axes[3]));
    refuse_apart(output, "an image of VTK has one grid", "save its components to files of their own");
    for (const Output& other : request.outputs) {
        if (!shares_file(other, output) ||
            (other.grid == output.grid && other.part == output.part && other.staggered == output.staggered))
            continue;
        refuse_usage(fmt::format("{} and {} cannot share {}: their values lie at different places, and an "
                                 "image of VTK has one grid",
                                 name, other.field.name, output.path),
                     "give them files of their own, or name an .h5 file");
    }
}

// Names that a file of rows has for lists of its own.
void check_lists(const Output& output) {
    const std::string& name = output.trace ? output.trace->trace : output.field.name;
    if (name != "step" && name != "time" && (name != "positions" || !output.trace)) return;
    refuse_usage(fmt::format("{} cannot be saved to {}, which has a list of that name", output.field.name,
                             output.path),
                 fmt::format("name a {} file", output.trace ? ".npy" : ".csv"));
}

void check_format(const RunRequest& request, const Output& output) {
    if (output.kind == Output::Kind::movie) return check_movie(output);
    const bool is_plot = output.kind == Output::Kind::plot || output.is_curve();
    if (output.is_column()) {
        check_ending(output, FileUse::save_column);
    } else if (is_plot) {
        check_ending(output, FileUse::plot);
    } else if (output.trace) {
        check_ending(output, FileUse::save_trace);
    } else {
        check_ending(output, FileUse::save_field);
    }
    if ((output.trace || output.is_column()) && !is_plot && needs_hdf5(output.path)) check_lists(output);
    if (!is_plot && needs_hdf5(output.path)) require_hdf5("write", output.path);
    if (output.trace && is_of(output.path, FileFormat::segy)) {
        check_segy(request, output);
        require_segy("write", output.path);
    }
}

void check_folder(const std::string& path) {
    fs::path folder = fs::path(path).parent_path();
    if (folder.empty()) folder = ".";
    std::error_code ignored;
    if (!fs::is_directory(folder, ignored)) {
        throw CommandError(ExitCode::file,
                           fmt::format("cannot write {}: there is no folder {}", path, folder.string()),
                           fmt::format("mkdir -p {} makes it", folder.string()));
    }
    if (::access(folder.c_str(), W_OK | X_OK) != 0) {
        throw CommandError(ExitCode::file, fmt::format("cannot write {}: the folder {} may not be written to",
                                                       path, folder.string()));
    }
}

// Whether two outputs may share a file: HDF5 files hold several fields, tables several reductions, each once.
bool may_share(const RunRequest& request, const Output& one, const Output& other) {
    return (one.is_column() || serves(one.path, FileUse::share)) && shares_file(one, other) &&
           std::ranges::count_if(request.outputs, [&](const Output& each) {
               return shares_file(each, one) && each.field.name == one.field.name;
           }) == 1;
}

void check_below(const fs::path& here, const char* what, const std::string& field, const std::string& path) {
    // Resolves links as far as the path exists; the file's own name may be a link, too.
    const fs::path relative =
        fs::weakly_canonical(fs::absolute(parse_array_name(path).file)).lexically_relative(here);
    if (!relative.empty() && *relative.begin() != "..") return;
    throw CommandError(
        ExitCode::usage,
        fmt::format("--safe: the run block would {} {} {} {}, which is outside of the current directory",
                    what, field, std::string_view(what) == "load" ? "from" : "to", path),
        "change it in the run block, or leave --safe out where you trust the spec");
}

}  // namespace

void check_safe(const sema::RunSpec& run, bool no_files) {
    const fs::path here = fs::canonical(".");
    for (const auto* loads : {&run.loads, &run.table_loads, &run.point_loads})
        for (const sema::Load& load : *loads)
            check_below(here, "load", load.field, load.path);
    if (no_files) return;
    for (const auto* saves : {&run.saves, &run.trace_saves, &run.reduction_saves})
        for (const sema::Save& save : *saves)
            check_below(here, "save", save.field, save.path);
    for (const auto* plots : {&run.plots, &run.trace_plots, &run.reduction_plots, &run.movies})
        for (const sema::Plot& plot : *plots)
            if (!plot.is_asked) check_below(here, plot.fps > 0 ? "film" : "plot", plot.field, plot.path);
}

// Files that say where cells lie have one spacing for an axis.
void refuse_stretched(const RunRequest& request, const Output& output) {
    for (std::size_t axis = 0; axis < request.axes.size(); ++axis)
        if (request.is_stretched[axis] && needs_hdf5(output.path))
            refuse_usage(
                fmt::format("{} says how far cells lie apart, which is not built yet where the spacing "
                            "of `{}` differs from cell to cell",
                            output.path, request.axes[axis]),
                "name a .npy file, which has the values alone");
}

void check_arrays(const RunRequest& request) {
    for (const Output& output : request.outputs) {
        if (!output.is_array()) continue;
        refuse_stretched(request, output);
        if (is_of(output.path, FileFormat::vtkhdf)) check_vtk_image(request, output);
        if (is_of(output.path, FileFormat::netcdf)) check_netcdf(output);
    }
}

void check_files(const RunRequest& request) {
    check_loads(request);
    std::map<std::string, const Output*> paths;
    const auto take = [&](const Output& output, const std::string& path) {
        const auto [known, is_new] = paths.emplace(fs::path(path).lexically_normal().string(), &output);
        if (!is_new && !may_share(request, output, *known->second))
            refuse_usage(fmt::format("two outputs would be written to {}", path),
                         "give them different names");
    };
    for (const Output& output : request.outputs) {
        check_format(request, output);
        take(output, output.path);
        const std::optional<std::string> page = output.is_array() ? page_path(output) : std::nullopt;
        if (page) take(output, *page);
        check_folder(output.path);
    }
    check_arrays(request);
}

}  // namespace halo::driver
