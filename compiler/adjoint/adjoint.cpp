#include "compiler/adjoint/adjoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "compiler/adjoint/active.h"
#include "compiler/adjoint/copy.h"
#include "compiler/adjoint/flow.h"
#include "compiler/adjoint/gather.h"
#include "compiler/adjoint/injections.h"
#include "compiler/adjoint/needed.h"
#include "compiler/adjoint/past.h"
#include "compiler/adjoint/refusals.h"
#include "compiler/ir/analysis.h"

namespace halo::adjoint {

using ir::ExprId;
using ir::FieldId;
using ir::Scalar;

namespace {

class AdjointMaker {
public:
    enum class Steps { all, last, earlier };

    AdjointMaker(const ir::Program& program, const Request& request, Steps of,
                 std::vector<Adjoint::Past> pasts = {})
        : given_(needed_part(program, request)),
          request_(request),
          of_(of),
          leaves_out_objective_(of == Steps::earlier && !request.every_step),
          pasts_(std::move(pasts)),
          program_(frame_of(program)),
          a_(program_),
          names_(program),
          gather_(a_, names_) {}

    Adjoint run() {
        refuse_unsupported(given_);
        chosen_ = choose(given_, request_);
        program_.name = given_.name + "_adjoint";
        flow_ = make_flow(given_, a_, names_);
        find_active();
        for (const auto& [field, levels] : flow_.levels)
            for (const FieldId level : levels)
                gather_.set_undefined(level, free_faces(given_[field]));
        for (const Flow::Definition& each : flow_.definitions)
            gather_.set_undefined(each.field, free_faces(given_[each.source]));
        for (const Flow::Definition& each : flow_.definitions) {
            assign(each.field, each.value, 0);
            if (each.inject) program_.statements.emplace_back(*each.inject);
        }
        add_adjoint_levels();
        seed_outputs();
        for (const Flow::Objective& each : flow_.objectives)
            seed_reduction(each);
        for (const ir::Sample& each : flow_.samples)
            seed_sample(each);
        for (std::size_t i = flow_.definitions.size(); i-- > 0;)
            go_back(flow_.definitions[i]);
        for (const auto& [field, parts] : parts_)
            step_back(field, parts);
        for (const FieldId field : chosen_.fields)
            give_gradient(field);
        for (const ir::ParamId param : chosen_.params)
            give_gradient(param);
        for (const PointNumber& number : chosen_.numbers)
            if (!given_numbers_.contains(number))
                refuse_unneeded(given_[number.first].where, name_of(number));
        finish();
        return std::move(result_);
    }

private:
    void assign(FieldId target, ExprId value, int time) {
        ir::Assign assign;
        assign.target = target;
        assign.time = time;
        assign.value = a_.as(value, program_[target].type);
        program_.statements.emplace_back(std::move(assign));
    }

    // A state that what is asked for depends on.
    bool is_stepped(FieldId field) const {
        return flow_.last.contains(field) && given_[field].role == ir::Role::state;
    }

    void add_read_fields(ExprId root, std::set<FieldId>& fields) const {
        for (const std::uint32_t i : ir::reached_exprs(program_, {root}))
            if (const auto* access = std::get_if<ir::Access>(&program_.exprs[i].node))
                fields.insert(access->field);
    }

    // What depends on `with` and is needed for `of`, in the fields of the flow. A state's levels depend on
    // what the step before has left.
    void find_active() {
        std::vector<Dependence> step;
        for (const Flow::Definition& each : flow_.definitions)
            step.push_back({each.field, {each.inject ? each.inject->value : each.value, each.value}});
        for (const auto& [field, levels] : flow_.levels) {
            if (!is_stepped(field)) continue;
            step.push_back({levels.front(), {a_.read(flow_.last.at(field))}});
            for (std::size_t i = 1; i < levels.size(); ++i)
                step.push_back({levels[i], {a_.read(levels[i - 1])}});
        }
        std::set<FieldId> sources, results;
        for (const FieldId field : chosen_.fields)
            for (const FieldId level : flow_.levels.at(field))
                sources.insert(level);
        for (const FieldId field : chosen_.results)
            results.insert(flow_.last.at(field));
        for (const Flow::Objective& each : flow_.objectives)
            add_read_fields(each.value, results);
        for (const ir::Sample& each : flow_.samples)
            add_read_fields(each.value, results);
        const std::set<ir::ParamId> params(chosen_.params.begin(), chosen_.params.end());
        const std::set<PointNumber> numbers(chosen_.numbers.begin(), chosen_.numbers.end());
        const std::set<FieldId> changed = dependent_fields(program_, step, sources, params, numbers);
        const std::set<FieldId> needed = needed_fields(program_, step, results);
        std::set<FieldId> active;
        std::ranges::set_intersection(changed, needed, std::inserter(active, active.end()));
        for (const FieldId field : active) {
            if (ir::is_real(program_[field].type)) continue;
            throw RefusedError(
                program_[field].where,
                fmt::format("`{}` depends on what is named, and holds no real numbers", program_[field].name),
                "make it a field of f32 or f64");
        }
        varied_.emplace(program_, active, params, numbers);
    }

    // The adjoint of each level of each state that counts.
    void add_adjoint_levels() {
        for (const auto& [field, levels] : flow_.levels) {
            if (!is_stepped(field)) continue;
            const bool counts =
                varied_->has(flow_.last.at(field)) ||
                std::ranges::any_of(levels, [&](FieldId level) { return varied_->has(level); });
            if (!counts) continue;
            for (std::size_t past = 0; past < levels.size(); ++past) {
                const std::string name = names_.take(
                    fmt::format("{}_adj{}", given_[field].name, past == 0 ? "" : std::to_string(past)));
                const FieldId part = add_field_like(a_, levels.front(), name, ir::Role::state);
                gather_.own(part);
                parts_[field].push_back(part);
                result_.parts.push_back({given_[field].name, -static_cast<int>(past), name});
            }
            // What the step has left in the state becomes `now`.
            const FieldId last = flow_.last.at(field);
            now_[field] = a_.read(parts_[field].front());
            add_read(last, {}, {a_.number(1, program_[last].type), now_[field], {}}, last);
        }
    }

    void add_read(FieldId field, const ir::Offset& offset, const Term& term, FieldId at) {
        if (varied_->has(field)) gather_.add(field, offset, term, at);
    }

    // In the step that is undone first, or in all of them.
    ExprId in_its_steps(ExprId seed) {
        if (request_.every_step) return seed;
        const ExprId step =
            a_.builder().add({Scalar::f64, ir::Coordinate{ir::CoordinateKind::step, 0}, SourceRange{}});
        const ExprId is_first = a_.compare(ir::BinaryOp::equal, step, a_.number(0, Scalar::f64));
        return a_.select(is_first, seed, a_.number(0, Scalar::f64));
    }

    void seed_outputs() {
        for (const FieldId field : chosen_.results) {
            if (given_[field].role != ir::Role::output) continue;
            const FieldId last = flow_.last.at(field);
            const std::string name = names_.take(given_[field].name + "_adj_given");
            if (leaves_out_objective_) continue;
            const FieldId seed = add_field_like(a_, last, name, ir::Role::input);
            result_.seeds.push_back({given_[field].name, Adjoint::Kind::field, name});
            const Scalar type = program_[last].type;
            add_read(last, {}, {a_.as(in_its_steps(a_.number(1, Scalar::f64)), type), a_.read(seed), {}},
                     last);
        }
    }

    void seed_reduction(const Flow::Objective& objective) {
        ir::Param param;
        param.name = names_.take(objective.name + "_adj");
        if (leaves_out_objective_) return;
        param.default_value = 1;
        const ir::ParamId seed{static_cast<std::uint32_t>(program_.params.size())};
        result_.seeds.push_back({objective.name, Adjoint::Kind::number, param.name});
        program_.params.push_back(std::move(param));
        ExprId weight = in_its_steps(a_.builder().param(seed));
        if (objective.square_root)
            weight = a_.div(weight, a_.mul(a_.number(2, Scalar::f64), norm(objective)));
        const Scalar type = program_[objective.value].type;
        const Term term{a_.as(weight, type), a_.number(1, type), objective.where};
        pull_back_at(objective.value, term, place_of(objective.value));
    }

    // A norm's derivative is divided by the norm itself.
    ExprId norm(const Flow::Objective& objective) {
        ir::Reduce reduce;
        reduce.name = objective.name;
        reduce.square_root = true;
        reduce.value = objective.value;
        reduce.condition = objective.where;
        program_.statements.emplace_back(std::move(reduce));
        return a_.builder().add({Scalar::f64, ir::ReductionRef{{reductions_++}}, SourceRange{}});
    }

    FieldId place_of(ExprId value) const {
        return adjoint::place_of(program_, value).value_or(flow_.levels.begin()->second.front());
    }

    void pull_back_at(ExprId value, const Term& seed, FieldId at) {
        pull_back(a_, value, seed, *varied_,
                  {[&](const ir::Access& access, const Term& term) {
                       add_read(access.field, access.offset, term, at);
                   },
                   [&](ir::ParamId param, const Term& term) { add_to(param, gather_.at_cell(term), at); },
                   [&](const ir::PointColumn&, const Term&) {}});
    }

    void add_to(ir::ParamId param, ExprId value, FieldId at) {
        const ExprId here = a_.as(value, Scalar::f64);
        auto& terms = param_terms_[param];
        const auto same = std::ranges::find_if(terms, [&](const auto& each) {
            return program_[each.first].staggered == program_[at].staggered;
        });
        if (same == terms.end()) {
            terms.emplace_back(at, here);
        } else {
            same->second = a_.add(same->second, here);
        }
    }

    // ---- points: what is injected is sampled backwards, and what is sampled is injected

    std::string name_of(const PointNumber& number) const {
        const ir::Points& points = program_[number.first];
        const auto trace = static_cast<std::size_t>(number.second) - points.columns.size();
        return points.name + "." + points.traces[trace].name;
    }

    // A field that is 0 but for what `value` adds around points; it is read like another.
    ExprId injected(ir::PointsId points, ExprId value, FieldId at) {
        const FieldId field =
            add_field_like(a_, at, names_.take(program_[points].name + "_share"), ir::Role::output);
        const Scalar type = program_[value].type;
        program_.fields[field.index].type = type;
        program_.fields[field.index].storage = ir::natural_storage(type);
        assign(field, a_.number(0, type), 0);
        ir::Inject inject;
        inject.target = field;
        inject.points = points;
        inject.value = value;
        program_.statements.emplace_back(std::move(inject));
        return a_.read(field);
    }

    // The trace's numbers are multiplied with those of another, which is given.
    void seed_sample(const ir::Sample& sample) {
        const ir::Points points = program_[sample.points];
        const std::string& name = points.traces[static_cast<std::size_t>(sample.trace)].name;
        const int trace = add_trace(program_.points[sample.points.index], name + "_adj", false);
        const std::string own = program_[sample.points].traces[static_cast<std::size_t>(trace)].name;
        result_.seeds.push_back({points.name + "." + name, Adjoint::Kind::trace, points.name + "." + own});
        const Scalar type = program_[sample.value].type;
        const FieldId at = place_of(sample.value);
        const ExprId weight = a_.builder().add(
            {type, ir::PointColumn{sample.points, static_cast<int>(points.columns.size()) + trace},
             SourceRange{}});
        if (!(*varied_)(sample.value)) return;
        pull_back_at(sample.value, {a_.number(1, type), injected(sample.points, weight, at), {}}, at);
    }

    // `whole`: the adjoint of the field that is injected into.
    void go_back_through(const ir::Inject& inject, ExprId whole, FieldId at) {
        const Term seed{
            a_.number(1, program_[inject.value].type), a_.as(whole, program_[inject.value].type), {}};
        const auto share = [&](const Term& term) {
            return injected(inject.points, gather_.at_cell(term), at);
        };
        pull_back(
            a_, inject.value, seed, *varied_,
            {[&](const ir::Access& access, const Term& term) {
                 const ExprId value = share(term);
                 add_read(access.field, access.offset, {a_.number(1, program_[value].type), value, {}}, at);
             },
             [&](ir::ParamId param, const Term& term) { add_to(param, share(term), at); },
             [&](const ir::PointColumn& number, const Term& term) { sample_back(inject, number, term); }});
    }

    void sample_back(const ir::Inject& inject, const ir::PointColumn& number, const Term& term) {
        const ExprId value = gather_.at_cell(term);
        const std::string name = name_of({number.points, number.column});
        for (const std::uint32_t i : ir::reached_exprs(program_, {value}))
            if (std::holds_alternative<ir::PointColumn>(program_.exprs[i].node))
                throw RefusedError(
                    inject.where,
                    fmt::format(
                        "`{}` is multiplied with numbers of its points: that is not differentiated yet",
                        name),
                    "let the trace have them in it");
        ir::Sample sample;
        sample.points = inject.points;
        sample.trace =
            add_trace(program_.points[inject.points.index], name.substr(name.find('.') + 1) + "_adj", true);
        sample.value = value;
        const ir::Points& points = program_[inject.points];
        result_.gradients.push_back(
            {name, Adjoint::Kind::trace,
             points.name + "." + points.traces[static_cast<std::size_t>(sample.trace)].name});
        program_.statements.emplace_back(std::move(sample));
        given_numbers_.insert({number.points, number.column});
    }

    void go_back(const Flow::Definition& definition) {
        if (!gather_.has(definition.field)) return;
        const FieldId field = definition.field;
        ExprId whole = gather_.sum(field);
        // What is only another's value needs no name of its own.
        const auto* access = std::get_if<ir::Access>(&program_[whole].node);
        const bool is_plain = access != nullptr && access->offset == ir::Offset{};
        if (!is_plain && a_.reads_field(whole)) {
            const FieldId adjoint =
                add_field_like(a_, field, names_.take(program_[field].name + "_adj"), ir::Role::intermediate);
            gather_.own(adjoint);
            assign(adjoint, whole, 0);
            whole = a_.read(adjoint);
        }
        left_[field] = whole;
        const Term seed{a_.number(1, program_[field].type), whole, {}};
        pull_back_at(definition.value, seed, field);
        if (definition.inject) go_back_through(*definition.inject, whole, field);
    }

    void step_back(FieldId field, const std::vector<FieldId>& parts) {
        const std::vector<FieldId>& levels = flow_.levels.at(field);
        std::vector<ExprId> values;
        for (std::size_t i = 0; i < parts.size(); ++i)
            values.push_back(gather_.sum(levels[i]));
        const bool is_past = of_ == Steps::earlier && follows_from_now(field, parts, values);
        for (std::size_t i = 0; i + 1 < parts.size(); ++i)
            values[i] =
                a_.add(is_past ? a_step_before(a_, values[1], parts[0]) : a_.read(parts[i + 1]), values[i]);
        if (is_past) carry_past(program_.fields[parts[0].index], program_.fields[parts[1].index]);
        for (std::size_t i = 0; i < parts.size(); ++i)
            assign(parts[i], values[i], program_[parts[i]].role == ir::Role::state ? 1 : 0);
        for (Adjoint::Past& past : pasts_) {
            if (of_ != Steps::last || past.now != program_[parts[0]].name) continue;
            past.before = names_.take(past.now + "_before");
            const FieldId before = add_field_like(a_, parts[0], past.before, ir::Role::output);
            assign(before, left_.at(flow_.last.at(field)), 0);
            results_.insert(past.before);
        }
    }

    // Whether the adjoint of the past level is known from what the step before has left in that of the
    // present.
    bool follows_from_now(FieldId field, const std::vector<FieldId>& parts,
                          const std::vector<ExprId>& values) const {
        const auto left = left_.find(flow_.last.at(field));
        if (parts.size() != 2 || left == left_.end() || left->second != now_.at(field)) return false;
        std::set<FieldId> unchanging;
        for (const auto& [given, levels] : flow_.levels)
            if (given_[given].role == ir::Role::input) unchanging.insert(levels.front());
        return follows_from(program_, values[1], parts[0], unchanging);
    }

    void carry_past(ir::Field& now, ir::Field& level) {
        now.history = 1;
        level.role = ir::Role::output;
        results_.insert(level.name);
        names_.take(now.name + "_before");  // as the program of the last step does
        pasts_.push_back({now.name, level.name, ""});
    }

    // Where it has no gradient.
    void refuse_unneeded(SourceRange where, const std::string& name) const {
        if (request_.as_function || of_ == Steps::earlier) return;
        throw RefusedError(where, fmt::format("nothing that is asked for depends on `{}`", name),
                           "leave it out of what is differentiated with respect to");
    }

    void give_gradient(FieldId field) {
        const std::string& name = given_[field].name;
        const FieldId like = flow_.levels.at(field).front();
        if (given_[field].role == ir::Role::input) {
            if (!gather_.has(like)) return refuse_unneeded(given_[field].where, name);
            const FieldId sum = add_field_like(a_, like, names_.take(name + "_adj"), ir::Role::state);
            assign(sum, a_.add(a_.read(sum), gather_.sum(like)), 1);
            result_.gradients.push_back({name, Adjoint::Kind::field, program_[sum].name});
            return;
        }
        // At the start all levels of a state are equal to what it is given.
        const auto found = parts_.find(field);
        if (found == parts_.end()) return refuse_unneeded(given_[field].where, name);
        if (request_.as_function || found->second.size() == 1) {
            for (std::size_t past = 0; past < found->second.size(); ++past)
                result_.gradients.push_back({name, Adjoint::Kind::field, program_[found->second[past]].name,
                                             -static_cast<int>(past)});
            return;
        }
        const FieldId total = add_field_like(a_, like, names_.take(name + "_gradient"), ir::Role::output);
        ExprId sum = a_.number(0, program_[total].type);
        for (const FieldId part : found->second)
            sum = a_.add(sum, a_.read(part, program_[part].role == ir::Role::state ? 1 : 0));
        assign(total, sum, 0);
        result_.gradients.push_back({name, Adjoint::Kind::field, program_[total].name});
        results_.insert(program_[total].name);
    }

    // Summed over the steps in each cell, and over the cells where it is read.
    void give_gradient(ir::ParamId param) {
        const std::string& name = given_[param].name;
        const auto found = param_terms_.find(param);
        if (found == param_terms_.end()) return refuse_unneeded(given_[param].where, name);
        for (const auto& [at, term] : found->second) {
            const FieldId part = add_field_like(a_, at, names_.take(name + "_adj"), ir::Role::state);
            program_.fields[part.index].type = Scalar::f64;
            program_.fields[part.index].storage = ir::Storage::f64;
            assign(part, a_.add(a_.read(part), term), 1);
            ir::Reduce reduce;
            reduce.name = names_.take(name + "_gradient");
            reduce.value = a_.read(part, 1);
            program_.statements.emplace_back(reduce);
            result_.gradients.push_back({name, Adjoint::Kind::number, reduce.name});
        }
    }

    void finish() {
        if (of_ != Steps::all) inject_into_states(program_);
        result_.program = without_unread(program_, results_);
        complete(result_.program);
        for (const auto& [field, levels] : flow_.levels) {
            const ir::Field& given = given_[field];
            for (std::size_t past = 0; past < levels.size(); ++past) {
                const std::string& input = program_[levels[past]].name;
                if (std::ranges::count(result_.program.fields, input, &ir::Field::name) == 0) continue;
                if (given.role == ir::Role::input) {
                    result_.inputs.push_back({given.name, input});
                } else {
                    result_.levels.push_back({given.name, -static_cast<int>(past), input});
                }
            }
        }
        result_.pasts = pasts_;
        if (flow_.steps) result_.steps = program_[*flow_.steps].name;
    }

    const ir::Program given_;
    const Request& request_;
    const Steps of_;
    const bool leaves_out_objective_;
    std::vector<Adjoint::Past> pasts_;
    ir::Program program_;
    Algebra a_;
    Names names_;
    Gather gather_;
    Chosen chosen_;
    Flow flow_;
    std::optional<Varied> varied_;
    std::map<FieldId, std::vector<FieldId>> parts_;  // by state of the given program
    // By param: what its change adds at the cells of a field, one for each place in the cells.
    std::map<ir::ParamId, std::vector<std::pair<FieldId, ExprId>>> param_terms_;
    std::set<PointNumber> given_numbers_;  // of which there is a gradient
    // What the step was left, by state; and the adjoint of each value that it has made.
    std::map<FieldId, ExprId> now_, left_;
    std::set<std::string> results_;
    std::uint32_t reductions_ = 0;
    Adjoint result_;
};

}  // namespace

Adjoint make_adjoint(const ir::Program& program, const Request& request) {
    return AdjointMaker(program, request, AdjointMaker::Steps::all).run();
}

Adjoint make_adjoint_of_earlier(const ir::Program& program, const Request& request) {
    return AdjointMaker(program, request, AdjointMaker::Steps::earlier).run();
}

Adjoint make_adjoint_of_last(const ir::Program& program, const Request& request,
                             const std::vector<Adjoint::Past>& pasts) {
    return AdjointMaker(program, request, AdjointMaker::Steps::last, pasts).run();
}

}  // namespace halo::adjoint
