#include "compiler/driver/command/lift_source.h"

#include "compiler/lift/fortran/fortran_file.h"
#include "compiler/lift/fortran/source_text.h"

namespace halo::driver {

namespace {

template <class File>
class SourceOf : public LiftSource {
public:
    explicit SourceOf(const lift::SourceRequest& request) : file_(request) {}
    bool is_fortran() const override { return std::is_same_v<File, lift::fortran::FortranFile>; }
    const lift::SourceRequest& request() const override { return file_.request(); }
    std::vector<std::string> functions() const override { return file_.functions(); }
    lift::c::Unit function(const std::string& name) const override { return file_.function(name); }
    // Of the file's own namespace.
    lift::Nests lift_nests(const lift::Options& options) const override { return lift_nests_of(options); }
    lift::Verdict verify(const lift::Options& options, const lift::Nests& found) const override {
        return verify_function(options, found, file_);
    }

private:
    lift::Nests lift_nests_of(const lift::Options& options) const {
        using lift::lift_nests;
        using lift::fortran::lift_nests;
        return lift_nests(options, file_);
    }
    File file_;
};

}  // namespace

bool is_fortran_file(const std::string& file) {
    return lift::fortran::is_fortran(file);
}

std::unique_ptr<LiftSource> read_lift_source(const lift::SourceRequest& request) {
    if (is_fortran_file(request.file)) return std::make_unique<SourceOf<lift::fortran::FortranFile>>(request);
    return std::make_unique<SourceOf<lift::ParsedFile>>(request);
}

}  // namespace halo::driver
