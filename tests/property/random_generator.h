// The generator of random programs: what its sources share.
#pragma once

#include <string>
#include <vector>

#include "random_expression.h"

namespace halo::test {

class ProgramGenerator : private ExpressionGenerator {
public:
    ProgramGenerator(std::uint64_t seed, const GeneratorOptions& options);
    RandomProgram run();

private:
    struct Written {  // that statements at points may read or inject into
        std::string name;
        int time = 0;
    };

    // ---- fields, statements and the grid (random_program.cpp)
    // By numbers of its own, so that the programs are otherwise the same.
    void stagger();
    // Ranges from both ends, many of them empty, and factors of zero; by numbers of their own.
    void add_edge_cases();
    // Some of the products whose one factor is a number.
    static void multiply_by_zero(Node& node, Random& random);
    void make_fields();
    // A field's halo is at most as wide as an offset of an offset.
    int least_extent(int axis) const;
    void make_grid();
    void make_statement(int index, bool is_last);
    // Some cells alone, and some of them again, in place.
    void add_written(StatementSpec statement, int time);
    static bool sums_table(const Node& node);
    std::string random_guard();
    void make_state(StatementSpec statement);
    void make_reduction(int index);
    // A condition on an input is exact; once the field is a state it is not. Those of earlier statements are
    // changed.
    void drop_conditions_on(const std::string& field);
    static void drop_conditions(Node& node, const std::string& field);
    static bool mentions_coordinate(const Node& node);

    // ---- boundaries (random_faces.cpp)
    // A let that reads past a free face has no value there, and is not read at points.
    bool has_free_faces() const;
    std::string boundary_kind();
    std::string formula_kind();
    Faces make_faces();
    bool shares_faces() const;
    // Components have the boundaries of their field.
    void share_faces(FieldSpec& field) const;
    // What such a boundary reads must lie inside the grid.
    static bool is_formula(const std::string& kind);
    // For a field that comes when the grid is made.
    Faces fitting_faces();

    // ---- points, by numbers of their own (random_points.cpp)
    void add_points();
    // States (time 1) and outputs (time 0) that the first statements write.
    std::vector<Written> written_before(std::size_t count) const;
    Node point_value(Random& random, const std::vector<Written>& written, const Written* target,
                     std::size_t at);

    // ---- sweeps, by numbers of their own (random_sweeps.cpp)
    void add_sweeps();
    Cells random_offset(Random& random, int most);
    // One to three statements that read each other's cells before, and cells at the cell that are done
    // already; where they have values before the sweep, also those of cells that are to come.
    void add_sweep(const std::string& name, Random& random);
    // What is there before the sweep: fields as they were, and what was written in this step.
    Node sweep_read(Random& random, const std::vector<Written>& written);

    // ---- a repeat, by numbers of its own (random_repeats.cpp)
    void add_repeat();
    // A repeat around one that iterates i0: without a level, or with a field that each of its iterations
    // makes of i0.
    void add_outer_repeat(Random& random, const std::vector<Written>& written,
                          std::vector<StatementSpec>& made);

    std::vector<std::string> unassigned_;
};

}  // namespace halo::test
