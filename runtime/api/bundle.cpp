#include "runtime/api/bundle.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <utility>

#include "runtime/api/axis_inputs.h"
#include "runtime/core/disk_cache.h"
#include "runtime/core/error.h"
#include "runtime/core/file_read.h"
#include "runtime/core/json_value.h"
#include "runtime/core/plan_check.h"
#include "runtime/core/plan_json.h"
#include "runtime/host/host_device.h"

namespace halocline::detail {

namespace rt = halo::rt;
using rt::json::Value;

namespace {

constexpr std::string_view kMagic = "halocline bundle ";
constexpr std::string_view kVersion = "2";

[[noreturn]] void refuse_bundle(const std::string& name, const std::string& why) {
    throw rt::Error(rt::ErrorCode::bad_argument, fmt::format("{}: {}", name, why));
}

std::string_view take_line(std::string_view& rest, const std::string& name) {
    const std::size_t end = rest.find('\n');
    if (end == std::string_view::npos) refuse_bundle(name, "this is no Halocline bundle");
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    return line;
}

// The index; `rest` is the code after it.
Value read_index(std::string_view& rest, const std::string& name) {
    const std::string_view magic = take_line(rest, name);
    if (!magic.starts_with(kMagic)) refuse_bundle(name, "this is no Halocline bundle");
    if (magic.substr(kMagic.size()) != kVersion)
        refuse_bundle(
            name,
            fmt::format(
                "this is a bundle of another Halocline (format {}, and this one reads {}); make it anew",
                magic.substr(kMagic.size()), kVersion));
    const std::string_view sum = take_line(rest, name);
    if (sum != rt::hash_key({rest})) refuse_bundle(name, "the bundle is damaged: its checksum is wrong");
    const std::string_view digits = take_line(rest, name);
    std::size_t bytes = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), bytes);
    if (bytes > rest.size()) refuse_bundle(name, "the bundle is damaged: its index is cut short");
    Value index = Value::parse(rest.substr(0, bytes));
    rest.remove_prefix(bytes);
    return index;
}

class LinkedCode : public rt::HostCode {
public:
    explicit LinkedCode(const LinkedKernel* kernels) : kernels_(kernels) {}
    void* find(const std::string& name) override {
        for (const LinkedKernel* kernel = kernels_; kernel->name != nullptr; ++kernel)
            if (name == kernel->name) return reinterpret_cast<void*>(kernel->function);
        return nullptr;
    }

private:
    const LinkedKernel* kernels_;
};

std::string describe(const Variant& variant) {
    return variant.target + (variant.grid.empty() ? ", any grid" : ", grid " + grid_text(variant.grid));
}

class BundleSource : public ProgramSource {
public:
    BundleSource(std::vector<Variant> variants, const LinkedKernel* kernels)
        : ProgramSource(info_of(variants.front().plan)), kernels_(kernels) {
        for (Variant& variant : variants)
            variants_.push_back(std::make_shared<const Variant>(std::move(variant)));
    }

    std::vector<std::string> targets() const override {
        std::vector<std::string> all;
        for (const auto& variant : variants_)
            all.push_back(describe(*variant));
        return all;
    }

    std::shared_ptr<const Code> code_for(const DeviceState& device, const Extent& extent) override {
        const std::shared_ptr<const Variant> variant = choose(device.arch, extent);
        auto code = std::make_shared<Code>();
        code->plan = variant->plan;
        code->load = [variant, kernels = kernels_](rt::Device& on) {
            Modules modules;
            if (variant->target == "cpu")
                modules.push_back(rt::make_host_module(std::make_unique<LinkedCode>(kernels)));
            for (const std::string& bytes : variant->code)
                modules.push_back(on.load(bytes, variant->plan.name));
            return modules;
        };
        return code;
    }

    // All variants agree in what they read of an axis.
    std::unique_ptr<HiddenInputs> hidden_inputs(SimulationState& simulation) override {
        const rt::LaunchPlan& plan = variants_.front()->plan;
        return plan.stretched.empty() ? nullptr : std::make_unique<AxisInputs>(simulation, plan);
    }

private:
    std::shared_ptr<const Variant> choose(const std::string& arch, const Extent& extent) const {
        std::shared_ptr<const Variant> best;
        int best_score = 0;
        for (const auto& variant : variants_) {
            if (variant->target == "cpu" && kernels_ == nullptr) continue;
            const bool of_grid = std::equal(variant->grid.begin(), variant->grid.end(), extent.begin());
            if (!of_grid) continue;  // which holds for any grid, too
            const int fit = fitness(variant->target, arch);
            const int score = fit == 0 ? 0 : 1000 * (variant->grid.empty() ? 0 : 1) + fit;
            if (score > best_score) {
                best = variant;
                best_score = score;
            }
        }
        if (best != nullptr) return best;
        const Grid grid(extent.begin(), extent.begin() + static_cast<std::ptrdiff_t>(info().axes.size()));
        throw rt::Error(
            rt::ErrorCode::no_device,
            fmt::format("the bundle of '{}' has no code for {} and the grid {}; it has code for: {}",
                        info().name, arch, grid_text(grid), fmt::join(targets(), "; ")));
    }

    std::vector<std::shared_ptr<const Variant>> variants_;
    const LinkedKernel* kernels_;
};

}  // namespace

// A cubin runs on devices of the same major version and no lower minor one.
int fitness(const std::string& target, const std::string& device) {
    if (target == device) return 100;
    int built = 0, there = 0;
    if (!target.starts_with("sm_") || !device.starts_with("sm_")) return 0;
    const auto read = [](const std::string& text, int& number) {
        const auto end = std::from_chars(text.data() + 3, text.data() + text.size(), number).ptr;
        return end == text.data() + text.size();  // sm_90a runs on that one alone
    };
    if (!read(target, built) || !read(device, there)) return 0;
    return built / 10 == there / 10 && built < there ? 1 + built % 10 : 0;
}

std::string bundle_text(const std::string& name, const std::vector<Variant>& variants) {
    Value index = Value::object({{"name", name}, {"variants", Value::list({})}});
    std::string code;
    for (const Variant& variant : variants) {
        Value sizes = Value::list({});
        for (const std::string& module : variant.code) {
            sizes.push_back(module.size());
            code += module;
        }
        index["variants"].push_back(
            Value::object({{"target", variant.target},
                           {"grid", variant.grid.empty() ? Value() : Value(variant.grid)},
                           {"plan", Value::parse(rt::plan_to_json(variant.plan))},
                           {"code", std::move(sizes)}}));
    }
    const std::string text = index.dump();
    const std::string body = fmt::format("{}\n{}{}", text.size(), text, code);
    return fmt::format("{}{}\n{}\n{}", kMagic, kVersion, rt::hash_key({body}), body);
}

std::vector<Variant> parse_bundle(std::string_view bundle, const std::string& name) {
    std::string_view rest = bundle;
    std::vector<Variant> variants;
    try {
        const Value index = read_index(rest, name);
        for (const Value& entry : index.at("variants").items()) {
            Variant variant;
            variant.target = entry.at("target").get<std::string>();
            if (!entry.at("grid").is_null()) variant.grid = entry.at("grid").get<std::vector<std::int64_t>>();
            variant.plan = rt::plan_from_json(entry.at("plan").dump());
            rt::check_plan(variant.plan);
            for (const Value& size : entry.at("code").items()) {
                const auto bytes = size.get<std::size_t>();
                if (bytes > rest.size()) refuse_bundle(name, "the bundle is damaged: its code is cut short");
                variant.code.emplace_back(rest.substr(0, bytes));
                rest.remove_prefix(bytes);
            }
            variants.push_back(std::move(variant));
        }
    } catch (const rt::json::Mistake& error) {
        refuse_bundle(name, fmt::format("the bundle's index cannot be read: {}", error.what()));
    }
    if (variants.empty()) refuse_bundle(name, "the bundle has no code");
    return variants;
}

std::string read_bundle_file(const std::string& path) {
    constexpr std::int64_t kMostBytes = std::int64_t{1} << 30;
    return rt::FileRead(path).read_all(kMostBytes);
}

std::shared_ptr<ProgramSource> open_bundle(std::string_view bundle, const LinkedKernel* kernels,
                                           const std::string& name) {
    return std::make_shared<BundleSource>(parse_bundle(bundle, name), kernels);
}

}  // namespace halocline::detail
