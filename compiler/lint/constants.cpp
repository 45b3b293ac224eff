#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <optional>
#include <string>

#include "compiler/analysis/evaluate.h"
#include "compiler/ir/analysis.h"
#include "compiler/ir/constants.h"
#include "compiler/lint/parts.h"

namespace halo::lint {

namespace {

using ir::ExprId;

// Numbers above it are seldom meant to the last digit.
constexpr double kLargestWhole = 1e6;

std::vector<ExprId> all_roots(const ir::Program& program) {
    std::vector<ExprId> roots;
    for (const ir::Statement& statement : program.statements) {
        std::visit([&](const auto& node) { roots.push_back(node.value); }, statement);
        if (const auto* assign = std::get_if<ir::Assign>(&statement); assign && assign->condition)
            roots.push_back(*assign->condition);
    }
    for (const ir::RepeatEnd& end : program.repeat_ends)
        roots.push_back(end.until);
    return roots;
}

class LostDigits {
public:
    LostDigits(const ir::Program& program, const sema::RunSpec* run, DiagnosticSink& sink)
        : program_(program),
          sink_(sink),
          exact_(ir::exact_values(program)),
          uniform_(ir::uniform_exprs(program)),
          evaluator_(program, values(program, run)) {}

    void run() {
        const std::vector<bool> reachable = ir::reachable_exprs(program_, all_roots(program_));
        for (std::uint32_t i = 0; i < program_.exprs.size(); ++i) {
            if (!reachable[i]) continue;
            const ir::Expr& expr = program_.exprs[i];
            const auto* unary = std::get_if<ir::Unary>(&expr.node);
            const bool rounds = unary && unary->op == ir::UnaryOp::convert && expr.type == ir::Scalar::f32;
            if (rounds && uniform_[unary->operand.index] && !exact_[unary->operand.index])
                check_scalar(unary->operand);
            if (exact_[i]) continue;
            ir::for_each_operand(expr, [&](ExprId operand) { check_number(operand); });
        }
        for (ExprId root : all_roots(program_))
            check_number(root);
    }

private:
    static analysis::RunValues values(const ir::Program& program, const sema::RunSpec* run) {
        analysis::RunValues result;
        for (const ir::Param& param : program.params) {
            result.params.push_back(param.default_value);
            if (run == nullptr) continue;
            for (const sema::ParamOverride& given : run->params)
                if (given.name == param.name) result.params.back() = given.value;
        }
        for (const ir::Coef& coef : program.coefs)
            result.coefs.push_back(coef.defaults);
        if (run != nullptr) result.extent = run->grid;
        return result;
    }

    // A number that is exact so far and is rounded here.
    void check_number(ExprId id) {
        const std::optional<Rational>& value = exact_[id.index];
        if (!value || program_[id].type != ir::Scalar::f32) return;
        report(program_[id].where, value->to_double(), value->to_float(), !value->is_integer());
    }

    // Made of params: computed in f64 and rounded here.
    void check_scalar(ExprId id) {
        const std::optional<double> value = evaluator_.value(id, {});
        if (!value || !std::isfinite(*value)) return;
        report(program_[id].where, *value, static_cast<float>(*value), false);
    }

    void report(SourceRange where, double value, float rounded, bool may_lose) {
        std::string what;
        if (rounded == 0 && value != 0) {
            what = fmt::format("{:.6g} is 0 in f32", value);
        } else if (std::isinf(rounded)) {
            what = fmt::format("{:.6g} is infinite in f32", value);
        } else if (rounded != 0 && std::abs(rounded) < std::numeric_limits<float>::min()) {
            what = fmt::format("{:.6g} has few digits left in f32", value);
        } else if (may_lose && std::floor(rounded) == rounded && std::abs(value) < kLargestWhole) {
            what = fmt::format("{:.12g} is {} in f32", value, rounded);
        } else {
            return;
        }
        sink_.report(DiagnosticKind::lost_digits, where, what)
            .note(
                "f32 holds 1e-38 to 3e38 and tells numbers apart that differ by 6e-8 of their size; f64 "
                "holds more");
    }

    const ir::Program& program_;
    DiagnosticSink& sink_;
    std::vector<std::optional<Rational>> exact_;
    std::vector<bool> uniform_;
    analysis::PointEvaluator evaluator_;
};

}  // namespace

void find_lost_digits(const ir::Program& program, const sema::RunSpec* run, DiagnosticSink& sink) {
    LostDigits(program, run, sink).run();
}

}  // namespace halo::lint
