// Gradients of simulations.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings.h"
#include "halocline/halocline.hpp"
#include "owned.h"
#include "programs.h"
#include "simulations.h"

namespace halocline::python {

namespace {

// A Gradient, with the simulation of the adjoint as Python holds it: arrays of gradients that Python was
// given keep their values.
struct HeldGradient {
    HeldGradient(HeldSimulation& of, const GradientOptions& options)
        : forward(of), gradient(of.simulation(), options) {
        // Of fields that depend on nothing that is named there is no adjoint.
        if (options.of_fields.empty() || !gradient.levels().empty() || !gradient.numbers().empty())
            adjoint.emplace(std::in_place, gradient.adjoint(), of.devices());
    }

    template <class Of>
    GradientReport compute(std::int64_t steps, const Of& of) {
        GradientReport report;
        const auto work = [&] { report = gradient.compute(steps, of); };
        forward.with_own_arrays([&] { adjoint ? adjoint->get().with_own_arrays(work) : work(); });
        return report;
    }

    HeldSimulation& forward;
    Gradient gradient;
    std::optional<OwnedSimulation> adjoint;
};

using OwnedGradient = Owned<HeldGradient>;

std::span<const double> numbers_at(std::uintptr_t address, std::int64_t count) {
    return {reinterpret_cast<const double*>(address), static_cast<std::size_t>(count)};
}

// Field, level, address and bytes; elements from row to row and from plane to plane, 0 of what is in the
// host's memory.
using WeightsAt = std::tuple<std::string, int, std::uintptr_t, std::int64_t, std::int64_t, std::int64_t>;

FieldWeights weights_at(const WeightsAt& place) {
    const auto& [field, level, address, bytes, pitch, slice] = place;
    void* const memory = reinterpret_cast<void*>(address);
    if (pitch > 0) return {field, level, {memory, bytes, 0, pitch, slice}, {}};
    return {field, level, {}, {static_cast<const std::byte*>(memory), static_cast<std::size_t>(bytes)}};
}

// Field and level, with the adjoint's field and its type.
std::vector<std::tuple<std::string, int, std::string, std::string>> listed(
    const std::vector<Gradient::Level>& levels) {
    std::vector<std::tuple<std::string, int, std::string, std::string>> all;
    for (const Gradient::Level& each : levels)
        all.emplace_back(each.field, each.level, each.name, each.type == Type::f64 ? "f64" : "f32");
    return all;
}

OwnedGradient make_gradient(const OwnedSimulation& simulation, GradientOptions options) {
    HeldSimulation& held = simulation.get();
    return without_gil([&] { return OwnedGradient(std::in_place, held, options); });
}

}  // namespace

void bind_gradients(nb::module_& module) {
    nb::class_<GradientReport>(module, "GradientReport")
        .def_ro("objective", &GradientReport::objective)
        .def_ro("steps", &GradientReport::steps)
        .def_ro("steps_done_again", &GradientReport::steps_done_again)
        .def_ro("snapshots", &GradientReport::snapshots)
        .def_ro("snapshots_on_host", &GradientReport::snapshots_on_host)
        .def_ro("snapshot_bytes", &GradientReport::snapshot_bytes)
        .def_ro("seconds", &GradientReport::seconds);
    module.def("check_gradient_of_fields", [](const OwnedProgram& program, std::vector<std::string> fields,
                                              std::vector<std::string> with) {
        GradientOptions options{{}, std::move(with)};
        options.of_fields = std::move(fields);
        without_gil([&] { check_gradient(program.get(), options); });
    });
    const auto of = [](const OwnedGradient& self) -> Gradient& { return self.get().gradient; };
    nb::class_<OwnedGradient>(module, "Gradient")
        .def_static(
            "make",
            [](const OwnedSimulation& simulation, std::string objective, std::vector<std::string> with,
               bool every_step, std::optional<std::int64_t> snapshots) {
                return make_gradient(simulation,
                                     {std::move(objective), std::move(with), every_step, snapshots});
            },
            nb::arg("simulation"), nb::arg("of"), nb::arg("with_"), nb::arg("every_step"),
            nb::arg("snapshots").none(), nb::keep_alive<0, 1>())
        // Addresses of numbers, 0 where there are none.
        .def("compute",
             [](const OwnedGradient& self, std::int64_t steps, std::uintptr_t weights,
                std::uintptr_t measured, std::int64_t count) {
                 OfTrace of_trace;
                 if (weights != 0) of_trace.weights = numbers_at(weights, count);
                 if (measured != 0) of_trace.measured = numbers_at(measured, count);
                 HeldGradient& held = self.get();
                 return without_gil([&] { return held.compute(steps, of_trace); });
             })
        .def_static(
            "of_fields",
            [](const OwnedSimulation& simulation, std::vector<std::string> fields,
               std::vector<std::string> with) {
                GradientOptions options{{}, std::move(with)};
                options.of_fields = std::move(fields);
                return make_gradient(simulation, std::move(options));
            },
            nb::arg("simulation"), nb::arg("fields"), nb::arg("with_"), nb::keep_alive<0, 1>())
        .def("compute_fields",
             [](const OwnedGradient& self, std::int64_t steps, const std::vector<WeightsAt>& given) {
                 std::vector<FieldWeights> weights;
                 for (const WeightsAt& place : given)
                     weights.push_back(weights_at(place));
                 HeldGradient& held = self.get();
                 return without_gil(
                     [&] { return held.compute(steps, std::span<const FieldWeights>(weights)); });
             })
        .def_prop_ro("weights", [of](const OwnedGradient& self) { return listed(of(self).weights()); })
        .def_prop_ro("levels", [of](const OwnedGradient& self) { return listed(of(self).levels()); })
        .def("number",
             [of](const OwnedGradient& self, const std::string& name) { return of(self).number(name); })
        .def("trace",
             [of](const OwnedGradient& self, const std::string& name) { return of(self).trace(name); })
        .def("seen", [of](const OwnedGradient& self) { return of(self).seen(); })
        .def("field_name",
             [of](const OwnedGradient& self, const std::string& name) { return of(self).field_name(name); })
        .def_prop_ro("fields", [of](const OwnedGradient& self) { return of(self).fields(); })
        .def_prop_ro("numbers", [of](const OwnedGradient& self) { return of(self).numbers(); })
        .def_prop_ro("traces", [of](const OwnedGradient& self) { return of(self).traces(); })
        .def_prop_ro(
            "adjoint",
            [](const OwnedGradient& self) -> OwnedSimulation& { return self.get().adjoint.value(); },
            nb::rv_policy::reference_internal);
}

}  // namespace halocline::python
