// A visitor of variants made of one lambda for each type of node.
#pragma once

namespace halo::kernel {

template <class... Visitors>
struct Overload : Visitors... {
    using Visitors::operator()...;
};
template <class... Visitors>
Overload(Visitors...) -> Overload<Visitors...>;

}  // namespace halo::kernel
