#include "compiler/driver/groups.h"

#include <algorithm>

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

FieldValues interleave(const std::vector<FieldValues>& fields) {
    const bool is_wide = std::any_of(fields.begin(), fields.end(), [](const FieldValues& values) {
        return values.type == rt::ElementType::f64;
    });
    const std::int64_t cells = fields.front().size();
    const auto count = static_cast<std::int64_t>(fields.size());
    FieldValues result =
        FieldValues::zeros(is_wide ? rt::ElementType::f64 : rt::ElementType::f32, cells * count);
    for (std::int64_t cell = 0; cell < cells; ++cell) {
        for (std::int64_t i = 0; i < count; ++i) {
            const auto at = static_cast<std::size_t>(cell * count + i);
            const double value = fields[static_cast<std::size_t>(i)].at(cell);
            if (is_wide) {
                result.f64[at] = value;
            } else {
                result.f32[at] = static_cast<float>(value);
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
