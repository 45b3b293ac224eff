#include "compiler/lift/fortran/translate.h"

#include <algorithm>
#include <set>

#include "compiler/lift/fortran/translate_statements.h"

namespace halo::lift::fortran {

namespace {

using StatementKind = c::Statement::Kind;

class Translator : public StatementTranslator {
public:
    using StatementTranslator::StatementTranslator;

    c::Unit run(const Procedure& procedure) {
        const mlir::Operation& code = *procedure.code;
        c::Function made;
        made.name = made.full_name = procedure.name;
        file_ = code.where.file;
        made.where = head_ = head_of(code);
        made.begin = text_.line_begin(head_.begin);
        made.result = build_.other_type("void");
        build_.unit.functions.push_back(made);
        build_.unit.function = 0;
        build_.unit.is_fortran = true;
        find_changed(code.regions.at(0));
        number_arguments(code);
        c::Statement body;
        body.kind = StatementKind::block;
        body.where = head_;
        translate_blocks(code.regions[0], code, body.statements);
        const int id = build_.add(std::move(body));
        c::Function& function = build_.unit.functions[0];
        for (const int argument : code.regions[0].front().arguments) {
            const int variable = argument_variables_.count(argument) ? argument_variables_.at(argument) : -1;
            if (variable >= 0) function.parameters.push_back(variable);
        }
        name_lengths();
        std::set<int> lengths;
        for (const auto& [array, sizes] : build_.unit.shapes)
            lengths.insert(sizes.begin(), sizes.end());
        function.parameters.insert(function.parameters.end(), lengths.begin(), lengths.end());
        function.body = id;
        return std::move(build_.unit);
    }

private:
    // `SUBROUTINE name`
    SourceRange head_of(const mlir::Operation& code) const {
        const std::uint32_t begin = text_.offset(code.where.line, code.where.column);
        const std::uint32_t end = text_.statement_end(begin);
        const std::size_t list = text_.text().find('(', begin);
        return {begin, list < end ? static_cast<std::uint32_t>(list) : end};
    }
};

}  // namespace

std::vector<Procedure> procedures(const mlir::Module& module, const SourceText& text,
                                  const std::string& file) {
    const auto name_of = [](const std::string& path) { return path.substr(path.rfind('/') + 1); };
    std::vector<Procedure> all;
    for (const auto& outer : module.operations) {
        if (outer->regions.empty() || outer->regions[0].empty()) continue;
        for (const auto& each : outer->regions[0].front().operations) {
            if (each->name != "func.func" || each->regions.empty() || each->regions[0].empty()) continue;
            Procedure made;
            const std::string unique = without(each->attribute("sym_name"), "\"");
            const bool is_included = name_of(each->where.file) != name_of(file);
            if (starts(unique, "_QQ") || is_included) continue;  // the main program is none
            made.name = last_name(unique);
            made.is_inner = unique.find('F') != std::string::npos;
            made.module = module_of(unique);
            made.code = each.get();
            for (const mlir::Block& block : each->regions[0]) {
                const mlir::Operation* last =
                    block.operations.empty() ? nullptr : block.operations.back().get();
                if (last == nullptr || last->name != "func.return" || last->where.line == 0) continue;
                const std::uint32_t begin = text.offset(last->where.line, last->where.column);
                made.end = text.next_line(text.statement_end(begin));
            }
            all.push_back(std::move(made));
        }
    }
    std::stable_sort(all.begin(), all.end(), [](const Procedure& a, const Procedure& b) {
        return a.code->where.line < b.code->where.line;
    });
    return all;
}

c::Unit translate(const mlir::Module& module, const Procedure& procedure, const SourceText& text,
                  const std::string& file) {
    return Translator(module, text, file).run(procedure);
}

}  // namespace halo::lift::fortran
