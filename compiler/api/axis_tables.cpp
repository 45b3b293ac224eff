#include "compiler/api/axis_tables.h"

#include <utility>
#include <variant>

#include "compiler/api/errors.h"
#include "compiler/api/simulation_engine.h"
#include "compiler/driver/running/stretched_axes.h"
#include "compiler/ir/analysis.h"

namespace halocline::detail {

namespace driver = halo::driver;
namespace ir = halo::ir;

namespace {

// The names of the params and coefficients that these expressions read.
void add_names(std::set<std::string>& names, const ir::Program& program,
               const std::vector<std::uint32_t>& exprs) {
    for (const std::uint32_t i : exprs) {
        const ir::Expr& expr = program.exprs[i];
        if (const auto* param = std::get_if<ir::ParamRef>(&expr.node))
            names.insert(program.params[param->param.index].name);
        if (const auto* element = std::get_if<ir::CoefElement>(&expr.node))
            names.insert(program.coefs[element->coef.index].name);
    }
}

}  // namespace

AxisTables::AxisTables(SimulationState& simulation, const ir::Program& program)
    : simulation_(simulation), program_(program) {
    for (const ir::StretchedAxis& axis : program.stretched) {
        const ir::ExprId origin = program.axes[static_cast<std::size_t>(axis.axis)].origin;
        add_names(follows_from_, program, ir::reached_exprs(program, {origin}));
        if (axis.formula) {
            const auto& assign = std::get<ir::Assign>(axis.formula->statements.front());
            add_names(follows_from_, *axis.formula, ir::reached_exprs(*axis.formula, {assign.value}));
        } else {
            follows_from_.insert(axis.field);
        }
    }
}

void AxisTables::fill() {
    if (!is_due_ && !is_shared_) return;
    translated_of_compiler([&] {
        driver::RunRequest request;
        request.name = program_.name;
        request.extent = simulation_.extent;
        for (const ParamInfo& param : simulation_.known_params)
            request.params.emplace_back(param.name, simulation_.get(param.name));
        request.coefs.assign(simulation_.given.weights.begin(), simulation_.given.weights.end());
        SimulationEngine engine(simulation_, program_);
        std::map<int, ir::AxisPoints> points = driver::points_of_axes(engine, program_, request);
        if (points != points_) {
            points_.clear();
            driver::fill_axis_tables(engine, program_, points, halo::rt::whole_box(simulation_.extent));
            points_ = std::move(points);
        }
        is_due_ = false;
    });
}

}  // namespace halocline::detail
