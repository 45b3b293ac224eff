#include "compiler/driver/running/pieces_engine.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

namespace halo::driver {

namespace {

class PiecesEngine final : public Engine {
public:
    PiecesEngine(const ir::Program& program, std::vector<std::unique_ptr<Engine>> engines,
                 std::unique_ptr<rt::Pieces> pieces)
        : engines_(std::move(engines)), own_(std::move(pieces)), pieces_(*own_) {
        note(program);
    }
    PiecesEngine(const ir::Program& program, rt::Pieces& pieces) : pieces_(pieces) { note(program); }

    void set_param(const std::string& name, double value) override {
        for (auto& [known, known_value] : params_)
            if (known == name) known_value = value;
        pieces_.set_param(name, value);
    }
    void set_coef(const std::string& name, const std::vector<double>& values) override {
        pieces_.set_coef(name, values);
    }
    void set_table(const std::string& name, const std::vector<double>& rows) override {
        pieces_.set_table(name, rows);
    }
    void set_points(const std::string& points, const std::vector<double>& positions) override {
        pieces_.set_points(points, positions);
    }
    void set_point_values(const std::string& points, const std::string& name,
                          const std::vector<double>& values) override {
        pieces_.set_point_values(points, name, values);
    }
    std::vector<double> trace(const std::string& points, const std::string& name) override {
        return pieces_.trace(points, name);
    }
    Extent extent() const override { return pieces_.cut().grid.extent; }
    rt::ElementType type_of(const std::string& field) const override {
        return type_in(pieces_.plan(), field);
    }
    rt::FieldGrid grid_of(const std::string& field) const override { return grid_in(pieces_.plan(), field); }
    std::vector<rt::Box> own_boxes() const override { return pieces_.own_boxes(); }
    std::vector<rt::Box> computed_boxes() const override { return pieces_.computed_boxes(); }
    void continue_from(const rt::StepsBefore& before) override {
        pieces_.continue_from(before);
        done_ = before.steps;
    }
    void go_back_to(std::int64_t step) override {
        pieces_.go_back_to(step);
        done_ = step;
    }
    bool holds(const rt::HostScalar& until) override { return holds(until, done_); }
    double reduction(const std::string& name) override { return pieces_.reduction(name); }
    std::vector<rt::RepeatCounts> repeat_counts() const override { return pieces_.repeat_counts(); }
    // Unknown where a piece has something else, as that may be in its ghosts, which nobody may have read.
    std::optional<bool> is_finite(const std::string& field) const override {
        const bool all = std::ranges::all_of(pieces_.sessions(), [&](const rt::Session* session) {
            return session->is_finite(field, 0).value_or(false);
        });
        return all ? std::optional(true) : std::nullopt;
    }
    std::int64_t whole_steps(std::int64_t steps) const override {
        return steps < pieces_.interval() ? steps : steps / pieces_.interval() * pieces_.interval();
    }
    std::vector<rt::Session*> sessions() override { return pieces_.sessions(); }
    void fill_ghosts() override { pieces_.fill_ghosts(); }
    void ghosts_due() override { pieces_.ghosts_due(); }

    // Whether a level can be copied follows from its type and from how components lie, which is the same in
    // all pieces. Whether it can be borrowed may not be: the first piece says, and others take copies then.
    bool copy_level(const std::string& field, int time, const Engine& from, const std::string& from_field,
                    int from_time) override {
        return for_all(from, [&](rt::Session& here, const rt::Session& there) {
            return here.copy_level(field, time, there, from_field, from_time);
        });
    }
    bool borrow_level(const std::string& field, const Engine& from, const std::string& from_field,
                      int from_time) override {
        return for_all(from, [&](rt::Session& here, const rt::Session& there) {
            const bool is_first = &here == pieces_.sessions().front();
            return here.borrow_level(field, there, from_field, from_time) ||
                   (!is_first && here.copy_level(field, 0, there, from_field, from_time));
        });
    }

    void step(std::int64_t count, bool with_results) override {
        pieces_.step(count, with_results);
        done_ += count;
    }
    rt::RunResult run(std::int64_t steps, const std::optional<rt::HostScalar>& until) override {
        rt::RunResult result;
        while (result.steps < steps && result.stop == rt::RunResult::Stop::steps) {
            const std::int64_t count = until ? steps_to_check(*until, steps - result.steps) : steps;
            step(count, true);
            result.steps += count;
            if (until && holds(*until, done_)) result.stop = rt::RunResult::Stop::until;
        }
        pieces_.synchronize();
        return result;
    }

private:
    void note(const ir::Program& program) {
        for (const ir::Param& param : program.params)
            params_.emplace_back(param.name, param.default_value);
        for (const ir::Statement& statement : program.statements)
            if (const auto* reduce = std::get_if<ir::Reduce>(&statement)) reductions_.push_back(reduce->name);
    }
    void upload_cells(const std::string& field, int time, const rt::Box& box, const void* elements) override {
        pieces_.upload_box(field, time, box, elements);
    }
    void download_cells(const std::string& field, int time, const rt::Box& box, void* elements) override {
        pieces_.download_box(field, time, box, elements);
    }

    template <class Work>
    bool for_all(const Engine& from, const Work& work) {
        const auto* other = dynamic_cast<const PiecesEngine*>(&from);
        if (other == nullptr || !pieces_.is_cut_like(other->pieces_)) return false;
        for (std::size_t i = 0; i < pieces_.sessions().size(); ++i)
            if (!work(*pieces_.sessions()[i], *other->pieces_.sessions()[i])) return false;
        return true;
    }

    bool reads_reductions(const rt::HostScalar& scalar) const {
        for (const rt::HostScalar::Step& step : scalar.steps)
            if (step.op == rt::HostScalar::Op::param && step.index >= static_cast<int>(params_.size()))
                return true;
        return false;
    }
    // The steps to the next check of `until`: one where it reads reductions; any other is known beforehand.
    std::int64_t steps_to_check(const rt::HostScalar& until, std::int64_t most) {
        if (reads_reductions(until)) return 1;
        for (std::int64_t count = 1; count < most; ++count)
            if (holds(until, done_ + count)) return count;
        return most;
    }
    bool holds(const rt::HostScalar& until, std::int64_t done) {
        std::vector<double> values;
        for (const auto& [name, value] : params_)
            values.push_back(value.value_or(std::nan("")));  // a session says which is missing
        const int first = static_cast<int>(values.size());
        values.resize(values.size() + reductions_.size());
        for (const rt::HostScalar::Step& step : until.steps) {
            if (step.op != rt::HostScalar::Op::param || step.index < first) continue;
            const auto index = static_cast<std::size_t>(step.index);
            values[index] = pieces_.reduction(reductions_[index - static_cast<std::size_t>(first)]);
        }
        return rt::evaluate(until, values, extent(), static_cast<double>(done)) != 0;
    }

    std::vector<std::unique_ptr<Engine>> engines_;
    std::unique_ptr<rt::Pieces> own_;
    rt::Pieces& pieces_;
    std::vector<std::pair<std::string, std::optional<double>>> params_;
    std::vector<std::string> reductions_;  // as `until` numbers them
    std::int64_t done_ = 0;
};

}  // namespace

std::unique_ptr<Engine> make_pieces_engine(const ir::Program& program,
                                           std::vector<std::unique_ptr<Engine>> engines,
                                           std::unique_ptr<rt::Pieces> pieces) {
    return std::make_unique<PiecesEngine>(program, std::move(engines), std::move(pieces));
}

std::unique_ptr<Engine> make_engine_on(const ir::Program& program, rt::Pieces& pieces) {
    return std::make_unique<PiecesEngine>(program, pieces);
}

}  // namespace halo::driver
