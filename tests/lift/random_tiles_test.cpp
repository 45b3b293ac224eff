// Random kernels whose threads share memory, some with mistakes: what is lifted computes what the kernel
// does, block by block with its barriers; the rest is refused.
//
// HALO_KERNELS=1000 HALO_SEED=1 runs so many from that seed on; 8 otherwise.
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>
#include <random>
#include <utility>

#include "catch.h"
#include "compiler/lift/mutation.h"
#include "compiler/lift/verify.h"
#include "lift_or_refuse.h"
#include "temporary_folder.h"

namespace {

// A tile of one to three axes, filled by the threads of the cells and those at the edges, by all threads
// together, or by a thread for each of its elements; one array, or what is made of two.
class TileMaker {
public:
    explicit TileMaker(unsigned seed) : random_(seed) {}

    std::string make() {
        rank_ = pick({1, 1, 2, 2, 3});
        for (int a = 0; a < rank_; ++a)
            size_[a] = rank_ == 3 ? pick({2, 3, 4}) : pick({4, 5, 8});
        reach_ = rank_ == 3 ? 1 : pick({1, 1, 2});
        fill_ = pick({0, 0, 1, 2});
        if (fill_ == 2)
            for (int a = 0; a < rank_; ++a)
                size_[a] += 2 * reach_;
        has_two_ = chance(0.3);
        outside_ = pick({0, 0, 1, 2, 3});
        std::string text = "__global__ void made(";
        for (int a = 0; a < rank_; ++a)
            text += std::string("int ") + sizes(a) + ", ";
        text +=
            "const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, float p) {\n";
        text += "__shared__ float s" + extents() + (chance(0.2) ? ", t" + extents() : ", t[1]") + ";\n";
        for (int a = 0; a < rank_; ++a)
            text += "const int " + index(a) + " = " + origin(a) + " + (int)threadIdx." + axis(a) +
                    (fill_ == 2 ? " - " + std::to_string(reach_) : "") + ";\n";
        if (fill_ != 1 && chance(0.15)) text += "if (" + beyond() + ") return;\n";
        text += fill_ == 0 ? loaded_at_edges() : fill_ == 1 ? loaded_together() : loaded_by_all();
        if (!chance(0.04)) text += "__syncthreads();\n";
        text += "if (" + inside() + ") {\n";
        if (chance(0.15)) text += "if (" + index(0) + " > 3) ";
        return text + "c[" + cell({}) + "] = " + formula() + ";\n}\n}\n";
    }
    // Past the arrays, which such kernels have padding for.
    bool reads_beyond() const { return outside_ == 3; }
    std::vector<std::pair<std::string, int>> block() const {
        std::vector<std::pair<std::string, int>> all;
        for (int a = 0; a < rank_; ++a)
            all.emplace_back("blockDim." + axis(a), size_[a]);
        return all;
    }

private:
    using Offset = std::array<int, 3>;
    bool chance(double p) { return std::uniform_real_distribution<double>(0, 1)(random_) < p; }
    int pick(std::initializer_list<int> from) {
        return *(from.begin() + std::uniform_int_distribution<std::size_t>(0, from.size() - 1)(random_));
    }
    static std::string sizes(int a) { return std::string("n") + "xyz"[a]; }
    static std::string index(int a) { return std::string(1, "ijk"[a]); }
    static std::string axis(int a) { return std::string(1, "xyz"[a]); }
    static std::string number(int n) { return "(" + std::to_string(n) + ")"; }

    int cells(int a) const { return size_[a] - (fill_ == 2 ? 2 * reach_ : 0); }
    std::string origin(int a) const { return "(int)blockIdx." + axis(a) + " * " + std::to_string(cells(a)); }
    std::string extents() const {
        std::string text;
        for (int a = rank_ - 1; a >= 0; --a)
            text += "[" + std::to_string(cells(a) + 2 * reach_) + "]";
        return text;
    }
    // Of shared memory: the thread's own element is the one at its place and the reach.
    std::string element(const Offset& at) const {
        std::string text;
        for (int a = rank_ - 1; a >= 0; --a)
            text += "[threadIdx." + axis(a) + " + " + number(at[a] + (fill_ == 2 ? 0 : reach_)) + "]";
        return "s" + text;
    }
    std::string cell_at(const std::array<std::string, 3>& at) const {
        std::string text = at[rank_ - 1];
        for (int a = rank_ - 2; a >= 0; --a)
            text = "(" + text + ") * " + sizes(a) + " + " + at[a];
        return text;
    }
    std::string cell(const Offset& by) const {
        std::array<std::string, 3> at;
        for (int a = 0; a < rank_; ++a)
            at[a] = index(a) + " + " + number(by[a]);
        return cell_at(at);
    }
    std::string value(const std::string& at) const {
        return has_two_ ? "a[" + at + "] * b[" + at + "]" : "a[" + at + "]";
    }
    std::string beyond() const {
        std::string text;
        for (int a = 0; a < rank_; ++a)
            text +=
                (a ? " || " : "") + (fill_ == 2 ? index(a) + " < 0 || " : "") + index(a) + " >= " + sizes(a);
        return text;
    }
    std::string within(const std::array<std::string, 3>& at) const {
        std::string text;
        for (int a = 0; a < rank_; ++a)
            text += (a ? " && " : "") + at[a] + " >= 0 && " + at[a] + " < " + sizes(a);
        return text;
    }
    // What is beyond the grid is zero, left out, clamped, or not looked at.
    std::string load(const std::string& to, std::array<std::string, 3> at) {
        switch (outside_) {
            case 0:
                return to + " = " + within(at) + " ? " + value(cell_at(at)) + " : 0.0f;\n";
            case 1:
                return "if (" + within(at) + ") " + to + " = " + value(cell_at(at)) + ";\n";
            case 2:
                for (int a = 0; a < rank_; ++a)
                    at[a] = "min(max(" + at[a] + ", 0), " + sizes(a) + " - 1)";
                return to + " = " + value(cell_at(at)) + ";\n";
            default:
                return to + " = " + value(cell_at(at)) + ";\n";
        }
    }
    std::string load(const Offset& by) {
        std::array<std::string, 3> at;
        for (int a = 0; a < rank_; ++a)
            at[a] = "(" + index(a) + " + " + number(by[a]) + ")";
        return load(element(by), at);
    }
    std::string loaded_by_all() { return load(Offset{}); }
    std::string loaded_at_edges() {
        std::string text = load(Offset{});
        for (int a = 0; a < rank_; ++a) {
            Offset low{}, high{};
            low[a] = -reach_;
            high[a] = size_[a] + (chance(0.03) ? 1 : 0);
            if (chance(0.05)) continue;
            text += "if (threadIdx." + axis(a) + " < " + std::to_string(chance(0.04) ? 1 : reach_) + ") {\n" +
                    load(low) + load(high) + "}\n";
        }
        return text;
    }
    std::string loaded_together() {
        std::string count = "1", threads = "1", number_of = "0", text;
        std::array<std::string, 3> at;
        std::string rest = "q", to = "s";
        std::string element;
        for (int a = 0; a < rank_; ++a) {
            const int extent = cells(a) + 2 * reach_;
            number_of += " + (int)threadIdx." + axis(a) + " * " + threads;
            count += " * " + std::to_string(extent);
            threads += " * " + std::to_string(size_[a]);
            const std::string own = "(" + rest + " % " + std::to_string(extent) + ")";
            rest = "(" + rest + " / " + std::to_string(extent) + ")";
            element = "[" + own + "]" + element;
            at[a] = "(" + origin(a) + " + " + own + " - " + std::to_string(reach_) + ")";
        }
        return "for (int q = " + number_of + "; q < " + count + "; q += " + threads + ") {\n" +
               load(to + element, at) + "}\n";
    }
    std::string inside() {
        const int margin = outside_ == 0 || outside_ == 2 ? pick({0, 0, reach_}) : reach_;
        std::string text;
        for (int a = 0; a < rank_; ++a) {
            text += (a ? " && " : "") + index(a) + " >= " + std::to_string(margin) + " && " + index(a) +
                    " < " + sizes(a) + " - " + std::to_string(margin);
            if (fill_ == 2)
                text += " && threadIdx." + axis(a) + " >= " + std::to_string(reach_) + " && threadIdx." +
                        axis(a) + " < " + std::to_string(size_[a] - reach_);
        }
        return text;
    }
    std::string tap() {
        Offset by{};
        const bool is_star = fill_ == 0 ? !chance(0.03) : chance(0.5);
        const int along = pick({0, 1, 2}) % rank_;
        for (int a = 0; a < rank_; ++a) {
            const int far = chance(0.01) ? reach_ + 1 : reach_;
            if (!is_star || a == along)
                by[a] = static_cast<int>(random_() % static_cast<unsigned>(2 * far + 1)) - far;
        }
        return element(by);
    }
    std::string formula() {
        std::string text = tap();
        for (int count = pick({1, 2, 3, 4}); count > 0; --count)
            text = "(" + text + std::string(1, "+-*"[pick({0, 1, 2})]) +
                   (chance(0.15)  ? std::string("p")
                    : chance(0.1) ? "b[" + cell({}) + "]"
                                  : tap()) +
                   ")";
        return chance(0.15) ? "(" + tap() + " > p ? " + text + " : " + tap() + ")" : text;
    }

    std::mt19937 random_;
    int rank_ = 1, reach_ = 1, fill_ = 0, outside_ = 0;
    std::array<int, 3> size_{1, 1, 1};
    bool has_two_ = false;
};

unsigned number_of(const char* name, unsigned otherwise) {
    const char* set = std::getenv(name);
    return set == nullptr ? otherwise : static_cast<unsigned>(std::strtoul(set, nullptr, 10));
}

}  // namespace

// Faults that are put into the lifter, each with a kernel that shows it.
TEST_CASE("running both finds faults in what is known of shared memory", "[parts]") {
    using halo::lift::Mutation;
    const TemporaryFolder folder;
    const std::string head =
        "__global__ void made(int n, const float* __restrict__ a, float* __restrict__ c) {\n"
        "__shared__ float s[9];\nconst int i = blockIdx.x * 8 + threadIdx.x;\n";
    const std::string barrier = "__syncthreads();\n",
                      load =
                          "s[threadIdx.x] = i < n ? a[i] : 0.0f;\n"
                          "if (threadIdx.x == 7) s[8] = i < n - 1 ? a[i + 1] : 0.0f;\n",
                      half =
                          "if (i < n - 1) s[threadIdx.x] = a[i];\n"
                          "if (threadIdx.x == 7 && i < n - 2) s[8] = a[i + 1];\n",
                      store = "if (i < n - 1) c[i] = s[threadIdx.x + 1];\n",
                      again =
                          "const float first = s[threadIdx.x + 1];\n"
                          "s[threadIdx.x] = 2.0f;\nif (threadIdx.x == 7) s[8] = 2.0f;\n",
                      both = "if (i < n - 1) c[i] = first + s[threadIdx.x + 1];\n";
    const std::pair<Mutation, std::string> faults[] = {
        {Mutation::shift_tile, load + barrier + store},
        {Mutation::drop_unwritten, half + barrier + store},
        {Mutation::drop_race, load + barrier + again + barrier + both}};
    for (const auto& [fault, body] : faults) {
        INFO(body);
        halo::lift::Options options;
        options.source.file = folder / "made.cu";
        options.source.function = "made";
        std::ofstream(options.source.file) << head << body << "}\n";
        halo::lift::mutation = fault;
        std::optional<halo::lift::Lifted> made;
        try {
            made = halo::lift::lift(options);
        } catch (const halo::lift::LiftError& error) {
            UNSCOPED_INFO(error.what());
        }
        halo::lift::mutation = Mutation::none;
        REQUIRE(made);  // the fault is no refusal
        INFO(made->spec.body);
        CHECK_FALSE(halo::lift::verify(options, *made).passed);
    }
}

TEST_CASE("random tiles are lifted as they are, or refused", "[parts]") {
    const TemporaryFolder folder;
    const unsigned wanted = number_of("HALO_KERNELS", 8), first = number_of("HALO_SEED", 1);
    int lifted = 0;
    std::map<std::string, int> reasons;
    for (unsigned seed = first; seed < first + wanted; ++seed) {
        TileMaker maker(seed);
        const std::string text = maker.make();
        INFO("seed " << seed << "\n" << text);
        halo::lift::Options options;
        options.source.file = folder / "made.cu";
        options.source.function = "made";
        for (const auto& [name, value] : maker.block())
            options.assume[name] = value;
        std::ofstream(options.source.file) << text;
        try {
            const std::optional<std::string> refused = halo::test::lift_or_refuse(options);
            if (refused)
                ++reasons[refused->substr(0, 300)];
            else
                ++lifted;
        } catch (const halo::lift::SourceError& error) {
            INFO(error.what());
            CHECK(maker.reads_beyond());
        }
    }
    if (std::getenv("HALO_REASONS") != nullptr) {
        std::cout << lifted << " of " << wanted << " lifted\n";
        for (const auto& [reason, count] : reasons)
            std::cout << count << " " << reason << "\n";
    }
    CHECK(lifted * 3 >= static_cast<int>(wanted));
}
