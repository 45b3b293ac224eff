#include "compiler/driver/running/stability.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "compiler/driver/console/arguments.h"
#include "runtime/core/box.h"

namespace halo::driver {

namespace {

using analysis::Cell;
using analysis::FrozenCell;
using analysis::LinearScheme;

constexpr std::size_t kMostFrozenCells = 16;  // that factors are frozen at
constexpr double kMaxSamples = 4096;          // of a field's init
constexpr double kRunWork = 2e8;              // before a run: a moment
constexpr double kCheckWork = 1e7;            // of a check that nobody asked for

struct Situation {
    analysis::RunValues values;
    InputRanges ranges;
    InputValue value;
    double max_work = 2e10;
    bool only_where_unstable = false;
};

// Cells in which something that varies is at its end: where the inputs are smallest and largest, and the
// corners and the middle of the grid where coordinates count.
std::vector<FrozenCell> choose_cells(const ir::Program& program, const LinearScheme& scheme,
                                     const Situation& at, std::vector<std::string>& taken) {
    std::vector<Cell> cells;
    for (ir::FieldId field : scheme.coefficient_fields()) {
        const std::optional<InputRange> range = at.ranges(field);
        if (!range) continue;
        cells.push_back(range->low_cell);
        cells.push_back(range->high_cell);
        taken.push_back(
            range->low == range->high
                ? fmt::format("{} = {:.6g}", program[field].name, range->low)
                : fmt::format("{} from {:.6g} to {:.6g}", program[field].name, range->low, range->high));
    }
    if (scheme.has_coordinates() && at.values.extent) {
        const auto& extent = *at.values.extent;
        for (unsigned corner = 0; corner < 1U << ir::kMaxRank; ++corner) {
            Cell cell{};
            for (std::size_t axis = 0; axis < cell.size(); ++axis)
                if ((corner >> axis & 1U) != 0) cell[axis] = extent[axis] - 1;
            cells.push_back(cell);
        }
        Cell middle = extent;
        for (std::int64_t& index : middle)
            index /= 2;
        cells.push_back(middle);
        taken.emplace_back("coordinates as in the corners and in the middle of the grid");
    }
    if (cells.empty()) cells.push_back({});
    std::sort(cells.begin(), cells.end());
    cells.erase(std::unique(cells.begin(), cells.end()), cells.end());
    if (cells.size() > kMostFrozenCells) cells.resize(kMostFrozenCells);
    std::vector<FrozenCell> frozen;
    for (const Cell& cell : cells) {
        FrozenCell each{cell, std::vector<std::optional<double>>(program.fields.size())};
        for (ir::FieldId field : scheme.coefficient_fields())
            each.inputs[field.index] = at.value(field, cell);
        frozen.push_back(std::move(each));
    }
    return frozen;
}

Stability examine(const ir::Program& program, const std::string& param, const Situation& at) {
    Stability result;
    result.stencil = program.name;
    std::variant<LinearScheme, analysis::Refusal> made = LinearScheme::make(program);
    if (const auto* refusal = std::get_if<analysis::Refusal>(&made)) {
        result.result = *refusal;
        return result;
    }
    LinearScheme& scheme = std::get<LinearScheme>(made);
    analysis::StabilityQuestion question;
    question.values = at.values;
    question.max_work = at.max_work;
    question.only_where_unstable = at.only_where_unstable;
    for (std::uint32_t i = 0; i < program.params.size(); ++i) {
        const std::string& name = program.params[i].name;
        const std::optional<double>& value = at.values.params[i];
        if (name == param) {
            result.param = name;
            result.value = value.value_or(1);
            question.values.params[i] = result.value == 0 ? 1 : result.value;  // where the search starts
            question.searched = ir::ParamId{i};
        } else if (value && scheme.coefficient_params().contains(ir::ParamId{i})) {
            result.taken.push_back(fmt::format("{} = {:.6g}", name, *value));
        }
    }
    question.cells = choose_cells(program, scheme, at, result.taken);
    result.leaves_out_regions = scheme.leaves_out_regions();
    result.result = analysis::find_stability(scheme, question);
    if (const auto* answer = result.answer())
        result.wave = analysis::describe_wave(answer->wave, program, scheme);
    return result;
}

analysis::RunValues default_values(const ir::Program& program) {
    analysis::RunValues values;
    for (const ir::Param& param : program.params)
        values.params.push_back(param.default_value);
    for (const ir::Coef& coef : program.coefs)
        values.coefs.push_back(coef.defaults);
    return values;
}

template <class Declarations, class Values, class Value>
void set_named(const Declarations& declared, Values& values, const std::string& name, const Value& value) {
    for (std::size_t i = 0; i < declared.size(); ++i)
        if (declared[i].name == name) values[i] = value;
}

// Samples a field's init in a lattice of cells that includes the corners of the grid.
class InitSampler {
public:
    InitSampler(const ir::Program& program, const sema::RunSpec* run, const analysis::RunValues& values)
        : program_(program), extent_(values.extent.value_or(rt::Extent{})) {
        if (run == nullptr || !run->init || !values.extent) return;
        init_ = &*run->init;
        analysis::RunValues own = default_values(*init_);
        own.extent = values.extent;
        for (std::size_t i = 0; i < program.params.size(); ++i)
            set_named(init_->params, own.params, program.params[i].name, values.params[i]);
        for (std::size_t i = 0; i < program.coefs.size(); ++i)
            set_named(init_->coefs, own.coefs, program.coefs[i].name, values.coefs[i]);
        evaluator_.emplace(*init_, std::move(own));
        for (const sema::Load& load : run->loads)
            loaded_.push_back(load.field);
    }

    std::optional<double> value(ir::FieldId field, const Cell& cell) {
        const std::string& name = program_[field].name;
        if (std::find(loaded_.begin(), loaded_.end(), name) != loaded_.end()) return std::nullopt;
        if (init_ == nullptr) return std::nullopt;
        for (const ir::Statement& statement : init_->statements) {
            const auto* assign = std::get_if<ir::Assign>(&statement);
            if (assign && (*init_)[assign->target].name == name)
                return evaluator_->value(assign->value, cell);
        }
        return 0;  // nothing fills it
    }

    std::optional<InputRange> range(ir::FieldId field) {
        const auto per_axis = static_cast<std::int64_t>(std::pow(kMaxSamples, 1.0 / program_.rank()));
        std::array<std::vector<std::int64_t>, ir::kMaxRank> lattice;
        for (std::size_t axis = 0; axis < lattice.size(); ++axis) {
            const std::int64_t cells = extent_[axis], points = std::min(cells, per_axis);
            for (std::int64_t i = 0; i < points; ++i)
                lattice[axis].push_back(points == 1 ? 0 : i * (cells - 1) / (points - 1));
        }
        std::optional<InputRange> range;
        rt::Box points;
        for (std::size_t axis = 0; axis < lattice.size(); ++axis)
            points.end[axis] = static_cast<std::int64_t>(lattice[axis].size());
        Cell point{};
        do {
            Cell cell;
            for (std::size_t axis = 0; axis < lattice.size(); ++axis)
                cell[axis] = lattice[axis][static_cast<std::size_t>(point[axis])];
            const std::optional<double> here = value(field, cell);
            if (!here) return std::nullopt;
            if (!range) range = InputRange{cell, cell, *here, *here};
            if (*here < range->low) std::tie(range->low, range->low_cell) = std::pair(*here, cell);
            if (*here > range->high) std::tie(range->high, range->high_cell) = std::pair(*here, cell);
        } while (rt::advance(point, points, 0));
        return range;
    }

private:
    const ir::Program& program_;
    Cell extent_;
    const ir::Program* init_ = nullptr;
    std::optional<analysis::PointEvaluator> evaluator_;
    std::vector<std::string> loaded_;
};

}  // namespace

bool Stability::is_exceeded() const {
    const auto* found = answer();
    return found && found->kind == analysis::StabilityAnswer::Kind::bounded &&
           value > found->bound * (1 + 1e-6);
}

namespace {

Stability of_spec(const CheckedSpec& spec, const sema::AnalyzedStencil& stencil, const std::string& param,
                  Situation at) {
    const ir::Program& program = stencil.program;
    const sema::RunSpec* run = spec.analysis.find_run(program.name);
    at.values = default_values(program);
    if (run != nullptr) {
        at.values.extent = run->grid;
        for (const sema::ParamOverride& given : run->params)
            set_named(program.params, at.values.params, given.name, std::optional<double>(given.value));
        for (const sema::CoefOverride& given : run->coefs)
            set_named(program.coefs, at.values.coefs, given.name, given.values);
    }
    InitSampler sampler(program, run, at.values);
    at.ranges = [&](ir::FieldId field) { return sampler.range(field); };
    at.value = [&](ir::FieldId field, const Cell& cell) { return sampler.value(field, cell); };
    return examine(program, param, at);
}

}  // namespace

Stability stability_of_spec(const CheckedSpec& spec, const sema::AnalyzedStencil& stencil,
                            const std::string& param) {
    return of_spec(spec, stencil, param, {});
}

std::optional<Stability> quick_stability_of_spec(const CheckedSpec& spec,
                                                 const sema::AnalyzedStencil& stencil) {
    const sema::RunSpec* run = spec.analysis.find_run(stencil.program.name);
    const auto is_dt = [](const auto& param) { return param.name == "dt"; };
    const bool is_given = run != nullptr && std::ranges::any_of(run->params, is_dt);
    const auto dt = std::ranges::find_if(stencil.program.params, is_dt);
    if (dt == stencil.program.params.end() || (!dt->default_value && !is_given)) return std::nullopt;
    Situation at;
    at.max_work = kCheckWork;
    at.only_where_unstable = true;
    return of_spec(spec, stencil, "dt", std::move(at));
}

Stability stability_of_run(const RunRequest& request, const ir::Program& program, const InputRanges& ranges,
                           const InputValue& value) {
    Situation at{default_values(program), ranges, value, kRunWork, true};
    at.values.extent = request.extent;
    for (const auto& [name, given] : request.params)
        set_named(program.params, at.values.params, name, std::optional<double>(given));
    for (const auto& [name, given] : request.coefs)
        set_named(program.coefs, at.values.coefs, name, given);
    return examine(program, "dt", at);
}

// ---- words
// ------------------------------------------------------------------------------------------------------

std::string format_bound(double bound) {
    std::string text = fmt::format("{:.6g}", bound);
    // Rounded to nearest it may lie above; a few parts in a million below is where it then goes.
    for (double lower = bound; std::strtod(text.c_str(), nullptr) > bound * (1 + 1e-8); lower -= bound * 1e-6)
        text = fmt::format("{:.6g}", lower);
    return text;
}

namespace {

std::string verdict(const Stability& s, const analysis::StabilityAnswer& answer) {
    using Kind = analysis::StabilityAnswer::Kind;
    const std::string now = s.param ? fmt::format("{} = {:.6g}", *s.param, s.value) : "";
    switch (answer.kind) {
        case Kind::bounded:
            return fmt::format("stable for {} up to {}; {} is {}", *s.param, format_bound(answer.bound), now,
                               s.is_exceeded() ? "above it" : "within");
        case Kind::always:
            return fmt::format("stable for any {} that was tried", *s.param);
        case Kind::never:
            return fmt::format("some waves grow whatever {} is: with {} by a factor {:.6g} in each step",
                               *s.param, now, answer.growth);
        case Kind::as_it_is:
            break;
    }
    if (answer.is_stable()) return "stable as it is: no wave grows";
    return fmt::format("not stable: some waves grow by a factor {:.6g} in each step", answer.growth);
}

std::string wave_words(const Stability& s, const analysis::StabilityAnswer& answer) {
    using Kind = analysis::StabilityAnswer::Kind;
    if (answer.kind == Kind::always || (answer.kind == Kind::as_it_is && answer.is_stable())) return "";
    return fmt::format("\n  {}: the wave that {}",
                       answer.kind == Kind::bounded ? "breaks first above it" : "grows most", s.wave);
}

}  // namespace

std::string stability_text(const Stability& s, const SourceFile& source) {
    if (const auto* refusal = std::get_if<analysis::Refusal>(&s.result)) {
        std::string text = fmt::format("{}: no bound: {}", s.stencil, refusal->reason);
        if (refusal->where.begin == refusal->where.end) return text;
        const LineColumn at = source.line_column(refusal->where.begin);
        return text + fmt::format("\n  {}:{}:{}: {}", source.name(), at.line, at.column,
                                  source.text(refusal->where));
    }
    const analysis::StabilityAnswer& answer = *s.answer();
    std::string text = fmt::format("{}: {}", s.stencil, verdict(s, answer)) + wave_words(s, answer);
    if (!s.taken.empty()) text += fmt::format("\n  with {}", join(s.taken, ", "));
    if (s.leaves_out_regions) text += "\n  without the statements for parts of the grid";
    return text;
}

std::string stability_warning(const Stability& s) {
    if (!s.is_exceeded()) return "";
    return fmt::format(
        "{} = {:.6g} is above {}, the largest value with which {} is stable: the wave that {} will grow",
        *s.param, s.value, format_bound(s.answer()->bound), s.stencil, s.wave);
}

}  // namespace halo::driver
