// The parts of making a chain (chain.h). Not for other rooms.
#pragma once

#include <vector>

#include "compiler/sema/chain.h"

namespace halo::sema {

// Whether a chain can have the link at all, by what its stencil is made of; what it cannot have is reported.
bool can_be_chained(const syntax::File& file, const ChainLink& link, DiagnosticSink& sink);
// Whether a phase can follow the first stencil, which goes on computing what is then overwritten.
bool can_be_followed(const ChainMember& first, const ChainLink& phase, DiagnosticSink& sink);

// The program of all, whose fields, params and reductions are those of the first and then of the others, in
// order. Reports what they disagree on.
std::optional<ir::Program> composed(const ChainMember& first, const std::vector<ChainLink>& links,
                                    DiagnosticSink& sink);

// The statements of a chain, without those that it has of others by name.
std::unique_ptr<syntax::Stencil> chained_tree(const ChainMember& first, const std::vector<ChainLink>& links);

}  // namespace halo::sema
