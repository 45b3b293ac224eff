// What a nest was lifted to, in place of the nest: run by the reference interpreter on the memory that the
// program has when it gets there.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "compiler/ir/interpreter.h"
#include "compiler/lift/lift.h"
#include "function_memory.h"

namespace halo::test {

struct Write {
    char* at;
    void (*write)(char*, double);
    double value;
};

class InterpretedNest {
public:
    explicit InterpretedNest(const lift::Lifted& lifted);

    // In front of the loops, and behind them.
    std::string enter(int id) const;
    std::string leave(int id) const;

    // Whether the loops are done now.
    bool run(const Memory& memory, const double* numbers, void** arrays, double* results,
             std::string& trouble);
    bool was_run() const { return entered_; }

    // Sums of reals are added in another order: the loops have run, and are compared here.
    void compare(const Memory& memory, const double* results, std::string& trouble);

private:
    static std::string listed(const std::vector<std::string>& all, const char* as);
    static ir::Program parsed(const lift::Lifted& lifted);
    std::int64_t number(const lift::Polynomial& poly, const double* numbers) const;
    std::int64_t steps(const double* numbers) const;
    // Where a loop over cells has no iteration, what docs/lift.md says is that the loops run.
    bool holds(const double* numbers) const;
    int renamed(int field, std::int64_t count) const;
    // In memory, at first.
    int array_of(int field) const;
    template <class Do>
    void visit(int field, int place, const double* numbers, void** arrays, const halo::rt::Extent& extent,
               const Memory& memory, std::string& trouble, const Do& act) const;
    void gather(std::size_t i, const ir::Interpreter& run, double first, const double* numbers);
    bool takes_turns(int object) const;
    void rotate(void** arrays, std::int64_t count) const;

    const lift::Lifted& lifted_;
    ir::Program program_;
    std::vector<std::string> scalars_, arrays_, results_;
    std::vector<lift::Reduction> gathered_;
    bool is_shadowed_ = false, entered_ = false;
    std::vector<Write> writes_;
    std::vector<char> before_;
    std::vector<double> expected_, allowed_;
};

}  // namespace halo::test
