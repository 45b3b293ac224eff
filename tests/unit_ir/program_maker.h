// Builds small StencilPrograms in tests: terms with operators over an ExprBuilder.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/analysis.h"
#include "compiler/ir/program.h"
#include "compiler/ir/verify.h"

namespace halo::ir {

struct Term {
    ExprBuilder* builder = nullptr;
    ExprId id;
};

inline Term operator+(Term a, Term b) {
    return {a.builder, a.builder->binary(BinaryOp::add, a.id, b.id)};
}
inline Term operator-(Term a, Term b) {
    return {a.builder, a.builder->binary(BinaryOp::sub, a.id, b.id)};
}
inline Term operator*(Term a, Term b) {
    return {a.builder, a.builder->binary(BinaryOp::mul, a.id, b.id)};
}
inline Term operator/(Term a, Term b) {
    return {a.builder, a.builder->binary(BinaryOp::div, a.id, b.id)};
}
inline Term operator-(Term a) {
    return {a.builder, a.builder->unary(UnaryOp::negate, a.id)};
}

class ProgramMaker {
public:
    explicit ProgramMaker(int rank, std::string name = "test")
        : builder_(std::make_unique<ExprBuilder>(program)) {
        program.name = std::move(name);
        const char* names[] = {"x", "y", "z"};
        const ExprId one = builder_->constant(1, Scalar::f64);
        const ExprId zero = builder_->constant(0, Scalar::f64);
        for (int axis = 0; axis < rank; ++axis)
            program.axes.push_back({names[axis], one, zero});
    }

    ExprBuilder& builder() { return *builder_; }

    FieldId field(const std::string& name, Role role, BoundaryKind kind = BoundaryKind::periodic,
                  Scalar type = Scalar::f32) {
        Field field;
        field.name = name;
        field.type = type;
        field.storage = natural_storage(type);
        field.role = role;
        for (int axis = 0; axis < program.rank(); ++axis)
            for (Face& face : field.boundary[axis])
                face.kind = kind;
        program.fields.push_back(field);
        return {static_cast<std::uint32_t>(program.fields.size() - 1)};
    }

    void set_face(FieldId field, int axis, int side, BoundaryKind kind, Rational value = 0) {
        Face& face = program.fields[field.index].boundary[axis][side];
        face.kind = kind;
        face.value = builder_->constant(value, Scalar::f64);
    }

    Term read(FieldId field, Offset offset = {}, int time = 0) {
        return {builder_.get(), builder_->access(field, time, offset)};
    }

    Term param(const std::string& name, double value) {
        program.params.push_back({name, value, {}});
        return {builder_.get(), builder_->param({static_cast<std::uint32_t>(program.params.size() - 1)})};
    }

    Term number(Rational value, Scalar type = Scalar::f32) {
        return {builder_.get(), builder_->constant(std::move(value), type)};
    }

    Term convert(Term term, Scalar type = Scalar::f32) {
        return {builder_.get(), builder_->convert(term.id, type)};
    }

    Term coordinate(CoordinateKind kind, int axis, Scalar type = Scalar::f32) {
        return {builder_.get(), builder_->add({type, Coordinate{kind, axis}, {}})};
    }

    Term call(Function function, std::vector<Term> arguments) {
        std::vector<ExprId> ids;
        for (Term argument : arguments)
            ids.push_back(argument.id);
        return {builder_.get(), builder_->call(function, ids)};
    }

    Term binary(BinaryOp op, Term a, Term b) { return {builder_.get(), builder_->binary(op, a.id, b.id)}; }

    Term select(Term condition, Term then, Term otherwise) {
        return {builder_.get(), builder_->select(condition.id, then.id, otherwise.id)};
    }

    Term fma(Term a, Term b, Term c) { return {builder_.get(), builder_->fma(a.id, b.id, c.id)}; }

    void assign(FieldId target, Term value) {
        const int time = program[target].role == Role::state ? 1 : 0;
        Assign assign;
        assign.target = target;
        assign.time = time;
        assign.value = value.id;
        program.statements.emplace_back(assign);
    }

    void reduce(const std::string& name, ReduceOp op, Term value, bool square_root = false) {
        Reduce reduce;
        reduce.name = name;
        reduce.op = op;
        reduce.square_root = square_root;
        reduce.value = value.id;
        program.statements.emplace_back(reduce);
    }

    // The program with its halos and margins; throws where it is not well formed.
    Program finish() {
        infer_halos(program);
        infer_reaches(program);
        infer_margins(program);
        const std::vector<std::string> broken = verify(program);
        if (!broken.empty()) throw std::logic_error(broken.front());
        return program;
    }

    Program program;

private:
    std::unique_ptr<ExprBuilder> builder_;
};

// u[t+1] = u + lambda * dt * laplacian(u), unit spacing: seven points in 3D.
inline Program heat_program(int rank, BoundaryKind kind = BoundaryKind::fixed) {
    ProgramMaker make(rank, "heat");
    const FieldId u = make.field("u", Role::state, kind);
    if (kind == BoundaryKind::fixed)
        for (int axis = 0; axis < rank; ++axis)
            for (int side = 0; side < 2; ++side)
                make.set_face(u, axis, side, kind, 10);
    const Term lambda = make.param("lambda", 1.0), dt = make.param("dt", 0.16);
    const Term scale = lambda * dt;
    std::vector<Term> second;
    for (int axis = 0; axis < rank; ++axis) {
        Offset low{}, high{};
        low[axis] = -1;
        high[axis] = 1;
        second.push_back(make.read(u, low) - make.number(2) * make.read(u) + make.read(u, high));
    }
    Term laplacian = second[0];
    for (int axis = 1; axis < rank; ++axis)
        laplacian = laplacian + second[axis];
    make.assign(u, make.read(u) + make.convert(scale) * laplacian);
    return make.finish();
}

}  // namespace halo::ir
