// What a stencil of four axes may have: the list is closed, and all else is refused.
#include <fmt/format.h>

#include <optional>
#include <string>

#include "compiler/ir/analysis.h"
#include "compiler/sema/stencil_analyzer.h"

namespace halo::sema {

namespace {

constexpr int kUsualAxes = 3;  // of which a stencil may have all that the language has

template <class... Kinds>
struct OneOf : Kinds... {
    using Kinds::operator()...;
};

using Refused = std::optional<std::string>;

// What is refused of a node, or nothing.
Refused refused_value(const ir::Expr& expr) {
    return std::visit(
        OneOf{[](const ir::Constant&) -> Refused { return {}; },
              [](const ir::ParamRef&) -> Refused { return {}; },
              [](const ir::CoefElement&) -> Refused { return {}; },
              [](const ir::Access& access) -> Refused {
                  if (access.is_mapped()) return "reading another grid is";
                  return {};
              },
              [](const ir::Coordinate&) -> Refused { return {}; },
              [](const ir::Unary&) -> Refused { return {}; }, [](const ir::Binary&) -> Refused { return {}; },
              [](const ir::Fma&) -> Refused { return {}; }, [](const ir::Select&) -> Refused { return {}; },
              [](const ir::Call&) -> Refused { return {}; },
              [](const ir::ReductionRef&) -> Refused { return {}; },
              [](const ir::TableSum&) -> Refused { return "a sum over a table is"; },
              [](const ir::TableColumn&) -> Refused { return "a sum over a table is"; },
              [](const ir::SeriesValue&) -> Refused { return {}; },
              [](const ir::Noise&) -> Refused { return "noise is"; },
              [](const ir::PointColumn&) -> Refused { return "a point is"; }},
        expr.node);
}

Refused refused_statement(const ir::Statement& statement) {
    return std::visit(OneOf{[](const ir::Assign& assign) -> Refused {
                                if (assign.sweep) return "a sweep is";
                                return {};
                            },
                            [](const ir::Reduce&) -> Refused { return {}; },
                            [](const ir::Inject&) -> Refused { return "injecting at points is"; },
                            [](const ir::Sample&) -> Refused { return "sampling at points is"; }},
                      statement);
}

}  // namespace

void StencilAnalyzer::check_four_axes() {
    if (program_.rank() <= kUsualAxes) return;
    const auto refuse = [&](SourceRange where, const std::string& what) {
        sink_.report(DiagnosticKind::not_built_yet, where,
                     fmt::format("{} not built yet in a stencil of {} axes", what, program_.rank()));
    };
    if (!program_.stretched.empty())
        return refuse(symbols_.stencil().name.where, "a spacing that differs from cell to cell is");
    for (const ir::Field& field : program_.fields)
        if (field.grid.factor != 1) return refuse(field.where, "a coarser grid is");
    if (!program_.points.empty()) return refuse(program_.points.front().where, "a set of points is");
    for (const ir::Statement& statement : program_.statements) {
        const SourceRange where = std::visit([](const auto& node) { return node.where; }, statement);
        if (const Refused what = refused_statement(statement)) return refuse(where, *what);
        for (const std::uint32_t i : ir::reached_exprs(program_, ir::roots_of(statement))) {
            const ir::Expr& expr = program_.exprs[i];
            if (const Refused what = refused_value(expr))
                return refuse(expr.where.end != 0 ? expr.where : where, *what);
        }
    }
    for (const Step& step : steps_)
        if (const auto* solve = std::get_if<syntax::SolveStatement>(step.statement))
            return refuse(solve->where, "`solve` is");
}

}  // namespace halo::sema
