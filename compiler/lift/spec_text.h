// A Form as the text of a spec.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/lift/form.h"
#include "compiler/lift/precision.h"

namespace halo::lift {

// A reduction of a spec: what it is called there, and what it is in the source.
struct ReductionName {
    std::string name;
    int statement = -1;     // of Form
    std::string line;       // as it stands in the body
    std::string magnitude;  // the same of absolute values: what rounding can make of it
    std::string magnitude_name;
};

struct Spec {
    std::string name;
    std::string body;                   // from `stencil` on, not yet formatted
    std::map<int, std::string> fields;  // names, by Form::fields; dropped ones are absent
    std::map<int, std::string> before;  // of those that have such a field: what it is called
    std::map<int, std::string> params;  // by Model::scalars
    std::vector<ReductionName> reductions;
    std::vector<std::string> remarks;  // for the header, as sentences
    bool is_exact = true;              // every bit is meant to be the same
    bool keeps_zeros = true;           // also the sign of each zero; min and max of C choose either
};

// Throws Refusal.
Spec write_spec(const Model& model, const Form& form, const Precision& precision, const FormOptions& options,
                const std::string& name);

}  // namespace halo::lift
