// The C interface, called in any order with any numbers: random sequences of calls whose pointers are right,
// or NULL, and whose numbers are anything. No call crashes, and each that fails says why. The sequence is the
// same each time.
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

#include "catch.h"
#include "damage.h"
#include "halocline/runtime.h"
#include "heat.h"
#include "wave.h"

using halo::test::Damage;
using halo::test::damage_rounds;

namespace {

constexpr std::size_t kCells = 12 * 7 * 9;

class Caller {
public:
    explicit Caller(std::uint64_t seed) : damage_(seed) {
        good(halo_device_cpu(1, &devices_.emplace_back()));
        good(halo_device_cpu(2, &devices_.emplace_back()));
        good(heat_open(&programs_.emplace_back()));
        good(wave_open(&programs_.emplace_back()));
    }
    ~Caller() {
        for (auto* each : simulations_)
            halo_simulation_release(each);
        for (auto* each : fields_)
            halo_field_release(each);
        for (auto* each : programs_)
            halo_program_release(each);
        for (auto* each : devices_)
            halo_device_release(each);
    }
    Caller(const Caller&) = delete;
    Caller& operator=(const Caller&) = delete;

    void call() {
        halo_simulation* const s = some(simulations_);
        halo_field* field = nullptr;
        halo_simulation* simulation = nullptr;
        halo_layout layout{};
        halo_view view{};
        halo_piece piece{};
        halo_field_info info{};
        std::int64_t count = 0;
        int pieces = 0;
        double value = 0;
        std::size_t room = kCells;
        const std::int64_t* const cells = grid();
        const int axes = damage_.below(8) == 0 ? any_int() : axes_;
        switch (damage_.below(26)) {
            case 0:
            case 1:
            case 2:
                if (simulations_.size() >= 12) break;
                check(halo_simulation_create(some(programs_), some(devices_), cells, axes, &simulation));
                if (simulation != nullptr) simulations_.push_back(simulation);
                break;
            case 3: {
                halo_program* const program = some(programs_);
                halo_device* const device = some(devices_);
                if (halo_common_layout(&program, 1, device, cells, axes, &layout) != HALO_OK) break;
                spoil(layout);
                check(halo_simulation_create_in(program, device, &layout, &simulation));
                if (simulation != nullptr) simulations_.push_back(simulation);
                spoil(layout);
                const int past = damage_.below(3) == 0 ? any_int() : 1,
                          scratch = damage_.below(3) == 0 ? any_int() : 1;
                // Tens of thousands of arrays are right, and take long.
                if (past > 40 && past <= 1 << 16) break;
                if (scratch > 40 && scratch <= 1 << 16) break;
                check(halo_field_create(device, type(), &layout, past, scratch, &field));
                if (field != nullptr) fields_.push_back(field);
                break;
            }
            case 4: {
                halo_device* const devices[] = {some(devices_), some(devices_)};
                check(halo_simulation_create_on(some(programs_), devices, damage_.below(4) == 0 ? -1 : 1,
                                                cells, axes, any_count(), &simulation));
                if (simulation != nullptr) simulations_.push_back(simulation);
                break;
            }
            case 5:
                check(halo_set(s, name(), number()));
                break;
            case 6:
                check(halo_get(s, name(), &value));
                break;
            case 7:
                check(halo_write_f32(s, name(), floats_.data(), length(), level()));
                break;
            case 8:
                check(halo_write_f64(s, name(), doubles_.data(), length(), level()));
                break;
            case 9:
                check(halo_read_f32(s, name(), floats_.data(), length(), level()));
                break;
            case 10:
                check(halo_read_f64(s, name(), doubles_.data(), length(), level()));
                break;
            case 11:
                check(halo_write_elements(s, name(), doubles_.data(), length() * (damage_.below(2) ? 4 : 8),
                                          level()));
                break;
            case 12:
                check(halo_read_elements(s, name(), doubles_.data(), length() * (damage_.below(2) ? 4 : 8),
                                         level()));
                break;
            case 13:
            case 14: {
                const std::int64_t steps = any_count();
                if (steps > 50 && steps < std::numeric_limits<std::int64_t>::max() - 1000) break;
                const bool is_beyond = steps == std::numeric_limits<std::int64_t>::max();
                // From the first step on that many would be run; later they are more than can be counted.
                if (is_beyond && (halo_steps_done(s, &count) != HALO_OK || count == 0)) break;
                check(halo_step(s, is_beyond ? steps : steps % 5));
                break;
            }
            case 15:
                check(halo_reduce(s, name(), &value));
                break;
            case 16:
                check(halo_bind(s, name(), some(fields_)));
                break;
            case 17:
                if (fields_.size() >= 12) break;
                check(halo_share(s, name(), &field));
                if (field != nullptr) fields_.push_back(field);
                break;
            case 18:
                check(halo_field_view(some(fields_), level(), &view));
                break;
            case 19:
                check(halo_simulation_view(s, name(), any_int(), level(), &view));
                check(halo_simulation_piece(s, any_int(), &piece));
                check(halo_simulation_piece_count(s, &pieces));
                break;
            case 20:
                check(halo_program_field(some(programs_), any_int(), &info));
                check(halo_simulation_layout(s, &layout));
                check(halo_steps_done(s, &count));
                break;
            case 21:
                check(halo_set_weights(s, name(), doubles_.data(), length()));
                check(halo_set_table(s, name(), doubles_.data(), length()));
                check(halo_set_series(s, name(), doubles_.data(), length()));
                check(halo_set_points(s, name(), doubles_.data(), length()));
                check(halo_set_point_values(s, name(), name(), doubles_.data(), length()));
                check(halo_trace(s, name(), name(), doubles_.data(), &room));
                break;
            case 22:
                of_views();
                break;
            case 23:
                release(simulations_, halo_simulation_release);
                break;
            case 24:
                release(fields_, halo_field_release);
                break;
            default:
                check(halo_field_changed(some(fields_)));
                check(halo_device_wait(some(devices_)));
                check(halo_wait(s));
        }
    }
    int calls() const { return calls_; }
    int failures() const { return failures_; }

private:
    static void good(halo_code code) { REQUIRE(code == HALO_OK); }
    void check(halo_code code) {
        ++calls_;
        if (code == HALO_OK) return;
        ++failures_;
        INFO(halo_message());
        CHECK((code == HALO_BAD_ARGUMENT || code == HALO_OUT_OF_MEMORY || code == HALO_NO_DEVICE));
        CHECK(std::strlen(halo_message()) > 0);
    }
    template <class Handle>
    Handle* some(const std::vector<Handle*>& handles) {
        if (handles.empty() || damage_.below(20) == 0) return nullptr;
        return damage_.one_of(handles);
    }
    template <class Handle>
    void release(std::vector<Handle*>& handles, void (*give_back)(Handle*)) {
        if (handles.empty()) return;
        const std::size_t at = damage_.below(handles.size());
        give_back(handles[at]);
        handles.erase(handles.begin() + static_cast<std::ptrdiff_t>(at));
    }
    std::int64_t any_count() {
        static const std::vector<std::int64_t> counts{0,
                                                      1,
                                                      2,
                                                      3,
                                                      8,
                                                      -1,
                                                      -8,
                                                      48,
                                                      std::int64_t{1} << 31,
                                                      (std::int64_t{1} << 31) - 1,
                                                      std::int64_t{1} << 62,
                                                      std::numeric_limits<std::int64_t>::max(),
                                                      std::numeric_limits<std::int64_t>::min()};
        return damage_.one_of(counts);
    }
    int any_int() {
        static const std::vector<int> numbers{0,
                                              1,
                                              2,
                                              3,
                                              4,
                                              -1,
                                              7,
                                              99,
                                              1 << 20,
                                              std::numeric_limits<int>::max(),
                                              std::numeric_limits<int>::min()};
        return damage_.one_of(numbers);
    }
    int level() { return damage_.below(3) == 0 ? any_int() : -static_cast<int>(damage_.below(2)); }
    double number() {
        static const std::vector<double> numbers{0,
                                                 0.1,
                                                 -1,
                                                 1e308,
                                                 1e-320,
                                                 std::numeric_limits<double>::infinity(),
                                                 std::numeric_limits<double>::quiet_NaN()};
        return damage_.one_of(numbers);
    }
    const char* name() {
        static const std::vector<const char*> names{"u",      "p", "dt", "lambda", "wall",
                                                    "change", "",  "x",  nullptr};
        return damage_.one_of(names);
    }
    std::size_t length() {
        static const std::vector<std::size_t> lengths{48, kCells, 48, kCells, 0, 1, 47};
        return damage_.one_of(lengths);
    }
    halo_type type() {
        const int number = damage_.below(2) == 0 ? any_int() : static_cast<int>(damage_.below(2));
        halo_type type;
        std::memcpy(&type, &number, sizeof type);
        return type;
    }
    const std::int64_t* grid() {
        axes_ = 2 + static_cast<int>(damage_.below(2));
        cells_ = axes_ == 2 ? std::vector<std::int64_t>{8, 6, 1} : std::vector<std::int64_t>{12, 7, 9};
        if (damage_.below(4) == 0) cells_[damage_.below(3)] = any_count();
        // A grid that is large and possible would be allocated.
        if (cells_[0] > 100 && cells_[0] < std::int64_t{1} << 31) cells_[0] = 9;
        if (cells_[1] > 100 && cells_[1] < std::int64_t{1} << 31) cells_[1] = 9;
        if (cells_[2] > 100 && cells_[2] < std::int64_t{1} << 31) cells_[2] = 9;
        return damage_.below(40) == 0 ? nullptr : cells_.data();
    }
    void spoil(halo_layout& layout) {
        static const std::vector<std::int64_t halo_layout::*> parts{
            &halo_layout::pitch, &halo_layout::slice, &halo_layout::first_cell, &halo_layout::elements};
        if (damage_.below(2) == 0) return;
        std::int64_t& part = layout.*damage_.one_of(parts);
        part = damage_.below(2) == 0 ? any_count() : part + static_cast<std::int64_t>(damage_.below(40)) - 20;
        if (layout.elements > 1 << 20 && layout.elements < std::int64_t{1} << 60) layout.elements = 1 << 20;
    }
    // Of memory that is there; what is said of how it lies need not be so.
    void of_views() {
        halo_view views[2];
        memory_.push_back(std::make_unique<double[]>(4096));
        for (halo_view& view : views) {
            view = {memory_.back().get() + (&view == views ? 0 : 2048), 2048 * 8, 200, 24, 24 * 11, 0};
            if (damage_.below(4) == 0)
                view.memory = damage_.below(2) ? nullptr : memory_.back().get() + damage_.below(2048);
            if (damage_.below(6) == 0) view.bytes = std::min<std::int64_t>(any_count(), 2048 * 8);
            if (damage_.below(6) == 0) view.first_cell = any_count();
            if (damage_.below(6) == 0) view.pitch = any_count();
            if (damage_.below(6) == 0) view.slice = any_count();
            // What lies beyond cannot be seen by any call.
            if (view.memory > memory_.back().get() + 2048) view.bytes = 8;
        }
        const std::int64_t* const cells = grid();
        halo_field* field = nullptr;
        check(halo_field_of_views(some(devices_), type(), cells, axes_, views,
                                  damage_.below(5) == 0 ? any_int() % 3 : 2,
                                  damage_.below(4) == 0 ? any_int() : 0, &field));
        if (field == nullptr) return;
        fields_.push_back(field);
    }

    Damage damage_;
    std::vector<halo_device*> devices_;
    std::vector<halo_program*> programs_;
    std::vector<std::unique_ptr<double[]>> memory_;  // outlives the fields on it
    std::vector<halo_field*> fields_;
    std::vector<halo_simulation*> simulations_;
    std::vector<std::int64_t> cells_{8, 6, 1};
    int axes_ = 2;
    std::vector<float> floats_ = std::vector<float>(kCells, 1.0F);
    std::vector<double> doubles_ = std::vector<double>(kCells, 1.0);
    int calls_ = 0, failures_ = 0;
};

}  // namespace

TEST_CASE("any calls of the C interface, in any order") {
    int calls = 0, failures = 0;
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        Caller caller(seed);
        for (int round = 0; round < 4 * damage_rounds(); ++round)
            caller.call();
        calls += caller.calls();
        failures += caller.failures();
    }
    CHECK(failures > calls / 20);
    CHECK(failures < calls);
}
