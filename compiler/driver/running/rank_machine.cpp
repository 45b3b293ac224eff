#include "compiler/driver/running/rank_machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <vector>

#include "compiler/driver/console/exit_code.h"
#include "compiler/driver/running/pieces_machine.h"
#include "runtime/cuda/cuda.h"
#include "runtime/host/processors.h"
#include "runtime/nccl/nccl_messages.h"
#include "runtime/pieces/messages.h"

namespace halo::driver {

namespace {

std::vector<std::string> hosts_of(const rt::Ranks& ranks) {
    std::vector<std::string> hosts;
    for (int rank = 0; rank < ranks.count(); ++rank)
        hosts.push_back(ranks.host(rank));
    return hosts;
}

// This rank's number among the ranks of its host that pass the same words, and how many these are.
struct Place {
    int number = 0, count = 0;
};
Place place_among(rt::Ranks& ranks, const std::string& words) {
    const std::vector<std::string> all = ranks.all_gather(ranks.host(ranks.rank()) + '\n' + words);
    const std::string& own = all[static_cast<std::size_t>(ranks.rank())];
    return {static_cast<int>(std::count(all.begin(), all.begin() + ranks.rank(), own)),
            static_cast<int>(std::ranges::count(all, own))};
}

// Processes that may use the same processors divide them, as each would otherwise use all. Those that the
// launcher has bound to processors of their own keep them, and HALO_NUM_THREADS overrides this.
void share_processors(rt::Ranks& ranks) {
    const std::vector<int> usable = rt::usable_processors();
    std::ostringstream words;
    const char* asked = std::getenv("HALO_NUM_THREADS");
    const bool is_asked = asked != nullptr && *asked != '\0';
    for (const int processor : usable)
        words << processor << ' ';
    const Place place = place_among(ranks, words.str());
    if (is_asked || place.count == 1) return;
    const auto all = static_cast<int>(usable.size());
    if (all < place.count) {
        ::setenv("HALO_NUM_THREADS", "1", 1);
        return;
    }
    const auto at = [&](int number) { return usable.begin() + all * number / place.count; };
    rt::use_processors({at(place.number), at(place.number + 1)});
}

int choose_gpu(const RunArguments& arguments, rt::Ranks& ranks, int gpus) {
    if (gpus == 0) throw rt::Error(rt::ErrorCode::no_device, rt::cuda_status().why);
    if (!arguments.devices.empty()) {
        const std::vector<int> list = parse_devices(arguments.devices);
        const int gpu = list[static_cast<std::size_t>(ranks.local_rank()) % list.size()];
        if (gpu < gpus) return gpu;
        throw rt::Error(
            rt::ErrorCode::no_device,
            fmt::format("--devices {} asks for GPU {}, and there {} on {}; see haloc doctor",
                        arguments.devices, gpu, gpus == 1 ? "is one" : fmt::format("are {}", gpus),
                        ranks.host(ranks.rank())));
    }
    return ranks.local_rank() % gpus;
}

// A GPU that two processes share executes their kernels one after the other, which is hardly intended.
void check_own_gpu(const RunArguments& arguments, rt::Ranks& ranks, const Place& place) {
    if (!arguments.devices.empty() || place.count == 1) return;
    throw rt::Error(
        rt::ErrorCode::no_device,
        fmt::format(
            "{} ranks on {} would share one GPU: there are {} of them; start one for each GPU, or list "
            "GPUs to be shared, such as --devices 0,0",
            place.count, ranks.host(ranks.rank()), ranks.local_count()));
}

// Whether ranks communicate by NCCL, which all must be able to. Collective.
bool uses_nccl(const RunArguments& arguments, rt::Ranks& ranks, bool on_gpu, bool is_shared) {
    const bool is_asked = arguments.transport == "nccl";
    if (arguments.transport == "mpi") return false;
    if (!on_gpu && is_asked)
        refuse_usage("NCCL moves cells between GPUs, and this run is on CPUs", "leave --transport out");
    if (!on_gpu) return false;
    if (is_shared && is_asked)
        refuse_usage("NCCL needs a GPU for each rank, and some are shared", "give --transport mpi");
    const std::string why = rt::why_no_nccl();
    if (is_asked && !why.empty())
        throw rt::Error(rt::ErrorCode::no_device,
                        fmt::format("there is no NCCL on {}: {}; install libnccl2, or give --transport mpi",
                                    ranks.host(ranks.rank()), why));
    return !ranks.any(!why.empty() || is_shared);
}

}  // namespace

void check_arguments_of_ranks(const RunArguments& arguments) {
    if (arguments.file == "-")
        refuse_usage(
            "a run of several processes cannot read its spec from standard input, which the first alone has",
            "give a file");
    if (!arguments.cuda.empty())
        refuse_usage("edited kernels (--cuda) run on one device, and several processes were started",
                     "start haloc by itself");
    if (arguments.device != "auto" && arguments.device != "cuda" && arguments.device != "cpu")
        refuse_usage(
            fmt::format("--device {} is for one process, and several were started", arguments.device),
            "each takes a GPU of its host with --device cuda; --devices 0,2 says which there are to take");
    if (!arguments.devices.empty() && arguments.devices.find(',') == std::string::npos)
        refuse_usage(
            fmt::format("--devices {} is for one process: of several, each has one device",
                        arguments.devices),
            "start as many processes as there are devices; a list such as --devices 0,1 says which GPUs "
            "of a host they take");
}

std::unique_ptr<Machine> open_rank(const RunArguments& arguments, rt::Ranks& ranks) {
    const int gpus = arguments.device == "cpu" ? 0 : static_cast<int>(rt::cuda_status().devices.size());
    const bool on_gpu = arguments.device == "cuda" || (arguments.device == "auto" && !ranks.any(gpus == 0));
    std::string device = "cpu";
    bool is_shared = false;  // several ranks use one GPU
    if (on_gpu) {
        const int gpu = choose_gpu(arguments, ranks, gpus);
        const Place place = place_among(ranks, rt::cuda_device_uuid(gpu));
        check_own_gpu(arguments, ranks, place);
        is_shared = ranks.any(place.count > 1);
        device = fmt::format("cuda:{}", gpu);
    } else {
        share_processors(ranks);
    }
    std::string remark;
    std::unique_ptr<Machine> machine = open_machine(device, remark);
    RankShare share{&ranks, hosts_of(ranks), {}};
    const bool uses_messages = arguments.transport != "nccl";
    if (uses_nccl(arguments, ranks, on_gpu, is_shared))
        share.make_transports.push_back([&ranks](rt::Device& gpu) {
            return rt::make_nccl_messages(ranks, dynamic_cast<rt::CudaDevice&>(gpu));
        });
    if (uses_messages)
        share.make_transports.push_back([&ranks](rt::Device&) { return rt::make_host_messages(ranks); });
    return make_rank_machine(std::move(machine), std::move(share), arguments.exchange);
}

}  // namespace halo::driver
