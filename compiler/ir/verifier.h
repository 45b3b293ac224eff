// The inside of verify(): a program and what is broken about it, checked part by part. Not for others.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/program.h"

namespace halo::ir {

class Verifier {
public:
    explicit Verifier(const Program& program) : program_(program) {}

    std::vector<std::string> run();

private:
    template <class... Args>
    void broken(fmt::format_string<Args...> format, Args&&... args) {
        broken_.push_back(fmt::format(format, std::forward<Args>(args)...));
    }
    static bool is_number(Scalar type) { return type != Scalar::boolean; }
    Scalar type_of(ExprId id) const { return program_[id].type; }

    // verify.cpp: declarations
    void check_groups();
    void check_header();
    void check_uniform(ExprId id, const std::string& what);
    void check_fixed(const Field& field, const Face& face);
    void check_widths(const Margins& widths, const std::string& what);
    void check_field(const Field& field);
    void check_ghosts(const Field& field, int axis, int side);
    void check_in_ghost(const Field& field, int axis, int side, int distance, std::size_t i);

    // verify_exprs.cpp: the arena
    void check_expr(std::uint32_t i);
    void expect(std::uint32_t i, bool holds, const char* promise);
    void check_node(std::uint32_t i, Scalar type, const Constant& node);
    void check_node(std::uint32_t i, Scalar type, const ParamRef& node);
    void check_node(std::uint32_t i, Scalar type, const CoefElement& node);
    void check_node(std::uint32_t i, Scalar type, const Access& node);
    void check_node(std::uint32_t i, Scalar type, const Coordinate& node);
    void check_node(std::uint32_t i, Scalar type, const Unary& node);
    void check_node(std::uint32_t i, Scalar type, const Binary& node);
    void check_node(std::uint32_t i, Scalar type, const Fma& node);
    void check_node(std::uint32_t i, Scalar type, const Select& node);
    void check_node(std::uint32_t i, Scalar type, const Call& node);
    void check_node(std::uint32_t i, Scalar type, const TableSum& node);
    void check_node(std::uint32_t i, Scalar type, const TableColumn& node);
    void check_node(std::uint32_t i, Scalar type, const ReductionRef& node);
    void check_node(std::uint32_t i, Scalar type, const SeriesValue& node);
    void check_node(std::uint32_t i, Scalar type, const Noise& node);
    void check_node(std::uint32_t i, Scalar type, const PointColumn& node);

    // verify_tables.cpp
    void check_tables();
    void check_table(const Table& table, int index);

    // verify_statements.cpp: the step
    void check_statements();
    void check_reads(ExprId root, const std::string& statement);
    void check_maps(const Statement& statement, const std::string& what);
    void check_condition(const std::optional<ExprId>& condition, const std::string& statement);
    void check_sweep(std::size_t first);
    void check_repeats();
    void check_repeat_ends();
    void check_statement(const Assign& assign);
    void check_statement(const Reduce& reduce);
    void check_at_points(ExprId value, const std::string& what, const Inject* inject);
    void check_statement(const Inject& inject);
    void check_statement(const Sample& sample);

    const Program& program_;
    std::vector<std::string> broken_;
    std::vector<bool> uniform_;
    std::vector<bool> written_;
    bool has_several_grids_ = false;
    std::vector<int> row_of_;                // by expression: the table whose row it depends on, or -1
    std::vector<bool> sums_;                 // by expression: there is a sum over a table in it
    std::vector<std::uint32_t> reached_by_;  // by expression: the last statement that reached it
    std::uint32_t turn_ = 0;
    std::vector<std::string> reductions_;
};

}  // namespace halo::ir
