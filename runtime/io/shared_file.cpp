#include "runtime/io/shared_file.h"

#include "runtime/core/error.h"
#include "runtime/ranks/together.h"

namespace halo::rt {

SharedFile::SharedFile(Ranks& ranks, const std::string& path) : ranks_(ranks), path_(path) {
    together(ranks_, [&] {
        if (ranks_.is_first()) file_ = std::make_unique<AtomicFile>(path);
    });
    const std::string temporary = ranks_.broadcast(file_ ? file_->temporary() : "");
    together(ranks_, [&] {
        if (ranks_.is_first()) return;
        if (temporary.empty())
            throw Error(ErrorCode::io,
                        "cannot write \"" + path + "\": it is no plain file, and several processes write");
        file_ = std::make_unique<AtomicFile>(path, temporary);
    });
}

void SharedFile::write_at(std::int64_t offset, const void* bytes, std::size_t count) {
    if (!trouble_.empty()) return;
    try {
        if (!file_->temporary().empty()) return file_->write_at(offset, bytes, count);
        if (offset != position_)
            throw Error(ErrorCode::io,
                        "cannot write \"" + path_ +
                            "\": it is no plain file, and the pieces of the grid are not in its order");
        file_->write(bytes, count);
        position_ += static_cast<std::int64_t>(count);
    } catch (const Error& error) {
        trouble_ = error.what();
    }
}

void SharedFile::flush() {
    together(ranks_, [&] {
        if (!trouble_.empty()) throw Error(ErrorCode::io, trouble_);
        file_->flush();
    });
}

void SharedFile::commit() {
    together(ranks_, [&] {
        if (!trouble_.empty()) throw Error(ErrorCode::io, trouble_);
        if (!ranks_.is_first()) return file_->commit();
        file_->flush();
    });
    together(ranks_, [&] {
        if (ranks_.is_first()) file_->commit();
    });
}

}  // namespace halo::rt
