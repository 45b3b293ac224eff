// Loaded before a program (LD_PRELOAD), makes the N-th call of a class fail that the program makes between
// the begin and the end of main():
//
//   HALO_FAULT=CLASS:N:HOW  CLASS as below; HOW is once, always (that call and all after it) or hang (a read
//   that
//                           never ends); N = 0: nothing fails
//   HALO_FAULT_PROGRAM      of which program, by the last part of its name
//   HALO_FAULT_REPORT       a file to which the number of calls of the class is written at the end of main()
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>

// Of glibc; malloc() itself is replaced here.
extern "C" void* __libc_malloc(size_t);
extern "C" void* __libc_calloc(size_t, size_t);
extern "C" void* __libc_realloc(void*, size_t);
extern "C" void* __libc_memalign(size_t, size_t);

namespace {

enum Class {
    memory,
    thread,
    open_file,
    read_file,
    write_file,
    sync_file,
    rename_file,
    close_file,
    map,
    status,
    remove_file,
    make_folder,
    start_process,
    class_count
};
constexpr const char* kNames[class_count] = {"memory", "thread", "open",   "read", "write",
                                             "sync",   "rename", "close",  "map",  "status",
                                             "remove", "mkdir",  "process"};

int chosen = class_count;
long fail_at = 0;
bool always = false, hang = false;
std::atomic<bool> armed{false};
std::atomic<long> calls{0};

bool fails(Class what) {
    if (what != chosen || !armed.load(std::memory_order_relaxed)) return false;
    const long number = ++calls;
    if (fail_at == 0 || (always ? number < fail_at : number != fail_at)) return false;
    while (hang)
        pause();
    return true;
}

template <class Function>
Function* next(const char* name) {
    return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

void read_orders(const char* program) {
    const char* const orders = getenv("HALO_FAULT");
    const char* const of = getenv("HALO_FAULT_PROGRAM");
    const char* const slash = strrchr(program, '/');
    if (orders == nullptr || of == nullptr || strcmp(slash ? slash + 1 : program, of) != 0) return;
    const char* const colon = strchr(orders, ':');
    if (colon == nullptr) return;
    for (int i = 0; i < class_count; ++i)
        if (strlen(kNames[i]) == static_cast<size_t>(colon - orders) &&
            strncmp(orders, kNames[i], static_cast<size_t>(colon - orders)) == 0)
            chosen = i;
    char* rest = nullptr;
    fail_at = strtol(colon + 1, &rest, 10);
    always = strcmp(rest, ":always") == 0;
    hang = strcmp(rest, ":hang") == 0;
}

void report() {
    const char* const path = getenv("HALO_FAULT_REPORT");
    if (path == nullptr || chosen == class_count) return;
    char text[32];
    const int length = snprintf(text, sizeof text, "%ld\n", calls.load());
    const int file =
        static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, 0600));
    if (file < 0) return;
    if (syscall(SYS_write, file, text, length) != length) _exit(125);
    syscall(SYS_close, file);
}

using Main = int(int, char**, char**);
Main* main_of_program = nullptr;

int watched_main(int argc, char** argv, char** environment) {
    read_orders(argv[0]);
    armed = true;
    const int code = main_of_program(argc, argv, environment);
    armed = false;
    report();
    return code;
}

template <class Result>
Result failed(int error, Result result) {
    errno = error;
    return result;
}

}  // namespace

extern "C" {

int __libc_start_main(Main* main, int argc, char** argv, void (*init)(), void (*fini)(), void (*end)(),
                      void* stack) {
    main_of_program = main;
    using Start = int(Main*, int, char**, void (*)(), void (*)(), void (*)(), void*);
    return next<Start>("__libc_start_main")(watched_main, argc, argv, init, fini, end, stack);
}

// ---- memory

void* malloc(size_t bytes) {
    return fails(memory) ? failed(ENOMEM, nullptr) : __libc_malloc(bytes);
}
void* calloc(size_t count, size_t bytes) {
    return fails(memory) ? failed(ENOMEM, nullptr) : __libc_calloc(count, bytes);
}
void* realloc(void* old, size_t bytes) {
    return fails(memory) ? failed(ENOMEM, nullptr) : __libc_realloc(old, bytes);
}
void* aligned_alloc(size_t alignment, size_t bytes) {
    return fails(memory) ? failed(ENOMEM, nullptr) : __libc_memalign(alignment, bytes);
}
int posix_memalign(void** place, size_t alignment, size_t bytes) {
    if (fails(memory)) return ENOMEM;
    *place = __libc_memalign(alignment, bytes);
    return *place == nullptr ? ENOMEM : 0;
}
#define HALO_MAP(NAME)                                                                                     \
    void* NAME(void* at, size_t bytes, int protection, int flags, int file, off_t offset) {                \
        static auto* const real = next<decltype(NAME)>(#NAME);                                             \
        return fails(map) ? failed(ENOMEM, MAP_FAILED) : real(at, bytes, protection, flags, file, offset); \
    }
HALO_MAP(mmap)
HALO_MAP(mmap64)

// ---- threads and processes

int pthread_create(pthread_t* id, const pthread_attr_t* attributes, void* (*work)(void*), void* argument) {
    static auto* const real = next<decltype(pthread_create)>("pthread_create");
    return fails(thread) ? EAGAIN : real(id, attributes, work, argument);
}
pid_t fork() {
    static auto* const real = next<decltype(fork)>("fork");
    return fails(start_process) ? failed(EAGAIN, -1) : real();
}
int posix_spawn(pid_t* id, const char* path, const posix_spawn_file_actions_t* actions,
                const posix_spawnattr_t* attributes, char* const* arguments, char* const* environment) {
    static auto* const real = next<decltype(posix_spawn)>("posix_spawn");
    return fails(start_process) ? EAGAIN : real(id, path, actions, attributes, arguments, environment);
}

// ---- files

#define HALO_OPEN(NAME)                                                                 \
    int NAME(const char* path, int flags, ...) {                                        \
        static auto* const real = next<int(const char*, int, mode_t)>(#NAME);           \
        va_list rest;                                                                   \
        va_start(rest, flags);                                                          \
        const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) ? va_arg(rest, mode_t) : 0; \
        va_end(rest);                                                                   \
        return fails(open_file) ? failed(EMFILE, -1) : real(path, flags, mode);         \
    }
HALO_OPEN(open)
HALO_OPEN(open64)
#define HALO_OPENAT(NAME)                                                               \
    int NAME(int folder, const char* path, int flags, ...) {                            \
        static auto* const real = next<int(int, const char*, int, mode_t)>(#NAME);      \
        va_list rest;                                                                   \
        va_start(rest, flags);                                                          \
        const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) ? va_arg(rest, mode_t) : 0; \
        va_end(rest);                                                                   \
        return fails(open_file) ? failed(EMFILE, -1) : real(folder, path, flags, mode); \
    }
HALO_OPENAT(openat)
HALO_OPENAT(openat64)
FILE* fopen(const char* path, const char* mode) {
    static auto* const real = next<decltype(fopen)>("fopen");
    return fails(open_file) ? failed(EMFILE, nullptr) : real(path, mode);
}
FILE* fopen64(const char* path, const char* mode) {
    static auto* const real = next<decltype(fopen64)>("fopen64");
    return fails(open_file) ? failed(EMFILE, nullptr) : real(path, mode);
}
DIR* opendir(const char* path) {
    static auto* const real = next<decltype(opendir)>("opendir");
    return fails(open_file) ? failed(EMFILE, nullptr) : real(path);
}

ssize_t read(int file, void* bytes, size_t count) {
    static auto* const real = next<decltype(read)>("read");
    return fails(read_file) ? failed(EIO, -1) : real(file, bytes, count);
}
ssize_t pread(int file, void* bytes, size_t count, off_t offset) {
    static auto* const real = next<decltype(pread)>("pread");
    return fails(read_file) ? failed(EIO, -1) : real(file, bytes, count, offset);
}
ssize_t pread64(int file, void* bytes, size_t count, off64_t offset) {
    static auto* const real = next<decltype(pread64)>("pread64");
    return fails(read_file) ? failed(EIO, -1) : real(file, bytes, count, offset);
}
size_t fread(void* bytes, size_t size, size_t count, FILE* file) {
    static auto* const real = next<decltype(fread)>("fread");
    return fails(read_file) ? failed(EIO, size_t{0}) : real(bytes, size, count, file);
}

// Standard error is left alone: it is where the message comes.
ssize_t write(int file, const void* bytes, size_t count) {
    static auto* const real = next<decltype(write)>("write");
    return file != STDERR_FILENO && fails(write_file) ? failed(ENOSPC, -1) : real(file, bytes, count);
}
ssize_t writev(int file, const iovec* parts, int count) {
    static auto* const real = next<decltype(writev)>("writev");
    return file != STDERR_FILENO && fails(write_file) ? failed(ENOSPC, -1) : real(file, parts, count);
}
ssize_t pwrite(int file, const void* bytes, size_t count, off_t offset) {
    static auto* const real = next<decltype(pwrite)>("pwrite");
    return fails(write_file) ? failed(ENOSPC, -1) : real(file, bytes, count, offset);
}
ssize_t pwrite64(int file, const void* bytes, size_t count, off64_t offset) {
    static auto* const real = next<decltype(pwrite64)>("pwrite64");
    return fails(write_file) ? failed(ENOSPC, -1) : real(file, bytes, count, offset);
}
size_t fwrite(const void* bytes, size_t size, size_t count, FILE* file) {
    static auto* const real = next<decltype(fwrite)>("fwrite");
    return file != stderr && fails(write_file) ? failed(ENOSPC, size_t{0}) : real(bytes, size, count, file);
}
int fsync(int file) {
    static auto* const real = next<decltype(fsync)>("fsync");
    return fails(sync_file) ? failed(EIO, -1) : real(file);
}
int close(int file) {  // which is closed even where that fails
    static auto* const real = next<decltype(close)>("close");
    const int result = real(file);
    return fails(close_file) ? failed(EIO, -1) : result;
}

// ---- names

int rename(const char* from, const char* to) {
    static auto* const real = next<decltype(rename)>("rename");
    return fails(rename_file) ? failed(EIO, -1) : real(from, to);
}
int unlink(const char* path) {
    static auto* const real = next<decltype(unlink)>("unlink");
    return fails(remove_file) ? failed(EIO, -1) : real(path);
}
int remove(const char* path) {
    static auto* const real = next<decltype(remove)>("remove");
    return fails(remove_file) ? failed(EIO, -1) : real(path);
}
int unlinkat(int folder, const char* path, int flags) {
    static auto* const real = next<decltype(unlinkat)>("unlinkat");
    return fails(remove_file) ? failed(EIO, -1) : real(folder, path, flags);
}
int mkdir(const char* path, mode_t mode) {
    static auto* const real = next<decltype(mkdir)>("mkdir");
    return fails(make_folder) ? failed(EIO, -1) : real(path, mode);
}
#define HALO_STAT(NAME, BUFFER)                                           \
    int NAME(const char* path, BUFFER* status_) {                         \
        static auto* const real = next<int(const char*, BUFFER*)>(#NAME); \
        return fails(status) ? failed(EIO, -1) : real(path, status_);     \
    }
HALO_STAT(stat, struct stat)
HALO_STAT(stat64, struct stat64)
HALO_STAT(lstat, struct stat)
HALO_STAT(lstat64, struct stat64)
#define HALO_FSTAT(NAME, BUFFER)                                      \
    int NAME(int file, BUFFER* status_) {                             \
        static auto* const real = next<int(int, BUFFER*)>(#NAME);     \
        return fails(status) ? failed(EIO, -1) : real(file, status_); \
    }
HALO_FSTAT(fstat, struct stat)
HALO_FSTAT(fstat64, struct stat64)
int access(const char* path, int how) {
    static auto* const real = next<decltype(access)>("access");
    return fails(status) ? failed(EIO, -1) : real(path, how);
}
char* realpath(const char* path, char* resolved) {
    static auto* const real = next<decltype(realpath)>("realpath");
    return fails(status) ? failed(EIO, nullptr) : real(path, resolved);
}

}  // extern "C"
