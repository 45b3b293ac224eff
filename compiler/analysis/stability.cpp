#include "compiler/analysis/stability.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace halo::analysis {

namespace {

using Angles = LinearScheme::Angles;
constexpr double kPi = std::numbers::pi;
constexpr double kTolerance = StabilityAnswer::kGrowthTolerance;

constexpr int kMaxDoublings = 60;       // from the value that is given, up and down
constexpr double kBisectionEnd = 1e-9;  // of the bound
// A bound is real where waves grow by this much, in a step, at twice the bound. Where they do not, what was
// found is the value at which their growth falls below the tolerance: they grow at every value.
constexpr double kRealGrowth = 1e-4;
constexpr double kProbe =
    1e-4;  // above a bound, of the bound: where waves between the sampled ones are looked for
constexpr int kMaxRounds = 12;

// Waves of all directions: the first axis that varies from 0 to pi, the others from -pi to pi (a wave and its
// conjugate grow alike). Those that break schemes most often come first.
std::vector<Angles> sample_waves(const LinearScheme& scheme, int rank) {
    std::vector<int> axes;
    for (int axis = 0; axis < rank; ++axis)
        if (scheme.varies_along(axis)) axes.push_back(axis);
    std::vector<Angles> waves{Angles{}};
    const int steps = axes.size() <= 1 ? 64 : axes.size() == 2 ? 20 : 8;  // from 0 to pi
    for (std::size_t n = 0; n < axes.size(); ++n) {
        std::vector<Angles> more;
        for (const Angles& wave : waves) {
            for (int i = n == 0 ? 0 : 1 - steps; i <= steps; ++i) {
                Angles next = wave;
                next[static_cast<std::size_t>(axes[n])] = kPi * i / steps;
                more.push_back(next);
            }
        }
        waves = std::move(more);
    }
    const auto sharpness = [](const Angles& wave) {
        return -(std::abs(wave[0]) + std::abs(wave[1]) + std::abs(wave[2]));
    };
    std::sort(waves.begin(), waves.end(), [&](const Angles& a, const Angles& b) {
        return std::pair(sharpness(a), a) < std::pair(sharpness(b), b);
    });
    return waves;
}

class Search {
public:
    Search(LinearScheme& scheme, const StabilityQuestion& question, int rank)
        : scheme_(scheme), question_(question), waves_(sample_waves(scheme, rank)), rank_(rank) {}

    double matrices() const { return static_cast<double>(waves_.size() * question_.cells.size()); }

    std::optional<Refusal> check() {
        for (const FrozenCell& cell : question_.cells)
            if (std::optional<Refusal> refusal = scheme_.freeze(question_.values, cell)) return refusal;
        return std::nullopt;
    }

    StabilityAnswer run() {
        StabilityAnswer answer;
        const Worst now = worst(given(), waves_);
        answer.growth = now.growth;
        answer.wave = now.wave;
        if (!question_.searched || given() == 0) return answer;
        const bool is_stable = now.growth <= 1 + kTolerance;
        if (is_stable && question_.only_where_unstable) return answer;
        double stable = given(), unstable = given();
        bool found = false;
        for (int i = 0; i < kMaxDoublings && !found; ++i) {
            double& moved = is_stable ? unstable : stable;
            moved = is_stable ? moved * 2 : moved / 2;
            found = grows(moved, waves_) == is_stable;
            if (!found) (is_stable ? stable : unstable) = moved;
        }
        if (!found) {
            answer.kind = is_stable ? StabilityAnswer::Kind::always : StabilityAnswer::Kind::never;
            return answer;
        }
        const double bound = narrow(stable, unstable, answer.wave);
        const Worst above = worst(2 * bound, waves_);
        if (above.growth < 1 + kRealGrowth) {
            answer.kind = StabilityAnswer::Kind::never;
            answer.wave = now.growth > 1 + kTolerance ? now.wave : above.wave;
            answer.growth = std::max(now.growth, 1.0);
            return answer;
        }
        answer.kind = StabilityAnswer::Kind::bounded;
        answer.bound = bound;
        return answer;
    }

private:
    struct Worst {
        double growth = 0;
        Angles wave{};
    };

    double given() const {
        return question_.searched ? question_.values.params[question_.searched->index].value_or(0) : 0;
    }

    void freeze(double value, const FrozenCell& cell) {
        RunValues values = question_.values;
        if (question_.searched) values.params[question_.searched->index] = value;
        scheme_.freeze(values, cell);
    }
    double growth(const Angles& wave) const { return spectral_radius(scheme_.matrix(wave)); }

    // The wave that grows most, of all cells. `any`: the first that grows will do.
    Worst worst(double value, const std::vector<Angles>& waves, bool any = false) {
        Worst result;
        for (const FrozenCell& cell : question_.cells) {
            freeze(value, cell);
            for (const Angles& wave : waves) {
                const double size = growth(wave);
                if (size > result.growth) {
                    result = {size, wave};
                    worst_cell_ = &cell;
                }
                if (any && result.growth > 1 + kTolerance) return result;
            }
        }
        return result;
    }

    // Climbs from a wave that grows to one near it that grows most.
    Worst climb(double value, Worst from) {
        freeze(value, *worst_cell_);
        for (double step = kPi / 16; step > 1e-5;) {
            Worst best = from;
            for (int axis = 0; axis < rank_; ++axis) {
                if (!scheme_.varies_along(axis)) continue;
                for (const double way : {-step, step}) {
                    Worst next = from;
                    double& angle = next.wave[static_cast<std::size_t>(axis)];
                    angle = std::clamp(angle + way, -kPi, kPi);
                    next.growth = growth(next.wave);
                    if (next.growth > best.growth) best = next;
                }
            }
            if (best.growth > from.growth) {
                from = best;
            } else {
                step /= 2;
            }
        }
        return from;
    }

    bool grows(double value, const std::vector<Angles>& waves) {
        return worst(value, waves, true).growth > 1 + kTolerance;
    }

    // The bound between a stable and an unstable value. Bisects with the few waves that are known to break,
    // then looks for one that breaks earlier: among those sampled, and between them, near those that break
    // just above.
    double narrow(double stable, double unstable, Angles& breaks) {
        std::vector<Angles> suspects{climb(unstable, worst(unstable, waves_)).wave};
        double low = stable, high = unstable;
        for (int round = 0; round < kMaxRounds; ++round) {
            low = stable;
            while (high - low > kBisectionEnd * high) {
                const double middle = (low + high) / 2;
                (grows(middle, suspects) ? high : low) = middle;
            }
            const double above = high * (1 + kProbe);
            const Worst near = climb(above, worst(above, suspects));
            breaks = near.wave;
            std::vector<Angles> earlier{near.wave, climb(above, worst(above, waves_)).wave};
            if (const Worst sampled = worst(low, waves_); sampled.growth > 1 + kTolerance)
                earlier.push_back(sampled.wave);
            if (!grows(low, earlier)) break;
            suspects.insert(suspects.end(), earlier.begin(), earlier.end());
            high = low;
        }
        return low;
    }

    LinearScheme& scheme_;
    const StabilityQuestion& question_;
    std::vector<Angles> waves_;
    int rank_;
    const FrozenCell* worst_cell_ = nullptr;
};

}  // namespace

std::variant<StabilityAnswer, Refusal> find_stability(LinearScheme& scheme,
                                                      const StabilityQuestion& question) {
    Search search(scheme, question, ir::kMaxRank);
    constexpr double kScans = 20;  // of all waves, usually; most end at the first that grows
    if (search.matrices() * static_cast<double>(scheme.work()) * kScans > question.max_work)
        return Refusal{"the step is too large to look into", {}};
    if (std::optional<Refusal> refusal = search.check()) return *std::move(refusal);
    return search.run();
}

std::string describe_wave(const Angles& wave, const ir::Program& program, const LinearScheme& scheme) {
    std::vector<std::string> alternating, constant, other;
    for (int axis = 0; axis < program.rank(); ++axis) {
        const std::string& name = program.axes[static_cast<std::size_t>(axis)].name;
        const double angle = std::abs(wave[static_cast<std::size_t>(axis)]);
        if (angle > kPi - 0.02) {
            alternating.push_back(name);
        } else if (angle < 1e-3) {
            if (scheme.varies_along(axis)) constant.push_back(name);
        } else {
            other.push_back(fmt::format("has {:.3g} cells a wavelength along {}", 2 * kPi / angle, name));
        }
    }
    std::vector<std::string> parts;
    if (!alternating.empty())
        parts.push_back(fmt::format("alternates from cell to cell along {}", fmt::join(alternating, ", ")));
    parts.insert(parts.end(), other.begin(), other.end());
    if (!constant.empty()) parts.push_back(fmt::format("is constant along {}", fmt::join(constant, ", ")));
    if (parts.empty()) return "is the same in all cells";
    return fmt::format("{}", fmt::join(parts, " and "));
}

}  // namespace halo::analysis
