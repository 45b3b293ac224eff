#include "compiler/lower/shared/staging.h"

#include <algorithm>

namespace halo::lower {

using kernel::Expr;

namespace {
constexpr std::int64_t kStaticSharedBytes = 48 * 1024;  // what a kernel may declare on any GPU
constexpr int kLineBytes = 128;
}  // namespace

Staging::Staging(Context& context, const schedule::Schedule& schedule)
    : context_(context),
      layout_(schedule::make_shared_layout(schedule::footprint(context.program(), context.stage().stage),
                                           schedule)),
      dynamic_(layout_.bytes > kStaticSharedBytes) {}

const schedule::StagedLevel* Staging::find(const Level& level) const {
    const auto staged = std::find_if(layout_.levels.begin(), layout_.levels.end(),
                                     [&](const auto& each) { return level_of(each) == level; });
    return staged == layout_.levels.end() ? nullptr : &*staged;
}

void Staging::declare_level(const schedule::StagedLevel& level, const std::string& suffix,
                            std::vector<Expr> dims, int alignment, kernel::Block& body) {
    const std::string name = context_.local(context_.array(level_of(level)) + suffix);
    names_[level_of(level)] = name;
    kernel::DeclareArray array{kernel_type(level.type), name, std::move(dims)};
    array.memory = dynamic_ ? kernel::Memory::dynamic_shared : kernel::Memory::shared;
    array.offset = level.offset;
    if (alignment > kernel::size_of(array.type)) array.alignment = alignment;
    body.push_back(std::move(array));
}

void Staging::declare(const std::string& suffix, kernel::Block& body) {
    for (const schedule::StagedLevel& level : layout_.levels) {
        std::vector<Expr> dims;
        if (level.planes > 1) dims.push_back(level.planes);
        if (level.rows > 1) dims.push_back(level.rows);
        dims.push_back(level.pitch);
        declare_level(level, suffix, std::move(dims), level.vector * schedule::size_of(level.type), body);
    }
}

void Staging::declare_flat(const std::string& suffix, kernel::Block& body) {
    for (const schedule::StagedLevel& level : layout_.levels)
        declare_level(level, suffix, {static_cast<int>(level.elements())}, kLineBytes, body);
}

Expr Staging::element(const schedule::StagedLevel& level, const Expr& plane, const Expr& row,
                      const Expr& column) const {
    std::vector<Expr> indices;
    if (level.planes > 1) indices.push_back(plane);
    if (level.rows > 1) indices.push_back(row);
    indices.push_back(column);
    return kernel::element(names_.at(level_of(level)), std::move(indices), kernel_type(level.type));
}

}  // namespace halo::lower
