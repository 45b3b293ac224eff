// Runs a function and the spec that it was lifted to, on the same random data.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "compiler/lift/lift.h"

namespace halo::lift {

struct Verification {
    bool passed = false;
    std::vector<std::string> sentences;  // for the spec's header
    std::vector<std::string> table;      // one line a size
    double largest_ulps = 0;             // of all sizes and fields
    double sum_ulps = 0;                 // of sums of reals, and what rounding in another order allows
    double allowed_ulps = 0;
    int sizes = 0;
};

// The function that a Harness calls, compiled: with its values, and telling where its globals are.
struct Runnable {
    std::function<void(void**)> call, addresses;
};
// Values that a whole number is given besides others, by its symbol.
using SymbolDraws = std::map<int, std::vector<std::int64_t>>;

struct Harness;
// The spec is run by the reference interpreter, and the function in a process of its own. wants_more: whether
// to go on after the usual runs, up to a limit. Throws SourceError where the function cannot be run.
Verification verify(const Lifted& lifted, const Harness& harness, const Runnable& function,
                    const SymbolDraws& draws = {}, const std::function<bool()>& wants_more = {});

// Compiles the function with Clang, in this process, without optimisation; the spec is run by the reference
// interpreter. Throws SourceError where the function cannot be run by itself.
Verification verify(const Options& options, const Lifted& lifted);

// Of all that was lifted of a function.
struct Verdict {
    std::string difference;  // what a spec computes otherwise than the function; empty: nothing
    std::string left;        // why it is not verified though nothing differs: "line 12 was never reached"
    std::vector<std::vector<std::string>> sentences;  // for the header of each spec
    std::vector<std::string> table;                   // a line each
    double largest_ulps = 0, sum_ulps = 0;            // of all, each by itself; as in Verification
};

// Each spec beside what it was lifted from, and the whole function beside itself with the stencils in place.
// It is verified where both can be run, agree, and each branch of the function was taken both ways.
// `found` is of `file`.
Verdict verify_function(const Options& options, const Nests& found, const ParsedFile& file);
Verdict verify_function(const Options& options, const Nests& found);

// The text that is compiled after the function: `halo_lift_call(void** values)` calls it with what the
// values point to. order: of each value, what it is. Throws SourceError.
struct HarnessValue {
    // length: of an array, in elements
    enum class Kind : unsigned char { scalar, array, length, result } kind = Kind::scalar;
    int index = -1;   // Model::scalars, Model::objects or Spec::reductions
    int symbol = -1;  // of an integer
};
struct Harness {
    std::string text;
    std::vector<Inserted> inserted;  // a nest as a function, in front of the one that it is in
    std::vector<HarnessValue> values;
};
Harness write_harness(const Lifted& lifted);

}  // namespace halo::lift
