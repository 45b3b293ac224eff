#include "runtime/pieces/pieces.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <exception>
#include <iterator>
#include <limits>
#include <thread>

#include "runtime/core/error.h"
#include "runtime/pieces/rendezvous.h"

namespace halo::rt {

namespace {

void check_reductions(const Decomposition& cut, const LaunchPlan& plan) {
    const int last = cut.grid.rank - 1;
    for (const ReductionPlan& reduction : plan.reductions) {
        const KernelPlan& kernel = plan.kernels[static_cast<std::size_t>(reduction.kernel)];
        if (kernel.tile[static_cast<std::size_t>(last)] == 1 && !cut.axis_cut_besides_last()) continue;
        throw Error(ErrorCode::bad_argument,
                    fmt::format("'{}' is not added up plane by plane, as pieces of a grid need; leave the "
                                "schedule of its stage to be chosen",
                                reduction.name));
    }
}

}  // namespace

Pieces::Pieces(Decomposition cut, std::vector<Session*> sessions, PiecesOptions options)
    : Pieces(std::move(cut), std::move(sessions), std::move(options), single_rank(), nullptr, make_copies()) {
}

Pieces::Pieces(Decomposition cut, Session& session, PiecesOptions options, Ranks& ranks,
               std::unique_ptr<Transport> transport)
    : Pieces(std::move(cut), {&session}, std::move(options), nullptr, &ranks, std::move(transport)) {}

Pieces::Pieces(Decomposition cut, std::vector<Session*> sessions, PiecesOptions options,
               std::unique_ptr<Ranks> alone, Ranks* ranks, std::unique_ptr<Transport> transport)
    : cut_(std::move(cut)),
      alone_(std::move(alone)),
      ranks_(ranks != nullptr ? ranks : alone_.get()),
      first_(static_cast<std::size_t>(ranks_->rank())),
      sessions_(std::move(sessions)),
      transport_(std::move(transport)),
      transports_{{transport_->name(), 0}},
      options_(std::move(options)),
      good_for_(options_.interval) {
    if (sessions_.size() * static_cast<std::size_t>(ranks_->count()) != cut_.pieces.size())
        throw Error(ErrorCode::bad_argument, "each piece of a grid needs a session");
    for (std::size_t i = 0; i < sessions_.size(); ++i)
        if (sessions_[i]->geometry().extent != piece(i).extent())
            throw Error(ErrorCode::bad_argument, fmt::format("session {} is not of its piece's extents", i));
    const LaunchPlan& plan = sessions_.front()->plan();
    if (cut_.count() > 1) check_reductions(cut_, plan);
    wait_in_step_ = sessions_.front()->reads_reductions() || sessions_.front()->exchanges_in_step();
    add_grid(1);
    for (const FieldPlan& field : plan.fields)
        add_grid(field.grid.factor);
    for (const KernelPlan& kernel : plan.kernels)
        add_grid(kernel.domain.factor);
    for (const std::string& name : options_.carried) {
        const FieldPlan* field = find_field(name);
        if (field == nullptr) continue;
        field -= field->component;  // the array is the first's
        if (std::ranges::find(carried_, field->name, &Carried::name) != carried_.end()) continue;
        Carried carried;
        carried.name = field->name;
        carried.components = {field, static_cast<std::size_t>(field->interleave)};
        carried.element = size_of(field->type) * field->interleave;
        carried.factor = field->grid.factor;
        carried.levels = static_cast<int>(std::min<std::int64_t>(options_.interval, field->history + 1));
        carried_.push_back(carried);
    }
    for (std::size_t i = 0; i < sessions_.size(); ++i)
        mirrors_ghosts_.push_back(std::ranges::any_of(carried_, [&](const Carried& carried) {
            return std::ranges::any_of(carried.components,
                                       [&](const FieldPlan& field) { return mirrors_ghosts(i, field); });
        }));
    choose_scheme();
    for (Session* session : sessions_)
        session->expect_steps(options_.interval);
    if (!is_shared()) return;
    // Connects ranks before any step, so that errors show at the start; nothing has to be exchanged yet.
    exchange();
    transport_->wait();
}

void Pieces::add_grid(int factor) {
    if (std::ranges::find(grids_, factor, &OfGrid::factor) != grids_.end()) return;
    OfGrid grid{factor, cut_.of_grid(factor), {}};
    grid.transfers = transfers(grid.cut, plan().halo);
    grids_.push_back(std::move(grid));
}

const Pieces::OfGrid& Pieces::of_grid(int factor) const {
    return *std::ranges::find(grids_, factor, &OfGrid::factor);
}

void Pieces::consider(std::unique_ptr<Transport> other) {
    constexpr double kClearly = 0.8;
    if (transports_.front().seconds == 0) transports_.front().seconds = seconds_of_exchange();
    std::swap(transport_, other);
    transports_.push_back({transport_->name(), seconds_of_exchange()});
    if (transports_.back().seconds < kClearly * transports_.front().seconds)
        std::swap(transports_.front(), transports_.back());
    else
        std::swap(transport_, other);
}

// Times an exchange; the result is the same in all ranks.
double Pieces::seconds_of_exchange() {
    constexpr int kTrials = 5;
    exchange();  // connects what has not been
    double least = std::numeric_limits<double>::infinity();
    for (int trial = 0; trial < kTrials; ++trial) {
        synchronize();
        ranks_->barrier();
        const auto begin = std::chrono::steady_clock::now();
        exchange();
        synchronize();
        const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
        least = std::min(least, taken.count());
    }
    double slowest = 0;
    for (const std::string& part :
         ranks_->all_gather({reinterpret_cast<const char*>(&least), sizeof least})) {
        std::memcpy(&least, part.data(), sizeof least);
        slowest = std::max(slowest, least);
    }
    return slowest;
}

const FieldPlan* Pieces::find_field(const std::string& name) const {
    const auto found = std::ranges::find(plan().fields, name, &FieldPlan::name);
    return found == plan().fields.end() ? nullptr : &*found;
}

void Pieces::set_param(const std::string& name, double value) {
    for (Session* session : sessions_)
        session->set_param(name, value);
}

void Pieces::set_coef(const std::string& name, std::span<const double> values) {
    for (Session* session : sessions_)
        session->set_coef(name, values);
}

void Pieces::set_table(const std::string& name, std::span<const double> values) {
    for (Session* session : sessions_)
        session->set_table(name, values);
}

void Pieces::step(std::int64_t count, bool with_results) {
    while (count > 0) {
        ranks_->at_step(done_);
        // No more steps than these are done before the next look.
        const std::int64_t alike = sessions_.front()->steps_to_full(std::min(count, options_.interval + 1));
        if (const std::int64_t blocks = blocks_within(alike); blocks > 0) {
            step_blocks(blocks);
            done_ += blocks * plan().time_block->steps;
            count -= blocks * plan().time_block->steps;
            continue;
        }
        // Exchanges also where ghosts are still valid: an exchange should not split steps that one kernel can
        // do.
        if (good_for_ < std::min(alike, options_.interval)) exchange();
        const std::int64_t steps = std::min(alike, good_for_);
        step_each(steps, with_results && steps == count);
        done_ += steps;
        good_for_ -= steps;
        count -= steps;
    }
}

void Pieces::step_each(std::int64_t count, bool with_results) {
    in_step_ = false;
    if (wait_in_step_ && sessions_.size() > 1) return step_together(count, with_results);
    if (wait_in_step_ && is_shared()) {
        Session& own = *sessions_.front();
        own.combine_with([this, &own](const std::string& name) {
            transport_->wait();
            return combined(name, {own.partial_results(name)});
        });
        own.exchange_with([this](const std::vector<LevelArray>& levels) { transfer({levels}); },
                          mirrors_ghosts_in_step(0));
    }
    for (Session* session : sessions_)
        session->step(count, with_results);
}

// Steps pieces that wait for each other within a step: each has a thread.
void Pieces::step_together(std::int64_t count, bool with_results) {
    Rendezvous rendezvous(sessions_.size());
    std::vector<std::vector<LevelArray>> levels(sessions_.size());  // that are exchanged
    std::vector<std::exception_ptr> troubles(sessions_.size());
    {
        enum Start { awaited, all_there, given_up };
        std::atomic<Start> start = awaited;  // no piece steps before each has its thread
        const auto begin = [&start](Start how) {
            start = how;
            start.notify_all();
        };
        std::vector<std::jthread> threads;
        for (std::size_t i = 0; i < sessions_.size(); ++i) {
            Session& session = *sessions_[i];
            session.combine_with([this, &rendezvous, &session, i](const std::string& name) {
                return rendezvous.all_reduce(
                    i, session.partial_results(name),
                    [&](const std::vector<PartialResults>& parts) { return combined(name, parts); });
            });
            session.exchange_with(
                [this, &rendezvous, &levels, i](const std::vector<LevelArray>& own) {
                    levels[i] = own;
                    rendezvous.meet([&] { transfer(levels); });
                },
                mirrors_ghosts_in_step(i));
            try {
                threads.emplace_back(
                    [&rendezvous, &start, &session, &trouble = troubles[i], count, with_results] {
                        start.wait(awaited);
                        if (start == given_up) return;
                        try {
                            rendezvous.work([&] { session.step(count, with_results); });
                        } catch (...) {
                            trouble = std::current_exception();
                        }
                    });
            } catch (...) {
                begin(given_up);
                throw;
            }
        }
        begin(all_there);
    }
    for (const std::exception_ptr& trouble : troubles) {
        if (!trouble) continue;
        try {
            std::rethrow_exception(trouble);
        } catch (const GaveUp&) {
            // because of an error in another
        }
    }
}

void Pieces::synchronize() {
    transport_->wait();
    for (Session* session : sessions_)
        session->synchronize();
}

void Pieces::transfer(const std::vector<std::vector<LevelArray>>& levels) {
    for (const OfGrid& grid : grids_) {
        std::vector<PieceArrays> pieces(sessions_.size());
        std::vector<Geometry> geometries;  // as they are now: sessions may have taken arrays of others
        for (const Session* session : sessions_)
            geometries.push_back(geometry_of_grid(grid.factor, session->geometry(), plan().halo));
        for (std::size_t i = 0; i < pieces.size(); ++i) {
            pieces[i].number = static_cast<int>(number(i));
            pieces[i].device = &sessions_[i]->device();
            pieces[i].geometry = &geometries[i];
            std::ranges::copy_if(levels[i], std::back_inserter(pieces[i].levels),
                                 [&](const LevelArray& level) { return level.factor == grid.factor; });
            if (pieces[i].levels.size() != pieces.front().levels.size())
                throw Error(ErrorCode::internal, "the pieces of a grid exchange different levels");
        }
        if (pieces.front().levels.empty() && grid.factor != 1) continue;
        for (const std::vector<Transfer>& along : grid.transfers)
            if (!along.empty()) transport_->exchange(along, pieces);
    }
}

void Pieces::exchange() {
    transfer(carried_levels());
    good_for_ = options_.interval;
    past_is_due_ = false;
    in_step_ = false;
    for (std::size_t i = 0; i < sessions_.size(); ++i) {
        // Kernels for several steps leave halos as they are, and a piece may be too small for them.
        if (!plan().time_block && !mirrors_ghosts_[i]) continue;
        for (const Carried& carried : carried_)
            for (const FieldPlan& field : carried.components)
                sessions_[i]->mark_written(field.name);
    }
}

void Pieces::fill_ghosts() {
    if (good_for_ < options_.interval) exchange();
}

void Pieces::ghosts_due() {
    good_for_ = 0;
    past_is_due_ = true;
}

// Whether a mirror at a face of the field shows cells that this process's piece `index` is given, as it has
// too few itself.
bool Pieces::mirrors_ghosts(std::size_t index, const FieldPlan& field) const {
    const Piece& own = of_grid(field.grid.factor).cut.pieces[number(index)];
    for (int axis = 0; axis < cut_.grid.rank; ++axis) {
        const auto along = static_cast<std::size_t>(axis);
        for (std::size_t side = 0; side < 2; ++side)
            if (cut_.is_cut(axis) && own.ghosts[along][side] == 0 &&
                field.image(axis, static_cast<int>(side)).reflects() &&
                own.own(axis) <= field.halo[along][side])
                return true;
    }
    return false;
}

bool Pieces::mirrors_ghosts_in_step(std::size_t index) const {
    return std::ranges::any_of(plan().fields, [&](const FieldPlan& field) {
        return field.role != Role::input && mirrors_ghosts(index, field);
    });
}

std::vector<std::vector<LevelArray>> Pieces::carried_levels() const {
    std::vector<std::vector<LevelArray>> all(sessions_.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
        for (const Carried& field : carried_) {
            const std::vector<void*> levels = sessions_[i]->level_arrays(field.name);
            const int count = past_is_due_ ? 1 + field.components.front().history : field.levels;
            for (std::size_t level = 0; level < static_cast<std::size_t>(count); ++level)
                all[i].push_back({levels[level], field.element, field.factor});
        }
    }
    return all;
}

// Combines partial results plane by plane along the last axis, in the order of the whole grid; ghosts do not
// count.
double Pieces::combined(const std::string& name, const std::vector<PartialResults>& parts) const {
    if (cut_.count() == 1) return parts.front().combined();
    const ReductionPlan& reduction = *std::ranges::find(plan().reductions, name, &ReductionPlan::name);
    const KernelPlan& kernel = plan().kernels[static_cast<std::size_t>(reduction.kernel)];
    const std::vector<Piece>& pieces = of_grid(kernel.domain.factor).cut.pieces;
    const int last = cut_.grid.rank - 1;
    const auto along = static_cast<std::size_t>(last);
    PartialResults all;
    all.op = parts.front().op;
    all.square_root = parts.front().square_root;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const Piece& own = pieces[number(i)];
        const std::int64_t of_plane = static_cast<std::int64_t>(parts[i].values.size()) / own.cells(last);
        const auto begin = parts[i].values.begin() + own.ghosts[along][0] * of_plane;
        all.values.insert(all.values.end(), begin, begin + own.own(last) * of_plane);
    }
    if (!is_shared()) return all.combined();
    const auto* const bytes = reinterpret_cast<const char*>(all.values.data());
    std::string of_all;
    for (const std::string& part : ranks_->all_gather({bytes, 8 * all.values.size()}))
        of_all += part;
    all.values.resize(of_all.size() / 8);
    std::memcpy(all.values.data(), of_all.data(), of_all.size());
    return all.combined();
}

void Pieces::continue_from(const StepsBefore& before) {
    for (Session* session : sessions_)
        session->continue_from(before);
    before_ = before;
    done_ = before.steps;
}

void Pieces::go_back_to(std::int64_t step) {
    for (Session* session : sessions_)
        session->go_back_to(step);
    done_ = step;
    good_for_ = options_.interval;
    past_is_due_ = in_step_ = false;
}

void Pieces::start_again() {
    for (Session* session : sessions_)
        session->start_again();
    before_ = {};
    go_back_to(0);
}

bool Pieces::is_cut_like(const Pieces& other) const {
    const auto& theirs = other.cut_.pieces;
    return cut_.grid.extent == other.cut_.grid.extent && first_ == other.first_ &&
           sessions_.size() == other.sessions_.size() &&
           std::ranges::equal(cut_.pieces, theirs, [](const Piece& one, const Piece& its) {
               return one.begin == its.begin && one.end == its.end && one.ghosts == its.ghosts;
           });
}

double Pieces::reduction(const std::string& name) {
    transport_->wait();
    const auto known = before_.reductions.find(name);
    if (known != before_.reductions.end() && done_ == before_.steps) return known->second;
    std::vector<PartialResults> parts;
    for (Session* session : sessions_)
        parts.push_back(session->partial_results(name));
    return combined(name, parts);
}

}  // namespace halo::rt
