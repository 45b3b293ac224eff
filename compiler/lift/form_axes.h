// From subscripts to axes; for form*.cpp alone.
#pragma once

#include <map>
#include <vector>

#include "compiler/lift/form.h"

namespace halo::lift {

// How the cells of one array lie in memory.
struct Geometry {
    struct Axis {
        int level = 0;  // pointers on the way
        Polynomial stride;
        int loop = -1;                     // the outermost that goes along it, where one does
        std::optional<Polynomial> extent;  // that the next stride tells
        bool is_apart = false;  // the next stride is another parameter: the larger one, it is assumed
    };
    std::vector<Axis> axes;  // slowest first
};

class AxisFinder {
public:
    explicit AxisFinder(const Model& model) : model_(model) {}
    void add(int object, const std::vector<PathEntry>& path, SourceRange where);
    void settle();  // when all are added
    const Geometry& geometry(int object) const { return geometries_.at(object); }
    std::vector<AxisIndex> resolve(int object, const std::vector<PathEntry>& path, SourceRange where) const;
    // A reduction is over the cells that it reads: of those that its reads tell, the ones that the loops
    // number as they are, or the first.
    std::vector<AxisIndex> resolve_reduction(const Store& reduction) const;

private:
    struct Split {                                      // of one subscript
        std::vector<std::pair<int, Polynomial>> loops;  // with the factor of each
        Polynomial rest;
    };
    Split split(const PathEntry& entry, SourceRange where) const;
    bool is_direct(int object, const std::vector<PathEntry>& path) const;
    bool begins_at_zero(const std::vector<PathEntry>& path, const Polynomial& rest) const;
    bool are_apart(std::vector<Geometry::Axis>& axes, std::size_t i) const;
    void check_mirrored(const Geometry::Axis& one, const Geometry::Axis& other, int object) const;
    int find_axis(int object, int level, const Polynomial& stride) const;

    const Model& model_;
    std::map<int, Geometry> geometries_;
    std::map<int, SourceRange> first_;
};

// The largest or smallest of bounds that all hold. Throws Refusal where that is not known.
Polynomial tightest(const Model& model, const std::vector<Polynomial>& all, bool largest, SourceRange where);

}  // namespace halo::lift
