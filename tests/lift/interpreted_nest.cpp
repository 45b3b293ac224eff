#include "interpreted_nest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include "compiler/lift/form_origins.h"
#include "compiler/sema/sema.h"
#include "compiler/syntax/parser.h"

namespace halo::test {

using lift::c::Number;

namespace {

template <class T>
double load(const char* at) {
    T held;
    std::memcpy(&held, at, sizeof held);
    return static_cast<double>(held);
}
template <class T>
void store(char* at, double value) {
    const T held = static_cast<T>(value);
    std::memcpy(at, &held, sizeof held);
}

struct Access {
    std::size_t bytes;
    double (*read)(const char*);
    void (*write)(char*, double);
};
std::optional<Access> access(Number type) {
    switch (type) {
        case Number::f32:
            return Access{4, load<float>, store<float>};
        case Number::f64:
            return Access{8, load<double>, store<double>};
        case Number::i32:
            return Access{4, load<std::int32_t>, store<std::int32_t>};
        case Number::u8:
            return Access{1, load<std::uint8_t>, store<std::uint8_t>};
        default:
            return std::nullopt;
    }
}

}  // namespace

InterpretedNest::InterpretedNest(const lift::Lifted& lifted) : lifted_(lifted), program_(parsed(lifted)) {
    const lift::Model& model = lifted.model;
    for (std::size_t i = 0; i < model.scalars.size(); ++i)
        scalars_.push_back(model.scalars[i].access);
    for (std::size_t i = 0; i < model.objects.size(); ++i) {
        const lift::Object& each = model.objects[i];
        const bool is_given = each.role_of < 0 && each.origin != lift::Object::Origin::local;
        arrays_.push_back(is_given ? each.name : "0");
    }
    for (const lift::ReductionName& each : lifted.spec.reductions) {
        const lift::Statement& cells = lifted.form.statements[static_cast<std::size_t>(each.statement)];
        const int id = model.stores[static_cast<std::size_t>(cells.store)].reduction;
        gathered_.push_back(model.reduction(id));
        results_.push_back(gathered_.back().name);
        is_shadowed_ =
            is_shadowed_ || (gathered_.back().op == "sum" && lift::c::is_real(gathered_.back().type));
    }
}

std::string InterpretedNest::enter(int id) const {
    return fmt::format(
        "{{ double hn_[] = {{0{}}}; void* ha_[] = {{0{}}}; double hr_[] = {{0{}}};\n"
        "int hd_ = halo_enter({}, hn_ + 1, ha_ + 1, hr_ + 1); if (!hd_) {{ ",
        listed(scalars_, ", (double)({})"), listed(arrays_, ", (void*)({})"),
        listed(results_, ", (double)({})"), id);
}

std::string InterpretedNest::leave(int id) const {
    std::string text =
        fmt::format(" }}\nif (!hd_) {{ double hs_[] = {{0{}}}; halo_leave({}, hs_ + 1); }} else {{",
                    listed(results_, ", (double)({})"), id);
    for (std::size_t i = 0; i < results_.size(); ++i)
        text += fmt::format(" {} = hr_[{}];", results_[i], i + 1);
    for (std::size_t i = 0; i < arrays_.size() && !lifted_.model.after_step.empty(); ++i) {
        if (arrays_[i] != "0" && takes_turns(static_cast<int>(i)))
            text += fmt::format(" {} = ha_[{}];", arrays_[i], i + 1);
    }
    return text + " } }\n";
}

bool InterpretedNest::run(const Memory& memory, const double* numbers, void** arrays, double* results,
                          std::string& trouble) {
    entered_ = false;
    if (!lifted_.spec.is_exact || !holds(numbers)) return false;
    const lift::Form& form = lifted_.form;
    halo::rt::Extent extent{};
    for (std::size_t a = 0; a < form.grid.size(); ++a)
        extent[a] = number(form.grid[a], numbers);
    ir::Interpreter run(program_, extent, ir::Arithmetic::declared);
    for (const auto& [id, name] : lifted_.spec.params)
        run.set_param(name, numbers[id]);
    for (const auto* fields : {&lifted_.spec.fields, &lifted_.spec.before}) {
        for (const auto& [id, name] : *fields) {
            std::vector<double>& into = run.field(name);
            visit(id, id, numbers, arrays, extent, memory, trouble,
                  [&](char* at, std::size_t cell, const Access& how) { into[cell] = how.read(at); });
        }
    }
    if (!trouble.empty()) return false;
    const std::int64_t count = steps(numbers);
    for (std::int64_t i = 0; i < count; ++i)
        run.step();
    writes_.clear();
    for (const auto& [id, name] : lifted_.spec.fields) {
        const int now = renamed(id, count);
        const std::vector<double>& from = run.field(name);
        visit(id, now, numbers, arrays, extent, memory, trouble,
              [&](char* at, std::size_t cell, const Access& how) {
                  writes_.push_back({at, how.write, from[cell]});
              });
    }
    expected_.clear();
    allowed_.clear();
    for (std::size_t i = 0; i < gathered_.size(); ++i)
        gather(i, run, results[i], numbers);
    entered_ = true;
    if (is_shadowed_) {
        before_.assign(memory.bytes.begin(), memory.bytes.end());
        return false;
    }
    for (const Write& each : writes_)
        each.write(each.at, each.value);
    std::copy(expected_.begin(), expected_.end(), results);
    rotate(arrays, count);
    return true;
}

void InterpretedNest::compare(const Memory& memory, const double* results, std::string& trouble) {
    if (!entered_ || !is_shadowed_) return;
    entered_ = false;
    for (std::size_t i = 0; i < gathered_.size(); ++i) {
        const double apart = std::abs(results[i] - expected_[i]);
        const bool is_same = results[i] == expected_[i] || apart <= allowed_[i] ||
                             !std::isfinite(results[i]) || !std::isfinite(expected_[i]);
        if (!is_same)
            trouble = fmt::format("`{}` is {} by the function and {} by the spec, {} allowed", results_[i],
                                  results[i], expected_[i], allowed_[i]);
    }
    std::vector<char> wanted = before_;
    for (const Write& each : writes_) {
        if (memory.has(each.at)) each.write(wanted.data() + (each.at - memory.bytes.data()), each.value);
    }
    if (trouble.empty()) trouble = first_difference(memory, memory.bytes, wanted, lifted_.spec.keeps_zeros);
}

std::string InterpretedNest::listed(const std::vector<std::string>& all, const char* as) {
    std::string text;
    for (const std::string& each : all)
        text += fmt::format(fmt::runtime(as), each);
    return text;
}

ir::Program InterpretedNest::parsed(const lift::Lifted& lifted) {
    std::string body = lifted.spec.body;
    for (const lift::ReductionName& each : lifted.spec.reductions)
        body.insert(body.find(each.line) + each.line.size(), each.magnitude);
    SourceFile source("lifted.halo", body);
    DiagnosticSink sink;
    const syntax::File tree = syntax::parse(source, sink);
    sema::Analysis analysis = sema::analyze(tree, sink);
    if (sink.has_errors()) throw std::runtime_error("a lifted spec has mistakes: " + body);
    return analysis.stencils.front().program;
}

std::int64_t InterpretedNest::number(const lift::Polynomial& poly, const double* numbers) const {
    return poly.evaluate([&](int symbol) {
        const int scalar = lifted_.model.symbols[static_cast<std::size_t>(symbol)].scalar;
        return static_cast<std::int64_t>(numbers[scalar]);
    });
}

std::int64_t InterpretedNest::steps(const double* numbers) const {
    if (lifted_.model.time_loop < 0) return 1;
    const lift::Loop& time = lifted_.model.loop(lifted_.model.time_loop);
    return std::max<std::int64_t>(0, number(time.upper, numbers) - number(time.lower, numbers));
}

bool InterpretedNest::holds(const double* numbers) const {
    for (const lift::Field& each : lifted_.form.fields) {
        const bool is_plain = std::all_of(each.level.begin(), each.level.end(), [](int l) { return l == 0; });
        if (!is_plain || each.modulus || !access(lifted_.model.object(each.object).number)) return false;
    }
    const std::vector<lift::Polynomial> needs = lift::form_needs(lifted_.model, lifted_.form);
    return std::all_of(needs.begin(), needs.end(),
                       [&](const lift::Polynomial& each) { return number(each, numbers) >= 1; });
}

int InterpretedNest::renamed(int field, std::int64_t count) const {
    for (std::int64_t i = 0; i < count; ++i)
        field = lifted_.form.fields[static_cast<std::size_t>(field)].after_step;
    return field;
}

int InterpretedNest::array_of(int field) const {
    const int object = lifted_.form.fields[static_cast<std::size_t>(field)].object;
    const int role = lifted_.model.object(object).role_of;
    return role >= 0 ? role : object;
}

template <class Do>
void InterpretedNest::visit(int field, int place, const double* numbers, void** arrays,
                            const halo::rt::Extent& extent, const Memory& memory, std::string& trouble,
                            const Do& act) const {
    const lift::Field& of = lifted_.form.fields[static_cast<std::size_t>(place)];
    const int array = array_of(place);
    if (lifted_.model.object(array).origin == lift::Object::Origin::local) return;
    const Access how = *access(lifted_.model.object(of.object).number);
    char* base = static_cast<char*>(arrays[array]);
    std::int64_t size[3] = {1, 1, 1}, stride[3] = {0, 0, 0};
    for (std::size_t a = 0; a < of.extents.size(); ++a) {
        size[a] = number(of.extents[a], numbers);
        stride[a] = number(of.stride[a], numbers);
    }
    const std::int64_t begin = number(lift::first_element(of), numbers);
    (void)field;
    const std::int64_t nx = of.lies_along(0) ? extent[0] : 1;
    const std::int64_t ny = of.extents.size() < 2 || of.lies_along(1) ? extent[1] : 1;
    for (std::int64_t z = 0; z < size[2]; ++z)
        for (std::int64_t y = 0; y < size[1]; ++y)
            for (std::int64_t x = 0; x < size[0]; ++x) {
                char* at = base + (begin + x * stride[0] + y * stride[1] + z * stride[2]) *
                                      static_cast<std::int64_t>(how.bytes);
                if (!memory.allows(base, at, how.bytes)) {
                    trouble = fmt::format("the spec has cell ({}, {}, {}) of `{}`, which the array has not",
                                          x, y, z, of.name);
                    return;
                }
                act(at, static_cast<std::size_t>(x + nx * (y + ny * z)), how);
            }
}

void InterpretedNest::gather(std::size_t i, const ir::Interpreter& run, double first, const double* numbers) {
    const lift::Reduction& of = gathered_[i];
    const lift::ReductionName& named = lifted_.spec.reductions[i];
    const double found = run.reduction(named.name);
    double allowed = 0;
    if (of.op == "sum" && lift::c::is_real(of.type)) {
        // 2 n 2^-53 (of floats: 2^-24) times the sum of the absolute values, by docs/lift.md.
        double cells = 1;
        for (const lift::Range& each :
             lifted_.form.statements[static_cast<std::size_t>(named.statement)].region)
            cells *= static_cast<double>(number(each.upper, numbers) - number(each.lower, numbers));
        allowed = 4 * (cells + 1) * (of.type == Number::f32 ? 0x1p-24 : 0x1p-53) *
                  (std::abs(first) + run.reduction(named.magnitude_name));
    }
    allowed_.push_back(allowed);
    const double all = of.op == "sum"   ? first + found
                       : of.op == "max" ? (found > first ? found : first)
                                        : (found < first ? found : first);
    expected_.push_back(of.type == Number::f32 ? static_cast<float>(all) : all);
}

bool InterpretedNest::takes_turns(int object) const {
    return std::any_of(lifted_.model.after_step.begin(), lifted_.model.after_step.end(),
                       [&](const auto& each) {
                           return each.first == object || lifted_.model.object(each.first).role_of == object;
                       });
}

void InterpretedNest::rotate(void** arrays, std::int64_t count) const {
    const std::vector<void*> before(arrays, arrays + arrays_.size());
    for (std::size_t i = 0; i < lifted_.form.fields.size(); ++i) {
        const int field = static_cast<int>(i), now = renamed(field, count);
        arrays[array_of(field)] = before[static_cast<std::size_t>(array_of(now))];
    }
}

}  // namespace halo::test
