#include "compiler/driver/groups.h"

#include <cstring>

#include "runtime/core/element.h"

namespace halo::driver {

std::vector<std::int64_t> FieldSet::npy_shape(std::vector<std::int64_t> grid) const {
    if (!is_single()) grid.push_back(static_cast<std::int64_t>(fields.size()));
    return grid;
}

FieldSet find_fields(const ir::Program& program, const std::string& name) {
    FieldSet result;
    result.name = name;
    for (const ir::Group& group : program.groups) {
        if (group.name != name) continue;
        for (const ir::FieldId id : group.fields)
            result.fields.push_back(program[id].name);
        result.is_complex = group.kind == ir::Group::Kind::complex;
        return result;
    }
    result.fields.push_back(name);
    return result;
}

// In the fields' own type where they have one, else in the widest real one.
FieldValues interleave(const std::vector<FieldValues>& fields) {
    rt::ElementType type = fields.front().type;
    for (const FieldValues& values : fields) {
        if (values.type == type) continue;
        const bool is_wide = values.type == rt::ElementType::f64 || type == rt::ElementType::f64;
        type = is_wide ? rt::ElementType::f64 : rt::ElementType::f32;
    }
    const std::int64_t cells = fields.front().size(), size = rt::size_of(type);
    const auto count = static_cast<std::int64_t>(fields.size());
    FieldValues result = FieldValues::zeros(type, cells * count);
    for (std::int64_t i = 0; i < count; ++i) {
        const FieldValues& from = fields[static_cast<std::size_t>(i)];
        for (std::int64_t cell = 0; cell < cells; ++cell) {
            std::byte* to = result.elements.data() + (cell * count + i) * size;
            if (from.type == type) {
                std::memcpy(to, from.elements.data() + cell * size, static_cast<std::size_t>(size));
            } else {
                rt::encode(from.at(cell), type, to);
            }
        }
    }
    return result;
}

std::vector<std::vector<double>> separate(const std::vector<double>& values, std::size_t count) {
    std::vector<std::vector<double>> result(count, std::vector<double>(values.size() / count));
    for (std::size_t cell = 0; cell < values.size() / count; ++cell) {
        for (std::size_t i = 0; i < count; ++i)
            result[i][cell] = values[cell * count + i];
    }
    return result;
}

}  // namespace halo::driver
