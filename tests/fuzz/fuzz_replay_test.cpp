// The front end on the kept corpus, on a few thousand mutations of it, and on texts of absurd size: the part
// of fuzzing that is the same on every machine and every day.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "catch.h"
#include "front_end.h"

using halo::fuzz::broken_promise;

namespace {

std::string read(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::vector<std::string> corpus() {
    const std::filesystem::path root = HALO_SOURCE_DIR;
    std::vector<std::filesystem::path> paths;
    for (const char* folder : {"tests/fuzz/corpus", "dsl_examples"}) {
        if (!std::filesystem::exists(root / folder)) continue;
        for (const auto& entry : std::filesystem::directory_iterator(root / folder))
            if (entry.is_regular_file()) paths.push_back(entry.path());
    }
    std::sort(paths.begin(), paths.end());  // the order of a folder is no one's promise
    std::vector<std::string> texts;
    for (const auto& path : paths)
        texts.push_back(read(path));
    return texts;
}

// Words that change what a text means, not only how it is spelt.
const std::vector<std::string>& language_words() {
    static const std::vector<std::string> all{"stencil ",
                                              "run ",
                                              "param ",
                                              "const ",
                                              "coef ",
                                              "field ",
                                              "let ",
                                              "def ",
                                              "reduce ",
                                              "spacing ",
                                              "origin ",
                                              "accuracy ",
                                              "halo ",
                                              "boundary ",
                                              "periodic",
                                              "fixed ",
                                              "clamp",
                                              "mirror",
                                              "free",
                                              "x.low ",
                                              "y.high ",
                                              "f32",
                                              "f64",
                                              "u",
                                              "u[t+1]",
                                              "u[t-1]",
                                              "u[x+1]",
                                              "u[x-1, y+2]",
                                              "sum(i in -1..1) ",
                                              "max(i in 0..3) ",
                                              "d(u, x)",
                                              "d2(u, x, order=4)",
                                              "laplacian(u)",
                                              "if ",
                                              " then ",
                                              " else ",
                                              " and ",
                                              " or ",
                                              "not ",
                                              "pos(x)",
                                              "idx(y)",
                                              "len(x)",
                                              "grid 4, 4",
                                              "steps 3",
                                              " until ",
                                              "init ",
                                              "save u to \"u.npy\"",
                                              " every ",
                                              "plot ",
                                              " at z = 1",
                                              "(",
                                              ")",
                                              "[",
                                              "]",
                                              "{",
                                              "}",
                                              ",",
                                              ";",
                                              ":",
                                              "=",
                                              "..",
                                              ".",
                                              "^",
                                              "*",
                                              "/",
                                              "+",
                                              "-",
                                              "<",
                                              "==",
                                              "\n",
                                              "# c\n",
                                              "\"",
                                              "0",
                                              "1",
                                              "-1",
                                              "1e300",
                                              "0.1",
                                              "1/3",
                                              "99999999999999999999",
                                              "**",
                                              "&&",
                                              "λ",
                                              "\xff",
                                              "t",
                                              "x",
                                              "schedule { direct }"};
    return all;
}

class Mutator {
public:
    Mutator(const std::vector<std::string>& texts, unsigned seed) : texts_(texts), random_(seed) {}

    std::string next() {
        std::string text = texts_[below(texts_.size())];
        for (std::size_t left = 1 + below(6); left > 0; --left)
            mutate(text);
        constexpr std::size_t kMaxText = 16'384;
        text.resize(std::min(text.size(), kMaxText));
        return text;
    }

private:
    // Uniform enough, and the same with every standard library.
    std::size_t below(std::size_t end) { return end == 0 ? 0 : random_() % end; }

    void mutate(std::string& text) {
        const std::size_t at = below(text.size() + 1);
        const std::size_t length = std::min(below(40), text.size() - at);
        switch (below(6)) {
            case 0:
                text.erase(at, length);
                break;
            case 1:
                text.insert(at, text.substr(at, length));
                break;
            case 2:
                text.insert(at, language_words()[below(language_words().size())]);
                break;
            case 3:
                text.replace(at, length, language_words()[below(language_words().size())]);
                break;
            case 4: {
                const std::string& other = texts_[below(texts_.size())];
                text.insert(at, other.substr(below(other.size() + 1), below(200)));
                break;
            }
            default:
                if (at < text.size()) text[at] = static_cast<char>(random_());
        }
    }

    const std::vector<std::string>& texts_;
    std::mt19937 random_;
};

std::string repeated(std::string_view piece, std::size_t times) {
    std::string text;
    for (std::size_t i = 0; i < times; ++i)
        text += piece;
    return text;
}

}  // namespace

TEST_CASE("every text of the corpus is handled as promised") {
    const std::vector<std::string> texts = corpus();
    CHECK(texts.size() >= 10);
    for (const std::string& text : texts) {
        INFO(text);
        CHECK(broken_promise(text).empty());
    }
}

TEST_CASE("mutations of the corpus are handled as promised") {
    const std::vector<std::string> texts = corpus();
    Mutator mutator(texts, 20241121);
    for (int i = 0; i < 3000; ++i) {
        const std::string text = mutator.next();
        const std::string broken = broken_promise(text);
        if (broken.empty()) continue;
        INFO(i << ": " << broken << "\n---- text\n" << text);
        CHECK(broken.empty());
    }
}

TEST_CASE("10 MB of brackets are refused") {
    CHECK(broken_promise(std::string(10'000'000, '(')).empty());
    CHECK(broken_promise(repeated("([{", 3'000'000)).empty());
    // Under the limit on a file's size, too.
    CHECK(broken_promise("stencil s(x) {\nu[t+1] = " + repeated("([{", 1'300'000)).empty());
    CHECK(broken_promise("stencil s(x) {\nu[t+1] = " + repeated("u[", 2'000'000)).empty());
}

TEST_CASE("10,000 fields are handled") {
    std::string text = "stencil s(x, y) {\n";
    for (int i = 0; i < 10'000; ++i) {
        const std::string name = "u" + std::to_string(i);
        text += "field " + name + ": f32 { boundary periodic }\n";
        text += name + "[t+1] = " + name + "[x+1] + 1\n";
    }
    CHECK(broken_promise(text + "}\n").empty());
}
