#include "compiler/driver/command/manual.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <vector>

#include "compiler/driver/console/arguments.h"

namespace halo::driver {

namespace {

struct OptionText {
    std::vector<std::string> names;  // "-o", "--output"
    std::string value;               // "TEXT"; empty: a flag
    std::string description;
};

struct CommandText {
    std::string name, description, footer;
    std::string arguments;  // "FILE"
    bool takes_files = false;
    std::vector<OptionText> options;
};

std::string value_of(const CLI::Option& option) {
    if (option.get_items_expected_max() == 0) return {};
    std::string text = option.get_option_text().empty() ? option.get_type_name() : option.get_option_text();
    if (text.ends_with(" ...")) text.resize(text.size() - 4);
    return text;
}

CommandText manual_text(const CLI::App& command) {
    CommandText text{command.get_name(), command.get_description(), command.get_footer(), {}, false, {}};
    for (const CLI::Option* option : command.get_options()) {
        if (option->get_group().empty()) continue;  // not for people
        if (option->get_positional()) {
            const std::string name = option->get_name(true);
            const std::string many = option->get_items_expected_max() > 1 ? " …" : "";
            text.arguments += option->get_required() ? " " + name + many : " [" + name + many + "]";
            text.takes_files = text.takes_files || name == "FILE";
            continue;
        }
        OptionText each;
        for (const std::string& name : option->get_snames())
            each.names.push_back("-" + name);
        for (const std::string& name : option->get_lnames())
            each.names.push_back("--" + name);
        each.value = value_of(*option);
        each.description = option->get_description();
        text.options.push_back(std::move(each));
    }
    return text;
}

std::vector<CommandText> commands_of(const CLI::App& app) {
    std::vector<CommandText> all;
    for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
        all.push_back(manual_text(*command));
    return all;
}

// ---- roff

std::string roff(const std::string& text) {
    std::string escaped;
    bool starts_line = true;
    for (const char c : text) {
        if (starts_line && (c == '.' || c == '\'')) escaped += "\\&";
        if (c == '\\')
            escaped += "\\e";
        else if (c == '-')
            escaped += "\\-";
        else
            escaped += c;
        starts_line = c == '\n';
    }
    return escaped;
}

// Lines as they are.
std::string roff_verbatim(const std::string& text) {
    return text.empty() ? "" : ".PP\n.nf\n" + roff(text) + "\n.fi\n";
}

std::string roff_option(const OptionText& option) {
    std::string names;
    for (const std::string& name : option.names)
        names += fmt::format("{}\\fB{}\\fR", names.empty() ? "" : ", ", roff(name));
    if (!option.value.empty()) names += fmt::format(" \\fI{}\\fR", roff(option.value));
    return fmt::format(".TP\n{}\n{}\n", names, roff(option.description));
}

constexpr const char* kEnvironment = R"(.SH ENVIRONMENT
.TP
\fBHALOCLINE_CACHE\fR
Folder for compiled kernels and measured schedules, or \fBoff\fR. Without it ~/.cache/halocline.
.TP
\fBHALOCLINE_BACKGROUND\fR
\fBoff\fR: runs leave no process behind that compiles for the next one.
.TP
\fBHALO_PATH\fR
Folders to look for modules in, with colons between them.
.TP
\fBHALO_NUM_THREADS\fR
Threads of the CPU back end, in each process. Without it one for each core; processes of a run on one host share them.
.TP
\fBCUDA_HOME\fR
Folder of the CUDA toolkit whose NVRTC is to be used.
.TP
\fBNO_COLOR\fR
Messages have no colours where it is set.
)";

// ---- Markdown

std::string in_cell(const std::string& text) {  // of a table
    std::string escaped;
    for (const char c : text) {
        if (c == '|' || c == '<' || c == '*') escaped += '\\';
        escaped += c == '\n' ? ' ' : c;
    }
    return escaped;
}

std::string markdown_options(const CommandText& command) {
    std::string rows;
    for (const OptionText& option : command.options) {
        std::string names;
        for (const std::string& name : option.names)
            names += fmt::format("{}`{}`", names.empty() ? "" : ", ", name);
        if (!option.value.empty()) names += " " + in_cell(option.value);
        rows += fmt::format("| {} | {} |\n", names, in_cell(option.description));
    }
    return rows.empty() ? "" : "| option | what it does |\n| --- | --- |\n" + rows + "\n";
}

// ---- shells

std::string in_quotes(const std::string& text) {  // in single quotes
    std::string inside;
    for (const char c : text)
        inside += c == '\'' ? "'\\''" : std::string(1, c == '\n' ? ' ' : c);
    return "'" + inside + "'";
}

std::string words_of(const CommandText& command) {
    std::vector<std::string> words;
    for (const OptionText& option : command.options)
        words.insert(words.end(), option.names.begin(), option.names.end());
    return join(words, " ");
}

// For zsh, brackets and colons mean something in descriptions.
std::string zsh_words(const std::string& text) {
    std::string escaped;
    for (const char c : text) {
        if (c == '[' || c == ']' || c == ':' || c == '\\') escaped += '\\';
        escaped += c;
    }
    return escaped;
}

}  // namespace

std::string manual_page(const CLI::App& app) {
    const std::vector<CommandText> commands = commands_of(app);
    std::string page = fmt::format(".TH HALOC 1 \"\" \"haloc {}\" \"Halocline\"\n", HALO_VERSION);
    page += ".SH NAME\nhaloc \\- compile stencil programs to CUDA and C++, and run them\n";
    page += ".SH SYNOPSIS\n";
    for (const CommandText& command : commands)
        page += fmt::format(".B haloc {}\n[\\fIOPTIONS\\fR]{}\n.br\n", roff(command.name),
                            roff(command.arguments));
    page += ".SH DESCRIPTION\n" + roff(app.get_description()) + "\n" + roff_verbatim(app.get_footer());
    page += ".SH COMMANDS\n";
    for (const CommandText& command : commands) {
        page += fmt::format(".SS haloc {}{}\n{}.\n", roff(command.name), roff(command.arguments),
                            roff(command.description));
        for (const OptionText& option : command.options)
            page += roff_option(option);
        page += roff_verbatim(command.footer);
    }
    return page + kEnvironment;
}

std::string markdown_reference(const CLI::App& app) {
    const std::vector<CommandText> commands = commands_of(app);
    std::string page =
        "# Commands\n\nThis page is made from the help texts of `haloc` by `haloc about markdown`.\n\n";
    page += "| command | what it is for |\n| --- | --- |\n";
    for (const CommandText& command : commands)
        page +=
            fmt::format("| [`haloc {0}`](#haloc-{0}) | {1} |\n", command.name, in_cell(command.description));
    page += "\n```\n" + app.get_footer() + "\n```\n";
    for (const CommandText& command : commands) {
        page += fmt::format("\n## haloc {}\n\n```\nhaloc {} [OPTIONS]{}\n```\n\n{}.\n\n", command.name,
                            command.name, command.arguments, command.description);
        page += markdown_options(command);
        if (!command.footer.empty()) page += "```\n" + command.footer + "\n```\n";
    }
    return page;
}

std::string bash_completion(const CLI::App& app) {
    std::string names, cases;
    for (const CommandText& command : commands_of(app)) {
        names += (names.empty() ? "" : " ") + command.name;
        cases += fmt::format("        {}) options='{}' ;;\n", command.name, words_of(command));
    }
    return fmt::format(R"(# bash completion for haloc
_haloc() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} options=
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        mapfile -t COMPREPLY < <(compgen -W '{} --help --version' -- "$word")
        return
    fi
    case ${{COMP_WORDS[1]}} in
{}    esac
    if [[ $word == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
    else
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
    fi
}}
complete -o filenames -F _haloc haloc
)",
                       names, cases);
}

std::string zsh_completion(const CLI::App& app) {
    std::string names, cases;
    for (const CommandText& command : commands_of(app)) {
        names += fmt::format("        {}\n", in_quotes(command.name + ":" + zsh_words(command.description)));
        cases += fmt::format("        {})\n            _arguments \\\n", command.name);
        for (const OptionText& option : command.options)
            for (const std::string& name : option.names) {
                std::string spec = "*" + name + "[" + zsh_words(option.description) + "]";
                if (!option.value.empty()) spec += ":" + zsh_words(option.value) + ":_files";
                cases += "                " + in_quotes(spec) + " \\\n";
            }
        cases +=
            fmt::format("                '*: :{}'\n            ;;\n", command.takes_files ? "_files" : " ");
    }
    return fmt::format(R"(#compdef haloc
_haloc() {{
    local -a commands
    commands=(
{}    )
    if ((CURRENT == 2)); then
        _describe command commands
        return
    fi
    local command=$words[2]
    shift words
    ((CURRENT--))
    case $command in
{}    esac
}}
_haloc "$@"
)",
                       names, cases);
}

std::string fish_completion(const CLI::App& app) {
    std::string text = "# fish completion for haloc\n";
    for (const CommandText& command : commands_of(app)) {
        text += fmt::format("complete -c haloc -n __fish_use_subcommand -f -a {} -d {}\n", command.name,
                            in_quotes(command.description));
        for (const OptionText& option : command.options) {
            text += fmt::format("complete -c haloc -n '__fish_seen_subcommand_from {}'", command.name);
            for (const std::string& name : option.names)
                text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
            text +=
                fmt::format("{} -d {}\n", option.value.empty() ? "" : " -r", in_quotes(option.description));
        }
    }
    return text;
}

std::string about_text(const std::string& what, const CLI::App& app) {
    const auto print = what == "man"        ? manual_page
                       : what == "markdown" ? markdown_reference
                       : what == "bash"     ? bash_completion
                       : what == "zsh"      ? zsh_completion
                                            : fish_completion;
    return print(app);
}

}  // namespace halo::driver
