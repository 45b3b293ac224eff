// The C interface: errors, devices, programs and arrays.
#include <algorithm>

#include "runtime/api/c_handles.h"
#include "runtime/api/errors.h"

namespace halocline::detail {

namespace {

struct LastError {
    std::string message;
    std::vector<Diagnostic> diagnostics;
};
LastError& last_error() noexcept {
    static thread_local LastError last;
    return last;
}

}  // namespace

halo_code fail() noexcept {
    LastError& last = last_error();
    last.diagnostics.clear();
    try {
        try {
            rethrow_translated();
        } catch (const Error& error) {
            last.message = error.what();
            last.diagnostics = error.diagnostics();
            return static_cast<halo_code>(error.code());
        }
    } catch (...) {
        last.message = "no memory";  // not for the words either; these need none
        return HALO_OUT_OF_MEMORY;
    }
}

const std::vector<Diagnostic>& last_diagnostics() noexcept {
    return last_error().diagnostics;
}

void need(const void* pointer, const char* what) {
    if (pointer == nullptr) throw Error(ErrorCode::bad_argument, std::string(what) + " is NULL");
}

std::string text_of(const char* text, const char* what) {
    need(text, what);
    return text;
}

Grid grid_of(const int64_t* grid, int axes) {
    need(grid, "the grid");
    if (axes < 1 || axes > HALO_MAX_AXES)
        throw Error(ErrorCode::bad_argument, "a grid has 1 to " + std::to_string(HALO_MAX_AXES) +
                                                 " axes, not " + std::to_string(axes));
    Grid cells(grid, grid + axes);
    check_grid(cells);
    return cells;
}

// Of an enumeration, which in C can be any number; what does not fit Type is refused with the others.
Type type_of(halo_type type) {
    const auto number = static_cast<long long>(type);
    if (number < HALO_F32 || number > HALO_BOOLEAN)
        throw Error(ErrorCode::bad_argument, "there is no type " + std::to_string(number) +
                                                 "; types are those of halo_type, 0 to " +
                                                 std::to_string(HALO_BOOLEAN));
    return static_cast<Type>(number);
}

std::vector<Device> devices_of(const halo_device* const* devices, int count) {
    std::vector<Device> all;
    for (const halo_device* device : list_of(devices, count, "the list of devices"))
        all.push_back(need_handle(device, "a device").device);
    return all;
}

namespace {

template <class Handle, class Make>
halo_code make(Handle** out, Make&& make) {
    return guarded([&] {
        need(out, "the place for the handle");
        *out = nullptr;
        *out = new Handle{make()};
    });
}

halo_layout layout_for_c(const Layout& layout) {
    halo_layout c{};
    c.axes = static_cast<int>(layout.grid.size());
    std::copy(layout.grid.begin(), layout.grid.end(), c.grid);
    c.pitch = layout.pitch;
    c.slice = layout.slice;
    c.volume = layout.volume;
    c.first_cell = layout.first_cell;
    c.elements = layout.elements;
    c.alignment = layout.alignment;
    return c;
}

Layout layout_from_c(const halo_layout* c) {
    need(c, "the layout");
    Layout layout;
    layout.grid = grid_of(c->grid, c->axes);
    layout.pitch = c->pitch;
    layout.slice = c->slice;
    layout.volume = c->volume;
    layout.first_cell = c->first_cell;
    layout.elements = c->elements;
    layout.alignment = c->alignment;
    return layout;
}

}  // namespace

}  // namespace halocline::detail

using namespace halocline;
using namespace halocline::detail;

const char* halo_message(void) {
    return last_error().message.c_str();
}
const char* halo_version(void) {
    return version();
}

halo_code halo_device_cuda(int ordinal, halo_device** device) {
    return make(device, [&] { return Device::cuda(ordinal); });
}
halo_code halo_device_cuda_in(int ordinal, void* context, void* stream, halo_device** device) {
    return make(device, [&] {
        CudaHandles handles;
        handles.ordinal = ordinal;
        handles.context = context;
        handles.stream = stream;
        return Device::cuda(handles);
    });
}
halo_code halo_device_cpu(int threads, halo_device** device) {
    return make(device, [&] { return Device::cpu(threads); });
}
halo_code halo_device_best(halo_device** device) {
    return make(device, [] { return Device::best(); });
}
halo_code halo_device_wait(halo_device* device) {
    return guarded([&] { need_handle(device, "the device").device.wait(); });
}
const char* halo_device_kind(const halo_device* device) {
    return device == nullptr ? "" : device->device.kind().c_str();
}
void halo_device_release(halo_device* device) {
    delete device;
}

halo_code halo_program_load(const char* path, halo_program** program) {
    return make(program, [&] { return Program::load(text_of(path, "the path")); });
}
halo_code halo_program_from_memory(const void* bundle, size_t bytes, const halo_linked_kernel* kernels,
                                   const char* name, halo_program** program) {
    return make(program, [&] {
        need(bundle, "the bundle");
        return Program::from_memory(std::string_view(static_cast<const char*>(bundle), bytes), kernels,
                                    text_of(name, "the name"));
    });
}
const char* halo_program_name(const halo_program* program) {
    return program == nullptr ? "" : program->program.info().name.c_str();
}
int halo_program_axes(const halo_program* program) {
    return program == nullptr ? 0 : static_cast<int>(program->program.info().axes.size());
}
halo_code halo_program_field(const halo_program* program, int index, halo_field_info* info) {
    return guarded([&] {
        need(info, "the place for the field");
        const auto& fields = need_handle(program, "the program").program.info().fields;
        if (index < 0 || index >= static_cast<int>(fields.size()))
            throw Error(ErrorCode::bad_argument,
                        "the program has " + std::to_string(fields.size()) + " fields");
        const FieldInfo& field = fields[static_cast<std::size_t>(index)];
        *info = {field.name.c_str(), static_cast<halo_type>(field.type), static_cast<int>(field.role),
                 field.past};
    });
}
void halo_program_release(halo_program* program) {
    delete program;
}

halo_code halo_common_layout(const halo_program* const* programs, int count, const halo_device* device,
                             const int64_t* grid, int axes, halo_layout* layout) {
    return guarded([&] {
        need(layout, "the place for the layout");
        std::vector<Program> all;
        for (const halo_program* program : list_of(programs, count, "the list of programs"))
            all.push_back(need_handle(program, "a program").program);
        *layout =
            layout_for_c(common_layout(all, need_handle(device, "the device").device, grid_of(grid, axes)));
    });
}

halo_code halo_field_create(const halo_device* device, halo_type type, const halo_layout* layout, int past,
                            int scratch, halo_field** field) {
    return make(field, [&] {
        return Field(need_handle(device, "the device").device, type_of(type), layout_from_c(layout), past,
                     scratch);
    });
}
halo_code halo_field_of_views(const halo_device* device, halo_type type, const int64_t* grid, int axes,
                              const halo_view* arrays, int count, int past, halo_field** field) {
    return make(field, [&] {
        std::vector<View> views;
        for (const halo_view& array : list_of(arrays, count, "the list of arrays"))
            views.push_back(
                {array.memory, array.bytes, array.first_cell, array.pitch, array.slice, array.volume});
        return Field::of_views(need_handle(device, "the device").device, type_of(type), grid_of(grid, axes),
                               views, past);
    });
}
halo_code halo_field_view(const halo_field* field, int level, halo_view* view) {
    return guarded([&] {
        need(view, "the place for the view");
        const View found = need_handle(field, "the field").field.view(level);
        *view = {found.memory, found.bytes, found.first_cell, found.pitch, found.slice, found.volume};
    });
}
halo_code halo_field_changed(halo_field* field) {
    return guarded([&] { need_handle(field, "the field").field.changed(); });
}
void halo_field_release(halo_field* field) {
    delete field;
}

halo_code halo_simulation_create(const halo_program* program, const halo_device* device, const int64_t* grid,
                                 int axes, halo_simulation** simulation) {
    return make(simulation, [&] {
        return Simulation(need_handle(program, "the program").program,
                          need_handle(device, "the device").device, grid_of(grid, axes));
    });
}
halo_code halo_simulation_create_in(const halo_program* program, const halo_device* device,
                                    const halo_layout* layout, halo_simulation** simulation) {
    return make(simulation, [&] {
        SimulationOptions options;
        options.layout = layout_from_c(layout);
        return Simulation(need_handle(program, "the program").program,
                          need_handle(device, "the device").device, options.layout->grid, options);
    });
}
halo_code halo_simulation_create_on(const halo_program* program, const halo_device* const* devices,
                                    int device_count, const int64_t* grid, int axes, int64_t exchange_every,
                                    halo_simulation** simulation) {
    return make(simulation, [&] {
        SimulationOptions options;
        if (exchange_every != 0) options.exchange_every = exchange_every;
        return Simulation(need_handle(program, "the program").program, devices_of(devices, device_count),
                          grid_of(grid, axes), options);
    });
}
halo_code halo_simulation_layout(const halo_simulation* simulation, halo_layout* layout) {
    return guarded([&] {
        need(layout, "the place for the layout");
        *layout = layout_for_c(need_handle(simulation, "the simulation").simulation.layout());
    });
}
