// The part of the C library, of OpenMP and MPI that runs beside stencils may call; a closed list.
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <utility>

#include "compiler/lift/stand_ins.h"

namespace halo::lift {

namespace {

// ---- memory

constexpr int kUnwritten = 0x3f;  // reals of ordinary size

// What a system may refuse, memory or the time: one request of some runs.
bool is_refused() {
    RunRecord* run = recorded_run();
    return run != nullptr && run->requests++ == run->failing_request;
}

// A mapping of its own, which ends where the memory does.
void* guarded(std::size_t bytes, bool is_zero) {
    if (is_refused()) return nullptr;
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    const std::size_t kept = (bytes + 15) / 16 * 16;
    const std::size_t room = (kept + page - 1) / page * page;
    if (bytes > std::size_t{1} << 32) return nullptr;
    void* found = ::mmap(nullptr, room + 2 * page, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (found == MAP_FAILED) return nullptr;
    char* begin = static_cast<char*>(found);
    ::mprotect(begin, page, PROT_NONE);
    ::mprotect(begin + page + room, page, PROT_NONE);
    char* memory = begin + page + room - kept;
    if (!is_zero) std::memset(memory, kUnwritten, kept);
    return memory;
}
void* stand_in_malloc(std::size_t bytes) {
    return guarded(bytes, false);
}
void* stand_in_calloc(std::size_t count, std::size_t bytes) {
    return guarded(count * bytes, true);
}
void* stand_in_aligned_alloc(std::size_t, std::size_t bytes) {
    return guarded(bytes, false);
}
int stand_in_posix_memalign(void** into, std::size_t, std::size_t bytes) {
    *into = guarded(bytes, false);
    return *into == nullptr ? 12 : 0;
}
void* stand_in_new(std::size_t bytes) {
    void* found = guarded(bytes, false);
    if (found == nullptr) std::abort();
    return found;
}
void stand_in_free(void*) {}
void stand_in_delete(void*, std::size_t) {}

// ---- time stands still

long stand_in_time(long* into) {
    if (into != nullptr) *into = 0;
    return 0;
}
long stand_in_clock() {
    return 0;
}
int stand_in_clock_gettime(int, long* into) {
    into[0] = into[1] = 0;
    return is_refused() ? -1 : 0;
}
int stand_in_gettimeofday(long* into, void*) {
    into[0] = into[1] = 0;
    return 0;
}
double stand_in_seconds() {
    return 0;
}
int one_thread() {
    return 1;
}
double stand_in_tick() {
    return 1e-9;
}
int first_thread() {
    return 0;
}
void no_effect(int) {}
int nothing() {
    return 0;
}

// ---- MPI: one of several processes, of which the others answer the same in each run

int mpi_rank(int, int* rank) {
    *rank = recorded_run() == nullptr ? 0 : recorded_run()->rank;
    return 0;
}
int mpi_size(int, int* size) {
    *size = RunRecord::kProcesses;
    return 0;
}
int mpi_true(int* into) {
    *into = 1;
    return 0;
}
// A datatype is the size of its elements; (void*)-1 is MPI_IN_PLACE.
int mpi_reduce(const void* from, void* to, int count, int type) {
    if (from != reinterpret_cast<void*>(-1) && to != nullptr)
        std::memcpy(to, from, static_cast<std::size_t>(count) * static_cast<std::size_t>(type));
    return 0;
}
int mpi_receive(void* to, int count, int type) {
    std::memset(to, kUnwritten, static_cast<std::size_t>(count) * static_cast<std::size_t>(type));
    return 0;
}
int mpi_exchange(const void*, int, int, int, int, void* to, int count, int type) {
    return mpi_receive(to, count, type);
}

[[noreturn]] void stand_in_exit(int code) {
    if (recorded_run() != nullptr) {
        recorded_run()->has_exited = true;
        recorded_run()->exit_code = code;
    }
    std::fflush(nullptr);
    ::_exit(0);
}

// Stops at a call of a function that is not in the list. The calling code passes nothing but an address, so
// each such function has its own stub.
constexpr int kStops = 64;
std::array<std::string, kStops> stop_names;
template <int Index>
[[noreturn]] void stop() {
    if (recorded_run() != nullptr) {
        const std::string& name = stop_names[Index];
        std::memcpy(recorded_run()->called, name.c_str(),
                    std::min(name.size() + 1, sizeof recorded_run()->called - 1));
    }
    ::_exit(97);
}
template <int... Index>
std::array<void*, sizeof...(Index)> stops(std::integer_sequence<int, Index...>) {
    return {address(&stop<Index>)...};
}

const std::map<std::string, void*>& own_functions() {
    static const std::map<std::string, void*> all{
        {"malloc", address(&stand_in_malloc)},
        {"calloc", address(&stand_in_calloc)},
        {"aligned_alloc", address(&stand_in_aligned_alloc)},
        {"memalign", address(&stand_in_aligned_alloc)},
        {"posix_memalign", address(&stand_in_posix_memalign)},
        {"free", address(&stand_in_free)},
        {"_Znam", address(&stand_in_new)},
        {"_Znwm", address(&stand_in_new)},
        {"_ZdaPv", address(&stand_in_free)},
        {"_ZdlPv", address(&stand_in_free)},
        {"_ZdaPvm", address(&stand_in_delete)},
        {"_ZdlPvm", address(&stand_in_delete)},
        {"exit", address(&stand_in_exit)},
        {"time", address(&stand_in_time)},
        {"clock", address(&stand_in_clock)},
        {"clock_gettime", address(&stand_in_clock_gettime)},
        {"gettimeofday", address(&stand_in_gettimeofday)},
        {"omp_get_wtime", address(&stand_in_seconds)},
        {"omp_get_wtick", address(&stand_in_tick)},
        {"omp_get_num_threads", address(&one_thread)},
        {"omp_get_max_threads", address(&one_thread)},
        {"omp_get_num_procs", address(&one_thread)},
        {"omp_get_thread_num", address(&first_thread)},
        {"omp_in_parallel", address(&first_thread)},
        {"omp_set_num_threads", address(&no_effect)},
        {"omp_set_dynamic", address(&no_effect)},
        {"omp_set_nested", address(&no_effect)},
        {"omp_init_lock", address(&nothing)},
        {"omp_destroy_lock", address(&nothing)},
        {"omp_set_lock", address(&nothing)},
        {"omp_unset_lock", address(&nothing)},
        {"MPI_Init", address(&nothing)},
        {"MPI_Initialized", address(&mpi_true)},
        {"MPI_Finalize", address(&nothing)},
        {"MPI_Comm_rank", address(&mpi_rank)},
        {"MPI_Comm_size", address(&mpi_size)},
        {"MPI_Barrier", address(&nothing)},
        {"MPI_Wtime", address(&stand_in_seconds)},
        {"MPI_Bcast", address(&nothing)},
        {"MPI_Reduce", address(&mpi_reduce)},
        {"MPI_Allreduce", address(&mpi_reduce)},
        {"MPI_Send", address(&nothing)},
        {"MPI_Isend", address(&nothing)},
        {"MPI_Recv", address(&mpi_receive)},
        {"MPI_Irecv", address(&mpi_receive)},
        {"MPI_Sendrecv", address(&mpi_exchange)},
        {"MPI_Wait", address(&nothing)},
        {"MPI_Waitall", address(&nothing)},
    };
    return all;
}

}  // namespace

void* stop_at_call(const std::string& name) {
    static const auto all = stops(std::make_integer_sequence<int, kStops>());
    static int count = 0;
    for (int i = 0; i < count; ++i) {
        if (stop_names[static_cast<std::size_t>(i)] == name) return all[static_cast<std::size_t>(i)];
    }
    if (count == kStops) stop_names[kStops - 1] = "a function";
    const int at = std::min(count, kStops - 1);
    if (count < kStops) stop_names[static_cast<std::size_t>(count++)] = name;
    return all[static_cast<std::size_t>(at)];
}

void* library_symbol(const std::string& name) {
    // The functions that a run may call as they are: none of them reaches a file, another process or the
    // network.
    static const std::set<std::string> known{"abs",
                                             "labs",
                                             "llabs",
                                             "div",
                                             "memcpy",
                                             "memmove",
                                             "memset",
                                             "memcmp",
                                             "strlen",
                                             "strcmp",
                                             "strncmp",
                                             "strcpy",
                                             "strncpy",
                                             "strcat",
                                             "strchr",
                                             "strrchr",
                                             "strstr",
                                             "atoi",
                                             "atol",
                                             "atof",
                                             "strtol",
                                             "strtod",
                                             "printf",
                                             "puts",
                                             "putchar",
                                             "fprintf",
                                             "fputs",
                                             "fputc",
                                             "putc",
                                             "fflush",
                                             "sprintf",
                                             "snprintf",
                                             "vprintf",
                                             "vfprintf",
                                             "perror",
                                             "stdout",
                                             "stderr",
                                             "rand",
                                             "srand",
                                             "rand_r",
                                             "drand48",
                                             "srand48",
                                             "random",
                                             "srandom",
                                             "qsort",
                                             "isdigit",
                                             "isspace",
                                             "toupper",
                                             "tolower",
                                             "abort",
                                             "__assert_fail",
                                             "__printf_chk",
                                             "__fprintf_chk",
                                             "__sprintf_chk",
                                             "__stack_chk_fail",
                                             "__dso_handle",
                                             "environ",
                                             "_ITM_deregisterTMCloneTable",
                                             "__errno_location",
                                             "optarg"};
    static const char* const functions[] = {
        "sqrt",      "cbrt",   "exp",    "exp2",      "expm1",  "log",   "log2",  "log10", "log1p",
        "sin",       "cos",    "tan",    "asin",      "acos",   "atan",  "sinh",  "cosh",  "tanh",
        "asinh",     "acosh",  "atanh",  "fabs",      "floor",  "ceil",  "trunc", "round", "rint",
        "nearbyint", "pow",    "atan2",  "fmod",      "hypot",  "fmin",  "fmax",  "fma",   "erf",
        "erfc",      "tgamma", "lgamma", "copysign",  "fdim",   "ldexp", "frexp", "modf",  "lround",
        "llround",   "lrint",  "sincos", "remainder", "scalbn", "logb",  "ilogb", "nan"};
    if (const auto found = own_functions().find(name); found != own_functions().end()) return found->second;
    bool is_known = known.count(name) > 0;
    for (const char* each : functions)
        is_known = is_known || name == each || name == std::string(each) + "f";
    // Prefixes of the C++ standard library's symbols: containers, and streams to the terminal.
    for (const char* prefix : {"_ZS", "_ZNS", "_ZNKS", "_ZT", "__cxa_", "__gxx_", "_Unwind"})
        is_known = is_known || name.rfind(prefix, 0) == 0;
    if (name.find("fstream") != std::string::npos || name.find("filebuf") != std::string::npos)
        is_known = false;
    return is_known ? ::dlsym(RTLD_DEFAULT, name.c_str()) : nullptr;
}

}  // namespace halo::lift
