#include "compiler/driver/tuning/tune_inputs.h"

#include <algorithm>

#include "compiler/driver/running/initial_data.h"
#include "compiler/driver/running/point_data.h"
#include "compiler/driver/running/table_data.h"
#include "compiler/driver/tuning/tune_random.h"
#include "compiler/ir/analysis.h"
#include "compiler/lower/shared/host_scalar.h"
#include "compiler/support/error.h"

namespace halo::driver {

namespace {

constexpr std::size_t kSmallRows = 37;  // of a table, for a small grid

// Records what it is given.
class Recorder final : public Engine {
public:
    explicit Recorder(TuneInputs& inputs) : inputs_(inputs) {}
    void set_param(const std::string&, double) override {}
    void set_coef(const std::string&, const std::vector<double>&) override {}
    void set_table(const std::string& name, const std::vector<double>& rows) override {
        inputs_.tables.emplace_back(name, rows);
    }
    void set_points(const std::string& points, const std::vector<double>& positions) override {
        inputs_.places.emplace_back(points, positions);
    }
    void set_point_values(const std::string& points, const std::string& name,
                          const std::vector<double>& values) override {
        inputs_.point_values.push_back({points, name, values});
    }
    std::vector<double> trace(const std::string&, const std::string&) override {
        return refuse<std::vector<double>>();
    }
    Extent extent() const override { return refuse<Extent>(); }
    rt::ElementType type_of(const std::string&) const override { return refuse<rt::ElementType>(); }
    rt::FieldGrid grid_of(const std::string&) const override { return refuse<rt::FieldGrid>(); }
    void continue_from(const rt::StepsBefore&) override { refuse<int>(); }
    bool holds(const rt::HostScalar&) override { return refuse<bool>(); }
    rt::RunResult run(std::int64_t, const std::optional<rt::HostScalar>&) override {
        return refuse<rt::RunResult>();
    }
    double reduction(const std::string&) override { return refuse<double>(); }

private:
    void upload_cells(const std::string&, int, const rt::Box&, const void*) override {}
    void download_cells(const std::string&, int, const rt::Box&, void*) override {}
    template <class Value>
    [[noreturn]] static Value refuse() {
        throw InternalError("what takes down its inputs cannot be run");
    }
    TuneInputs& inputs_;
};

double param_of(const TuneInputs& inputs, const ir::Param& param) {
    for (const auto& [name, value] : inputs.params)
        if (name == param.name) return value;
    return param.default_value.value_or(1);
}

std::vector<double> random_places(const ir::Program& program, const TuneInputs& inputs, const Extent& extent,
                                  int count, Random& random) {
    std::vector<double> params, places;
    for (const ir::Param& param : program.params)
        params.push_back(param_of(inputs, param));
    for (int point = 0; point < count; ++point) {
        for (std::size_t axis = 0; axis < program.axes.size(); ++axis) {
            const ir::Axis& declared = program.axes[axis];
            const double spacing =
                rt::evaluate(lower::host_scalar(program, declared.spacing), params, extent);
            const double origin = rt::evaluate(lower::host_scalar(program, declared.origin), params, extent);
            places.push_back(origin + spacing * random.unit() * static_cast<double>(extent[axis] - 1));
        }
    }
    return places;
}

std::vector<double> random_numbers(std::size_t count, Random& random) {
    std::vector<double> numbers(count);
    for (double& number : numbers)
        number = 0.5 + random.unit();
    return numbers;
}

}  // namespace

void TuneInputs::upload_to(Engine& engine, const Engine* source) const {
    for (const auto& [name, value] : params)
        engine.set_param(name, value);
    for (const auto& [name, values] : coefs)
        engine.set_coef(name, values);
    for (const auto& [name, rows] : tables)
        engine.set_table(name, rows);
    for (const auto& [points, positions] : places)
        engine.set_points(points, positions);
    for (const PointValues& each : point_values)
        engine.set_point_values(each.points, each.name, each.values);
    for (const FieldLevel& level : fields) {
        const bool copied =
            source != nullptr && engine.copy_level(level.field, level.time, *source, level.field, level.time);
        if (!copied) engine.upload(level.field, level.time, level.values);
    }
}

TuneInputs run_inputs(const ir::Program& program, const sema::RunSpec* run, const RunRequest& request,
                      Machine& machine) {
    TuneInputs inputs = inputs_without_fields(program, run, request, machine);
    inputs.fields = start_fields(program, inputs.start, request.extent, &machine);
    return inputs;
}

TuneInputs inputs_without_fields(const ir::Program& program, const sema::RunSpec* run,
                                 const RunRequest& request, Machine& machine) {
    TuneInputs inputs;
    if (run != nullptr && run->init) inputs.start = {&*run->init, &request, false};
    inputs.params = request.params;
    inputs.coefs = request.coefs;
    Recorder recorder(inputs);
    fill_tables(recorder, program, run, request, machine);
    fill_points(recorder, program, run, request, machine);
    return inputs;
}

TuneInputs small_inputs(const ir::Program& program, const TuneInputs& of_run, const Extent& extent, int steps,
                        bool calm) {
    constexpr int kPoints = 9;
    TuneInputs inputs;
    inputs.start = of_run.start;
    inputs.start.calm = calm;
    inputs.fields = start_fields(program, inputs.start, extent, nullptr);
    inputs.params = of_run.params;
    inputs.coefs = of_run.coefs;
    for (const auto& [name, rows] : of_run.tables) {
        const auto table =
            std::find_if(program.tables.begin(), program.tables.end(),
                         [&, &table_name = name](const ir::Table& each) { return each.name == table_name; });
        const std::size_t most = kSmallRows * ir::given_columns(*table);
        inputs.tables.emplace_back(
            name,
            std::vector<double>(rows.begin(), rows.begin() + std::ptrdiff_t(std::min(most, rows.size()))));
    }
    Random random(99);
    for (const ir::Points& points : program.points) {
        inputs.places.emplace_back(points.name, random_places(program, of_run, extent, kPoints, random));
        for (const std::string& column : points.columns)
            inputs.point_values.push_back({points.name, column, random_numbers(kPoints, random)});
        for (const ir::Points::Trace& trace : points.traces) {
            if (trace.sampled) continue;
            inputs.point_values.push_back(
                {points.name, trace.name, random_numbers(static_cast<std::size_t>(kPoints * steps), random)});
        }
    }
    return inputs;
}

std::vector<std::pair<std::string, int>> kept_levels(const ir::Program& program) {
    std::vector<std::pair<std::string, int>> levels;
    for (const ir::Field& field : program.fields) {
        if (field.role == ir::Role::intermediate) continue;
        for (int time = 0; time >= -field.history; --time)
            levels.emplace_back(field.name, time);
    }
    return levels;
}

TuneResults results_of(Engine& engine, const ir::Program& program) {
    TuneResults results = results_without_fields(engine, program);
    for (const auto& [name, time] : kept_levels(program))
        results.fields.push_back({name, time, engine.download(name, time)});
    return results;
}

TuneResults results_from(const TuneInputs& inputs, Engine& engine, const ir::Program& program, int steps) {
    inputs.upload_to(engine);
    engine.run(steps, std::nullopt);
    return results_of(engine, program);
}

TuneResults results_without_fields(Engine& engine, const ir::Program& program) {
    TuneResults results;
    for (const ir::Points& points : program.points) {
        for (const ir::Points::Trace& trace : points.traces) {
            if (trace.sampled)
                results.traces.emplace_back(points.name + "." + trace.name,
                                            engine.trace(points.name, trace.name));
        }
    }
    for (const ir::Statement& statement : program.statements) {
        if (const auto* reduce = std::get_if<ir::Reduce>(&statement))
            results.reductions.push_back(
                {reduce->name, engine.reduction(reduce->name), reduce->op == ir::ReduceOp::sum});
    }
    return results;
}

}  // namespace halo::driver
