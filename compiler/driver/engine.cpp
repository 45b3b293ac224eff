#include "compiler/driver/engine.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <optional>
#include <utility>

#include "compiler/driver/progress.h"
#include "compiler/ir/interpreter.h"

namespace halo::driver {

namespace {

rt::ElementType element_type(ir::Scalar type) {
    return type == ir::Scalar::f32 ? rt::ElementType::f32 : rt::ElementType::f64;
}

class SessionEngine : public Engine {
public:
    explicit SessionEngine(rt::Session session) : session_(std::move(session)) {}

    void set_param(const std::string& name, double value) override { session_.set_param(name, value); }
    void set_coef(const std::string& name, const std::vector<double>& values) override {
        session_.set_coef(name, values);
    }
    void set_table(const std::string& name, const std::vector<double>& rows) override {
        session_.set_table(name, rows);
    }
    void upload(const std::string& field, int time, const FieldValues& values) override {
        if (values.type == rt::ElementType::f32) {
            session_.upload(field, time, std::span<const float>(values.f32));
        } else {
            session_.upload(field, time, std::span<const double>(values.f64));
        }
    }
    FieldValues download(const std::string& field, int time) override {
        FieldValues values;
        for (const rt::FieldPlan& plan : session_.plan().fields) {
            if (plan.name == field) values.type = plan.type;
        }
        if (values.type == rt::ElementType::f32) {
            values.f32.resize(static_cast<std::size_t>(session_.cells()));
            session_.download(field, time, std::span<float>(values.f32));
        } else {
            values.f64.resize(static_cast<std::size_t>(session_.cells()));
            session_.download(field, time, std::span<double>(values.f64));
        }
        return values;
    }
    rt::RunResult run(std::int64_t steps, const std::optional<rt::HostScalar>& until) override {
        rt::RunOptions options;
        options.steps = steps;
        options.until = until;
        rt::RunResult result = session_.run(options);
        session_.synchronize();
        return result;
    }
    double reduction(const std::string& name) override { return session_.reduction(name); }

private:
    rt::Session session_;
};

// What the kernel reckons can be had without swapping; 0 where it does not say.
std::int64_t available_memory() {
    std::int64_t kilobytes = 0;
    if (std::FILE* file = std::fopen("/proc/meminfo", "r")) {
        std::array<char, 256> line{};
        long long value = 0;
        while (std::fgets(line.data(), line.size(), file) != nullptr) {
            if (std::sscanf(line.data(), "MemAvailable: %lld kB", &value) == 1) kilobytes = value;
        }
        std::fclose(file);
    }
    return kilobytes * 1024;
}

void require_memory(const ir::Program& program, const Extent& extent) {
    double levels = 0;
    for (const ir::Field& field : program.fields)
        levels += 1 + field.history + (field.role == ir::Role::state ? 1 : 0);
    double needed = levels * 8;
    for (std::int64_t cells : extent)
        needed *= static_cast<double>(cells);
    auto available = static_cast<double>(available_memory());
    if (available > 0 && needed > 0.9 * available) {
        throw rt::Error(rt::ErrorCode::out_of_memory,
                        fmt::format("the grid needs {} of memory in the interpreter, and {} are free",
                                    format_bytes(needed), format_bytes(available)));
    }
}

class InterpreterEngine : public Engine {
public:
    InterpreterEngine(ir::Program program, const Extent& extent)
        : program_(std::move(program)),
          extent_(extent),
          interpreter_(program_, extent, ir::Arithmetic::declared) {
        for (const ir::Param& param : program_.params)
            params_.push_back(param.default_value);
    }

    void set_param(const std::string& name, double value) override {
        for (std::size_t i = 0; i < program_.params.size(); ++i) {
            if (program_.params[i].name == name) params_[i] = value;
        }
        interpreter_.set_param(name, value);
    }
    void set_coef(const std::string& name, const std::vector<double>& values) override {
        interpreter_.set_coef(name, values);
    }
    void set_table(const std::string& name, const std::vector<double>& rows) override {
        interpreter_.set_table(name, rows);
    }
    void upload(const std::string& field, int time, const FieldValues& values) override {
        std::vector<double>& level = interpreter_.field(field, time);
        for (std::size_t i = 0; i < level.size(); ++i)
            level[i] = values.at(static_cast<std::int64_t>(i));
    }
    FieldValues download(const std::string& field, int time) override {
        return FieldValues::rounded(element_type(declared(field).type), interpreter_.field(field, time));
    }
    rt::RunResult run(std::int64_t steps, const std::optional<rt::HostScalar>& until) override {
        rt::RunResult result;
        while (result.steps < steps) {
            interpreter_.step();
            ++result.steps;
            const auto done = static_cast<double>(interpreter_.steps_done());
            if (until && rt::evaluate(*until, until_values(), extent_, done) != 0) {
                result.stop = rt::RunResult::Stop::until;
                break;
            }
        }
        return result;
    }
    double reduction(const std::string& name) override { return interpreter_.reduction(name); }

private:
    const ir::Field& declared(const std::string& name) const {
        for (const ir::Field& field : program_.fields) {
            if (field.name == name) return field;
        }
        throw rt::Error(rt::ErrorCode::bad_argument, fmt::format("there is no field `{}`", name));
    }
    // The params, then the reductions in the order of their statements: what rt::RunOptions::until counts.
    std::vector<double> until_values() const {
        std::vector<double> values;
        for (const std::optional<double>& param : params_)
            values.push_back(param.value_or(std::nan("")));
        for (const ir::Statement& statement : program_.statements) {
            if (const auto* reduce = std::get_if<ir::Reduce>(&statement))
                values.push_back(interpreter_.reduction(reduce->name));
        }
        return values;
    }

    ir::Program program_;
    Extent extent_;
    ir::Interpreter interpreter_;
    std::vector<std::optional<double>> params_;
};

}  // namespace

std::int64_t cell_count(const Extent& extent) {
    return extent[0] * extent[1] * extent[2];
}

FieldValues FieldValues::zeros(rt::ElementType type, std::int64_t cells) {
    FieldValues values;
    values.type = type;
    if (type == rt::ElementType::f32) {
        values.f32.resize(static_cast<std::size_t>(cells));
    } else {
        values.f64.resize(static_cast<std::size_t>(cells));
    }
    return values;
}

FieldValues FieldValues::rounded(rt::ElementType type, std::vector<double> from) {
    FieldValues values;
    values.type = type;
    if (type == rt::ElementType::f64) {
        values.f64 = std::move(from);
    } else {
        values.f32.reserve(from.size());
        for (double value : from)
            values.f32.push_back(static_cast<float>(value));
    }
    return values;
}

const void* FieldValues::data() const {
    return type == rt::ElementType::f32 ? static_cast<const void*>(f32.data())
                                        : static_cast<const void*>(f64.data());
}

std::int64_t FieldValues::size() const {
    return static_cast<std::int64_t>(f32.size() + f64.size());
}

double FieldValues::at(std::int64_t index) const {
    auto i = static_cast<std::size_t>(index);
    return type == rt::ElementType::f32 ? static_cast<double>(f32[i]) : f64[i];
}

std::unique_ptr<Engine> make_session_engine(rt::Session session) {
    return std::make_unique<SessionEngine>(std::move(session));
}

std::unique_ptr<Engine> make_interpreter_engine(ir::Program program, const Extent& extent) {
    require_memory(program, extent);
    return std::make_unique<InterpreterEngine>(std::move(program), extent);
}

}  // namespace halo::driver
