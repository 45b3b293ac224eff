#include "compiler/schedule/iterated_core.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "compiler/ir/analysis.h"
#include "compiler/ir/in_place.h"
#include "compiler/ir/repeats.h"
#include "compiler/ir/rewrite.h"
#include "compiler/support/error.h"

namespace halo::schedule {

namespace {

// Values that are the same in each iteration, and those of fields. All else is refused.
bool is_known_node(const ir::Expr& expr) {
    if (const auto* access = std::get_if<ir::Access>(&expr.node)) return !access->is_mapped();
    if (ir::changes_with_step(expr)) return false;
    return std::holds_alternative<ir::Constant>(expr.node) ||
           std::holds_alternative<ir::ParamRef>(expr.node) ||
           std::holds_alternative<ir::CoefElement>(expr.node) ||
           std::holds_alternative<ir::Coordinate>(expr.node) ||
           std::holds_alternative<ir::Unary>(expr.node) || std::holds_alternative<ir::Binary>(expr.node) ||
           std::holds_alternative<ir::Fma>(expr.node) || std::holds_alternative<ir::Select>(expr.node) ||
           std::holds_alternative<ir::Call>(expr.node);
}

// What the repeat carries from one iteration to the next.
struct Carried {
    ir::FieldId state;
    ir::Level now;     // in whose place it stands
    ir::FieldId next;  // what an iteration computes, before it is copied to `now`
};

// Forms the core of the repeat whose statements are [first, past).
class CoreFormer {
public:
    CoreFormer(const ir::Program& program, std::size_t first, std::size_t past)
        : program_(program), first_(first), past_(past) {}

    std::variant<TemporalCore, std::string> form() {
        const ir::Repeat& repeat = *ir::repeat_of(program_.statements[first_]);
        iterations_ = {repeat.number, repeat.count, true};
        if (std::string why = refused_repeats(); !why.empty()) return why;
        if (std::string why = find_carried(); !why.empty()) return why;
        if (std::string why = take_statements(); !why.empty()) return why;
        rewrite();
        core_.iterations = iterations_;
        core_.is_whole = iterations_.is_whole;
        return std::move(core_);
    }

private:
    std::string refused_repeats() const {
        if (program_.window.is_part()) return "pieces of a grid exchange cells after each iteration";
        for (const ir::Repeat& each : ir::repeats_of(program_.statements[first_]))
            if (ir::end_condition(program_, each) != nullptr) return "a condition ends it, or one around it";
        for (std::size_t index = first_; index < past_; ++index)
            if (ir::repeat_of(program_.statements[index])->number != iterations_.repeat)
                return "another one is within it";
        return "";
    }

    const ir::Assign* assign_at(std::size_t index) const {
        return std::get_if<ir::Assign>(&program_.statements[index]);
    }

    // What ends an iteration: copies in whose place arrays are exchanged.
    std::string find_carried() {
        last_ = past_;
        while (last_ > first_ && ir::exchanged_with(program_, last_ - 1))
            --last_;
        if (last_ == past_) return "an iteration does not end by giving whole fields their next values";
        for (std::size_t index = last_; index < past_; ++index) {
            const ir::Assign& copy = *assign_at(index);
            carried_.push_back({copy.target, {copy.target, copy.time}, *ir::exchanged_with(program_, index)});
        }
        for (const Carried& each : carried_)
            if (std::ranges::count(carried_, each.state, &Carried::state) > 1)
                return "two levels of `" + program_[each.state].name + "` are carried on";
        return "";
    }

    const Carried* carried_next(ir::FieldId field) const {
        const auto found = std::ranges::find(carried_, field, &Carried::next);
        return found == carried_.end() ? nullptr : &*found;
    }
    const Carried* carried_now(const ir::Level& level) const {
        const auto found = std::ranges::find(carried_, level, &Carried::now);
        return found == carried_.end() ? nullptr : &*found;
    }

    // The statements that the carried fields depend on, from the last to the first.
    std::string take_statements() {
        std::set<ir::Level> wanted;
        for (const Carried& each : carried_)
            wanted.insert({each.next, 0});
        std::set<ir::Level> written;  // by statements of the repeat
        for (std::size_t index = first_; index < last_; ++index)
            if (const ir::Assign* const assign = assign_at(index))
                written.insert({assign->target, assign->time});
        for (std::size_t index = last_; index-- > first_;) {
            const ir::Assign* const assign = assign_at(index);
            if (assign == nullptr || !wanted.contains({assign->target, assign->time})) {
                iterations_.is_whole = false;
                continue;
            }
            const std::string name = "`" + program_[assign->target].name + "`";
            if (assign->sweep || ir::is_partial(*assign))
                return "a statement in it is for a part of the cells, or goes along an axis";
            if (program_[assign->target].role != ir::Role::intermediate)
                return name + " is written in it and read by what comes after";
            if (!known_.emplace(assign->target, index).second) return name + " is written twice in it";
            iterations_.is_whole = iterations_.is_whole && carried_next(assign->target) != nullptr;
            taken_.push_back(index);
            if (std::string why =
                    want_reads(ir::roots_of(program_.statements[index]), index, written, wanted);
                !why.empty())
                return why;
        }
        if (known_.size() < wanted.size()) return "a field that it carries on is not computed in it";
        std::ranges::reverse(taken_);
        return "";
    }

    // Of one statement: levels that the repeat writes are wanted of statements before it.
    std::string want_reads(const std::vector<ir::ExprId>& roots, std::size_t reader,
                           const std::set<ir::Level>& written, std::set<ir::Level>& wanted) {
        for (const std::uint32_t index : ir::reached_exprs(program_, roots)) {
            const ir::Expr& expr = program_.exprs[index];
            if (!is_known_node(expr))
                return "it reads what may change with the step, a table, or another grid";
            const auto* access = std::get_if<ir::Access>(&expr.node);
            if (access == nullptr) continue;
            const ir::Level level{access->field, access->time};
            if (carried_now(level) != nullptr) continue;
            if (!written.contains(level)) {
                outside_.insert(level);
                continue;
            }
            const bool is_before = std::any_of(
                program_.statements.begin() + static_cast<std::ptrdiff_t>(first_),
                program_.statements.begin() + static_cast<std::ptrdiff_t>(reader), [&](const auto& each) {
                    const auto* assign = std::get_if<ir::Assign>(&each);
                    return assign != nullptr && ir::Level{assign->target, assign->time} == level;
                });
            if (!is_before)
                return "`" + program_[access->field].name + "` is read in it before it is written";
            wanted.insert(level);
        }
        return "";
    }

    // ---- the program

    void rewrite() {
        core_.program = program_;
        ir::Program& core = core_.program;
        core.statements.clear();
        core.repeat_ends.clear();
        for (const std::size_t index : taken_) {
            core.statements.push_back(program_.statements[index]);
            std::get<ir::Assign>(core.statements.back()).repeats.clear();
        }
        for (const ir::Level& level : outside_)
            stand_for(level);
        for (const Carried& each : carried_) {
            ir::Field& state = core.fields[each.state.index];
            state.role = ir::Role::state;
            state.history = 0;
            core_.carried.push_back(each.state);
            core_.stand_ins.push_back({{each.state, 0}, each.now});
            core_.stand_ins.push_back({{each.state, 1}, {each.next, 0}});
        }
        ir::ExprBuilder builder(core);
        for (ir::Statement& statement : core.statements) {
            ir::map_reads(core, builder, statement,
                          [&](const ir::Access& access) -> std::optional<ir::ExprId> {
                              const ir::Level own = stand_in_of({access.field, access.time});
                              return builder.access(own.field, own.time, access.offset);
                          });
            auto& assign = std::get<ir::Assign>(statement);
            const ir::Level own = stand_in_of({assign.target, assign.time});
            assign.target = own.field;
            assign.time = own.time;
        }
    }

    // The level of the core in the place of one of the program.
    ir::Level stand_in_of(const ir::Level& level) const {
        const auto found = std::ranges::find(core_.stand_ins, level, &StandIn::of);
        return found == core_.stand_ins.end() ? level : found->own;
    }

    // An input of the core for a level from outside; an input of the program is one as it is.
    void stand_for(const ir::Level& level) {
        ir::Program& core = core_.program;
        const auto [field, time] = level;
        if (program_[field].role == ir::Role::input && time == 0) return;
        const bool is_carried = std::ranges::find(carried_, field, &Carried::state) != carried_.end();
        const auto is_taken = [&](const StandIn& other) { return other.own.field == field; };
        const bool stands_for_itself = !is_carried && std::ranges::none_of(core_.stand_ins, is_taken);
        const std::string suffix = time == 0  ? "_now"
                                   : time > 0 ? "_made"
                                              : "_" + std::to_string(-time) + "_ago";
        const ir::FieldId input = stands_for_itself ? field : ir::add_let_like(core, field, suffix);
        core.fields[input.index].role = ir::Role::input;
        core.fields[input.index].history = 0;
        core_.stand_ins.push_back({{input, 0}, level});
    }

    const ir::Program& program_;
    const std::size_t first_, past_;
    std::size_t last_ = 0;  // past the statements that compute
    std::vector<Carried> carried_;
    std::vector<std::size_t> taken_;            // statements
    std::map<ir::FieldId, std::size_t> known_;  // by what they write
    std::set<ir::Level> outside_;               // levels that it reads and does not write
    Iterations iterations_;
    TemporalCore core_;
};

}  // namespace

std::variant<TemporalCore, std::string> iterated_core(const ir::Program& program) {
    std::optional<TemporalCore> best;
    std::string why_not;
    std::int64_t most = 0;
    for (std::size_t first = 0; first < program.statements.size(); ++first) {
        const std::vector<ir::Repeat>& repeats = ir::repeats_of(program.statements[first]);
        if (repeats.empty()) continue;
        const bool goes_on = first > 0 && ir::is_within(program.statements[first - 1], repeats.back().number);
        if (goes_on) continue;
        const std::size_t past = ir::end_of_repeat(program, first, repeats.size() - 1);
        auto formed = CoreFormer(program, first, past).form();
        const std::int64_t times = ir::times_in_step(program.statements[first]);
        if (auto* const why = std::get_if<std::string>(&formed)) {
            if (why_not.empty()) why_not = std::move(*why);
        } else if (times > most) {
            most = times;
            best = std::get<TemporalCore>(std::move(formed));
        }
    }
    if (best) return *std::move(best);
    return "of no `repeat` several iterations can be done at once: " + why_not;
}

}  // namespace halo::schedule
