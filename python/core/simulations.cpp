#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bindings.h"
#include "devices.h"
#include "programs.h"
#include "simulations.h"

namespace halocline::python {

namespace {

// Addresses and sizes come from halocline's own Python, which has checked the arrays that they are of.
void* memory_at(std::uintptr_t address) {
    return reinterpret_cast<void*>(address);
}

std::span<const double> doubles_at(std::uintptr_t address, std::int64_t count) {
    return {static_cast<const double*>(memory_at(address)), static_cast<std::size_t>(count)};
}

OwnedSimulation simulate(const OwnedProgram& program, const nb::list& devices, Grid grid,
                         std::optional<std::int64_t> exchange_every) {
    std::vector<Device> on;
    for (const nb::handle device : devices)
        on.push_back(nb::cast<const OwnedDevice&>(device).get());
    SimulationOptions options;
    options.exchange_every = exchange_every;
    return without_gil([&] { return OwnedSimulation(std::in_place, program.get(), on, grid, options); });
}

nb::tuple advance(OwnedSimulation& self, std::int64_t count, const OwnedCondition* condition,
                  std::int64_t every, const nb::object& progress) {
    HeldSimulation& held = self.get();
    const Condition* const until = condition == nullptr ? nullptr : &condition->get();
    // Signals and Python's own code between two batches, with no lock held.
    const auto between = [&](std::int64_t done) {
        const nb::gil_scoped_acquire acquired;
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
        if (!progress.is_none()) progress(done, count);
    };
    const Simulation::Stepped done = without_gil([&] { return held.advance(count, until, every, between); });
    return nb::make_tuple(done.steps, done.holds);
}

// Names and values are looked at by the C++ interface; work(simulation) runs without the GIL.
template <class Work>
auto working(const OwnedSimulation& self, Work&& work) {
    Simulation& simulation = self.get().simulation();
    return without_gil([&] { return work(simulation); });
}

void bind_values(nb::class_<OwnedSimulation>& simulation) {
    simulation
        .def("set", [](const OwnedSimulation& self, const std::string& param,
                       double value) { working(self, [&](Simulation& s) { s.set(param, value); }); })
        .def("get",
             [](const OwnedSimulation& self, const std::string& param) {
                 return working(self, [&](Simulation& s) { return s.get(param); });
             })
        .def("reduce",
             [](const OwnedSimulation& self, const std::string& reduction) {
                 return working(self, [&](Simulation& s) { return s.reduce(reduction); });
             })
        .def("iterations",
             [](const OwnedSimulation& self) {
                 nb::list all;
                 for (const Iterations& each : working(self, [](Simulation& s) { return s.iterations(); }))
                     all.append(nb::make_tuple(each.condition, each.at_most, each.total, each.most_in_step,
                                               each.steps_without_it));
                 return all;
             })
        .def("set_weights",
             [](const OwnedSimulation& self, const std::string& name, std::uintptr_t address,
                std::int64_t count) {
                 working(self, [&](Simulation& s) { s.set_weights(name, doubles_at(address, count)); });
             })
        .def("set_table",
             [](const OwnedSimulation& self, const std::string& name, std::uintptr_t address,
                std::int64_t count) {
                 working(self, [&](Simulation& s) { s.set_table(name, doubles_at(address, count)); });
             })
        .def("set_series",
             [](const OwnedSimulation& self, const std::string& name, std::uintptr_t address,
                std::int64_t count) {
                 working(self, [&](Simulation& s) { s.set_series(name, doubles_at(address, count)); });
             })
        .def("set_points",
             [](const OwnedSimulation& self, const std::string& name, std::uintptr_t address,
                std::int64_t count) {
                 working(self, [&](Simulation& s) { s.set_points(name, doubles_at(address, count)); });
             })
        .def("set_point_values",
             [](const OwnedSimulation& self, const std::string& points, const std::string& name,
                std::uintptr_t address, std::int64_t count) {
                 working(self, [&](Simulation& s) {
                     s.set_point_values(points, name, doubles_at(address, count));
                 });
             })
        .def("trace", [](const OwnedSimulation& self, const std::string& points, const std::string& name) {
            return working(self, [&](Simulation& s) { return s.trace(points, name); });
        });
}

void bind_cells(nb::class_<OwnedSimulation>& simulation) {
    simulation
        .def("write_elements",
             [](const OwnedSimulation& self, const std::string& field, std::uintptr_t address,
                std::int64_t bytes, int level) {
                 working(self,
                         [&](Simulation& s) { s.write_elements(field, memory_at(address), bytes, level); });
             })
        .def("write_view",
             [](const OwnedSimulation& self, const std::string& field, std::uintptr_t address,
                std::int64_t bytes, std::int64_t pitch, std::int64_t slice, std::int64_t volume, int level) {
                 const View view{memory_at(address), bytes, 0, pitch, slice, volume};
                 working(self, [&](Simulation& s) { s.write_view(field, view, level); });
             })
        .def("write_doubles",
             [](const OwnedSimulation& self, const std::string& field, std::uintptr_t address,
                std::int64_t count, int level) {
                 working(self, [&](Simulation& s) { s.write(field, doubles_at(address, count), level); });
             })
        .def("read_elements",
             [](const OwnedSimulation& self, const std::string& field, std::uintptr_t address,
                std::int64_t bytes, int level) {
                 working(self,
                         [&](Simulation& s) { s.read_elements(field, memory_at(address), bytes, level); });
             })
        .def("read_box",
             [](const OwnedSimulation& self, const std::string& field, Grid begin, Grid end,
                std::uintptr_t address, std::int64_t bytes, int level) {
                 const Piece box{std::move(begin), std::move(end)};
                 working(self,
                         [&](Simulation& s) { s.read_box(field, box, memory_at(address), bytes, level); });
             })
        .def("read_doubles", [](const OwnedSimulation& self, const std::string& field, std::uintptr_t address,
                                std::int64_t count, int level) {
            const std::span<double> values(static_cast<double*>(memory_at(address)),
                                           static_cast<std::size_t>(count));
            working(self, [&](Simulation& s) { s.read(field, values, level); });
        });
}

}  // namespace

void bind_simulations(nb::module_& module) {
    auto simulation =
        nb::class_<OwnedSimulation>(module, "Simulation")
            .def_static("make", &simulate, nb::arg("program"), nb::arg("devices"), nb::arg("grid"),
                        nb::arg("exchange_every").none())
            .def("advance", &advance, nb::arg("count"), nb::arg("condition").none(), nb::arg("every"),
                 nb::arg("progress").none())
            .def_prop_ro("steps_done",
                         [](const OwnedSimulation& self) {
                             return working(self, [](Simulation& s) { return s.steps_done(); });
                         })
            .def_prop_ro("pieces",
                         [](const OwnedSimulation& self) {
                             nb::list pieces;
                             for (const Piece& piece : self.get().simulation().pieces())
                                 pieces.append(nb::make_tuple(piece.begin, piece.end));
                             return pieces;
                         })
            .def("wait", [](const OwnedSimulation& self) { working(self, [](Simulation& s) { s.wait(); }); });
    bind_values(simulation);
    bind_cells(simulation);
}

}  // namespace halocline::python
