#include "compiler/driver/tuning/tune_start.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <type_traits>

#include "compiler/driver/running/initial_data.h"
#include "compiler/driver/tuning/tune_random.h"
#include "compiler/lower/shared/storage.h"
#include "runtime/core/element.h"

namespace halo::driver {

namespace {

constexpr double kRelative = 0.01;    // of a number, that it is changed by at most
constexpr double kNoise = 0x1p-10;    // of a field's largest number, in the place of zeros
constexpr double kNothing = 0x1p-40;  // of the largest number of all fields: less is as good as 0
constexpr double kCalm = 0x1p-10;

// A value that most formulas accept: a real number around 1, never 0.
double draw(rt::ElementType type, Random& random) {
    switch (type) {
        case rt::ElementType::boolean:
            return random.unit() > 0.5 ? 1 : 0;
        case rt::ElementType::u8:
            return std::floor(256 * random.unit());
        case rt::ElementType::i32:
        case rt::ElementType::i64:
            return std::floor(40 * random.unit());
        default:
            return 0.5 + random.unit();
    }
}

// Random values with a period, which is prime, so that neighbouring rows and planes differ.
FieldValues random_values(rt::ElementType type, std::int64_t cells, std::uint64_t seed, bool calm) {
    constexpr std::int64_t kPeriod = 1048583;
    Random random(seed);
    std::vector<double> drawn(static_cast<std::size_t>(std::min(cells, kPeriod)));
    for (double& value : drawn) {
        value = draw(type, random);
        if (calm && rt::is_real(type)) value = 1 + kCalm * (value - 1);
    }
    const FieldValues period = FieldValues::rounded(type, drawn);
    const auto bytes = static_cast<std::size_t>(cells * rt::size_of(type));
    FieldValues values{type, {}};
    values.elements.reserve(bytes);  // gigabytes, to be written once
    while (values.elements.size() < bytes) {
        const std::size_t next = std::min(period.elements.size(), bytes - values.elements.size());
        values.elements.insert(values.elements.end(), period.elements.begin(),
                               period.elements.begin() + static_cast<std::ptrdiff_t>(next));
    }
    return values;
}

// The statistics of a field's finite real numbers.
struct Numbers {
    double least = std::numeric_limits<double>::infinity(), most = -least;
    double mean = 0;
    double largest() const { return least > most ? 0 : std::max(std::abs(least), std::abs(most)); }
};

// Calls with runs of a field's numbers, decoded; what it makes of them is stored where the field is not
// const.
template <class Values, class Call>
void for_numbers(Values& values, Call call) {
    constexpr std::int64_t kRun = 4096;
    std::array<double, kRun> numbers{};
    for (std::int64_t first = 0; first < values.size(); first += kRun) {
        const std::int64_t count = std::min(kRun, values.size() - first);
        auto* const elements = values.elements.data() + first * rt::size_of(values.type);
        rt::decode(elements, count, values.type, numbers.data());
        for (std::int64_t i = 0; i < count; ++i)
            call(numbers[static_cast<std::size_t>(i)]);
        if constexpr (!std::is_const_v<Values>) rt::encode(numbers.data(), count, values.type, elements);
    }
}

Numbers numbers_of(const FieldValues& values) {
    Numbers result;
    double sum = 0;
    std::int64_t count = 0;
    for_numbers(values, [&](double value) {
        if (!std::isfinite(value)) return;
        result.least = std::min(result.least, value);
        result.most = std::max(result.most, value);
        sum += value;
        ++count;
    });
    if (count > 0) result.mean = sum / static_cast<double>(count);
    return result;
}

bool is_constant(const FieldValues& values) {
    const auto size = static_cast<std::size_t>(rt::size_of(values.type));
    return std::equal(values.elements.begin() + static_cast<std::ptrdiff_t>(size), values.elements.end(),
                      values.elements.begin());
}

// The initial values by field, as a run computes them: zeros where neither init nor a file fills a field.
std::map<std::string, FieldValues> initial_values(const ir::Program& program, const TuneStart& start,
                                                  const Extent& extent, Machine* machine) {
    std::map<std::string, FieldValues> values;
    if (start.init == nullptr) return values;
    CodeOptions options;
    options.strict_fp = start.request->strict_fp;
    LoadTimings timings;
    for (const Initializer& part : initializers_of(*start.init)) {
        const rt::Box box = rt::box_of_field(part.grid, rt::whole_box(extent));
        const ir::Program made = program_of_box(part, extent, box);
        const std::unique_ptr<Engine> maker =
            machine != nullptr ? machine->load_initializer(made, box.extent(), options, timings)
                               : make_interpreter_engine(optimize(made, options), box.extent());
        set_known_arguments(*maker, made, *start.request);
        maker->run(1, std::nullopt);
        for (const ir::Field& field : made.fields)
            if (field.role == ir::Role::output) values[field.name] = maker->download(field.name, 0);
    }
    std::vector<std::string> loaded;
    for (const Load& load : start.request->loads) {
        const FieldSet set = find_fields(program, load.field);
        loaded.insert(loaded.end(), set.fields.begin(), set.fields.end());
    }
    for (const ir::Field& field : program.fields) {
        const rt::ElementType type = lower::element_type(field.storage);
        const bool is_read = field.role == ir::Role::state || field.role == ir::Role::input;
        if (is_read && rt::is_real(type) && std::ranges::find(loaded, field.name) == loaded.end())
            values.try_emplace(field.name, FieldValues::zeros(type, cell_count(field.grid.extent(extent))));
    }
    return values;
}

}  // namespace

void perturb(FieldValues& values, const Perturbation& how) {
    const Numbers all = numbers_of(values);
    Random random(how.seed);
    for_numbers(values, [&](double& value) {
        const std::uint64_t bits = random.next();
        if (!std::isfinite(value)) return;
        const double change = kRelative * (static_cast<double>(bits >> 32) * 0x1p-31 - 1);
        double changed = value * (1 + change);
        if (changed < all.least || changed > all.most) changed = value * (1 - change);
        if (std::abs(value) < how.noise) {
            // The noise has the sign of the field's other numbers, as a root may be taken of them.
            const double part = static_cast<double>((bits & 0xffffffffU) | 1U) * 0x1p-32;
            const double sign = all.least >= 0 ? 1 : all.most <= 0 ? -1 : (bits & 2U) != 0 ? 1 : -1;
            changed += sign * part * how.noise;
        }
        value = how.calm ? all.mean + kCalm * (changed - all.mean) : changed;
    });
}

std::vector<FieldLevel> start_fields(const ir::Program& program, const TuneStart& start, const Extent& extent,
                                     Machine* machine) {
    const std::map<std::string, FieldValues> initial = initial_values(program, start, extent, machine);
    std::map<std::string, double> largest;
    double of_all = 0;
    for (const auto& [name, values] : initial) {
        if (!rt::is_real(values.type)) continue;
        largest[name] = numbers_of(values).largest();
        of_all = std::max(of_all, largest[name]);
    }
    const double usual = of_all > 0 ? std::min(1.0, of_all) : 1;
    std::vector<FieldLevel> levels;
    std::uint64_t seed = 1;
    for (const ir::Field& field : program.fields) {
        if (field.role == ir::Role::intermediate) continue;
        const rt::ElementType type = lower::element_type(field.storage);
        const auto given = initial.find(field.name);
        const bool is_given = given != initial.end() && (rt::is_real(type) || !is_constant(given->second));
        for (int time = 0; time >= -field.history; --time, ++seed) {
            if (!is_given) {
                const std::int64_t cells = cell_count(field.grid.extent(extent));
                levels.push_back({field.name, time, random_values(type, cells, seed, start.calm)});
                continue;
            }
            levels.push_back({field.name, time, given->second});
            if (!rt::is_real(type)) continue;
            const double own = largest[field.name];
            const double scale = own > kNothing * usual ? own : usual;
            perturb(levels.back().values, {kNoise * scale, start.calm, seed});
        }
    }
    return levels;
}

}  // namespace halo::driver
