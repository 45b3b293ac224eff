// A run of several stencils as one: `every 10 do smooth` and `then settle for 200` of a run block become
// statements for some of the steps, behind those of the stencil that is run.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "compiler/sema/sema.h"
#include "compiler/sema/symbols.h"

namespace halo::sema {

// A stencil of a chain, with the names that it declares.
struct ChainMember {
    const AnalyzedStencil* stencil = nullptr;
    const Symbols* symbols = nullptr;
};

// The steps of the run in which a stencil is done, by how many have been done before.
struct ChainSteps {
    std::int64_t begin = 0;           // of the phase
    std::optional<std::int64_t> end;  // past its last step; none: it has no end
    bool is_phase = false;  // a phase of its own: done in each step, in the place of the first stencil
    std::int64_t every = 1, from = 1;  // else after `from`, `from + every`, … steps of the phase
    std::optional<std::int64_t> to;
};

struct ChainLink {
    ChainMember member;
    ChainSteps steps;
    SourceRange where;  // of its name in the run
};

struct Chain {
    AnalyzedStencil stencil;
    // What the run sees: the names of the first stencil, and the fields, params and reductions of the others.
    std::unique_ptr<syntax::Stencil> tree;
    std::unique_ptr<Symbols> symbols;
    std::optional<std::int64_t> steps;  // of all phases together, where there are several
};

using FindMember = std::function<std::optional<ChainMember>(const syntax::Name&)>;

bool has_chain(const syntax::Run& run);

// nullopt: a mistake has been reported. `find` reports names that no stencil has; is_sound: there are no
// mistakes in the stencils.
std::optional<Chain> make_chain(const syntax::File& file, const syntax::Run& run, const ChainMember& first,
                                const FindMember& find, bool is_sound, DiagnosticSink& sink);

}  // namespace halo::sema
