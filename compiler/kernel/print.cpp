#include "compiler/kernel/print.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/kernel/build.h"
#include "compiler/kernel/helpers.h"
#include "compiler/kernel/overload.h"
#include "compiler/kernel/wrap.h"

namespace halo::kernel {
namespace {

// The statement of a body that has one, beside comments; else null.
const Statement* only_statement(const Block& body) {
    const auto is_comment = [](const Statement& each) { return std::holds_alternative<Comment>(each.kind); };
    const auto first = std::ranges::find_if_not(body, is_comment);
    if (first == body.end() || !std::all_of(first + 1, body.end(), is_comment)) return nullptr;
    return &*first;
}

// A body that needs no braces.
bool is_single(const Block& body) {
    const Statement* const only = only_statement(body);
    if (only == nullptr) return false;
    return std::visit(Overload{
                          [](const Declare&) { return false; },
                          [](const DeclarePointer&) { return false; },
                          [](const DeclareArray&) { return false; },
                          [](const DeclareLambda&) { return false; },
                          [](const Scope&) { return false; },
                          [](const BlankLine&) { return false; },
                          [](const auto&) { return true; },
                      },
                      only->kind);
}

// The guard that an else behind the body would belong to, if the body had no braces.
const If* last_guard(const Block& body) {
    if (!is_single(body)) return nullptr;
    const Statement& only = *only_statement(body);
    if (const auto* loop = std::get_if<For>(&only.kind)) return last_guard(loop->body);
    return std::get_if<If>(&only.kind);
}

}  // namespace

std::string Printer::barrier(Barrier::Of of) const {
    return of == Barrier::Of::warp ? "warp_barrier();" : "barrier();";
}

std::string Printer::unroll_pragma(const For& loop) const {
    return loop.unroll == Unroll::full        ? "unroll"
           : loop.unroll == Unroll::none      ? "no unroll"
           : loop.unroll == Unroll::vectorize ? "vectorize"
           : loop.unroll == Unroll::scalar    ? "scalar"
           : loop.unroll == Unroll::some      ? fmt::format("unroll {}", loop.turns)
                                              : "";
}

std::string Printer::constant_array(const ConstantArray& array) const {
    return fmt::format("constant {} {}[{}];", type_name(array.type), array.name, array.size);
}

std::string Printer::parameter(const Parameter& parameter) const {
    const std::string type = type_name(parameter.type);
    switch (parameter.kind) {
        case Parameter::Kind::scalar:
            return type + " " + parameter.name;
        case Parameter::Kind::input:
            return "const " + type + "* " + parameter.name;
        case Parameter::Kind::output:
            return type + "* " + parameter.name;
    }
    return "";
}

std::string Printer::signature(const KernelFunction& function) const {
    std::string text =
        (function.kind == KernelFunction::Kind::kernel ? "kernel " : "helper ") + function.name + "(";
    for (std::size_t p = 0; p < function.parameters.size(); ++p) {
        text += (p ? ", " : "") + parameter(function.parameters[p]);
    }
    return text + ")";
}

std::string Printer::prelude(const Program&) const {
    return "";
}
std::string Printer::prologue(const KernelFunction&) const {
    return "";
}

std::string Printer::view(const DeclareArray& array) const {
    return fmt::format("auto& {} = *reinterpret_cast<{}(*){}>({});", array.name, type_name(array.type),
                       array_dims(array), expression(array.from));
}

std::string Printer::dynamic_shared(const DeclareArray& array) const {
    return fmt::format("dynamic_shared({}) {} {}{};", array.offset, type_name(array.type), array.name,
                       array_dims(array));
}

// A sum that a variable is the start of is added to it.
std::string Printer::assignment(const Assign& assign) const {
    const auto* target = std::get_if<Variable>(&assign.target->kind);
    const auto* sum = std::get_if<Binary>(&assign.value->kind);
    if (target && sum && (sum->op == Operator::add || sum->op == Operator::bit_or)) {
        const auto* start = std::get_if<Variable>(&sum->left->kind);
        if (start && start->name == target->name)
            return fmt::format("{} {}= {};", target->name, sum->op == Operator::add ? "+" : "|",
                               expression(sum->right));
    }
    const bool is_element = std::holds_alternative<Element>(assign.target->kind);
    if (is_element && sum && sum->op == Operator::add && std::holds_alternative<Element>(sum->left->kind)) {
        const std::string place = expression(assign.target);
        if (expression(sum->left) == place) return fmt::format("{} += {};", place, expression(sum->right));
    }
    return fmt::format("{} = {};", expression(assign.target), expression(assign.value));
}

void Printer::line(int depth, const std::string& text) {
    text_ += wrap_line(text, depth * 4);
}

std::string Printer::array_dims(const DeclareArray& array) const {
    std::string text;
    for (const Expr& dim : array.dims)
        text += "[" + expression(dim) + "]";
    return text;
}

void Printer::loop(const For& loop, int depth) {
    if (const std::string pragma = unroll_pragma(loop); !pragma.empty()) {
        // Pragmas start in the first column, where clang-format leaves them.
        text_ += "#pragma " + pragma + "\n";
    }
    const std::string advance =
        int_value(loop.step) == 1 ? "++" + loop.var : loop.var + " += " + expression(loop.step);
    const std::string head =
        loop.downwards
            ? fmt::format("for ({} {} = {}; {} >= {}; --{})", type_name(loop.type), loop.var,
                          expression(loop.end - 1), loop.var, expression(loop.begin, kRelation + 1), loop.var)
            : fmt::format("for ({} {} = {}; {} < {}; {})", type_name(loop.type), loop.var,
                          expression(loop.begin), loop.var, expression(loop.end, kRelation + 1), advance);
    const bool braces = !is_single(loop.body);
    line(depth, head + (braces ? " {" : ""));
    block(loop.body, depth + 1);
    if (braces) line(depth, "}");
}

// `before`: what the guard is the rest of, "else " or "} else ".
void Printer::guard(const If& guard, int depth, const std::string& before) {
    const std::string head = before + "if (" + expression(guard.condition) + ")";
    const bool has_else = !guard.otherwise.empty();
    if (before.empty() && !has_else && guard.then.size() == 1 && is_single(guard.then)) {
        const std::string text = head + " " + simple_statement(guard.then.front());
        if (text.back() == ';' && fits(text, depth * 4)) return line(depth, text);
    }
    const If* next = guard.otherwise.size() == 1 ? std::get_if<If>(&guard.otherwise.front().kind) : nullptr;
    const If* inner = last_guard(guard.then);
    const bool dangles = inner != nullptr && (has_else || !inner->otherwise.empty());
    const bool braces = before.starts_with('}') || dangles || !is_single(guard.then) ||
                        (has_else && next == nullptr && !is_single(guard.otherwise));
    line(depth, head + (braces ? " {" : ""));
    block(guard.then, depth + 1);
    const std::string closing = braces ? "} else" : "else";
    if (next != nullptr) return this->guard(*next, depth, closing + " ");
    if (has_else) {
        line(depth, closing + (braces ? " {" : ""));
        block(guard.otherwise, depth + 1);
    }
    if (braces) line(depth, "}");
}

void Printer::block(const Block& block, int depth) {
    for (const Statement& inner : block)
        statement(inner, depth);
}

// One that neither declares nor holds others; empty for any other.
std::string Printer::simple_statement(const Statement& statement) const {
    return std::visit(
        Overload{
            [&](const Assign& assign) { return assignment(assign); },
            [&](const LoadVector& load) {
                return fmt::format("load{}({}, {});", load.width, pointer_to(load.to), expression(load.from));
            },
            [&](const CopyVector& copy) {
                return fmt::format("copy{}({}, {});", copy.width, pointer_to(copy.to), expression(copy.from));
            },
            [&](const CopyAsync& copy) {
                const std::string width = copy.width == 1 ? "" : std::to_string(copy.width);
                const auto& to = std::get<Element>(copy.to->kind);
                return fmt::format("copy{}_async({}, {}, {});", width, to.array,
                                   expression(to.indices.front()), expression(copy.from));
            },
            [&](const CommitCopies&) -> std::string { return "commit_copies();"; },
            [&](const AwaitCopies& await) { return fmt::format("await_copies<{}>();", await.pending); },
            [&](const StoreVector& store) {
                const bool is_word = store.from.type() == Type::u32 && store.width == 4;
                return fmt::format("{}{}({}, {});", store.shared ? "share" : "store", store.width,
                                   expression(store.to),
                                   is_word ? expression(store.from) : pointer_to(store.from));
            },
            [&](const StoreLine& store) {
                return fmt::format("store_line<{}>({}, {}, {});", store.width, expression(store.to),
                                   pointer_to(store.from), expression(store.passes_caches));
            },
            [&](const Prefetch& fetch) {
                return fmt::format("__builtin_prefetch({});", expression(fetch.from));
            },
            [&](const CopyCells& copy) {
                return fmt::format("{}_cells<{}>({}, {});", copy.negates ? "negate" : "copy",
                                   expression(copy.count), pointer_to(copy.to), pointer_to(copy.from));
            },
            [&](const FillCells& fill) {
                const std::string stride = fill.stride == 1 ? "" : fmt::format(", {}", fill.stride);
                return fmt::format("fill_cells<{}{}>({}, {});", expression(fill.count), stride,
                                   pointer_to(fill.to), expression(fill.value));
            },
            [&](const Barrier& barrier_of) { return barrier(barrier_of.of); },
            [&](const Return&) -> std::string { return "return;"; },
            [&](const RunHelper& call) {
                return fmt::format("{}({});", shape_of(call.helper).name, arguments(call.arguments));
            },
            [&](const RunLambda& call) {
                return fmt::format("{}({});", call.lambda, arguments(call.arguments));
            },
            [&](const AdvancePointer& advance) {
                return fmt::format("{} += {};", advance.name, expression(advance.by));
            },
            [&](const CallFunction& call) {
                return fmt::format("{}({});", call.function, arguments(call.arguments));
            },
            [](const auto&) { return std::string(); },
        },
        statement.kind);
}

void Printer::statement(const Statement& statement, int depth) {
    std::visit(
        Overload{
            [&](const Declare& declare) {
                line(depth, fmt::format("{}{} {} = {};", declare.mutable_value ? "" : "const ",
                                        type_name(declare.type), declare.name, expression(declare.value)));
            },
            [&](const DeclarePointer& declare) {
                line(depth, fmt::format("{}{}* {} = {};", declare.writable ? "" : "const ",
                                        type_name(declare.type), declare.name, expression(declare.value)));
            },
            [&](const DeclareArray& array) {
                if (array.from) return line(depth, view(array));
                if (array.memory == Memory::dynamic_shared) return line(depth, dynamic_shared(array));
                const std::string qualifiers =
                    (array.alignment ? fmt::format("alignas({}) ", array.alignment) : "") +
                    (array.memory == Memory::shared ? shared_qualifier() : "");
                line(depth, fmt::format("{}{} {}{}{};", qualifiers, type_name(array.type), array.name,
                                        array_dims(array), array.zero ? " = {}" : ""));
            },
            [&](const DeclareLambda& declare) {
                std::string parameters;
                for (const LambdaParameter& parameter : declare.parameters)
                    parameters += fmt::format("{}{} {}", parameters.empty() ? "" : ", ",
                                              type_name(parameter.type), parameter.name);
                line(depth, fmt::format("const auto {} = [&]({}) {}{{", declare.name, parameters,
                                        declare.inlined ? "__attribute__((always_inline)) " : ""));
                block(declare.body, depth + 1);
                if (declare.value) line(depth + 1, fmt::format("return {};", expression(declare.value)));
                line(depth, "};");
            },
            [&](const For& inner) { loop(inner, depth); },
            [&](const If& inner) { guard(inner, depth); },
            [&](const Scope& scope) {
                line(depth, "{");
                block(scope.body, depth + 1);
                line(depth, "}");
            },
            [&](const Comment& comment) { text_ += wrap_comment(comment.text, depth * 4); },
            [&](const BlankLine&) { text_ += "\n"; },
            [&](const auto&) { line(depth, simple_statement(statement)); },
        },
        statement.kind);
}

namespace {

// Of kCellsX, kCellsY and kCellsZ it is kCells.
std::string stem_of(const std::string& name) {
    const bool is_of_axis = name.size() > 1 && name.back() >= 'X' && name.back() <= 'Z';
    return is_of_axis ? name.substr(0, name.size() - 1) : name;
}

}  // namespace

// Those of several axes on a line; comments one below the other.
void Printer::constants(const std::vector<NamedConstant>& constants, int depth) {
    std::vector<std::string> texts;
    std::size_t longest = 0;
    std::vector<std::string> comments;
    const NamedConstant* before = nullptr;
    for (const NamedConstant& constant : constants) {
        const std::string text = fmt::format("{} = {};", constant.name, constant.value);
        const bool is_beside = before != nullptr && before->type == constant.type &&
                               stem_of(before->name) == stem_of(constant.name) && comments.back().empty();
        before = &constant;
        if (is_beside) {
            texts.back().back() = ',';
            texts.back() += " " + text;
            comments.back() = constant.comment;
        } else {
            texts.push_back(fmt::format("constexpr {} {}", type_name(constant.type), text));
            comments.push_back(constant.comment);
        }
        if (!constant.comment.empty()) longest = std::max(longest, texts.back().size());
    }
    for (std::size_t i = 0; i < texts.size(); ++i) {
        const std::string& comment = comments[i];
        line(depth, comment.empty() ? texts[i] : fmt::format("{:<{}}  // {}", texts[i], longest, comment));
    }
}

void Printer::function(const KernelFunction& function) {
    for (const std::string& comment : function.comment)
        text_ += wrap_comment(comment, 0);
    line(0, signature(function) + " {");
    text_ += prologue(function);
    constants(function.constants, 1);
    if (!function.constants.empty()) text_ += "\n";
    block(function.body, 1);
    line(0, "}");
}

std::string Printer::print(const Program& program) {
    text_.clear();
    for (const std::string& comment : program.header)
        text_ += comment.empty() ? "//\n" : wrap_comment(comment, 0);
    const std::string helpers = prelude(program);
    if (!helpers.empty()) text_ += "\n" + helpers;
    if (!program.constants.empty()) text_ += "\n";
    constants(program.constants, 0);
    if (!program.constant_arrays.empty()) text_ += "\n";
    for (const ConstantArray& array : program.constant_arrays) {
        line(0, constant_array(array) + (array.comment.empty() ? "" : "  // " + array.comment));
    }
    for (const KernelFunction& each : program.functions) {
        text_ += "\n";
        function(each);
    }
    return text_;
}

std::string print(const Program& program) {
    return Printer().print(program);
}

}  // namespace halo::kernel
