// Files of simulations, what this machine has, and schedules measured on it.
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <utility>
#include <vector>

#include "bindings.h"
#include "devices.h"
#include "halocline/halocline.hpp"
#include "programs.h"
#include "simulations.h"

namespace halocline::python {

namespace {

void bind_checkpoints(nb::module_& module) {
    nb::class_<Checkpoint>(module, "Checkpoint")
        .def_static(
            "find",
            [](const std::string& path) { return without_gil([&] { return Checkpoint::find(path); }); })
        .def_prop_ro("path", &Checkpoint::path)
        .def_prop_ro("program", &Checkpoint::program)
        .def_prop_ro("grid", &Checkpoint::grid)
        .def_prop_ro("steps", &Checkpoint::steps)
        .def_prop_ro("holds_data", &Checkpoint::holds_data)
        .def("restore", [](const Checkpoint& self, const OwnedSimulation& simulation) {
            Simulation& into = simulation.get().simulation();
            without_gil([&] { self.restore(into); });
        });
    module.def("save_checkpoint", [](const OwnedSimulation& simulation, const std::string& folder) {
        Simulation& from = simulation.get().simulation();
        return without_gil([&] { return save_checkpoint(from, folder); });
    });
    module.def("save_fields", [](const OwnedSimulation& simulation, const std::string& path,
                                 const std::vector<std::string>& fields) {
        Simulation& from = simulation.get().simulation();
        without_gil([&] { save_fields(from, path, fields); });
    });
    module.def("coordinates", [](const OwnedSimulation& simulation, const std::string& field) {
        Simulation& of = simulation.get().simulation();
        const Coordinates found = without_gil([&] { return coordinates(of, field); });
        return nb::make_tuple(found.spacing, found.origin, found.first, found.time_step);
    });
}

nb::tuple tune_program(const OwnedProgram& program, const OwnedDevice& device, const Grid& grid,
                       TuneOptions options) {
    const TuneResult result = without_gil([&] { return tune(program.get(), device.get(), grid, options); });
    nb::list stages;
    for (const TunedStage& each : result.stages)
        stages.append(nb::make_tuple(each.name, each.result, each.schedule, each.model_schedule, each.seconds,
                                     each.model_seconds, each.trials, each.left_out));
    return nb::make_tuple(stages, result.text, result.store, result.interrupted);
}

}  // namespace

void bind_files(nb::module_& module) {
    bind_checkpoints(module);
    module.def("examine_machine", [] {
        const MachineReport report = without_gil([] { return examine_machine(); });
        nb::list findings;
        for (const Finding& each : report.findings)
            findings.append(nb::make_tuple(each.name, each.title, each.found, each.detail));
        return nb::make_tuple(findings, report.best_device, report.figures);
    });
    module.def("tune", [](const OwnedProgram& program, const OwnedDevice& device, Grid grid, double budget,
                          int jobs, bool again, std::vector<std::pair<std::string, double>> params,
                          bool says_progress, bool stops_on_signals) {
        TuneOptions options;
        options.budget_seconds = budget;
        options.jobs = jobs;
        options.again = again;
        options.params = std::move(params);
        options.says_progress = says_progress;
        options.stops_on_signals = stops_on_signals;
        return tune_program(program, device, grid, std::move(options));
    });
}

}  // namespace halocline::python
