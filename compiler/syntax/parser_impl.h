// The recursive-descent parser behind parse(). Private to this room.
//
// After a mistake the parser is *failing*: every peek() then shows the end of the file, so all functions run
// out without further messages, until the statement loop calls recover() and goes on with the next statement.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/support/diagnostics.h"
#include "compiler/support/source.h"
#include "compiler/syntax/lexer.h"
#include "compiler/syntax/parser.h"
#include "compiler/syntax/tree.h"

namespace halo::syntax {

class Parser {
public:
    // Adds to `into` what is read from the offset `begin` on.
    Parser(const SourceFile& source, std::uint32_t begin, DiagnosticSink& sink, File into);
    File run();
    File run_until(const std::string& stencil);
    File replaced_init(const std::string& stencil, std::uint32_t first);
    File replaced_until(const std::string& stencil);
    File added_picture(const std::string& stencil);

private:
    // What a block's statements are; also the words that may begin one.
    enum class Block : std::uint8_t { stencil, loop, run, run_loop, field, table };
    // What a word stands for in a loop over names: an index, or a `let` of the iteration.
    struct Chosen {
        std::string index;
        std::string name;
        bool is_index = true;
    };
    struct NameList {  // a, b in (x, y), (y, x)
        std::vector<std::string> indices;
        std::vector<std::vector<std::string>> rows;  // a name for each index
    };

    // ---- tokens (cursor.cpp)
    const Token& peek() const { return failing_ ? tokens_.back() : tokens_[at_]; }
    const Token& ahead(std::size_t count) const;  // never past the end token
    bool is(TokenKind kind) const { return peek().kind == kind; }
    bool is_word(std::string_view word) const;  // a name with this text
    std::string_view text(const Token& token) const { return source_.text(token.where); }
    Token advance();
    bool accept(TokenKind kind);
    bool accept_word(std::string_view word);
    bool expect(TokenKind kind, std::string_view what);  // what: as in "expected …"
    bool expect_word(std::string_view word, std::string_view after);
    Name name(std::string_view what);
    SourceRange since(std::uint32_t begin) const;  // from a byte to the end of the last token

    // Brackets: close() is told the token that open() took.
    std::uint32_t open(TokenKind kind, std::string_view what);
    void close(std::uint32_t opening, TokenKind kind);
    bool at_list_end(TokenKind closer) const { return is(closer) || failing_ || is(TokenKind::end); }

    // ---- mistakes (cursor.cpp)
    Diagnostic& fail(DiagnosticKind kind, SourceRange where, std::string message);
    Diagnostic& fail_expected(std::string_view what);
    Diagnostic& fail_at_odd_token(const Token& token);
    Diagnostic& fail_no_operator(const Token& token);
    std::size_t line_begin() const;
    bool fail_if_statement_is_missing_its_end();
    void end_of_statement();
    void recover(std::size_t start, std::vector<std::string>& unread_names);
    void skip_to_next_statement();
    std::string describe(const Token& token) const;

    // ---- expressions (expressions.cpp)
    struct Nesting {  // counts what the parser's own stack grows with
        explicit Nesting(Parser& the_parser);
        ~Nesting() { --parser.nesting_; }
        Nesting(const Nesting&) = delete;
        Nesting& operator=(const Nesting&) = delete;
        Parser& parser;
    };
    ExprId make(Expr expr);
    ExprId missing();
    ExprId expression();
    ExprId binary(int min_precedence);
    ExprId prefix();
    ExprId power();
    ExprId postfix();
    ExprId primary();
    ExprId parenthesised();
    ExprId number();
    ExprId condition();
    ExprId conditional();
    bool at_fold() const;
    ExprId fold();
    ExprId table_fold(const Token& token, std::uint32_t opening, Name row);
    bool read_row_lets(TableFold& node);
    std::vector<RangeIndex> range_indices();
    ExprId member(ExprId base);
    std::optional<std::size_t> names_of_list(std::uint32_t opening) const;
    ExprId list_of_names(std::uint32_t opening, std::size_t loop);
    ExprId list();
    ExprId comprehension(ExprId body, std::uint32_t opening);
    ExprId call();
    ExprId value_or_list();
    ExprId bound();                           // of a range: low..high
    std::uint32_t begin_of(ExprId id) const;  // with its parentheses

    // ---- loops over names (name_loops.cpp)
    const std::string* chosen(std::string_view word) const;  // nullptr: no index
    std::string resolved(const Token& token);
    void refuse_index(std::string_view index, SourceRange where);
    bool at_name_loop() const { return at_statement("for") && at_name_lists(1); }
    bool at_name_lists(std::size_t at = 0) const;  // so many tokens ahead
    bool at_numbers(std::size_t at) const;
    std::size_t tokens_of_number(std::size_t at) const;
    bool is_in_names(std::string_view index, std::size_t opening) const;
    bool begins_range(std::string_view index, std::size_t opening) const;
    void read_range(NameList& list);
    std::optional<std::int64_t> bound_number();
    std::optional<std::int64_t> listed_number();
    std::string moved_index(const std::string& name, std::string_view written, std::size_t sign,
                            SourceRange where);
    std::vector<NameList> name_lists();
    std::string index_name(const std::vector<NameList>& before, const NameList& list);
    void read_rows(NameList& list);
    bool at_index_after_comma() const;
    std::vector<std::string> read_row(const NameList& list);
    void for_each_choice(const std::vector<NameList>& lists, const std::function<void()>& body,
                         std::size_t level = 0);
    void repeat_once(const std::function<void()>& body);
    void name_loop(Block block, const std::function<void()>& statement);
    std::vector<ExprId> terms(const std::vector<NameList>& lists, const std::function<ExprId()>& term);
    void keep_in_iteration(Name& let, const Token& word);

    // ---- files and blocks (parser.cpp)
    void file_item();
    bool shared_statement();
    void recover_to_block(std::size_t start);
    bool at_block_header() const;
    void stencil();
    bool stencil_header(Stencil& result);
    void run_block();
    Run& run_of(const std::string& stencil);
    std::string_view base_of(ExprId field) const;
    void statements(Block block, std::vector<std::string>& unread_names,
                    const std::function<void()>& statement);
    void close_block(std::uint32_t opening);
    std::uint32_t opening_brace(std::string_view what);
    bool at_block_end() const;
    void unknown_statement(Block block);
    bool at_statement(std::string_view keyword) const;
    void refuse_equals(const Token& keyword);

    // ---- statements of a stencil (declarations.cpp)
    void stencil_statement(Stencil& result);
    std::optional<StencilStatement> assignment_statement();
    bool refuse_repeated();
    void loop_statement(std::vector<LoopBody>& body);
    ForStatement loop(std::uint32_t begin);
    std::optional<StencilStatement> declaration();
    std::vector<Definition> definitions(bool need_values);
    std::vector<AxisValue> axis_values(std::string_view what, bool has_units);
    std::optional<TypeRef> optional_type();
    TypeRef type();
    TypeRef simple_type();
    std::vector<Component> components();
    CoefDecl coef(std::uint32_t begin, bool is_param);
    FieldDecl field(std::uint32_t begin);
    void refuse_bare_property(const std::vector<Name>& owners);
    void refuse_late_place();
    TableDecl table(std::uint32_t begin);
    SeriesDecl series(std::uint32_t begin);
    ColumnDecl column();
    FastDecl fast(std::uint32_t begin);
    LetDecl let(std::uint32_t begin);
    DefDecl def(std::uint32_t begin);
    ReduceDecl reduce(std::uint32_t begin);
    ScheduleBlock schedule(std::uint32_t begin);
    PointsDecl points(std::uint32_t begin);
    InjectStatement inject(std::uint32_t begin);
    SampleStatement sample(std::uint32_t begin);
    Assignment assignment();
    SolveStatement solve(std::uint32_t begin);
    bool guarded(Stencil& result);
    bool in_sweep() const;
    void check_place_of_repeat();
    void place_in_sweep(SweepOrder& order, SourceRange where);
    RepeatCount repeat_count();
    void at_most(RepeatCount& result);  // `, at most 500`
    GuardId guard(bool is_block);
    RegionEntry region_entry();
    void properties(const std::vector<Name>& owners, std::vector<HaloEntry>& halos,
                    std::vector<BoundaryEntry>& boundaries, std::optional<LayoutEntry>* layout,
                    std::optional<Unit>* unit_entry);
    void unit_property(std::optional<Unit>* given);
    std::optional<Unit> unit();
    std::optional<Unit> unit_of_value(std::string_view why_not = {});
    bool accept_entry_comma();
    void layout(std::optional<LayoutEntry>* given);
    std::vector<Name> over();
    ExprId name_or_number(const Token& token, std::string name);
    std::optional<ExprId> coarse();
    std::vector<ExprId> stagger(bool in_list = false);
    std::optional<FaceRef> face();
    HaloEntry halo_entry();
    BoundaryEntry boundary_entry(const std::vector<Name>& owners);
    bool is_axis(std::string_view word) const;
    bool at_boundary_face() const;

    // ---- statements of a run (run_statements.cpp)
    void run_statement(Run& result);
    std::optional<RunStatement> run_keyword();
    InitStatement init(std::uint32_t begin);
    InitLoop init_loop(std::uint32_t begin);
    ExprId field_reference(std::string_view what);
    StepsStatement steps(std::uint32_t begin);
    bool at_place() const;
    PlaceStatement place(std::uint32_t begin);
    ChainStatement chained(std::uint32_t begin);
    PlotStatement plot(std::uint32_t begin);
    MovieStatement movie(std::uint32_t begin);
    std::optional<Cut> cut();
    Cut cut_place();
    std::optional<Every> every();
    Every every_steps();
    bool accept_on_line(std::string_view word);
    void refuse_subscript();
    void read_part(SaveStatement& save);
    PartRange part_range();
    void shown(PlotStatement& plot);
    void layers(PlotStatement& plot);
    void looks(PlotStatement& plot);
    std::string with_names(std::string_view content) const;
    FilePath path();
    std::string quoted_text(std::string_view what, std::string_view of);
    std::vector<ExprId> expression_list();

    const SourceFile& source_;
    DiagnosticSink& sink_;
    std::vector<Token> tokens_;
    std::vector<std::uint32_t> match_;
    File file_;
    std::vector<std::uint16_t> heights_;  // of file_.exprs
    std::vector<std::uint32_t> starts_;   // first byte of file_.exprs, parentheses included

    std::size_t at_ = 0;
    bool failing_ = false;
    std::optional<std::size_t> resume_at_;  // where recover() goes on, if the mistake tells
    std::vector<std::uint32_t> open_;       // ( and [ of the statement, by token
    std::size_t statement_start_ = 0;
    int nesting_ = 0;
    bool in_run_ = false;          // between the braces of a run, whose lines may begin with `then`
    std::size_t unclosed_at_ = 0;  // the token before which a block was found unclosed
    std::vector<GuardId> guards_;  // the blocks around the statement that is read
    std::vector<Name> axes_;       // of the stencil that is read
    std::vector<std::string>* unread_ = nullptr;  // of the block that is read
    std::vector<Chosen> chosen_;                  // in the loops over names around what is read
    std::vector<std::string> range_names_;        // the indices of the loops over ranges around it
    std::uint32_t iteration_ = 0;                 // in file_.iterations
    std::size_t repeated_tokens_ = 0;
};

}  // namespace halo::syntax
