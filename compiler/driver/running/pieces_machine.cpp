#include "compiler/driver/running/pieces_machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

#include "compiler/driver/console/arguments.h"
#include "compiler/driver/console/exit_code.h"
#include "compiler/driver/console/progress.h"
#include "compiler/driver/planning/pieces_plan.h"
#include "compiler/driver/ranks/agreement.h"
#include "compiler/driver/running/gpu_machine.h"
#include "compiler/driver/spec/spec.h"
#include "runtime/cuda/cuda.h"
#include "runtime/pieces/pieces.h"

namespace halo::driver {

namespace {

// For people; nothing where there are no ranks.
std::string hosts_words(const std::vector<std::string>& of_rank) {
    if (of_rank.empty()) return "";
    const std::set<std::string> hosts(of_rank.begin(), of_rank.end());
    return hosts.size() == 1 ? " on one host" : fmt::format(" on {} hosts", hosts.size());
}

std::string transport_words(const std::vector<rt::TransportTime>& transports) {
    std::string words = transports.front().name;
    if (transports.size() == 1) return words;
    words += fmt::format(" ({} an exchange", format_step_time(transports.front().seconds));
    for (std::size_t i = 1; i < transports.size(); ++i)
        words += fmt::format("; {} by {}", format_step_time(transports[i].seconds), transports[i].name);
    return words + ")";
}

class PiecesEngine final : public Engine {
public:
    PiecesEngine(const ir::Program& program, const PiecesPlan& plan,
                 std::vector<std::unique_ptr<Engine>> engines)
        : engines_(std::move(engines)),
          extent_(plan.cut.grid.extent),
          interval_(plan.interval),
          pieces_(plan.cut, sessions_of(engines_), pieces_options(plan)) {
        note(program);
    }
    // Of one piece, of a rank.
    PiecesEngine(const ir::Program& program, const PiecesPlan& plan,
                 std::vector<std::unique_ptr<Engine>> engines, const RankShare& share)
        : engines_(std::move(engines)),
          extent_(plan.cut.grid.extent),
          interval_(plan.interval),
          pieces_(plan.cut, *engines_.front()->session(), pieces_options(plan), *share.ranks,
                  share.make_transports.front()(engines_.front()->session()->device())) {
        note(program);
        for (std::size_t i = 1; i < share.make_transports.size() && plan.exchange_bytes > 0; ++i)
            pieces_.consider(share.make_transports[i](engines_.front()->session()->device()));
    }

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
    Extent extent() const override { return extent_; }
    rt::ElementType type_of(const std::string& field) const override {
        return type_in(pieces_.plan(), field);
    }
    rt::FieldGrid grid_of(const std::string& field) const override { return grid_in(pieces_.plan(), field); }
    const rt::Pieces& pieces() const { return pieces_; }
    std::vector<rt::Box> own_boxes() const override { return pieces_.own_boxes(); }
    std::vector<rt::Box> computed_boxes() const override { return pieces_.computed_boxes(); }
    void continue_from(const rt::StepsBefore& before) override {
        pieces_.continue_from(before);
        done_ = before.steps;
    }
    bool holds(const rt::HostScalar& until) override { return holds(until, done_); }
    double reduction(const std::string& name) override { return pieces_.reduction(name); }
    // Unknown where a piece has something else, as that may be in its ghosts, which nobody may have read.
    std::optional<bool> is_finite(const std::string& field) const override {
        const bool all = std::ranges::all_of(engines_, [&](const std::unique_ptr<Engine>& engine) {
            return engine->is_finite(field).value_or(false);
        });
        return all ? std::optional(true) : std::nullopt;
    }
    std::int64_t whole_steps(std::int64_t steps) const override {
        return steps < interval_ ? steps : steps / interval_ * interval_;
    }

    rt::RunResult run(std::int64_t steps, const std::optional<rt::HostScalar>& until) override {
        rt::RunResult result;
        while (result.steps < steps && result.stop == rt::RunResult::Stop::steps) {
            const std::int64_t count = until ? steps_to_check(*until, steps - result.steps) : steps;
            pieces_.step(count);
            result.steps += count;
            done_ += count;
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
    static std::vector<rt::Session*> sessions_of(const std::vector<std::unique_ptr<Engine>>& engines) {
        std::vector<rt::Session*> sessions;
        for (const auto& engine : engines)
            sessions.push_back(engine->session());
        return sessions;
    }
    void upload_cells(const std::string& field, int time, const rt::Box& box, const void* elements) override {
        pieces_.upload_box(field, time, box, elements);
    }
    void download_cells(const std::string& field, int time, const rt::Box& box, void* elements) override {
        pieces_.download_box(field, time, box, elements);
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
        return rt::evaluate(until, values, extent_, static_cast<double>(done)) != 0;
    }

    std::vector<std::unique_ptr<Engine>> engines_;
    Extent extent_;
    std::int64_t interval_;
    rt::Pieces pieces_;
    std::vector<std::pair<std::string, std::optional<double>>> params_;
    std::vector<std::string> reductions_;  // as `until` numbers them
    std::int64_t done_ = 0;
};

class PiecesMachine final : public Machine {
public:
    PiecesMachine(std::vector<std::unique_ptr<Machine>> machines, ExchangeArguments exchange,
                  RankShare share = {})
        : machines_(std::move(machines)), exchange_(std::move(exchange)), share_(std::move(share)) {}

    std::string kind() const override {
        const std::string first = machines_.front()->kind();
        if (share_.ranks != nullptr) return fmt::format("{} x {}", count(), first.substr(0, first.find(':')));
        std::vector<std::string> kinds;
        for (const auto& machine : machines_)
            kinds.push_back(machine->kind());
        const bool is_one_kind = std::ranges::count(kinds, kinds.front()) == std::ssize(kinds);
        return is_one_kind ? fmt::format("{} x {}", kinds.size(), kinds.front()) : join(kinds, "+");
    }
    std::string description() const override {
        return fmt::format("in {} piece{}{}, the first on {}", count(), count() == 1 ? "" : "s",
                           hosts_words(share_.hosts), machines_.front()->description());
    }

    std::unique_ptr<Engine> load(const ir::Program& program, const Extent& extent, const CodeOptions& options,
                                 LoadTimings& timings) override {
        const auto* gpu = dynamic_cast<const GpuMachine*>(machines_.front().get());
        PiecesRequest request;
        request.count = count();
        request.interval = exchange_.interval;
        request.scheme = parse_scheme(exchange_.scheme);
        request.on_gpu = gpu != nullptr;
        request.is_one_process = share_.ranks == nullptr;
        if (share_.ranks != nullptr) request.network = network_of(share_.hosts, request.on_gpu);
        CodeOptions known = options;
        if (gpu != nullptr) known.target = gpu->target();
        const auto plan_here = [&] { return plan_pieces(program, extent, request, known); };
        const PiecesPlan plan = share_.ranks == nullptr
                                    ? plan_here()
                                    : agree_on_pieces(*share_.ranks, program, extent, plan_here);
        check_scheme(request, plan);
        const CodeOptions of_pieces = options_of_pieces(options, plan);
        std::vector<std::unique_ptr<Engine>> engines;
        timings.schedules.push_back(describe_pieces(plan, ir::axis_names(program)));
        const auto first = static_cast<std::size_t>(share_.ranks == nullptr ? 0 : share_.ranks->rank());
        for (std::size_t i = 0; i < machines_.size(); ++i) {
            LoadTimings own;
            engines.push_back(machines_[i]->load(program_of_piece(program, plan.cut, first + i),
                                                 plan.cut.pieces[first + i].extent(), of_pieces, own));
            add(own, timings);
        }
        const bool is_exchanged = plan.exchange_bytes > 0;
        auto engine = make_engine(program, plan, std::move(engines), timings);
        if (is_exchanged) {
            check_pieces(request, engine->pieces());
            timings.schedules.push_back(scheme_word(engine->pieces().scheme()) + " exchange");
        }
        return engine;
    }
    bool is_shared() const override { return share_.ranks != nullptr; }
    std::unique_ptr<Engine> load_initializer(const ir::Program& program, const Extent& extent,
                                             const CodeOptions& options, LoadTimings& timings) override {
        return share_.ranks == nullptr ? load(program, extent, options, timings)
                                       : machines_.front()->load(program, extent, options, timings);
    }
    std::unique_ptr<Engine> load_alone(const ir::Program& program, const Extent& extent,
                                       const CodeOptions& options, LoadTimings& timings) override {
        return machines_.front()->load(program, extent, options, timings);
    }

private:
    std::unique_ptr<PiecesEngine> make_engine(const ir::Program& program, const PiecesPlan& plan,
                                              std::vector<std::unique_ptr<Engine>> engines,
                                              LoadTimings& timings) const {
        if (share_.ranks == nullptr) return std::make_unique<PiecesEngine>(program, plan, std::move(engines));
        auto engine = std::make_unique<PiecesEngine>(program, plan, std::move(engines), share_);
        timings.transports = engine->pieces().transports();
        timings.schedules.front() += ", by " + transport_words(timings.transports);
        return engine;
    }
    // Checks that the pieces can do what was asked for and planned: devices may not reach each other, or may
    // not all have the same kernels.
    void check_pieces(const PiecesRequest& request, const rt::Pieces& pieces) const {
        if (!request.scheme || count() == 1 || pieces.scheme() == *request.scheme) return;
        std::string why = pieces.why_synchronous();
        if (why.empty()) why = pieces.why_not_direct();
        refuse_scheme(*request.scheme, why);
    }
    int count() const {
        return share_.ranks == nullptr ? static_cast<int>(machines_.size()) : share_.ranks->count();
    }
    static void add(const LoadTimings& own, LoadTimings& all) {
        if (all.schedules.size() == 1) {  // the first piece's stand for all
            all.schedules.insert(all.schedules.end(), own.schedules.begin(), own.schedules.end());
            all.from_cache = own.from_cache;
            all.several = own.several;
        }
        all.optimise += own.optimise;
        all.choose += own.choose;
        all.lower += own.lower;
        all.print += own.print;
        all.compile += own.compile;
        all.context += own.context;
        all.load += own.load;
    }

    std::vector<std::unique_ptr<Machine>> machines_;
    ExchangeArguments exchange_;
    RankShare share_;  // empty where all pieces are of this process
};

[[noreturn]] void refuse_devices(const std::string& devices) {
    throw CommandError(ExitCode::usage,
                       fmt::format("--devices: `{}` is no number of devices and no list of GPUs", devices),
                       "for example --devices 4, or --devices 0,1,3");
}

int parse_ordinal_of(std::string_view digits, const std::string& devices) {
    int number = -1;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error != std::errc() || end != digits.data() + digits.size() || number < 0) refuse_devices(devices);
    return number;
}

}  // namespace

std::vector<int> parse_devices(const std::string& devices) {
    std::vector<int> ordinals;
    if (devices.find(',') == std::string::npos) {
        constexpr int kMost = 4096;
        const int count = parse_ordinal_of(devices, devices);
        if (count < 1 || count > kMost) refuse_devices(devices);
        for (int i = 0; i < count; ++i)
            ordinals.push_back(i);
        return ordinals;
    }
    for (std::size_t begin = 0; begin <= devices.size();) {
        const std::size_t end = std::min(devices.find(',', begin), devices.size());
        ordinals.push_back(parse_ordinal_of(std::string_view(devices).substr(begin, end - begin), devices));
        begin = end + 1;
    }
    return ordinals;
}

std::unique_ptr<Machine> make_rank_machine(std::unique_ptr<Machine> machine, RankShare share,
                                           const ExchangeArguments& exchange) {
    std::vector<std::unique_ptr<Machine>> machines;
    machines.push_back(std::move(machine));
    return std::make_unique<PiecesMachine>(std::move(machines), exchange, std::move(share));
}

std::unique_ptr<Machine> open_pieces(const std::string& device, const std::string& devices,
                                     const ExchangeArguments& exchange) {
    return open_pieces(device, parse_devices(devices), exchange);
}

std::unique_ptr<Machine> open_pieces(const std::string& device, const std::vector<int>& ordinals,
                                     const ExchangeArguments& exchange) {
    const auto gpus = static_cast<int>(rt::cuda_status().devices.size());
    const bool on_gpu = device == "cuda" || (device == "auto" && gpus > 0);
    if (!on_gpu && device != "cpu" && device != "auto")
        throw CommandError(ExitCode::usage,
                           fmt::format("--devices goes with --device cuda or cpu, not `{}`", device),
                           "--devices 0,1,3 names GPUs");
    std::vector<std::unique_ptr<Machine>> machines;
    std::string remark;
    for (const int ordinal : ordinals) {
        if (on_gpu && ordinal >= gpus)
            throw rt::Error(rt::ErrorCode::no_device,
                            fmt::format("--devices asks for GPU {}, and there {} here; see haloc doctor",
                                        ordinal, gpus == 1 ? "is one" : fmt::format("are {}", gpus)));
        machines.push_back(open_machine(on_gpu ? fmt::format("cuda:{}", ordinal) : "cpu", remark));
    }
    return std::make_unique<PiecesMachine>(std::move(machines), exchange);
}

}  // namespace halo::driver
