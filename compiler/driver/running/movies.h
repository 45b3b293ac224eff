// Movies of fields: the pictures that `plot` makes, as frames of one file.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "compiler/driver/console/console.h"
#include "compiler/driver/running/pictures.h"
#include "compiler/driver/running/request.h"
#include "runtime/io/movie.h"

namespace halo::driver {

// Says what a user may not expect of the run's movies. A run that goes on from a checkpoint, after `before`
// steps, writes them to files of their own, as a movie that is there cannot be continued.
void prepare_movies(RunRequest& request, const ir::Program& program, std::int64_t before,
                    const Console& console);

// The file of one movie. It is begun with the first frame, which gives the size of all. Throws rt::Error
// (io).
class FieldMovie {
public:
    // Both must outlive it.
    FieldMovie(const RunRequest& request, const Output& output) : request_(request), output_(output) {}

    // The field after step `done`.
    void add(const ShownValues& values, std::int64_t done);
    void finish();  // without it nothing is left; after add()

private:
    const RunRequest& request_;
    const Output& output_;
    int width_ = 0, height_ = 0;
    std::unique_ptr<rt::Movie> file_;
};

}  // namespace halo::driver
