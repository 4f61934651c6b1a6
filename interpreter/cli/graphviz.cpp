#include <boxcar/interpreter/cli/graphviz.h>
#include <boxcar/ivalue/error.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

extern char** environ;

namespace boxcar::cli {
namespace {

// One end of a pipe.
class PipeEnd final {
 public:
  explicit PipeEnd(int end) : end_(end) {}
  PipeEnd(PipeEnd&& other) noexcept : end_(std::exchange(other.end_, -1)) {}
  PipeEnd& operator=(PipeEnd&&) = delete;
  ~PipeEnd() { close(); }

  int get() const noexcept { return end_; }
  void close() noexcept {
    if (end_ >= 0) ::close(end_);
    end_ = -1;
  }

 private:
  int end_;
};

std::pair<PipeEnd, PipeEnd> makePipe() {
  std::array<int, 2> ends{};
  BOXCAR_CHECK(::pipe2(ends.data(), O_CLOEXEC) == 0, "cannot start `dot`: {}", std::strerror(errno));
  return {PipeEnd(ends[0]), PipeEnd(ends[1])};
}

// Writes [input] to one pipe while reading all of the other, so that neither fills up.
std::string exchange(PipeEnd to, const PipeEnd& from, std::string_view input) {
  ::fcntl(to.get(), F_SETFL, O_NONBLOCK);
  std::string output;
  std::array<char, 65536> buffer;
  for (;;) {
    if (input.empty()) to.close();
    std::array<pollfd, 2> ends = {{{from.get(), POLLIN, 0}, {to.get(), POLLOUT, 0}}};
    if (::poll(ends.data(), ends.size(), -1) < 0 && errno != EINTR) break;
    if ((ends[1].revents & (POLLOUT | POLLERR)) != 0) {
      const ssize_t written = ::write(to.get(), input.data(), input.size());
      // A program that does not read everything has failed, which its exit status tells.
      if (written < 0 && errno != EAGAIN && errno != EINTR) input = {};
      if (written > 0) input.remove_prefix(static_cast<size_t>(written));
    }
    if ((ends[0].revents & (POLLIN | POLLHUP)) != 0) {
      const ssize_t count = ::read(from.get(), buffer.data(), buffer.size());
      if (count == 0 || (count < 0 && errno != EINTR)) break;
      if (count > 0) output.append(buffer.data(), static_cast<size_t>(count));
    }
  }
  return output;
}

// Nodes and edges. A graph of a few hundred takes `dot` minutes with full effort and seconds with reduced effort; one
// of thousands takes hours.
constexpr long kManyLines = 150;
constexpr long kMostLines = 1800;

// Returns the output of `dot -Tsvg` for [input]; `dot` is started without a shell.
std::string runDot(std::string_view input) {
  const long lines = std::ranges::count(input, '\n');  // one for each node or edge, and a few more
  BOXCAR_CHECK(lines <= kMostLines,
               "a picture of some {} nodes and edges is more than `dot` draws in reasonable time: write the graph with "
               "--dot, "
               "leave out --unfold, or trace a part of the script by `with trace(…)`",
               lines);
  auto [input_end, to_dot] = makePipe();
  auto [from_dot, output_end] = makePipe();
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input_end.get(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output_end.get(), STDOUT_FILENO);
  std::string name = "dot";
  std::string format = "-Tsvg";
  std::string rounds = "-Gnslimit=1", crossings = "-Gmclimit=0.2", edges = "-Gsplines=line";
  std::vector<char*> arguments = {name.data(), format.data()};
  if (lines > kManyLines) arguments.insert(arguments.end(), {rounds.data(), crossings.data(), edges.data()});
  arguments.push_back(nullptr);
  pid_t process = 0;
  const int error = ::posix_spawnp(&process, name.c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  BOXCAR_CHECK(error != ENOENT,
               "the program `dot`, which draws the picture, was not found: install the package graphviz, or write the "
               "graph to a .dot file");
  BOXCAR_CHECK(error == 0, "cannot start `dot`: {}", std::strerror(error));
  input_end.close();
  output_end.close();
  // If `dot` ends early, this program must go on.
  const auto before = ::signal(SIGPIPE, SIG_IGN);
  std::string output = exchange(std::move(to_dot), from_dot, input);
  ::signal(SIGPIPE, before);
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  BOXCAR_CHECK(!WIFSIGNALED(status), "`dot` was ended by a signal ({}) before the picture was drawn",
               ::strsignal(WTERMSIG(status)));
  BOXCAR_CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0,
               "`dot` failed to draw the picture; write the graph to a .dot file to see what it was given");
  return output;
}

}  // namespace

void checkGraphviz() { runDot("digraph {}"); }

std::string drawSvg(const std::string& graph) { return runDot(graph); }

}  // namespace boxcar::cli
