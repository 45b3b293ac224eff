// A session of the fake driver's kernel heat_line: a line of 50 cells, periodic.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/core/session.h"
#include "runtime/cuda/cuda.h"

inline halo::rt::KernelPlan plan_of(const std::string& name) {
    halo::rt::KernelPlan plan;
    plan.name = name;
    plan.threads = {32, 4, 1};
    return plan;
}

inline halo::rt::LaunchPlan heat_plan() {
    using namespace halo::rt;
    LaunchPlan plan;
    plan.name = "heat";
    plan.params = {{"rate", 0.25}};
    FieldPlan u;
    u.name = "u";
    u.type = ElementType::f64;
    u.role = Role::state;
    u.boundary[0][0].kind = u.boundary[0][1].kind = BoundaryKind::periodic;
    u.halo[0] = {1, 1};
    plan.halo = u.halo;
    plan.fields = {u};
    plan.coefs = {{"w", "weights", ElementType::f32, {0}, {2}, {0.5, 1.5, 2.5}}};
    KernelPlan kernel = plan_of("heat_line");
    kernel.arguments.resize(4);
    kernel.arguments[0].time = 1;
    kernel.arguments[2].kind = Argument::Kind::extent;
    kernel.arguments[3].kind = Argument::Kind::scalar;
    kernel.arguments[3].type = ElementType::f64;
    kernel.arguments[3].scalar.steps = {{HostScalar::Op::param, 0, 0}};
    kernel.refresh_halos = {{0, 1}};
    plan.kernels = {kernel};
    return plan;
}

inline halo::rt::Session open_heat(halo::rt::CudaDevice& device) {
    using namespace halo::rt;
    std::vector<std::unique_ptr<Module>> modules;
    modules.push_back(device.load("fake code", "heat"));
    return Session(heat_plan(), {50, 1, 1}, device, std::move(modules));
}
