#include "compiler/driver/running/until_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "compiler/analysis/evaluate.h"
#include "compiler/ir/analysis.h"

namespace halo::driver {

std::string why_until_is_not_finite(const sema::Until& until, const SourceFile& source,
                                    const std::vector<std::pair<std::string, double>>& params,
                                    const rt::Extent& extent) {
    analysis::RunValues values;
    for (const ir::Param& param : until.host.params) {  // reductions are among them, and have none
        const auto given = std::ranges::find(params, param.name, &std::pair<std::string, double>::first);
        values.params.push_back(given == params.end() ? param.default_value : std::optional(given->second));
    }
    for (const ir::Coef& coef : until.host.coefs)
        values.coefs.push_back(coef.defaults);
    values.extent = extent;
    analysis::PointEvaluator evaluator(until.host, values);
    for (const std::uint32_t index : ir::reached_exprs(until.host, {until.condition})) {
        const std::optional<double> value = evaluator.value({index}, {});
        if (!value || std::isfinite(*value)) continue;
        std::string with;
        for (const std::uint32_t part : ir::reached_exprs(until.host, {{index}})) {
            const auto* param = std::get_if<ir::ParamRef>(&until.host.exprs[part].node);
            if (param == nullptr) continue;
            with += fmt::format("{}{} = {}", with.empty() ? ", with " : ", ", until.host[param->param].name,
                                *values.params[param->param.index]);
        }
        return fmt::format("`{}` in `until {}` is {}{}", source.text(until.host.exprs[index].where),
                           source.text(until.where), std::isnan(*value) ? "not a number" : "infinite", with);
    }
    return {};
}

}  // namespace halo::driver
