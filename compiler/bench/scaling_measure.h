// The parts of `haloc bench --scaling`. Every grid is checked, bit by bit, against one device; then timed.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>

#include "compiler/bench/growth.h"
#include "compiler/bench/scaling_lab.h"
#include "compiler/bench/scaling_results.h"
#include "compiler/driver/console/stopwatch.h"

namespace halo::bench {

struct ScalingSizes {
    std::int64_t side = 1024;  // of the cube
    std::vector<std::int64_t> lengths;
    std::vector<std::int64_t> widths;
};
ScalingSizes scaling_sizes(bool is_gpu, bool quick);

class ScalingBenchmark {
public:
    // results.budget: seconds from now, after which the parts leave out what is left; results.kinds says how
    // much.
    ScalingBenchmark(ScalingLab& lab, ScalingResults& results, ScalingSizes sizes, Report report);

    void link();
    void rates();  // of one device: the input of the model
    void alone();  // of each device; after rates()
    void strong();
    void weak();
    void lengths();
    void beyond();

private:
    struct RunRequest {
        const ScalingProgram* program = nullptr;
        Extent extent{};
        int devices = 1;
        std::optional<std::int64_t> interval;
        rt::ExchangeScheme scheme = rt::ExchangeScheme::synchronous;
        std::string name;        // for messages
        std::string kind;        // MeasuredKind
        bool is_checked = true;  // against one device
        int first = 0;           // device
    };
    RunRequest wanted_length(std::int64_t length, int devices, std::int64_t width,
                             rt::ExchangeScheme scheme) const;
    void length_on_one(std::int64_t length);
    void lengths_on(const std::vector<int>& devices, const std::vector<rt::ExchangeScheme>& schemes);
    bool is_spent();
    // False, with the reason among what is missing, where the run cannot be.
    bool measure(const RunRequest& wanted, const std::vector<ScalingRun>& of_one, ScalingRun& run);
    // Throws UnsupportedError where the scheme cannot be.
    driver::PiecesPlan plan(const RunRequest& wanted, const std::vector<ScalingRun>& of_one) const;
    void run(const RunRequest& wanted, ScalingRun& run);
    std::string check(const RunRequest& wanted, driver::Engine& engine, const Extent& extent);
    const driver::FieldValues& values(const ScalingProgram& program, const Extent& extent);
    const driver::FieldValues* expected(const RunRequest& wanted, const Extent& extent);
    driver::Network network(int devices) const;
    void add_planned(std::vector<ScalingRun>& runs, const Extent& extent, int devices,
                     const std::string& kind);
    void add_beyond(bool is_weak, rt::ExchangeScheme scheme);
    void add(std::vector<ScalingRun>& runs, const RunRequest& wanted, const std::vector<ScalingRun>& of_one);

    ScalingLab& lab_;
    ScalingResults& results_;
    ScalingSizes sizes_;
    double spent_ = 0;
    driver::Stopwatch watch_;
    Report report_;
    ScalingProgram star_;
    std::map<std::int64_t, ScalingProgram> cahn_hilliard_;  // by width of the halos
    std::set<std::int64_t> on_one_;                         // lengths that one device was measured on
    // Of the last grid alone, as they are large.
    struct CachedValues {
        std::string spec;
        Extent extent{};
        driver::FieldValues values;
        bool is_valid = false;
    };
    CachedValues given_, expected_;
};

}  // namespace halo::bench
