#include "compiler/lift/whole_harness.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "compiler/lift/clang_front.h"
#include "compiler/lift/coverage.h"
#include "compiler/lift/harness_objects.h"
#include "compiler/lift/memory.h"
#include "compiler/lift/replace.h"
#include "compiler/lift/stand_ins.h"
#include "compiler/lift/verify_sizes.h"
#include "compiler/lift/whole_members.h"

namespace halo::lift {

namespace {

using c::Number;
using ValueKind = WholeValue::Kind;

constexpr int kVectorElements = 8192;
constexpr std::int64_t kFewCells = 8;
constexpr int kElements = 2, kPointers = 6;  // of structs behind a pointer, and of arrays

class WholeWriter {
public:
    WholeWriter(const c::Unit& unit, const Nests& found)
        : unit_(unit),
          found_(found),
          function_(unit.functions[static_cast<std::size_t>(unit.function)]),
          objects_(unit.is_cxx) {}

    WholeHarness write() {
        if (!function_.is_plain)
            throw SourceError("`" + function_.name +
                              "` is a template, or a function of one, and is not called by itself");
        std::string arguments, callee = function_.full_name;
        for (const int id : function_.parameters) {
            if (variable(id).is_object)
                callee = "(" + argument(id) + ")->" + function_.name;
            else
                arguments += (arguments.empty() ? "" : ", ") + argument(id);
        }
        const std::string call = callee + "(" + arguments + ")";
        const c::Type& result = type(function_.result);
        const std::string head = unit_.is_cxx ? "extern \"C\" " : "";
        std::string text = unit_.is_cxx ? "extern \"C\" __attribute__((visibility(\"hidden\"))) void* "
                                          "__dso_handle;\nvoid* __dso_handle = nullptr;\n"
                                        : "";
        const std::string globals = global_places();
        text += head + "void halo_lift_globals(void** p, long* bytes) {\n    (void)p;\n    (void)bytes;\n" +
                globals + "}\n";
        std::string body = "    " + call + ";\n";
        if (result.kind == c::Type::Kind::number)
            body = fmt::format("    *({}*){} = {};\n", result.plain,
                               value({ValueKind::result, result.number, "the result", 0}), call);
        else if (result.plain != "void")
            throw SourceError("`" + function_.name + "` returns something that is no number");
        const auto whole = [&](const std::string& called) {
            return head + "void halo_lift_whole(void** v) {\n    (void)v;\n" + before_ + called + after_ +
                   "}\n";
        };
        if (function_.is_kernel) text += kRunBlock;
        if (!function_.is_kernel) {
            harness_.text = text + whole(body);
            return std::move(harness_);
        }
        const Lifted& stencil = found_.lifted.front();
        const StencilCall instead = write_call(stencil, stencil.spec.body);
        harness_.text = text + whole(launch(arguments));
        harness_.replaced =
            kCallDeclarations + instead.definition + "static int halo_lift_instead(" + parameters() +
            ") { return " + instead.call + "; }\n" + text +
            whole("    if (halo_lift_instead(" + arguments + ")) return;\n" + launch(arguments));
        return std::move(harness_);
    }

private:
    const c::Variable& variable(int id) const { return unit_.variables[static_cast<std::size_t>(id)]; }
    const c::Type& type(int id) const { return unit_.types[static_cast<std::size_t>(id)]; }

    std::string value(WholeValue made) {
        harness_.values.push_back(std::move(made));
        return fmt::format("v[{}]", harness_.values.size() - 1);
    }
    std::string number(const std::string& name, const c::Type& of) {
        return fmt::format("*({}*){}", of.plain, value({ValueKind::number, of.number, name, 0}));
    }

    std::string parameters() const {
        std::string all;
        for (const int id : function_.parameters)
            all += (all.empty() ? "" : ", ") + type(variable(id).type).text + " " + variable(id).name;
        return all;
    }
    // All threads of a kernel, one after the other: at least as many along each axis as any size that it is
    // given.
    std::string launch(const std::string& arguments) const {
        const Lifted& stencil = found_.lifted.front();
        std::string text = "    long long most = 1;\n";
        for (std::size_t i = 0; i < harness_.values.size(); ++i) {
            const WholeValue& each = harness_.values[i];
            if (each.kind == ValueKind::number && c::is_integer(each.number) && bytes_of(each.number) >= 4)
                text += fmt::format("    if (*({0}*)v[{1}] > most) most = *({0}*)v[{1}];\n",
                                    bytes_of(each.number) == 4 ? "int" : "long long", i);
        }
        for (const Polynomial& each : stencil.form.grid) {
            if (each.constant()) text += fmt::format("    if ({0} > most) most = {0};\n", *each.constant());
        }
        if (stencil.model.has_rows) {  // a thread for each cell, numbered through
            std::string all = "most";
            for (std::size_t a = 1; a < stencil.form.axes.size(); ++a)
                all += " * most";
            text += "    if (most > 48) __builtin_trap();\n    most = " + all + ";\n";
        } else {
            const bool is_slow = stencil.model.block.has_value();  // threads that wait for each other
            const int most[] = {2048, is_slow ? 128 : 2048, is_slow ? 32 : 2048};
            text += fmt::format("    if (most > {}) __builtin_trap();\n", most[stencil.form.axes.size() - 1]);
        }
        if (stencil.model.block) return text + launch_blocks(stencil.model, arguments);
        const int size[3] = {8, 4, 2};
        for (int a = 0; a < 3; ++a) {
            const bool is_used = names_threads(stencil.model, static_cast<std::size_t>(a));
            const auto& all = stencil.model.launched[static_cast<std::size_t>(a)];
            text +=
                fmt::format("    ((unsigned*)&blockDim)[{0}] = {1};\n    ((unsigned*)&gridDim)[{0}] = {2};\n",
                            a, is_used && !all ? size[a] : 1,
                            all       ? given(stencil.model, *all)
                            : is_used ? fmt::format("most / {} + 1", size[a])
                                      : "1");
        }
        for (int a = 5; a >= 0; --a)
            text += fmt::format(
                "    for (unsigned i{0} = 0; i{0} < {1}.{2}; ++i{0}) {{ ((unsigned*)&{3})[{4}] = i{0};\n", a,
                a < 3 ? "blockDim" : "gridDim", "xyz"[a % 3], a < 3 ? "threadIdx" : "blockIdx", a % 3);
        return text + "    " + function_.full_name + "(" + arguments + ");\n    }}}}}}\n";
    }

    // How many threads are launched along an axis: a parameter.
    std::string given(const Model& model, const Polynomial& count) const {
        for (std::size_t i = 0; i < harness_.values.size(); ++i) {
            const WholeValue& each = harness_.values[i];
            if (each.kind != ValueKind::number || each.name != model.text(count)) continue;
            const char* type = bytes_of(each.number) == 4 ? "int" : "long long";
            return fmt::format("*({0}*)v[{1}] > 0 ? *({0}*)v[{1}] : 0", type, i);
        }
        return fmt::format("{}", count.constant().value_or(0));
    }

    // Blocks of threads that share memory.
    std::string launch_blocks(const Model& model, const std::string& arguments) const {
        std::string text, end;
        for (std::size_t a = 0; a < 3; ++a) {
            const std::int64_t size = (*model.block)[a], stride = (*model.block_stride)[a];
            const bool is_used = names_threads(model, a) || size > 1;
            text +=
                fmt::format("    ((unsigned*)&blockDim)[{0}] = {1};\n    ((unsigned*)&gridDim)[{0}] = {2};\n",
                            a, size, is_used ? fmt::format("most / {} + 2", stride) : "1");
        }
        text += "    auto thread = [&] { " + function_.full_name + "(" + arguments + "); };\n";
        for (int a = 2; a >= 0; --a) {
            text += fmt::format(
                "    for (unsigned i{0} = 0; i{0} < gridDim.{1}; ++i{0}) {{ ((unsigned*)&blockIdx)[{0}] = "
                "i{0};\n",
                a, "xyz"[a]);
            end += "}";
        }
        return text +
               "    halo_lift_run_block([](void* of) { (*(decltype(thread)*)of)(); }, &thread, "
               "(const unsigned*)&blockDim);\n    " +
               end + "\n";
    }

    std::string argument(int id) {
        const c::Variable& named = variable(id);
        const c::Type& of = type(named.type);
        if (of.kind == c::Type::Kind::number) return number(named.name, of);
        if (of.is_reference && type(of.element).kind == c::Type::Kind::number)
            return number(named.name, type(of.element));
        const c::Type& held = of.is_reference ? type(of.element) : of;
        if (held.is_vector) return vector(named.name, held);
        if (held.is_class) return record(id);
        if (held.kind == c::Type::Kind::array && of.is_reference)
            return "*(__typeof__(" + held.plain + ")*)" + array(named.name, held);
        if (of.kind == c::Type::Kind::pointer && !of.is_reference) {
            if (const std::string made = pointer(id, named.name, of); !made.empty())
                return unit_.is_cxx ? "(" + of.text + ")" + made : made;
            return record(id);
        }
        throw SourceError("`" + named.name + "` is of a type that is not made for a call: " + of.text);
    }
    // Empty: to a struct.
    std::string pointer(int id, const std::string& name, const c::Type& of) {
        const c::Type* inner = &type(of.element);
        int pointers = 1;
        for (; inner->kind == c::Type::Kind::pointer || inner->kind == c::Type::Kind::array;
             inner = &type(inner->element))
            pointers += inner->kind == c::Type::Kind::pointer;
        if (inner->kind != c::Type::Kind::number) return "";
        if (pointers > 3) throw SourceError("`" + name + "` is reached by four pointers, and is not made");
        WholeValue made{pointers == 1   ? ValueKind::array
                        : pointers == 2 ? ValueKind::rows
                                        : ValueKind::planes,
                        inner->number, name, least_bytes(name)};
        made.is_single = pointers == 1 && is_number_behind(id, made.copied_to);
        return value(made);
    }
    // Whether a pointer is used for what it points to alone, as Fortran's arguments are.
    bool is_number_behind(int id, std::string& copied_to) const {
        std::size_t named = 0, loaded = 0;
        const auto is_named = [&](int at) {
            return unit_.exprs[static_cast<std::size_t>(at)].kind == c::Expr::Kind::variable &&
                   unit_.exprs[static_cast<std::size_t>(at)].variable == id;
        };
        std::set<int> loads;
        for (std::size_t i = 0; i < unit_.exprs.size(); ++i) {
            const c::Expr& each = unit_.exprs[i];
            named += is_named(static_cast<int>(i));
            if (each.kind != c::Expr::Kind::dereference || !is_named(each.operands[0])) continue;
            ++loaded;
            loads.insert(static_cast<int>(i));
        }
        for (const c::Variable& each : unit_.variables)
            if (each.init >= 0 && loads.count(each.init) > 0) copied_to = each.name;
        return named > 0 && named == loaded;
    }

    std::string array(const std::string& name, const c::Type& of) {
        const c::Type* inner = &of;
        while (inner->kind == c::Type::Kind::array)
            inner = &type(inner->element);
        if (inner->kind != c::Type::Kind::number)
            throw SourceError("`" + name + "` is an array of what is no number, and is not made for a call");
        return value({ValueKind::array, inner->number, name, least_bytes(name)});
    }
    // Of its elements, which go back afterwards.
    std::string vector(const std::string& name, const c::Type& of) {
        const c::Type& element = type(of.element);
        if (element.kind != c::Type::Kind::number)
            throw SourceError("`" + name + "` is a vector of vectors, and is not made for a call");
        const std::string local = "halo_lift_" + name;
        std::string of_element = element.plain;
        if (of_element.rfind("const ", 0) == 0) of_element = of_element.substr(6);
        const std::string first = fmt::format(
            "(({}*){})", of_element, value({ValueKind::array, element.number, name, least_bytes(name)}));
        before_ += fmt::format("    std::vector<{}> {}({}, {} + {});\n", of_element, local, first, first,
                               kVectorElements);
        after_ += fmt::format("    for (int i = 0; i < {0} && i < (int){1}.size(); ++i) {2}[i] = {1}[i];\n",
                              kVectorElements, local, first);
        return local;
    }
    // What the nests need of an array whose extents are constants, or on a small grid where strides are.
    std::size_t least_bytes(const std::string& name) const {
        std::size_t most = 0;
        for (const Lifted& nest : found_.lifted) {
            for (const Field& each : nest.form.fields) {
                const Object& object = nest.model.object(each.object);
                if (object.name != name) continue;
                std::int64_t bytes = static_cast<std::int64_t>(bytes_of(object.number));
                for (std::size_t a = 0; a < each.extents.size(); ++a) {
                    const auto extent = each.extents[a].constant(), stride = each.stride[a].constant();
                    if (stride)
                        bytes = std::max(bytes, extent.value_or(kFewCells) * std::abs(*stride) *
                                                    static_cast<std::int64_t>(bytes_of(object.number)));
                }
                most = std::max(most, static_cast<std::size_t>(bytes) *
                                          static_cast<std::size_t>(each.modulus.value_or(1)));
            }
        }
        return most;
    }

    // A struct with what the nests and the function use of it; nothing else of it is known.
    std::string record(int id) {
        const c::Variable& named = variable(id);
        const c::Type& of = type(named.type);
        const bool by_pointer = of.kind == c::Type::Kind::pointer;
        const std::string plain = written_type(by_pointer ? type(of.element).plain : of.plain);
        if (plain.find('(') != std::string::npos)
            throw SourceError("`" + named.name + "` points to a function, and is not made for a call");
        const std::string local = "halo_lift_" + named.name;
        const Members used = members_of(unit_, id);
        if (by_pointer && !of.is_reference && used.is_indexed) {
            const std::string elements = structs(plain, named.name);
            for (int i = 0; i < kElements; ++i)
                fill(fmt::format("{}[{}]", elements, i), fmt::format("{}[{}]", named.name, i), used);
            return elements;
        }
        before_ += objects_.declared(plain, local);
        for (const Lifted& nest : found_.lifted) {
            for (const Scalar& each : nest.model.scalars) {
                if (each.variable != id || each.members.empty()) continue;
                const std::string member = way_text(local, false, each.members);
                before_ += objects_.reached(local, each.members);
                if (!objects_.begins(member)) continue;
                before_ +=
                    ObjectText::number(member, value({ValueKind::number, each.number, each.access, 0}));
            }
            for (const Object& each : nest.model.objects) {
                if (each.variable != id || each.members.empty() || each.role_of >= 0) continue;
                const std::string member = way_text(local, false, each.members);
                before_ += objects_.reached(local, each.members);
                if (objects_.begins(member)) array_of(each, member);
            }
        }
        fill(local, named.name + (by_pointer && !of.is_reference ? "->" : "."), used);
        return by_pointer && !of.is_reference ? "&" + local : local;
    }

    void array_of(const Object& each, const std::string& member) {
        if (each.is_vector && each.rows_by_pointers)
            throw SourceError("`" + each.name + "` is a vector of vectors, and is not made for a call");
        const std::string from = value({each.rows_by_pointers ? ValueKind::rows : ValueKind::array,
                                        each.number, each.name, least_bytes(each.name)});
        if (!each.is_vector && !each.is_inside) {
            before_ += ObjectText::pointer(member, from);
            return;
        }
        const std::string element = type_name(each.number), length = std::to_string(kVectorElements);
        before_ += ObjectText::array(member, each.is_vector, element, from, length);
        after_ += ObjectText::array_back(member, each.is_vector, element, from, length);
    }

    // A few structs, behind which memory is inaccessible.
    std::string structs(const std::string& plain, const std::string& name) {
        const std::string local = fmt::format("halo_lift_{}", made_++);
        before_ += fmt::format("    {0}* {1} = ({0}*){2} - {3};\n", plain, local,
                               value({ValueKind::end, Number::u8, name}), kElements);
        return local;
    }
    // Numbers go back after the call, so that what the function leaves in them is compared.
    void fill(const std::string& place, const std::string& name, const Members& of) {
        const auto ends = [](const std::string& text) {  // p->  s.  Base::
            return text.ends_with('>') || text.ends_with('.') || text.ends_with(':');
        };
        const std::string dot = ends(name) ? "" : ".", behind = ends(place) ? "" : ".";
        for (const auto& [member, inner] : of.used) {
            const std::string at = place + behind + member, called = name + dot + member;
            const c::Type& held = type(inner.type);
            if (held.kind == c::Type::Kind::other) {
                fill(at, called, inner);
            } else if (!objects_.begins(at) || held.is_reference || held.is_const || held.is_vector) {
                continue;
            } else if (held.kind == c::Type::Kind::number) {
                const auto alike = numbers_.emplace(without_indices(called), harness_.values.size());
                const int like = alike.second ? -1 : static_cast<int>(alike.first->second);
                const std::string drawn = fmt::format(
                    "*(__typeof__({})*){}", at, value({ValueKind::number, held.number, called, 0, like}));
                before_ += fmt::format("    {} = {};\n", at, drawn);
                after_ += fmt::format("    {} = {};\n", drawn, at);
            } else if (held.kind == c::Type::Kind::pointer) {
                fill_pointer(at, called, inner);
            }
        }
    }
    void fill_pointer(const std::string& at, const std::string& called, const Members& of) {
        const c::Type& pointed = type(type(of.type).element);
        if (pointed.kind == c::Type::Kind::number) {
            before_ +=
                fmt::format("    {} = (__typeof__({})){};\n", at, at, some_array(pointed.number, called));
        } else if (pointed.kind == c::Type::Kind::other) {
            const std::string elements = structs(written_type(pointed.plain), called);
            before_ += fmt::format("    {} = {};\n", at, elements);
            for (int i = 0; i < kElements; ++i)
                fill(fmt::format("{}[{}]", elements, i), fmt::format("{}[{}]", called, i), of);
        } else if (pointed.kind == c::Type::Kind::pointer &&
                   type(pointed.element).kind == c::Type::Kind::number) {
            before_ += fmt::format("    {0} = (__typeof__({0})){1} - {2};\n", at,
                                   value({ValueKind::end, Number::u8, called}), kPointers);
            for (int i = 0; i < kPointers; ++i)
                before_ +=
                    fmt::format("    {0}[{1}] = (__typeof__({0}[{1}])){2};\n", at, i,
                                some_array(type(pointed.element).number, fmt::format("{}[{}]", called, i)));
        }
    }
    std::string some_array(Number number, const std::string& name) {
        return value({ValueKind::array, number, name, 0, -1, true});
    }
    static std::string without_indices(const std::string& name) {
        std::string text;
        for (const char each : name)
            if (each < '0' || each > '9') text += each;
        return text;
    }

    std::string global_places() {
        std::string text;
        if (!function_.space.empty()) text += "    using namespace " + function_.space + ";\n";
        for (const c::Variable& each : unit_.variables) {
            if (each.storage != c::Variable::Storage::global || each.is_const) continue;
            if (each.is_extern) {
                if (line_of(unit_.source.text(), each.where.begin).is_system) continue;
                throw SourceError("`" + each.name + "` is defined in another file");
            }
            const c::Type& of = type(each.type);
            if (of.kind == c::Type::Kind::pointer) {
                if (const std::string made = pointer(-1, each.name, of); !made.empty())
                    before_ += fmt::format("    {} = (__typeof__({})){};\n", each.name, each.name, made);
                continue;
            }
            const c::Type* inner = &of;
            while (inner->kind == c::Type::Kind::array)
                inner = &type(inner->element);
            if (inner->kind != c::Type::Kind::number || inner->is_const) continue;
            text += fmt::format("    p[{0}] = (void*)&{1};\n    bytes[{0}] = (long)sizeof {1};\n",
                                harness_.globals.size(), each.name);
            harness_.globals.push_back({ValueKind::array, inner->number, each.name, 0});
        }
        return text;
    }

    const c::Unit& unit_;
    const Nests& found_;
    const c::Function& function_;
    WholeHarness harness_;
    std::string before_, after_;
    ObjectText objects_;
    std::map<std::string, std::size_t> numbers_;  // of the first elements, by their names
    int made_ = 0;
};

}  // namespace

WholeHarness write_whole_harness(const c::Unit& unit, const Nests& found) {
    return WholeWriter(unit, found).write();
}

}  // namespace halo::lift
