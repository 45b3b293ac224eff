// One run block to its specification: run.cpp has its settings and the start of fields, run_tables.cpp the
// rows of tables, run_points.cpp points, run_files.cpp what is loaded, saved and plotted. Not for other
// rooms.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/sema/evaluator.h"
#include "compiler/sema/run.h"
#include "compiler/support/file_kinds.h"

namespace halo::sema {

inline constexpr std::int64_t kMaxRunCount = std::int64_t{1} << 53;  // of steps

class RunAnalyzer {
public:
    RunAnalyzer(const syntax::File& file, const syntax::Run& run, const Symbols& symbols,
                const ir::Program& stencil, RunSpec& result, DiagnosticSink& sink)
        : file_(file),
          run_(run),
          symbols_(symbols),
          stencil_(stencil),
          result_(result),
          sink_(sink),
          settings_(file, symbols, Place::setting, scratch_, ir::Scalar::f64, sink) {}

    void run();

private:
    // A table that the run fills row by row.
    struct Fill {
        std::optional<std::int64_t> rows;
        std::unique_ptr<TableFill> made;
        std::optional<Evaluator> evaluator;  // of made->init
        SourceRange where;
    };

    // The names that a run shares with its stencil. What is wrong with them has been said there.
    static void declare(Evaluator& evaluator);

    bool is_first(const std::string& what, SourceRange where);

    void read(const syntax::GridStatement& grid);

    void read(const syntax::StepsStatement& steps);
    void read(const syntax::ChainStatement&) {}  // chain.h

    // The field, or part of one, that a statement of the run names; nullopt where that is reported.
    std::optional<Reference> field_of(syntax::ExprId id);

    void report_no_field(const std::string& name, SourceRange where);

    // That no other statement fills any part of it.
    bool is_first_start(const Reference& field, SourceRange where);

    void read(const syntax::InitLoop& loop);

    // ---- tables

    bool is_table(const syntax::Name& name) const;  // or a series, which is one of a single column

    // nullptr where there is no such table; that is reported.
    const Symbol* table_of(const syntax::Name& name);

    Fill& fill_of(const std::string& table, SourceRange where);

    void read(const syntax::RowsStatement& rows);

    struct Target {  // `atoms.q`, taken apart
        syntax::Name name;
        const syntax::Name* member = nullptr;  // in the tree, which names of columns outlive
    };
    Target target_of(syntax::ExprId id) const;

    void read_column(const syntax::InitStatement& init, const Target& target);

    void finish(const std::string& name, Fill& fill);

    // ---- points

    // What a run gives of points: a column, or a trace that is injected.
    struct PointNumber {
        std::string points, name;
        bool is_trace = false;
    };
    const Symbol* find_points(const syntax::Name& name) const;  // nullptr where they are no points
    void read(const syntax::PlaceStatement& place);
    bool add_position(syntax::ExprId position, std::vector<double>& positions);
    std::optional<PointNumber> given_number(const Symbol& points, const Target& target);
    void read_point_number(const syntax::InitStatement& init, const Symbol& points, const Target& target);
    void load_points(const syntax::LoadStatement& load, const Symbol& points, const Target& target);
    std::optional<std::string> sampled_trace(const Symbol& points, const Target& target);
    bool has_sample(const Symbol& points) const;

    // ---- fields

    void read(const syntax::InitStatement& init);

    Halves place_of(const ir::Field& field) const;
    // What `init` gives to each leaf of a field, coordinates being those of a place in the cells. nullopt:
    // reported.
    std::optional<std::vector<Value>> values_at(Halves place, const Reference& reference,
                                                const syntax::InitStatement& init);
    void fill(const ir::Field& target, const Value& value, const syntax::InitStatement& init);
    bool depends_on_own_axes(const ir::Field& target, const Value& value, const syntax::InitStatement& init);
    bool comes_before_positions(const ir::Field& target, const Value& value,
                                const syntax::InitStatement& init);

    // Refuses a file that is not of the one format there is.
    bool check_path(const syntax::FilePath& path, FileUse use);

    // `starts` says whether what is written is there before the first step.
    bool check_together(const syntax::SaveStatement& save, bool is_trace);
    Frames read_frames(const std::optional<syntax::Every>& every, bool starts);
    bool starts(const Reference& field) const;
    void flip_trace(const syntax::Name& axis, Plot& made);
    void read_looks(const syntax::PlotStatement& plot, bool is_trace, Plot& made);

    void read(const syntax::LoadStatement& load);
    bool can_show(const Reference& field, const syntax::LoadStatement& load);
    bool has_axis(const Reference& field, int axis, SourceRange where);

    void read(const syntax::SaveStatement& save);
    // Whether a kind of file has a form for it (run_kinds.cpp); reported otherwise.
    bool can_fill(const Reference& field, const syntax::LoadStatement& load);
    bool can_hold(const syntax::SaveStatement& save, const Reference& field);
    bool can_hold_column(const syntax::SaveStatement& save, const std::string& reduction);
    bool can_hold_trace(const syntax::SaveStatement& save, const std::string& trace);
    bool is_reduction(const Target& target) const;
    void read_column(const syntax::SaveStatement& save, const Target& target);

    void read(const syntax::PlotStatement& plot);

    void read(const syntax::MovieStatement& movie);
    bool read_picture(const syntax::PlotStatement& plot, std::string_view word, Plot& made);
    bool check_plotted(const Reference& field, SourceRange where, std::string_view word);
    void read_trace_picture(const syntax::PlotStatement& plot, const Symbol& points, const Target& target);
    void read_reduction_picture(const syntax::PlotStatement& plot, const Target& target);
    bool refuse_layers(const syntax::PlotStatement& plot, std::string_view why, bool also_beside);

    // What else is in a picture of a field (run_pictures.cpp); false where something is wrong, which is
    // reported.
    bool read_layers(const syntax::PlotStatement& plot, const Reference& first, std::string_view word,
                     Plot& made);
    std::optional<Reference> layer_of(syntax::ExprId id, const Reference& first);
    bool add_curve(syntax::ExprId id, const Reference& first, std::string_view word, Plot& made);
    bool add_contours(const syntax::ContourClause& contours, const Reference& first, std::string_view word,
                      Plot& made);
    bool add_arrows(const std::vector<syntax::ExprId>& arrows, const Reference& first, Plot& made);
    std::vector<int> shown_axes(const Reference& field, const Plot& made) const;

    std::optional<Cut> read_cut(const syntax::Cut& cut);

    // The grid may come after the plots.
    void check_cuts();
    void check_cell(const Cut& cut, SourceRange where);
    bool read_part(const syntax::SaveStatement& save, Save& made);
    std::optional<PartRange> read_part_range(const syntax::PartRange& range);
    void check_part(const Save& save);

    void read(const syntax::OverrideStatement& override);

    const syntax::File& file_;
    const syntax::Run& run_;
    const Symbols& symbols_;
    const ir::Program& stencil_;
    RunSpec& result_;
    DiagnosticSink& sink_;
    ir::Program scratch_;  // of settings_: its expressions are known before launch and kept nowhere
    Evaluator settings_;
    std::optional<Evaluator> init_;      // fills result_.init
    std::map<std::string, Fill> fills_;  // by table
    std::map<std::string, SourceRange> seen_;
};

}  // namespace halo::sema
