// The files that a run writes: fields as .npy or HDF5, pictures as .png, movies, at the end, and where asked
// also every so many steps. The latter have the step in their names, before the extension: heat-000500.png.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/driver/running/field_files.h"
#include "compiler/driver/running/field_series.h"
#include "compiler/driver/running/movies.h"
#include "compiler/driver/running/point_data.h"
#include "compiler/driver/running/provenance.h"
#include "compiler/driver/running/reduction_curve.h"
#include "compiler/driver/running/request.h"
#include "compiler/driver/running/saved_columns.h"
#include "runtime/core/box.h"
#include "runtime/ranks/ranks.h"

namespace halo::driver {

struct WrittenFile {
    std::string field;  // all of them, with commas, where there are several
    std::string path;
    std::int64_t step = 0;
};

// Values that are not finite, found by parts of a field.
class NotFiniteCells {
public:
    void check(const RunRequest& request, const rt::Lattice& cells, const FieldValues& values);
    // Collective; all ranks get the same. A part of a sentence: "u is infinite at x = 1, y = 2, and in 3 more
    // of 4096 cells"; nothing where all are finite. `of`: cells that all ranks have checked.
    std::optional<std::string> words(rt::Ranks& ranks, const RunRequest& request, const std::string& field,
                                     std::int64_t of) const;

private:
    struct Found {
        std::int64_t count = 0;
        std::int64_t first = -1;  // cell of the whole grid
        bool is_nan = false;
        void add(const Found& other);
    };
    Found found_;
};

class Outputs {
public:
    // All must outlive it. places: where points are, as traces are saved with it. provenance: null where the
    // files say nothing of it.
    Outputs(const RunRequest& request, rt::Ranks& ranks, PointPlaces places,
            const Provenance* provenance = nullptr)
        : request_(request), ranks_(ranks), places_(std::move(places)), provenance_(provenance) {
        if (ranks.count() == 1) background_.emplace();
        for (const Output& output : request.outputs)
            if (output.is_curve()) curves_.try_emplace(&output, output);
    }

    // Hands what is still to be fetched to the thread that writes. What goes wrong then is not said:
    // something else ended the run.
    ~Outputs();
    Outputs(const Outputs&) = delete;
    Outputs& operator=(const Outputs&) = delete;

    // Steps from `done` until the next file is due; nullopt where none is due before the end.
    std::optional<std::int64_t> steps_to_next(std::int64_t done) const;

    // Collective. Writes what is due after step `done`; `last`: also what is written at the end. Arrays are
    // copied, and written while the run goes on; with `last` all is written when it returns. Throws rt::Error
    // (io), also for files of an earlier step.
    void write(Engine& engine, std::int64_t done, bool last);
    // Fetches what write() has set aside on the engine's device, which may do steps meanwhile. Throws
    // likewise.
    void fetch();

    const std::vector<WrittenFile>& written() const { return written_; }

    // Where what was written holds a value that is not finite: a sentence with the field, the place and the
    // step.
    const std::optional<std::string>& trouble() const { return trouble_; }

private:
    // In the file of `first`, itself among them.
    std::vector<const Output*> sharing_with(const Output& first) const;
    // All arrays that share the file of `first`.
    void write_arrays(Engine& engine, const Output& first, std::int64_t done, bool last);
    // The same of frames that are together in one file.
    void write_together(Engine& engine, const Output& first, std::int64_t done, bool last);
    // A row of the table that `first` is a column of.
    void write_row(Engine& engine, const Output& first, std::int64_t done, bool last);
    // Writes these files; collective. Later where that can be, unless they are the last.
    void write_files(Engine& engine, const std::vector<FileOfFields>& files, std::int64_t done, bool last);
    // Where an engine sets aside what these files hold.
    rt::FieldsAside* aside_of(Engine& engine, const std::vector<FileOfFields>& files);
    void write_page(Engine& engine, const Output& first, std::int64_t done, bool last);
    void write_picture(Engine& engine, const Output& output, const std::string& path, std::int64_t done);
    // The cells of a picture, and of one thing that it shows, on the first rank. Collective, as are the two
    // that follow.
    ShownValues shown_values(Engine& engine, const Output& output, std::int64_t done);
    FieldValues shown_cells(Engine& engine, const Output& output, std::int64_t done);
    void write_curve(Engine& engine, const Output& output, std::int64_t done, bool last);
    void write_frame(Engine& engine, const Output& output, std::int64_t done);
    void finish_movie(const Output& output);
    void write_trace(const Output& output, const std::string& path, const std::vector<double>& values,
                     std::int64_t done);
    void note_trouble(const NotFiniteCells& cells, const std::string& field, std::int64_t of,
                      std::int64_t done);

    const RunRequest& request_;
    rt::Ranks& ranks_;
    PointPlaces places_;
    const Provenance* provenance_;
    std::set<std::string> done_;                 // paths
    std::map<std::string, FieldSeries> series_;  // by the path of their last file
    struct OpenFrames {
        std::unique_ptr<rt::Hdf5Frames> file;
        std::vector<std::int64_t> steps;  // of the frames so far
    };
    std::map<std::string, OpenFrames> together_;  // by path
    std::map<const Output*, SavedTable> tables_;  // by the first column
    struct OpenMovie {
        FieldMovie movie;  // the first rank's has the file
        std::int64_t last_frame = 0;
    };
    std::map<const Output*, OpenMovie> movies_;  // that have frames
    std::map<const Output*, ReductionCurve> curves_;
    std::map<const Output*, std::unique_ptr<rt::FieldsAside>> aside_;  // by the first of a file's outputs
    std::vector<std::function<void()>> to_fetch_;                      // in order, and what follows it
    std::vector<WrittenFile> written_;
    std::optional<std::string> trouble_;
    // Of a run of one process; the ranks of several tell each other what goes wrong, in their main threads.
    // The last member: it goes first, and finishes what it has to do with the others.
    std::optional<BackgroundWriter> background_;
};

}  // namespace halo::driver
