#include "programs.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <utility>

#include "bindings.h"
#include "halocline/halocline.hpp"

namespace halocline::python {

namespace {

const char* name_of(Type type) {
    constexpr const char* kNames[] = {"f32", "f64", "f16", "bf16", "u8", "i32", "i64", "bool"};
    return kNames[static_cast<int>(type)];
}

const char* name_of(Role role) {
    constexpr const char* kNames[] = {"input", "state", "output"};
    return kNames[static_cast<int>(role)];
}

void bind_info(nb::module_& module) {
    nb::class_<FieldInfo>(module, "FieldInfo", "A field of a program.")
        .def_ro("name", &FieldInfo::name)
        .def_prop_ro(
            "type", [](const FieldInfo& self) { return name_of(self.type); },
            "Its elements' type as specs name it: 'f32'.")
        .def_prop_ro(
            "role", [](const FieldInfo& self) { return name_of(self.role); },
            "'input', 'state' (advanced by steps) or 'output' (computed by each step).")
        .def_ro("past", &FieldInfo::past, "Levels that are kept besides the present one.")
        .def_ro("interleaved", &FieldInfo::interleaved,
                "Its cells lie side by side with those of other components: it has no array of its own.")
        .def_ro("over", &FieldInfo::over, "By axis of the program, x first: whether it lies over it.")
        .def_ro("coarse", &FieldInfo::coarse, "How many cells of the grid one of it is wide.")
        .def("__repr__", [](const FieldInfo& self) {
            return std::string("<field ") + self.name + ": " + name_of(self.type) + ", " +
                   name_of(self.role) + ">";
        });
    nb::class_<ParamInfo>(module, "ParamInfo")
        .def_ro("name", &ParamInfo::name)
        .def_ro("default", &ParamInfo::default_value);
    nb::class_<WeightsInfo>(module, "WeightsInfo")
        .def_ro("name", &WeightsInfo::name)
        .def_ro("sizes", &WeightsInfo::sizes);
    nb::class_<TableInfo>(module, "TableInfo")
        .def_ro("name", &TableInfo::name)
        .def_ro("columns", &TableInfo::columns)
        .def_ro("is_series", &TableInfo::is_series);
    nb::class_<PointsInfo>(module, "PointsInfo")
        .def_ro("name", &PointsInfo::name)
        .def_ro("columns", &PointsInfo::columns)
        .def_ro("injected", &PointsInfo::injected)
        .def_ro("sampled", &PointsInfo::sampled);
    nb::class_<ProgramInfo>(module, "ProgramInfo")
        .def_ro("name", &ProgramInfo::name)
        .def_ro("axes", &ProgramInfo::axes)
        .def_ro("fields", &ProgramInfo::fields)
        .def_ro("params", &ProgramInfo::params)
        .def_ro("reductions", &ProgramInfo::reductions)
        .def_ro("weights", &ProgramInfo::weights)
        .def_ro("tables", &ProgramInfo::tables)
        .def_ro("points", &ProgramInfo::points);
}

EmitOptions emit_options(const std::string& target, std::vector<std::string> schedules,
                         std::vector<std::string> archs, Grid grid, bool fixed_grid) {
    constexpr std::pair<const char*, EmitTarget> kTargets[] = {{"cuda", EmitTarget::cuda},
                                                               {"cpu", EmitTarget::cpu},
                                                               {"plan", EmitTarget::plan},
                                                               {"stencil", EmitTarget::stencil},
                                                               {"kernel", EmitTarget::kernel}};
    for (const auto& [name, value] : kTargets)
        if (target == name)
            return {value, std::move(schedules), std::move(archs), std::move(grid), fixed_grid};
    throw Error(ErrorCode::bad_argument,
                "target='" + target + "' is not known; it is 'cuda', 'cpu', 'plan', 'stencil' or 'kernel'");
}

}  // namespace

void bind_programs(nb::module_& module) {
    bind_info(module);
    nb::class_<OwnedCondition>(module, "Condition");
    nb::class_<OwnedProgram>(module, "Program")
        .def_prop_ro("info", [](const OwnedProgram& self) { return self.get().info(); })
        .def_prop_ro("targets", [](const OwnedProgram& self) { return self.get().targets(); })
        .def("condition",
             [](const OwnedProgram& self, const std::string& text) {
                 return without_gil(
                     [&] { return OwnedCondition(std::in_place, condition(self.get(), text)); });
             })
        .def("emit",
             [](const OwnedProgram& self, const std::string& path, const std::string& target,
                std::vector<std::string> schedules, std::vector<std::string> archs, Grid grid,
                bool fixed_grid) {
                 const EmitOptions options = emit_options(target, std::move(schedules), std::move(archs),
                                                          std::move(grid), fixed_grid);
                 std::vector<std::string> paths;
                 std::string text;
                 without_gil([&] {
                     if (path.empty())
                         text = emit(self.get(), options);
                     else
                         paths = emit_file(self.get(), path, options);
                 });
                 return path.empty() ? nb::object(nb::cast(text)) : nb::object(nb::cast(paths));
             })
        .def("explain",
             [](const OwnedProgram& self, Grid grid, std::vector<std::string> schedules, std::string arch,
                bool json, int width) {
                 const ExplainOptions options{std::move(grid), std::move(schedules), std::move(arch), json,
                                              width};
                 return without_gil([&] { return explain(self.get(), options); });
             })
        .def("write_bundle", [](const OwnedProgram& self, const std::string& path,
                                std::vector<std::string> archs, std::vector<Grid> grids, bool any_grid) {
            const BundleOptions options{std::move(archs), std::move(grids), any_grid};
            without_gil([&] { write_bundle(self.get(), path, options); });
        });

    const auto options_of = [](std::string name, std::string stencil, std::vector<std::string> include,
                               std::vector<std::string> schedules, bool strict_fp, bool wait) {
        return CompileOptions{std::move(name),      std::move(stencil), std::move(include),
                              std::move(schedules), strict_fp,          wait};
    };
    module.def("compile", [options_of](const std::string& text, std::string name, std::string stencil,
                                       std::vector<std::string> include, std::vector<std::string> schedules,
                                       bool strict_fp, bool wait) {
        const CompileOptions options = options_of(std::move(name), std::move(stencil), std::move(include),
                                                  std::move(schedules), strict_fp, wait);
        return without_gil([&] { return OwnedProgram(std::in_place, compile(text, options)); });
    });
    module.def("compile_file", [options_of](const std::string& path, std::string stencil,
                                            std::vector<std::string> include,
                                            std::vector<std::string> schedules, bool strict_fp, bool wait) {
        const CompileOptions options =
            options_of(path, std::move(stencil), std::move(include), std::move(schedules), strict_fp, wait);
        return without_gil([&] { return OwnedProgram(std::in_place, compile_file(path, options)); });
    });
    module.def("check_json", [](const std::string& text, std::string name, std::vector<std::string> include) {
        const CompileOptions options{std::move(name), {}, std::move(include), {}, false, false};
        return without_gil([&] { return check_json(text, options); });
    });
    module.def("load", [](const std::string& path) {
        return without_gil([&] { return OwnedProgram(std::in_place, Program::load(path)); });
    });
    module.attr("__version__") = version();
}

}  // namespace halocline::python
