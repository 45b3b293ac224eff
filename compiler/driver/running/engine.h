// Engine: one program on one grid, whatever runs it: an rt::Session on a device, or the interpreter.
//
// Fields are dense host arrays, x fastest: element x + nx * (y + ny * z), without axes that they have not.
// Time levels are named as in a spec: 0 is t, -1 is t-1.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/program.h"
#include "compiler/schedule/legality.h"
#include "runtime/core/box.h"
#include "runtime/core/fields_aside.h"
#include "runtime/core/lattice.h"
#include "runtime/core/session.h"

namespace halo::driver {

using schedule::cell_count;
using schedule::Extent;

// One level of a field on the host, as the field is stored.
struct FieldValues {
    rt::ElementType type = rt::ElementType::f32;
    std::vector<std::byte> elements;

    static FieldValues zeros(rt::ElementType type, std::int64_t cells);
    static FieldValues rounded(rt::ElementType type, const std::vector<double>& values);
    const void* data() const { return elements.data(); }
    std::int64_t size() const { return bytes() / rt::size_of(type); }
    std::int64_t bytes() const { return static_cast<std::int64_t>(elements.size()); }
    double at(std::int64_t index) const;  // an i64 past 2^53 is rounded

    struct NotFinite {
        std::int64_t count = 0;
        std::int64_t first = -1;  // element; -1 where all are finite
    };
    NotFinite not_finite() const;
};

class Engine {
public:
    virtual ~Engine() = default;

    virtual void set_param(const std::string& name, double value) = 0;
    virtual void set_coef(const std::string& name, const std::vector<double>& values) = 0;
    virtual void set_table(const std::string& name, const std::vector<double>& rows) = 0;  // given columns
    // As Session has them. What is given for points of other numbers is a mistake of the caller.
    virtual void set_points(const std::string& points, const std::vector<double>& positions) = 0;
    virtual void set_point_values(const std::string& points, const std::string& name,
                                  const std::vector<double>& values) = 0;
    // Where several processes share a run: collective, and the first alone is given values.
    virtual std::vector<double> trace(const std::string& points, const std::string& name) = 0;
    virtual Extent extent() const = 0;
    virtual rt::ElementType type_of(const std::string& field) const = 0;
    virtual rt::FieldGrid grid_of(const std::string& field) const = 0;
    void upload(const std::string& field, int time, const FieldValues& values);
    double upload_seconds() const { return upload_seconds_; }  // that all uploads took
    FieldValues download(const std::string& field, int time = 0);
    // A part of a field: the cells of a box of its own, which has one cell along axes that the field has not.
    void upload_box(const std::string& field, int time, const rt::Box& box, const FieldValues& values);
    FieldValues download_box(const std::string& field, int time, const rt::Box& box);
    // Cells of a field in equal steps, to memory of their size, what is in it being lost.
    FieldValues download_lattice(const std::string& field, int time, const rt::Lattice& lattice,
                                 std::vector<std::byte> memory);
    // The cells that this process has, each once; and those that it must be given, which may be more.
    virtual std::vector<rt::Box> own_boxes() const { return {rt::whole_box(extent())}; }
    virtual std::vector<rt::Box> computed_boxes() const { return own_boxes(); }
    // The same as cells of a field; of one over fewer axes several processes have the same.
    rt::Box whole_box_of(const std::string& field) const;
    std::vector<rt::Box> own_boxes_of(const std::string& field) const;
    std::vector<rt::Box> computed_boxes_of(const std::string& field) const;
    // As Session has them, where both engines are sessions.
    virtual bool copy_level(const std::string& /*field*/, int /*time*/, const Engine& /*from*/,
                            const std::string& /*from_field*/, int /*from_time*/) {
        return false;
    }
    virtual bool borrow_level(const std::string& /*field*/, const Engine& /*from*/,
                              const std::string& /*from_field*/, int /*from_time*/) {
        return false;
    }
    virtual std::optional<rt::CellComparison> compare_level(const std::string& /*field*/, int /*time*/,
                                                            const Engine& /*other*/) const {
        return std::nullopt;
    }
    // Whether all cells of a state are finite; nullopt where that is only known of cells that are fetched.
    virtual std::optional<bool> is_finite(const std::string& /*field*/) const { return std::nullopt; }
    // Makes room for copies of these states beside the states themselves; false where none is to spare, or
    // they cannot be copied there. copy_states() copies all of them, in place of what it copied before.
    virtual bool make_room_for_copies(const std::vector<std::string>& /*states*/) { return false; }
    virtual void copy_states() {}
    FieldValues download_copy(const std::string& state, const rt::Box& box);
    // Room for cells that are fetched while later steps go on; null where there is no such way. The engine
    // must outlive it.
    virtual std::unique_ptr<rt::FieldsAside> make_fields_aside() { return nullptr; }

    // As Session has it: steps are counted from those that others did.
    virtual void continue_from(const rt::StepsBefore& before) = 0;
    // Whether the condition holds after the last step.
    virtual bool holds(const rt::HostScalar& until) = 0;
    // Steps in a row, stopping early where `until` (as in rt::RunOptions) holds.
    virtual rt::RunResult run(std::int64_t steps, const std::optional<rt::HostScalar>& until) = 0;
    // The same beside work of the host, which is called once: where steps can go on without the host when
    // they do, and else before them.
    virtual rt::RunResult run_beside(const std::function<void()>& work, std::int64_t steps,
                                     const std::optional<rt::HostScalar>& until) {
        work();
        return run(steps, until);
    }
    virtual double reduction(const std::string& name) = 0;  // of the last step
    // As Session has them.
    virtual std::vector<rt::RepeatCounts> repeat_counts() const { return {}; }
    // As Session has them; of others, run() and reduction() do the same.
    virtual void step(std::int64_t count, bool /*with_results*/) { run(count, std::nullopt); }
    virtual void note_reduction(const std::string& name) { noted_[name].push_back(reduction(name)); }
    virtual std::vector<double> noted_reductions(const std::string& name) {
        return std::exchange(noted_[name], {});
    }
    virtual void go_back_to(std::int64_t step) { continue_from({step, {}, {}}); }
    // About as many steps, of which none are left over where several are done at once.
    virtual std::int64_t whole_steps(std::int64_t steps) const { return steps; }
    virtual rt::AsyncBlock async_block() const { return {}; }
    // What it drives; null where that is no session, or several.
    virtual rt::Session* session() { return nullptr; }
    // All that it drives, in the order of the grid's pieces; none where it is the interpreter.
    virtual std::vector<rt::Session*> sessions() {
        return session() == nullptr ? std::vector<rt::Session*>() : std::vector{session()};
    }
    // Of a grid in pieces, as rt::Pieces has them; of others there is nothing to do.
    virtual void fill_ghosts() {}
    virtual void ghosts_due() {}

private:
    virtual void upload_cells(const std::string& field, int time, const rt::Box& box,
                              const void* elements) = 0;
    virtual void download_cells(const std::string& field, int time, const rt::Box& box, void* elements) = 0;
    // Of others than a session: among the cells of the box around them.
    virtual void download_lattice_cells(const std::string& field, int time, const rt::Lattice& lattice,
                                        void* elements);
    virtual void download_copied_cells(const std::string& /*state*/, const rt::Box& /*box*/,
                                       void* /*elements*/) {}
    double upload_seconds_ = 0;
    std::map<std::string, std::vector<double>> noted_;
};

// Of a field of the plan, by its name.
rt::ElementType type_in(const rt::LaunchPlan& plan, const std::string& field);
rt::FieldGrid grid_in(const rt::LaunchPlan& plan, const std::string& field);

// Takes the session over; whatever it runs on must outlive the engine.
std::unique_ptr<Engine> make_session_engine(rt::Session session);
// The session stays the caller's, and must outlive the engine.
std::unique_ptr<Engine> make_engine_on(rt::Session& session);

// Throws rt::Error (out_of_memory) where the grid does not fit into this machine's memory.
std::unique_ptr<Engine> make_interpreter_engine(ir::Program program, const Extent& extent);

}  // namespace halo::driver
