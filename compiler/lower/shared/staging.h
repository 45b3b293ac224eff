// Levels staged in shared memory, with the layout of schedule/shared_layout.h.
#pragma once

#include "compiler/lower/shared/context.h"
#include "compiler/lower/shared/strategy.h"
#include "compiler/schedule/shared_layout.h"

namespace halo::lower {

class Staging {
public:
    Staging(Context& context, const schedule::Schedule& schedule);

    const std::vector<schedule::StagedLevel>& levels() const { return layout_.levels; }
    const schedule::StagedLevel* find(const Level& level) const;  // null where it is not staged

    // Declares the arrays, in dynamic shared memory where they exceed what a kernel may declare.
    void declare(const std::string& suffix, kernel::Block& body);
    void declare_flat(const std::string& suffix, kernel::Block& body);  // with one dimension
    const std::string& name_of(const schedule::StagedLevel& level) const {
        return names_.at(level_of(level));
    }
    std::int64_t dynamic_bytes() const { return dynamic_ ? layout_.bytes : 0; }

    // The element of a staged level, without indices of dimensions of length 1.
    kernel::Expr element(const schedule::StagedLevel& level, const kernel::Expr& plane,
                         const kernel::Expr& row, const kernel::Expr& column) const;
    Level level_of(const schedule::StagedLevel& staged) const { return {staged.field, staged.time}; }

private:
    void declare_level(const schedule::StagedLevel& level, const std::string& suffix,
                       std::vector<kernel::Expr> dims, int alignment, kernel::Block& body);

    Context& context_;
    schedule::SharedLayout layout_;
    std::map<Level, std::string> names_;
    bool dynamic_ = false;
};

}  // namespace halo::lower
