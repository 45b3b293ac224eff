#include "stencils.h"

namespace halo::test {

ir::Program sum_stencil(int rank, ir::Scalar type, const std::vector<ir::Offset>& offsets) {
    ir::Program program;
    program.name = "sum";
    ir::ExprBuilder build(program);
    const char* const names[] = {"x", "y", "z"};
    for (int axis = 0; axis < rank; ++axis) {
        const ir::ExprId one = build.constant(Rational(1), ir::Scalar::f64);
        const ir::ExprId zero = build.constant(Rational(0), ir::Scalar::f64);
        program.axes.push_back({names[axis], one, zero});
    }
    ir::Field field;
    field.name = "u";
    field.type = type;
    field.storage = ir::natural_storage(type);
    field.role = ir::Role::state;
    for (auto& faces : field.boundary) {
        for (ir::Face& face : faces)
            face.kind = ir::BoundaryKind::periodic;
    }
    program.fields.push_back(field);
    ir::ExprId sum = build.access(ir::FieldId{0}, 0, offsets.front());
    for (std::size_t index = 1; index < offsets.size(); ++index) {
        sum = build.binary(ir::BinaryOp::add, sum, build.access(ir::FieldId{0}, 0, offsets[index]));
    }
    ir::Assign assign;
    assign.target = ir::FieldId{0};
    assign.time = 1;
    assign.value = sum;
    program.statements.push_back(assign);
    ir::infer_halos(program);
    ir::infer_margins(program);
    return program;
}

std::vector<ir::Offset> star(int rank, int radius) {
    std::vector<ir::Offset> offsets{{0, 0, 0}};
    for (int axis = 0; axis < rank; ++axis) {
        for (const ir::Offset& offset : line(axis, radius))
            offsets.push_back(offset);
    }
    return offsets;
}

std::vector<ir::Offset> box(int rank, int radius) {
    std::vector<ir::Offset> offsets;
    const int y_radius = rank > 1 ? radius : 0;
    const int z_radius = rank > 2 ? radius : 0;
    for (int z = -z_radius; z <= z_radius; ++z) {
        for (int y = -y_radius; y <= y_radius; ++y) {
            for (int x = -radius; x <= radius; ++x)
                offsets.push_back({x, y, z});
        }
    }
    return offsets;
}

std::vector<ir::Offset> line(int axis, int radius) {
    std::vector<ir::Offset> offsets;
    for (int distance = -radius; distance <= radius; ++distance) {
        if (distance == 0) continue;
        ir::Offset offset{};
        offset[axis] = distance;
        offsets.push_back(offset);
    }
    return offsets;
}

schedule::Footprint footprint_of(const ir::Program& program) {
    return schedule::footprint(program, ir::form_stages(program).front());
}

}  // namespace halo::test
