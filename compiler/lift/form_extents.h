// How many cells there are; for form.cpp alone.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/lift/form.h"
#include "compiler/lift/form_axes.h"

namespace halo::lift {

struct Touch {  // an access of a statement
    int field = -1;
    std::vector<AxisIndex> axes;
    SourceRange where;
    int read = -1;  // of Model::reads; -1: the store
};

// Finds Form::grid, and the extents of each field: as many cells as are touched, or as the strides tell.
// Which of two numbers of parameters is the larger one may be assumed; form_needs() has what must hold then.
class ExtentFinder {
public:
    // touches: by statement
    ExtentFinder(const Model& model, const AxisFinder& axes, Form& form,
                 const std::vector<std::vector<Touch>>& touches)
        : model_(model), axes_(axes), form_(form), touches_(touches) {}
    void find();

private:
    using ByField = std::map<int, Polynomial>;

    void need_touched(ByField& needed, const Statement& each, const Touch& touch, std::size_t a);
    void need(ByField& needed, const Range& cells, const Touch& touch, std::size_t a);
    std::optional<Polynomial> told_extent(int field, std::size_t a) const;
    void keep_apart(Field& of) const;
    int group_of(int field) const;
    std::optional<Polynomial> larger(const Polynomial& a, const Polynomial& b) const;
    Polynomial larger_grid(const Polynomial& a, const Polynomial& b, std::size_t axis, int field) const;
    std::optional<Polynomial> symmetric_extent(std::size_t a, const ByField& needed) const;
    void settle(std::size_t a, const ByField& needed);

    const Model& model_;
    const AxisFinder& axes_;
    Form& form_;
    const std::vector<std::vector<Touch>>& touches_;
    std::vector<std::pair<std::size_t, Polynomial>> bounds_;  // needs that parameters of bounds make, by axis
    Polynomial wide_;  // how far apart rows lie that are longer than what is used of them
};

// "1 <= halo_depth": that the polynomial is 1 at least, in words.
std::string need_text(const Model& model, const Polynomial& need);

}  // namespace halo::lift
