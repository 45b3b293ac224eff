// What a whole function is called with: numbers, and memory for its arrays; for whole_run.cpp.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "compiler/lift/draws.h"
#include "compiler/lift/model.h"
#include "compiler/lift/polynomial.h"
#include "compiler/lift/whole_harness.h"
#include "compiler/lift/whole_process.h"

namespace halo::lift {

// Where an array lies in its memory: with room on both sides of it, or so that what is touched of it ends, or
// begins, at an inaccessible page.
enum class Layout : unsigned char { roomy, high, low };

class Arguments {
public:
    // global_bytes: the size of each global. assume: numbers that are mostly drawn as they are there.
    // strides: those that are mostly as large as a plane; rows: as a row. needs: what must be 1 at least, so
    // that the stencils run; its symbols are numbers of values.
    Arguments(const WholeHarness& harness, const std::vector<long>& global_bytes,
              const Assumptions& assume = {}, std::set<std::string> strides = {},
              std::set<std::string> rows = {}, std::vector<Polynomial> needs = {});

    // New values for all. has_needs: those that the stencils need, where a few numbers that are raised or
    // lowered make them so.
    void draw(Draws& draws, bool has_needs = false);
    // Writes them to memory, and tells the record of it. touched: of each value, in a roomy layout.
    std::vector<void*> place(Layout layout, const std::vector<Region>& touched, RunRecord& record);
    std::vector<GlobalPlace> globals() const;
    std::vector<std::vector<char>> memory() const;  // what lies there now, of each value
    std::string text() const;                       // of the numbers: "n = 3, r = 0.5"

    // Whether a value is a table of pointers to its rows.
    bool has_tables(std::size_t i) const;

    const std::vector<WholeValue> values, global_values;

private:
    char* place_of(std::size_t i, Layout layout, const std::vector<Region>& touched) const;
    double number_of(const WholeValue& value, Draws& draws) const;
    void meet_needs(Draws& draws);
    bool is_ordinary(const Polynomial& need) const;
    std::size_t room(std::size_t i) const;  // on each side of where the pointer points

    std::vector<std::unique_ptr<GuardedMemory>> memory_, rows_, global_memory_;
    std::vector<std::vector<char>> contents_, global_contents_;
    std::vector<double> numbers_;
    Assumptions assume_;
    std::set<std::string> strides_, row_lengths_;
    std::vector<Polynomial> needs_;
    bool is_small_ = false;    // whole numbers of this draw: as few elements as structs have
    bool is_assumed_ = false;  // of this draw: numbers are what the user says
};

}  // namespace halo::lift
