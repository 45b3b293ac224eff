// Several stencils to one program: chain_fields.cpp has what they declare, chain_program.cpp what they do.
// Not for other rooms.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compiler/sema/chain_parts.h"

namespace halo::sema {

class ChainComposer {
public:
    ChainComposer(const ChainMember& first, const std::vector<ChainLink>& links, DiagnosticSink& sink);

    bool declare();  // false: a mistake has been reported
    void write();
    ir::Program take() { return std::move(out_); }

private:
    struct Part {  // one of the stencils, and what its handles are in the composed program
        ChainMember member;
        const ChainLink* link = nullptr;  // none: the first
        std::vector<ir::ParamId> params{};
        std::vector<ir::CoefId> coefs{};
        std::vector<ir::FieldId> fields{};
        std::uint32_t reductions = 0;  // before its own
        int streams = 0;               // of noise, likewise
        const ir::Program& program() const { return member.stencil->program; }
        SourceRange where() const { return link ? link->where : member.stencil->where; }
    };
    using Read = std::function<ir::ExprId(const ir::Access&)>;

    // An expression of a part, its accesses replaced; is_later: as of the level after the step.
    ir::ExprId imported(const Part& part, ir::ExprId root, const Read& read, bool is_later = false);
    ir::ExprId imported(const Part& part, ir::ExprId root);  // that reads no field

    // ---- what they declare
    Diagnostic& mismatch(SourceRange where, std::string message, const Part& other, SourceRange other_where);
    bool check_names(const Part& part);
    void declare_params(Part& part);
    void declare_coefs(Part& part);
    bool has_same_axes(const Part& part);
    void check_spacing(const Part& part);
    void declare_fields(Part& part);
    void check_field(const Part& part, const ir::Field& field, ir::FieldId shared);
    void check_role(const Part& part, const ir::Field& field, ir::FieldId shared);
    void check_past(const Part& part, const ir::Field& field);
    void declare_groups(const Part& part);
    void check_noise(Part& part);
    // The field's faces, with what they show of itself in the place of `as`.
    void import_faces(const Part& part, ir::FieldId field, ir::FieldId as, bool is_later);
    bool check_faces(const Part& part, ir::FieldId field, ir::FieldId shared);

    // ---- what they do
    void declare_lets(Part& part);
    std::string free_name(const std::string& name, const Part& part) const;
    void write_first();
    void write_link(Part& part);
    void keep_states(const Part& part, std::optional<ir::ExprId> condition);
    std::vector<bool> states_to_keep_before(const Part& part) const;
    bool is_given_everywhere(const Part& part, ir::FieldId state) const;
    void write_statement(const Part& part, const ir::Statement& statement, const Read& read,
                         std::optional<ir::ExprId> condition);
    std::optional<ir::ExprId> condition_of(const ChainSteps& steps);
    void infer();

    DiagnosticSink& sink_;
    ir::Program out_;
    ir::ExprBuilder builder_{out_};
    std::vector<Part> parts_;
    std::vector<const Part*> owner_;         // of a field: the first that declares it
    std::vector<bool> is_written_;           // at t+1, by a statement so far
    std::optional<std::int64_t> first_end_;  // steps after which a phase of its own follows the first
    std::uint32_t reductions_ = 0;
    int streams_ = 0;
};

}  // namespace halo::sema
