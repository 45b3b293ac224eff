#include "compiler/driver/running/groups.h"

#include <cstring>

#include "runtime/core/element.h"

namespace halo::driver {

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

rt::ElementType common_type(const std::vector<rt::ElementType>& types) {
    rt::ElementType common = types.front();
    for (const rt::ElementType type : types) {
        if (type == common) continue;
        const bool is_wide = type == rt::ElementType::f64 || common == rt::ElementType::f64;
        common = is_wide ? rt::ElementType::f64 : rt::ElementType::f32;
    }
    return common;
}

FieldValues interleave(const std::vector<FieldValues>& fields) {
    std::vector<rt::ElementType> types;
    for (const FieldValues& values : fields)
        types.push_back(values.type);
    const rt::ElementType type = common_type(types);
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

std::vector<FieldValues> separate(const FieldValues& values, std::size_t count) {
    const auto size = static_cast<std::size_t>(rt::size_of(values.type));
    const std::int64_t cells = values.size() / static_cast<std::int64_t>(count);
    std::vector<FieldValues> result(count, FieldValues::zeros(values.type, cells));
    for (std::size_t cell = 0; cell < static_cast<std::size_t>(cells); ++cell)
        for (std::size_t i = 0; i < count; ++i)
            std::memcpy(result[i].elements.data() + cell * size,
                        values.elements.data() + (cell * count + i) * size, size);
    return result;
}

}  // namespace halo::driver
