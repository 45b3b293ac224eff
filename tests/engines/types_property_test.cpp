// Random programs over fields of every type: the arithmetic of integers, conditions, narrow storage, and what
// becomes of them where they meet.
#include <fmt/format.h>

#include "analyzed.h"
#include "catch.h"
#include "compare_engines.h"
#include "compiler/emit/emit.h"
#include "emulated_device.h"
#include "emulator.h"
#include "load_cpp.h"
#include "random_program.h"
#include "random_schedule.h"
#include "runtime/cpu/cpu_device.h"

using namespace halo;
using namespace halo::test;

namespace {

enum class Sort : std::uint8_t { whole, real, truth };

struct TypedField {
    std::string name, type, boundary;
    Sort sort = Sort::real;
    enum class Role : std::uint8_t { input, state, output };
    Role role = Role::input;
    bool is_written = false;  // by a statement so far
};

struct TypedProgram {
    std::uint64_t seed = 0;
    int rank = 1;
    Extent extent{};
    std::vector<TypedField> fields;
    std::vector<std::string> statements;
    std::string param = "3";  // an i32

    std::string text() const {
        std::string text =
            fmt::format("stencil typed({}) {{\n    param n: i32 = {}, p = 0.3\n",
                        std::string("x, y, z").substr(0, static_cast<std::size_t>(3 * rank - 2)), param);
        for (const TypedField& field : fields)
            text +=
                fmt::format("    field {}: {} {{ boundary {} }}\n", field.name, field.type, field.boundary);
        const bool has_points = std::any_of(
            statements.begin(), statements.end(),
            [](const std::string& each) { return each.starts_with("inject") || each.starts_with("sample"); });
        if (has_points) text += "    points spots: sinc 2\n";
        for (const std::string& statement : statements)
            text += "    " + statement + "\n";
        return text + "}\n";
    }
};

class TypedGenerator {
public:
    explicit TypedGenerator(std::uint64_t seed) : random_(seed) { program_.seed = seed; }

    TypedProgram run() {
        program_.rank = random_.between(1, 3);
        Random of_param(program_.seed ^ 0x7d3f5b1e9c2a8046ULL);
        if (of_param.chance(50))
            program_.param =
                of_param.pick<std::string>({"0", "1", "-1", "2147483647", "-2147483648", "65536"});
        static const std::vector<int> sizes{1, 2, 3, 5, 8, 9, 17, 33};
        std::int64_t cells = 1;
        for (int axis = 0; axis < program_.rank; ++axis) {
            int size = random_.pick(sizes);
            while (cells * size > 900)
                size = (size + 1) / 2;
            program_.extent[static_cast<std::size_t>(axis)] = size;
            cells *= size;
        }
        static const std::vector<std::string> types{"bool", "u8",  "i32",  "i64", "f16",        "bf16",
                                                    "f32",  "f64", "bool", "u8",  "f32 as f64", "i32"};
        const int count = random_.between(2, 4);
        for (int i = 0; i < count; ++i) {
            TypedField field;
            field.name = std::string(1, static_cast<char>('a' + i));
            field.type = random_.pick(types);
            field.sort = field.type == "bool" ? Sort::truth : is_whole(field.type) ? Sort::whole : Sort::real;
            field.boundary = random_.pick<std::string>({"periodic", "clamp", "mirror", "free", "fixed"});
            if (field.boundary == "fixed")
                field.boundary += field.sort == Sort::truth   ? " true"
                                  : field.sort == Sort::whole ? " 7"
                                                              : " 1/3";
            field.role = i == 0 || random_.chance(60) ? TypedField::Role::state
                         : random_.chance(50)         ? TypedField::Role::output
                                                      : TypedField::Role::input;
            program_.fields.push_back(field);
        }
        for (TypedField& field : program_.fields) {
            if (field.role == TypedField::Role::input) continue;
            const bool is_state = field.role == TypedField::Role::state;
            const std::string value = field.sort == Sort::truth   ? truth(3)
                                      : field.sort == Sort::whole ? (random_.chance(75) ? whole(3) : real(2))
                                                                  : real(3);
            program_.statements.push_back(
                fmt::format("{}{} = {}", field.name, is_state ? "[t+1]" : "", value));
            field.is_written = true;
        }
        if (random_.chance(60)) {
            for (const TypedField& field : program_.fields) {
                const bool is_real = field.sort == Sort::real && field.role != TypedField::Role::input;
                const char* level = field.role == TypedField::Role::state ? "[t+1]" : "";
                if (is_real)
                    program_.statements.push_back(
                        fmt::format("inject {}{} at spots += spots.force[t] / 4", field.name, level));
                if (field.sort != Sort::truth && field.is_written)
                    program_.statements.push_back(
                        fmt::format("sample {}{} at spots into spots.{}[t]", field.name, level, field.name));
            }
        }
        program_.statements.push_back(fmt::format("reduce high = max({})", whole(2)));
        program_.statements.push_back(fmt::format("reduce count = sum(if {} then 1 else 0)", truth(2)));
        return program_;
    }

private:
    static bool is_whole(const std::string& type) { return type == "u8" || type == "i32" || type == "i64"; }

    // A read of a field of that sort; empty where there is none.
    std::string read(Sort sort) {
        std::vector<const TypedField*> fit;
        for (const TypedField& field : program_.fields) {
            const bool has_value = field.role != TypedField::Role::output || field.is_written;
            if (field.sort == sort && has_value) fit.push_back(&field);
        }
        if (fit.empty()) return "";
        const TypedField& field = *random_.pick(fit);
        std::string inside;
        const bool has_new = field.role == TypedField::Role::state && field.is_written;
        if (has_new && random_.chance(40)) inside = "t+1";
        for (int axis = 0; axis < program_.rank; ++axis) {
            const int offset = random_.chance(50) ? 0 : random_.between(-2, 2);
            if (offset != 0)
                inside += fmt::format("{}{}{:+}", inside.empty() ? "" : ", ", "xyz"[axis], offset);
        }
        return inside.empty() ? field.name : fmt::format("{}[{}]", field.name, inside);
    }

    std::string whole(int depth) {
        const int choice = depth <= 0 ? random_.between(1, 40) : random_.between(1, 120);
        if (choice <= 26) {
            const std::string found = read(Sort::whole);
            if (!found.empty()) return found;
        }
        if (choice <= 32) return fmt::format("{}", random_.between(-9, 9));
        if (choice <= 36) return fmt::format("idx({})", "xyz"[random_.between(0, program_.rank - 1)]);
        if (choice <= 38) return "n";
        if (choice <= 40)
            return random_.pick<std::string>(
                {"(n * n)", "(n + n)", "(-n)", "abs(n)", "div(7, n)", "mod(-7, n)", "(n * n + len(x))"});
        if (choice <= 80) {
            return fmt::format("({} {} {})", whole(depth - 1), random_.pick<std::string>({"+", "-", "*"}),
                               whole(depth - 1));
        }
        if (choice <= 100) {
            const std::string name = random_.pick<std::string>({"div", "mod", "min", "max"});
            const std::string right =
                random_.chance(50) ? fmt::format("{}", random_.between(1, 9)) : whole(depth - 1);
            const bool divides = name == "div" || name == "mod";
            return fmt::format("{}({}, {})", name, whole(depth - 1), divides && right == "0" ? "5" : right);
        }
        if (choice <= 106) return fmt::format("abs({})", whole(depth - 1));
        if (choice <= 110) return fmt::format("(-{})", whole(depth - 1));
        return fmt::format("(if {} then {} else {})", truth(depth - 1), whole(depth - 1), whole(depth - 1));
    }

    std::string real(int depth) {
        const int choice = depth <= 0 ? random_.between(1, 40) : random_.between(1, 100);
        if (choice <= 28) {
            const std::string found = read(Sort::real);
            if (!found.empty()) return found;
        }
        if (choice <= 36) return fmt::format("({}/7)", random_.between(-9, 9));
        if (choice <= 40) return "p";
        if (choice <= 65) {
            return fmt::format("({} {} {})", real(depth - 1), random_.pick<std::string>({"+", "-", "*"}),
                               random_.chance(60) ? real(depth - 1) : whole(depth - 1));
        }
        if (choice <= 75) return fmt::format("({} / (1 + abs({})))", real(depth - 1), whole(depth - 1));
        if (choice <= 88) {
            return fmt::format("{}({})",
                               random_.pick<std::string>({"floor", "ceil", "round", "trunc", "abs"}),
                               real(depth - 1));
        }
        if (choice <= 92) return fmt::format("mod({}, 5/2)", real(depth - 1));
        return fmt::format("(if {} then {} else {})", truth(depth - 1), real(depth - 1), real(depth - 1));
    }

    std::string truth(int depth) {
        const int choice = depth <= 0 ? random_.between(1, 40) : random_.between(1, 100);
        if (choice <= 35) {
            const std::string found = read(Sort::truth);
            if (!found.empty()) return found;
        }
        if (depth <= 0 || choice <= 65) {
            return fmt::format("({} {} {})", whole(depth - 1),
                               random_.pick<std::string>({"<", "<=", ">", ">=", "==", "!="}),
                               whole(depth - 1));
        }
        if (choice <= 85) {
            return fmt::format("({} {} {})", truth(depth - 1),
                               random_.pick<std::string>({"and", "or", "==", "!="}), truth(depth - 1));
        }
        return fmt::format("(not {})", truth(depth - 1));
    }

    Random random_;
    TypedProgram program_;
};

using Run = std::function<std::string(const TypedProgram&, const ir::Program&, const Reference&)>;

std::string complaint(const TypedProgram& source, const Run& run) {
    const bool strict = source.seed % 3 == 0;  // --strict-fp
    const ir::Program program = load_program(source.text(), strict);
    const Reference reference(program, source.extent, 3, source.seed);
    try {
        return run(source, program, reference);
    } catch (const std::exception& error) {
        return error.what();
    }
}

// The program without statements that the complaint does not need.
TypedProgram smallest(TypedProgram failing, const Run& run) {
    for (std::size_t i = failing.statements.size(); i-- > 0;) {
        TypedProgram candidate = failing;
        candidate.statements.erase(candidate.statements.begin() + static_cast<std::ptrdiff_t>(i));
        try {
            if (!complaint(candidate, run).empty()) failing = candidate;
        } catch (const std::runtime_error&) {
            // refused without that statement
        }
    }
    return failing;
}

// Texts that the language refuses (numbers too large, divisions by zero) are few and say nothing.
void check(Seeds seeds, const Run& run) {
    int refused = 0;
    for (std::uint64_t seed = seeds.first; seed < seeds.first + seeds.count; ++seed) {
        const TypedProgram source = TypedGenerator(seed).run();
        INFO("seed " << seed << "\n" << source.text());
        std::string wrong;
        try {
            wrong = complaint(source, run);
        } catch (const std::runtime_error& error) {
            ++refused;
            INFO(error.what());
            CHECK(refused * 4 <= static_cast<int>(seeds.count) + 3);
            continue;
        }
        if (wrong.empty()) continue;
        INFO("smaller: " << smallest(source, run).text());
        FAIL(wrong);
    }
}

void check_emulated(schedule::Strategy strategy, Seeds seeds) {
    check(seeds, [&](const TypedProgram& source, const ir::Program& program, const Reference& reference) {
        Random random(source.seed + 1);
        const std::vector<schedule::Schedule> schedules = random_schedules(program, strategy, random);
        if (schedules.empty()) return std::string();
        emulator::EmulatedDevice device;
        return difference(reference, lower::lower_cuda(program, {schedules}), device, load_cuda);
    });
}

}  // namespace

// Most of the time is LLVM's: many texts run once each, on few cells.
[[maybe_unused]] const int kOptimization = halo::emulator::CudaModule::optimization = 0;

TEST_CASE("fields of every type on the CPU") {
    const std::unique_ptr<rt::Device> device = rt::make_cpu_device(2);
    check(seeds_from_environment(1, 100),
          [&](const TypedProgram&, const ir::Program& program, const Reference& reference) {
              return difference(reference, lower::lower_cpu(program), *device, load_cpp);
          });
}

TEST_CASE("fields of every type on emulated CUDA, direct") {
    check_emulated(schedule::Direct{}, seeds_from_environment(5001, 80));
}

TEST_CASE("fields of every type on emulated CUDA, tile and stream") {
    check_emulated(schedule::Tile{}, seeds_from_environment(6001, 60));
    check_emulated(schedule::Stream{}, seeds_from_environment(7001, 60));
}
