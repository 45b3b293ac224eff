#include "compiler/bench/page_words.h"

#include <fmt/format.h>

#include <filesystem>

#include "compiler/bench/page.h"
#include "compiler/driver/console/exit_code.h"
#include "compiler/driver/console/files.h"

namespace halo::bench {

namespace {

constexpr std::size_t kMostPageBytes = std::size_t{16} << 20;

std::string text_of(const std::string& file) {
    return std::filesystem::exists(file) ? driver::read_text(file, kMostPageBytes) : "";
}

}  // namespace

std::string percent(double part) {
    return fmt::format("{:.1f} %", 100 * part);
}

std::string gstencil(double rate) {
    return fmt::format("{:.{}f}", rate / 1e9, rate < 1e10 ? 3 : 0);
}

std::string table_row(const std::vector<std::string>& cells) {
    std::string text = "|";
    for (const std::string& cell : cells)
        text += " " + cell + " |";
    return text + "\n";
}

std::string table_head(const std::vector<std::string>& titles) {
    return table_row(titles) + table_row(std::vector<std::string>(titles.size(), "---"));
}

std::string beside(const std::string& page, const std::string& ending) {
    return std::filesystem::path(page).replace_extension().string() + ending;
}

std::string file_name(const std::string& path) {
    return std::filesystem::path(path).filename().string();
}

void require_writable(const std::string& page, const std::string& json) {
    for (const std::string& path : {page, json}) {
        const std::filesystem::path folder = std::filesystem::path(path).parent_path();
        if (!folder.empty() && !std::filesystem::is_directory(folder))
            throw driver::CommandError(driver::ExitCode::file,
                                       fmt::format("there is no folder {} for {}", folder.string(), path));
    }
    if (!page.empty()) put_into(text_of(page), "", page);
}

void write_into(const std::string& file, const std::string& page, const std::string& title) {
    driver::write_text(file, put_into(text_of(file), page, file, title));
}

}  // namespace halo::bench
