// The text that calls the function that was lifted.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "compiler/lift/harness_objects.h"
#include "compiler/lift/verify.h"

namespace halo::lift {

namespace {

using c::Number;

constexpr char kNest[] = "halo_lift_nest";

class HarnessWriter {
public:
    explicit HarnessWriter(const Lifted& lifted)
        : lifted_(lifted),
          unit_(lifted.unit),
          model_(lifted.model),
          function_(unit_.functions[static_cast<std::size_t>(unit_.function)]),
          objects_(unit_.is_cxx) {}

    Harness write() {
        if (!function_.is_plain)
            throw SourceError("`" + function_.name +
                              "` is a template, or a function of one, and cannot be run by itself");
        if (!unit_.is_cuda) {
            for (const c::Function& each : unit_.functions) {
                if (each.body < 0) throw SourceError("`" + each.name + "` is defined elsewhere");
            }
        }
        std::vector<std::string> arguments;
        std::string object;
        for (const int parameter : function_.parameters) {
            if (variable(parameter).is_object)
                object = "(" + argument(parameter) + ")->";
            else
                arguments.push_back(argument(parameter));
        }
        for (std::size_t i = 0; i < lifted_.spec.reductions.size(); ++i) {
            const c::Type& named = type(variable(result_variables()[i]).type);
            const c::Type& of = named.is_reference ? type(named.element) : named;
            arguments.push_back(fmt::format("({}*){}", of.plain,
                                            value({HarnessValue::Kind::result, static_cast<int>(i), -1})));
        }
        globals();
        const std::string scope = lifted_.outline ? lifted_.outline->scope : "";
        std::string call = object.empty() ? (lifted_.outline ? scope + kNest : function_.full_name)
                                          : object + (lifted_.outline ? kNest : function_.name);
        call += "(";
        for (std::size_t i = 0; i < arguments.size(); ++i)
            call += (i ? ", " : "") + arguments[i];
        call += ");\n";
        const std::string head = unit_.is_cxx ? "extern \"C\" " : "";
        // Of static objects of C++ (std::cout has one): near enough to be reached, and never used.
        std::string text = unit_.is_cxx ? "extern \"C\" __attribute__((visibility(\"hidden\"))) void* "
                                          "__dso_handle;\nvoid* __dso_handle = nullptr;\n"
                                        : "";
        if (model_.block) text += kRunBlock;
        text += head + "void halo_lift_addresses(void** v) {\n    (void)v;\n" + addresses_ + "}\n";
        text += head + "void halo_lift_call(void** v) {\n    (void)v;\n" + before_ +
                (function_.is_kernel ? launch(call) : "    " + call) + after_ + "}\n";
        harness_.text = text;
        if (lifted_.outline) {
            if (unit_.source.part_begin(lifted_.outline->function) != 0)
                throw SourceError("`" + function_.name +
                                  "` is in an included file, and a loop nest of it cannot be "
                                  "run by itself");
            harness_.inserted = outlined_text(*lifted_.outline, kNest, result_variables());
        }
        return std::move(harness_);
    }

private:
    const c::Variable& variable(int id) const { return unit_.variables[static_cast<std::size_t>(id)]; }
    const c::Type& type(int id) const { return unit_.types[static_cast<std::size_t>(id)]; }

    std::vector<int> result_variables() const {
        std::vector<int> found;
        for (const ReductionName& each : lifted_.spec.reductions) {
            const Statement& statement = lifted_.form.statements[static_cast<std::size_t>(each.statement)];
            const Store& cells = model_.stores[static_cast<std::size_t>(statement.store)];
            found.push_back(model_.reduction(cells.reduction).variable);
        }
        return found;
    }
    // v[0] is left for the launch.
    std::string value(HarnessValue made) {
        harness_.values.push_back(made);
        return fmt::format("v[{}]", harness_.values.size());
    }
    int scalar_of(int id) const {
        for (std::size_t i = 0; i < model_.scalars.size(); ++i) {
            const Scalar& each = model_.scalars[i];
            if (each.variable == id && each.members.empty() && !each.element) return static_cast<int>(i);
        }
        return -1;
    }
    int object_of(int id) const {
        for (std::size_t i = 0; i < model_.objects.size(); ++i) {
            const Object& each = model_.objects[i];
            if (each.variable == id && each.members.empty() && each.role_of < 0) return static_cast<int>(i);
        }
        return -1;
    }
    std::string number(Number kind, int scalar) {
        return fmt::format("*({}*){}", type_name(kind), value({HarnessValue::Kind::scalar, scalar, -1}));
    }
    std::string pointer(int object, const c::Type& of) {
        const std::string from = value({HarnessValue::Kind::array, object, -1});
        return unit_.is_cxx ? "(" + of.text + ")" + from : from;
    }

    std::string argument(int id) {
        const c::Variable& named = variable(id);
        const c::Type& of = type(named.type);
        if (of.kind == c::Type::Kind::number) return number(of.number, scalar_of(id));
        if (of.is_reference && type(of.element).kind == c::Type::Kind::number)
            return fmt::format("*({}*){}", type(of.element).plain,  // long is no long long to a reference
                               value({HarnessValue::Kind::scalar, scalar_of(id), -1}));
        if (of.is_vector || (of.is_reference && type(of.element).is_vector))
            return vector(id, of.is_vector ? of : type(of.element));
        if (of.kind == c::Type::Kind::array) {  // of a nest: an array of the function around it
            const std::string from = value({HarnessValue::Kind::array, object_of(id), -1});
            return unit_.is_cxx ? "*(__typeof__(" + of.plain + ")*)" + from : from;
        }
        if (of.is_reference && type(of.element).kind == c::Type::Kind::array)
            return "*(__typeof__(" + type(of.element).text + ")*)" +
                   value({HarnessValue::Kind::array, object_of(id), -1});
        if (of.kind == c::Type::Kind::pointer && !of.is_reference &&
            type(of.element).kind != c::Type::Kind::other)
            return pointer(object_of(id), of);
        return record(id, named, of);
    }

    // Made of the elements, which go back afterwards.
    std::string vector(int id, const c::Type& of) {
        const c::Type& element = type(of.element);
        if (element.kind != c::Type::Kind::number)
            throw SourceError("`" + variable(id).name +
                              "` is a vector of vectors, and cannot be made for a run");
        const int object = object_of(id);
        const std::string local = "halo_lift_" + variable(id).name;
        const std::string first = fmt::format("(({}*){})", type_name(element.number),
                                              value({HarnessValue::Kind::array, object, -1}));
        const std::string length =
            fmt::format("*(long long*){}", value({HarnessValue::Kind::length, object, -1}));
        before_ += fmt::format("    std::vector<{}> {}({}, {} + {});\n", type_name(element.number), local,
                               first, first, length);
        after_ +=
            fmt::format("    for (long long i = 0; i < {}; ++i) {}[i] = {}[i];\n", length, first, local);
        return local;
    }
    // A struct, filled with what the function reads of it.
    std::string record(int id, const c::Variable& named, const c::Type& of) {
        const bool by_pointer = of.kind == c::Type::Kind::pointer;
        const c::Type& held = by_pointer ? type(of.element) : of;
        const std::string local = "halo_lift_" + named.name;
        before_ += objects_.declared(written_type(held.plain), local);
        fill_members(id, local);
        if (!by_pointer || of.is_reference) return local;
        return "&" + local;
    }
    void fill_members(int id, const std::string& local) {
        for (std::size_t i = 0; i < model_.scalars.size(); ++i) {
            const Scalar& each = model_.scalars[i];
            if (each.variable != id || each.members.empty()) continue;
            before_ += objects_.reached(local, each.members) +
                       ObjectText::number(way_text(local, false, each.members),
                                          value({HarnessValue::Kind::scalar, static_cast<int>(i), -1}));
        }
        for (std::size_t i = 0; i < model_.objects.size(); ++i) {
            const Object& each = model_.objects[i];
            if (each.variable != id || each.members.empty() || each.role_of >= 0) continue;
            const std::string member = way_text(local, false, each.members);
            const std::string from = value({HarnessValue::Kind::array, static_cast<int>(i), -1});
            before_ += objects_.reached(local, each.members);
            if (!each.is_vector && !each.is_inside) {
                before_ += ObjectText::pointer(member, from);
                continue;
            }
            if (each.rows_by_pointers)
                throw SourceError("`" + each.name + "` is a vector of vectors, and cannot be made for a run");
            const std::string element = type_name(each.number),
                              length = "*(long long*)" +
                                       value({HarnessValue::Kind::length, static_cast<int>(i), -1});
            before_ += ObjectText::array(member, each.is_vector, element, from, length);
            after_ += ObjectText::array_back(member, each.is_vector, element, from, length);
        }
    }

    void globals() {
        std::set<int> done;
        const auto is_global = [&](int id) {
            return id >= 0 && variable(id).storage != c::Variable::Storage::parameter &&
                   done.insert(id).second;
        };
        for (std::size_t i = 0; i < model_.scalars.size(); ++i) {
            const Scalar each = model_.scalars[i];
            if (each.variable < 0 || variable(each.variable).storage == c::Variable::Storage::parameter)
                continue;
            const c::Variable& named = variable(each.variable);
            check_reach(named);
            if (!each.members.empty()) {
                before_ += "    " + each.access + " = " + number(each.number, static_cast<int>(i)) + ";\n";
            } else if (!each.element) {
                if (named.is_const)
                    throw SourceError("`" + named.name + "` is constant, and its value is not known");
                before_ += "    " + named.name + " = " + number(each.number, static_cast<int>(i)) + ";\n";
            }
        }
        for (std::size_t i = 0; i < model_.objects.size(); ++i) {
            const Object& each = model_.objects[i];
            if (each.origin == Object::Origin::local || each.role_of >= 0 || !is_global(each.variable))
                continue;
            const c::Variable& named = variable(each.variable);
            check_reach(named);
            if (type(named.type).kind == c::Type::Kind::array) {
                const std::string at = value({HarnessValue::Kind::array, static_cast<int>(i), -1});
                addresses_ += "    " + at + " = (void*)" + named.name + ";\n";
            } else {
                const std::string from = pointer(static_cast<int>(i), type(named.type));
                before_ += "    " + named.name + " = " + from + ";\n";
            }
        }
    }
    void check_reach(const c::Variable& named) const {
        if (named.is_extern) throw SourceError("`" + named.name + "` is defined in another file");
        if (named.is_static)
            throw SourceError("`" + named.name + "` is static in the function, and cannot be set");
    }

    // All threads, one after the other; where they share memory, those of a block in turns.
    std::string launch(const std::string& call) const {
        const std::string begin =
            "    const int* n = (const int*)v[0];\n"
            "    for (int a = 0; a < 3; ++a) {\n"
            "        ((unsigned*)&blockDim)[a] = n[a];\n"
            "        ((unsigned*)&gridDim)[a] = n[3 + a];\n"
            "    }\n"
            "    for (int b = 0; b < n[3] * n[4] * n[5]; ++b) {\n"
            "        ((unsigned*)&blockIdx)[0] = b % n[3];\n"
            "        ((unsigned*)&blockIdx)[1] = b / n[3] % n[4];\n"
            "        ((unsigned*)&blockIdx)[2] = b / n[3] / n[4];\n";
        if (model_.block)
            return begin + "        auto thread = [&] { " + call +
                   "        };\n        halo_lift_run_block([](void* of) { (*(decltype(thread)*)of)(); }, "
                   "&thread, "
                   "(const unsigned*)n);\n    }\n";
        return begin +
               "        for (int t = 0; t < n[0] * n[1] * n[2]; ++t) {\n"
               "            ((unsigned*)&threadIdx)[0] = t % n[0];\n"
               "            ((unsigned*)&threadIdx)[1] = t / n[0] % n[1];\n"
               "            ((unsigned*)&threadIdx)[2] = t / n[0] / n[1];\n"
               "            " +
               call + "        }\n    }\n";
    }

    const Lifted& lifted_;
    const c::Unit& unit_;
    const Model& model_;
    const c::Function& function_;
    ObjectText objects_;
    Harness harness_;
    std::string before_, after_, addresses_;
};

}  // namespace

Harness write_harness(const Lifted& lifted) {
    return HarnessWriter(lifted).write();
}

}  // namespace halo::lift
