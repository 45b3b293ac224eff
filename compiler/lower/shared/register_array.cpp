#include "compiler/lower/shared/register_array.h"

#include "compiler/kernel/build.h"

namespace halo::lower {

kernel::Statement RegisterArray::declaration(bool zero) const {
    kernel::DeclareArray array{type_, name_, {}};
    for (const int dim : dims_)
        if (dim > 1) array.dims.push_back(dim);
    if (array.dims.empty()) array.dims.push_back(1);
    array.zero = zero;
    return array;
}

kernel::Expr RegisterArray::at(const std::vector<kernel::Expr>& indices) const {
    std::vector<kernel::Expr> kept;
    for (std::size_t index = 0; index < dims_.size(); ++index)
        if (dims_[index] > 1) kept.push_back(indices[index]);
    if (kept.empty()) kept.push_back(0);
    return kernel::element(name_, std::move(kept), type_);
}

}  // namespace halo::lower
