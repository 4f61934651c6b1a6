#include <boxcar/interpreter/cli/command_text.h>
#include <boxcar/interpreter/cli/manual_page.h>
#include <boxcar/interpreter/syntax/utf8.h>
#include <boxcar/version.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <string_view>
#include <utility>

namespace boxcar::cli {
namespace {

constexpr std::pair<const char*, const char*> kStatuses[] = {
    {"0", "The command did what it was asked for: the script ran to its end, the two recordings are alike."},
    {"1", "The script or the input is wrong, the script failed, or what was compared differs."},
    {"2", "The command line is wrong. Of diff: also that a recording cannot be read."},
    {"130", "Ctrl-C ended the script."},
};

constexpr std::pair<const char*, const char*> kVariables[] = {
    {"BOXCAR_NUM_THREADS", "How many threads kernels on the CPU use, where --threads does not say it."},
    {"GOMP_SPINCOUNT, OMP_WAIT_POLICY",
     "How often threads of CPU kernels look for work before they sleep: 2000 times, unless one of them is set."},
    {"BOXCAR_SHOW_DISPATCH_TRACE, TORCH_SHOW_DISPATCH_TRACE",
     "Set, and not to 0: a line on standard error for every operator call and redispatch, as by --dispatch-trace."},
    {"BOXCAR_CUDA_TF32", "Set to 1: products of float32 matrices on a GPU may round their factors to TF32."},
    {"BOXCAR_CUDA_SYNC",
     "Set to 1: every operator on a GPU waits until it is done, so that an error names the operator that made it."},
    {"NO_COLOR", "Set, and not empty: no colours, unless --color=always is given."},
    {"CLICOLOR_FORCE", "Set, and not to 0: colours also where standard error is no terminal."},
    {"TERM", "Where it is dumb or not set there are neither colours nor a progress line."},
    {"OPENBLAS_CORETYPE", "The processor that OpenBLAS takes its kernels for, where its own guess is not wanted."},
    {"NVTX_INJECTION64_PATH", "Set by tools that watch GPUs: calls of operators are named to them."},
    {"TMPDIR", "The folder for temporary files of bench; /tmp without it."},
    {"XDG_STATE_HOME, HOME", "Where the prompt keeps what was typed; without the first it is ~/.local/state."},
};

constexpr std::pair<const char*, const char*> kFiles[] = {
    {"*.ops", "Scripts."},
    {"*.safetensors, *.npy", "Tensors, which scripts read and write, and which trace writes beside its program."},
    {"*.npz", "Tensors, which scripts read."},
    {"~/.local/state/boxcar/history", "What was typed at the prompt, for the user alone."},
};

// Returns [text] escaped for roff: what would be a request, an escape or a typographic dash stands for itself.
std::string roffText(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const char byte = text[0];
    size_t length = 1;
    if (byte == '\\') {
      out += "\\e";
    } else if (byte == '-') {
      out += "\\-";
    } else if (byte == '\'') {
      out += "\\(aq";
    } else if (byte == '`') {
      out += "\\(ga";
    } else if (byte == '^' || byte == '~') {
      out += byte == '^' ? "\\(ha" : "\\(ti";
    } else if (static_cast<unsigned char>(byte) < 0x80) {
      out += byte;
    } else {
      // Every text here is the program's own, so it is valid UTF-8.
      while (length < text.size() && utf8::isContinuation(text[length])) ++length;
      char32_t point = static_cast<unsigned char>(byte) & (0xFFU >> (length + 1));
      for (size_t i = 1; i < length; ++i) point = point << 6 | (static_cast<unsigned char>(text[i]) & 0x3FU);
      out += fmt::format("\\[u{:04X}]", static_cast<uint32_t>(point));
    }
    text.remove_prefix(length);
  }
  // A dot at the start of a line begins a request.
  return out.starts_with('.') ? "\\&" + out : out;
}

void appendItem(std::string& page, std::string_view term, std::string_view text) {
  page += fmt::format(".TP\n.B {}\n{}\n", roffText(term), roffText(text));
}

template <size_t count>
void appendSection(std::string& page, const char* title, const std::pair<const char*, const char*> (&items)[count]) {
  page += fmt::format(".SH {}\n", title);
  for (const auto& [term, text] : items) appendItem(page, term, text);
}

void appendOptions(std::string& page, const std::vector<OptionText>& options, const std::string& group) {
  for (const OptionText& option : options) {
    if (option.group == group) appendItem(page, option.spelling(), option.help);
  }
}

void appendExamples(std::string& page, const std::string& examples) {
  page += ".PP\n.nf\n.RS\n";
  for (const std::string& line : CLI::detail::split(examples, '\n')) page += roffText(line) + '\n';
  page += ".RE\n.fi\n";
}

void appendCommand(std::string& page, const CommandText& command) {
  page += fmt::format(".SS \"boxcar {}{}\"\n{}.\n", roffText(command.name), roffText(command.synopsis()),
                      roffText(command.help));
  for (const OptionText& argument : command.arguments) appendItem(page, argument.names[0], argument.help);
  for (const std::string& group : command.groups()) {
    if (group != command.groups().front()) page += fmt::format(".PP\n{}:\n", roffText(group));
    appendOptions(page, command.options, group);
  }
  if (!command.examples.empty()) appendExamples(page, command.examples);
}

}  // namespace

std::string manualPage(const CLI::App& app) {
  const CommandText program = describe(app);
  std::string page = fmt::format(".TH BOXCAR 1 \"\" \"boxcar {}\" \"User Commands\"\n", roffText(BOXCAR_VERSION));
  page += ".SH NAME\nboxcar \\- run scripts of operators, and look at what they do\n";
  page += ".SH SYNOPSIS\n.B boxcar\n[OPTIONS] COMMAND ...\n";
  page += fmt::format(".SH DESCRIPTION\n{}\nOptions may come before and after the command.\n", roffText(program.help));
  page += ".SH OPTIONS\n";
  for (const std::string& group : program.groups()) appendOptions(page, program.options, group);
  page += ".SH COMMANDS\n";
  for (const CommandText& command : program.commands) appendCommand(page, command);
  appendSection(page, "\"EXIT STATUS\"", kStatuses);
  appendSection(page, "ENVIRONMENT", kVariables);
  appendSection(page, "FILES", kFiles);
  return page;
}

}  // namespace boxcar::cli
