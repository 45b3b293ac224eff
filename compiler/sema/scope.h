// What an evaluator saves while it evaluates a scope with names of its own, and restores afterwards.
#pragma once

#include <string>

#include "compiler/sema/evaluator.h"

namespace halo::sema {

struct Evaluator::Scope {
    explicit Scope(Evaluator& evaluator)
        : evaluator_(evaluator),
          place_(evaluator.place_),
          frame_(evaluator.frame_),
          locals_(evaluator.locals_.size()),
          what_(evaluator.setting_what_),
          is_compile_time_(evaluator.is_compile_time_),
          in_shared_(evaluator.in_shared_) {}
    ~Scope() {
        evaluator_.place_ = place_;
        evaluator_.frame_ = frame_;
        evaluator_.locals_.resize(locals_);
        evaluator_.setting_what_ = what_;
        evaluator_.is_compile_time_ = is_compile_time_;
        evaluator_.in_shared_ = in_shared_;
    }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

private:
    Evaluator& evaluator_;
    Place place_;
    std::size_t frame_;
    std::size_t locals_;
    std::string what_;
    bool is_compile_time_;
    bool in_shared_;
};

}  // namespace halo::sema
