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
#include "compiler/driver/running/pieces_engine.h"
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
        request.cut_with = options.cut_with;
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
        const bool is_exchanged = plan.is_exchanged();
        std::unique_ptr<rt::Pieces> pieces = make_pieces(plan, engines, timings);
        if (is_exchanged) {
            check_pieces(request, *pieces);
            timings.schedules.push_back(scheme_word(pieces->scheme()) + " exchange");
        }
        return make_pieces_engine(program, std::move(engines), std::move(pieces));
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
    std::unique_ptr<rt::Pieces> make_pieces(const PiecesPlan& plan,
                                            const std::vector<std::unique_ptr<Engine>>& engines,
                                            LoadTimings& timings) const {
        std::vector<rt::Session*> sessions;
        for (const auto& engine : engines)
            sessions.push_back(engine->session());
        if (share_.ranks == nullptr)
            return std::make_unique<rt::Pieces>(plan.cut, std::move(sessions), pieces_options(plan));
        rt::Session& own = *sessions.front();
        auto pieces = std::make_unique<rt::Pieces>(plan.cut, own, pieces_options(plan), *share_.ranks,
                                                   share_.make_transports.front()(own.device()));
        for (std::size_t i = 1; i < share_.make_transports.size() && plan.exchange_bytes > 0; ++i)
            pieces->consider(share_.make_transports[i](own.device()));
        timings.transports = pieces->transports();
        timings.schedules.front() += ", by " + transport_words(timings.transports);
        return pieces;
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
