#include "compiler/schedule/footprint.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "compiler/ir/grids.h"
#include "compiler/ir/in_place.h"
#include "compiler/ir/recurrences.h"
#include "compiler/ir/sweeps.h"

namespace halo::schedule {

namespace {

using ir::Level;

std::vector<ir::ExprId> values_of(const ir::Program& program, const std::vector<int>& statements) {
    std::vector<ir::ExprId> values;
    for (const int index : statements)
        for (const ir::ExprId root : ir::roots_of(program.statements[index]))
            values.push_back(root);
    return values;
}

void count(const ir::Expr& expr, Operations& operations) {
    if (const auto* binary = std::get_if<ir::Binary>(&expr.node)) {
        switch (binary->op) {
            case ir::BinaryOp::add:
            case ir::BinaryOp::sub:
                ++operations.adds;
                break;
            case ir::BinaryOp::mul:
                ++operations.multiplies;
                break;
            case ir::BinaryOp::div:
                ++operations.divisions;
                break;
            case ir::BinaryOp::logical_and:
            case ir::BinaryOp::logical_or:
                break;
            default:
                ++operations.comparisons;
                break;
        }
    } else if (std::holds_alternative<ir::Fma>(expr.node)) {
        ++operations.fmas;
    } else if (const auto* sum = std::get_if<ir::TableSum>(&expr.node)) {
        ++(sum->factor ? operations.fmas : operations.adds);
    } else if (std::holds_alternative<ir::Noise>(expr.node)) {
        ++operations.draws;
    } else if (const auto* call = std::get_if<ir::Call>(&expr.node)) {
        switch (call->function) {
            case ir::Function::sqrt:
            case ir::Function::rsqrt:
            case ir::Function::cbrt:
                ++operations.roots;
                break;
            case ir::Function::abs:
                break;
            case ir::Function::floor:
            case ir::Function::ceil:
                ++operations.comparisons;
                break;
            default:
                ++operations.functions;
                break;
        }
    }
}

// One for each value that a reduction takes in.
void count(const ir::Reduce& reduce, Operations& operations) {
    if (reduce.op == ir::ReduceOp::sum) {
        ++operations.adds;
    } else {
        ++operations.comparisons;
    }
}

LevelRead make_read(const ir::Program& program, const Level& level, const std::set<ir::Offset>& offsets) {
    LevelRead read;
    read.field = level.field;
    read.time = level.time;
    read.type = program[read.field].type;
    read.storage = program[read.field].storage;
    read.offsets.assign(offsets.begin(), offsets.end());
    for (const ir::Offset& offset : offsets) {
        int axes = 0;
        for (int axis = 0; axis < ir::kMaxRank; ++axis) {
            read.radius[axis][0] = std::max(read.radius[axis][0], -offset[axis]);
            read.radius[axis][1] = std::max(read.radius[axis][1], offset[axis]);
            axes += offset[axis] != 0 ? 1 : 0;
        }
        read.star = read.star && axes <= 1;
    }
    return read;
}

}  // namespace

Footprints::Footprints(const ir::Program& program)
    : program_(program),
      walk_(program),
      shapes_(program),
      in_place_(ir::in_place_statements(program)),
      shared_(program, in_place_),
      uniform_(ir::uniform_exprs(program)),
      readers_(program.fields.size()) {
    for (int index = 0; index < static_cast<int>(program.statements.size()); ++index) {
        for (const std::uint32_t reached : walk_.from(ir::roots_of(program.statements[index]))) {
            const auto* access = std::get_if<ir::Access>(&program.exprs[reached].node);
            if (access == nullptr) continue;
            std::vector<int>& readers = readers_[access->field.index];
            if (readers.empty() || readers.back() != index) readers.push_back(index);
        }
    }
}

bool Footprints::is_read_outside(ir::FieldId field, const ir::Stage& stage) const {
    return std::ranges::any_of(readers_[field.index], [&](int reader) {
        return !std::ranges::binary_search(stage.statements, reader);
    });
}

void Footprints::add_writes(const ir::Stage& stage, Footprint& result) const {
    const ir::Program& program = program_;
    std::set<Level> written;
    for (const int index : stage.statements) {
        if (const auto* inject = std::get_if<ir::Inject>(&program.statements[index])) {
            const ir::Field& field = program[inject->target];
            result.writes.push_back({inject->target, inject->time, field.type, field.storage});
        }
        const auto* assign = std::get_if<ir::Assign>(&program.statements[index]);
        if (assign == nullptr) continue;
        const ir::Field& field = program[assign->target];
        if (field.role == ir::Role::intermediate && !is_read_outside(assign->target, stage)) continue;
        if (!written.insert({assign->target, assign->time}).second) continue;
        result.writes.push_back({assign->target, assign->time, field.type, field.storage});
    }
}

// Of the stage that is a sweep, of each thread: the parts of the functions that are composed.
std::optional<int> part_bytes(const ir::Program& program, const ir::Stage& stage) {
    int bytes = 0;
    for (const int index : stage.statements) {
        const auto* assign = std::get_if<ir::Assign>(&program.statements[index]);
        if (assign == nullptr || !assign->sweep) continue;  // a let
        if (!ir::is_in_parts(*assign)) return std::nullopt;
        const int size = size_of(program[assign->target].storage);
        const bool divides = assign->recurrence->divides();  // those are in f64
        bytes += divides                              ? 4 * size_of(ir::Storage::f64)
                 : assign->recurrence->reads_before() ? 2 * size
                                                      : size;
    }
    return bytes;
}

void Footprints::add_reads(const ir::Stage& stage, Footprint& result) {
    const ir::Program& program = program_;
    std::set<Level> written_here, swept;
    std::map<Level, std::set<ir::Offset>> reads;
    std::set<Level> finer;
    for (const int index : stage.statements) {
        const ir::Statement& statement = program.statements[index];
        result.factor = ir::grid_factor(program, statement);
        result.of_several_grids = result.factor != 1;
        if (std::holds_alternative<ir::Inject>(statement) || std::holds_alternative<ir::Sample>(statement))
            result.in_place = result.at_points = true;
        const auto* assign = std::get_if<ir::Assign>(&statement);
        if (assign == nullptr) continue;
        // Cells of a state that get no value keep the old one, which is read.
        const bool keeps = ir::is_partial(*assign) && program[assign->target].role == ir::Role::state;
        if (assign->sweep) {
            result.swept_axis = assign->sweep->axis;
            result.part_bytes = part_bytes(program, stage);
            if (assign->sweep->inner && !result.swept_within) {
                result.swept_within = assign->sweep->inner->axis;
                result.slant = ir::slant_of(program, static_cast<std::size_t>(index));
            }
            swept.insert({assign->target, assign->time});
        }
        if (in_place_[index]) {
            result.in_place = true;  // what it reads of its target is in memory
            if (shared_.can_share(static_cast<std::size_t>(index)))
                written_here.insert({assign->target, assign->time});
        } else {
            written_here.insert({assign->target, assign->time});
            if (keeps && assign->time == 1) reads[{assign->target, 0}].insert(ir::Offset{});
        }
    }
    std::set<std::uint32_t> shapes;
    Operations alone;
    for (const std::uint32_t index : walk_.from(values_of(program, stage.statements))) {
        if (uniform_[index]) continue;
        const ir::Expr& expr = program.exprs[index];
        count(expr, alone);
        if (shapes.insert(shapes_.of({index}).shape).second) count(expr, result.operations);
        if (const auto* sum = std::get_if<ir::TableSum>(&expr.node)) {
            ++result.table_sums;
            int bytes = 0;
            for (const ir::Table::Column& column : program[sum->table].columns)
                bytes += size_of(column.type);
            result.row_bytes = std::max(result.row_bytes, bytes);
        }
        const auto* access = std::get_if<ir::Access>(&expr.node);
        if (access == nullptr) continue;
        const rt::FieldGrid& grid = program[access->field].grid;
        result.of_several_grids = result.of_several_grids || grid.factor != 1;
        if (grid != rt::FieldGrid::coarse(result.factor)) {
            std::int64_t cells = 1;  // of a finer grid, in one of this
            for (const ir::AxisMap& along : access->map)
                cells *= along.times;
            if (cells > 1 && finer.insert({access->field, access->time}).second)
                result.finer_bytes += cells * size_of(program[access->field].storage);
            if (std::ranges::find(result.elsewhere, access->field) == result.elsewhere.end())
                result.elsewhere.push_back(access->field);
            continue;
        }
        const Level level{access->field, access->time};
        // What a sweep has just written is still in a cache.
        if (!written_here.contains(level) && !swept.contains(level)) reads[level].insert(access->offset);
    }
    result.flops_alone = alone.flops();
    for (const auto& [level, offsets] : reads)
        result.reads.push_back(make_read(program, level, offsets));
}

rt::Extent own_extent(const Footprint& footprint, const rt::Extent& extent) {
    return rt::FieldGrid::coarse(footprint.factor).extent(extent);
}

int size_of(ir::Scalar type) {
    switch (type) {
        case ir::Scalar::boolean:
            return 1;
        case ir::Scalar::i32:
        case ir::Scalar::f32:
            return 4;
        case ir::Scalar::i64:
        case ir::Scalar::f64:
            return 8;
    }
    return 8;
}

int size_of(ir::Storage storage) {
    switch (storage) {
        case ir::Storage::boolean:
        case ir::Storage::u8:
            return 1;
        case ir::Storage::f16:
        case ir::Storage::bf16:
            return 2;
        case ir::Storage::i32:
        case ir::Storage::f32:
            return 4;
        case ir::Storage::i64:
        case ir::Storage::f64:
            return 8;
    }
    return 8;
}

bool LevelRead::at_neighbours() const {
    return std::ranges::any_of(offsets, [](const ir::Offset& offset) { return offset != ir::Offset{}; });
}

std::int64_t Footprint::bytes_read() const {
    std::int64_t sum = finer_bytes;
    for (const LevelRead& read : reads)
        sum += size_of(read.storage);
    return sum;
}

std::int64_t Footprint::bytes_written() const {
    std::int64_t sum = 0;
    for (const LevelWrite& write : writes)
        sum += size_of(write.storage);
    return sum;
}

double Footprint::flops_per_byte() const {
    return bytes() == 0 ? 0 : static_cast<double>(operations.flops()) / static_cast<double>(bytes());
}

int Footprint::widest_bytes() const {
    int widest = 4;
    for (const LevelRead& read : reads)
        widest = std::max(widest, size_of(read.type));
    for (const LevelWrite& write : writes)
        widest = std::max(widest, size_of(write.type));
    return widest;
}

std::optional<ir::Storage> Footprint::narrow_storage() const {
    const auto is_narrow = [](const auto& level) {
        return level.type == ir::Scalar::boolean || level.storage != ir::natural_storage(level.type);
    };
    for (const LevelRead& read : reads)
        if (is_narrow(read)) return read.storage;
    for (const LevelWrite& write : writes)
        if (is_narrow(write)) return write.storage;
    return std::nullopt;
}

Operations operations_in(const ir::Program& program, ir::ExprId value) {
    const std::vector<bool> uniform = ir::uniform_exprs(program);
    Operations operations;
    for (const std::uint32_t index : ir::reached_exprs(program, {value}))
        if (!uniform[index]) count(program.exprs[index], operations);
    return operations;
}

Footprint footprint(const ir::Program& program, const ir::Stage& stage) {
    return Footprints(program).of(stage);
}

Footprint Footprints::of(const ir::Stage& stage) {
    const ir::Program& program = program_;
    Footprint result;
    result.rank = program.rank();
    add_writes(stage, result);
    add_reads(stage, result);
    for (const LevelRead& read : result.reads) {
        result.star = result.star && read.star;
        for (int axis = 0; axis < ir::kMaxRank; ++axis) {
            for (int side = 0; side < 2; ++side) {
                result.radius[axis][side] = std::max(result.radius[axis][side], read.radius[axis][side]);
            }
        }
    }
    const auto is_interleaved = [&](const auto& level) {
        return ir::interleave(program, level.field).group != nullptr;
    };
    result.interleaved = std::ranges::any_of(result.reads, is_interleaved) ||
                         std::ranges::any_of(result.writes, is_interleaved);
    for (const int index : stage.statements) {
        const auto* reduce = std::get_if<ir::Reduce>(&program.statements[index]);
        if (reduce == nullptr) continue;
        ++result.reductions;
        const int before = result.operations.flops();
        count(*reduce, result.operations);
        result.flops_alone += result.operations.flops() - before;
    }
    return result;
}

}  // namespace halo::schedule
