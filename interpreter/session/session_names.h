#pragma once

#include <boxcar/interpreter/compiler/input_scope.h>
#include <boxcar/interpreter/runtime/limits.h>
#include <boxcar/interpreter/session/loaded_script.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace boxcar::interp {

// Returns the words in [text] that may be names. An input is compiled with knowledge of only these, so its cost does
// not depend on the session's size.
std::set<std::string> wordsOf(std::string_view text);

// The names through which a session reaches its loaded code: functions and modes, operators, and what its statements
// registered. Code that is no longer reachable is unloaded, unless other code calls it.
class SessionNames final {
 public:
  SessionNames() = default;
  explicit SessionNames(const RunLimits& limits) noexcept : limits_(limits) {}

  // Adds what [script] and the modules that it imports declare; its first [earlier] modules are not imports. Returns
  // the names of functions and modes that are new or have a new meaning.
  std::vector<std::string> add(const std::shared_ptr<LoadedScript>& script, size_t earlier);
  void forget(const std::string& name) {
    scripts_.erase(name);
    aliases_.erase(name);
  }

  // Returns the scripts with functions or modes among [words]; [told] receives what the compiler learns about them.
  std::vector<std::shared_ptr<LoadedScript>> modulesFor(const std::set<std::string>& words,
                                                        std::vector<EarlierInputs::Module>& told) const;
  // Returns the script of a function or a mode; null if there is none.
  std::shared_ptr<LoadedScript> scriptOf(const std::string& name) const;
  std::vector<FunctionSchema> functions() const;
  std::vector<std::string> modes() const;
  const CodeUnit* codeOf(std::string_view function, size_t& index) const;
  // Returns the code that declares the operator, and its place in the source; null if the session has no such operator.
  const CodeUnit* codeOf(const OperatorName& op, Span& place) const;

  bool hasOperator(const OperatorName& name) const { return operators_.contains(toString(name)); }
  // Returns why the session's operator of that name may not get this schema; empty if it may.
  std::string faultOf(const FunctionSchema& schema) const;
  // Both do nothing if the session has no such operator.
  void withdraw(const OperatorName& name);
  void restore(const OperatorName& name);

  // Removes what an earlier input registered in the place of [handler].
  void replaceHandler(const CodeHandler& handler);

  // The limits of runs, and of calls of operators and handlers outside of runs, for code that is loaded now or later.
  const RunLimits& limits() const noexcept { return limits_; }
  void setLimits(const RunLimits& limits) noexcept;

 private:
  void keepLoaded(const std::shared_ptr<LoadedScript>& script);
  void addLoaded(const std::shared_ptr<LoadedScript>& script);

  std::map<std::string, std::shared_ptr<LoadedScript>> scripts_;    // by function, mode or alias
  std::set<std::string> aliases_;                                   // of files that were imported with one
  std::map<std::string, std::shared_ptr<LoadedScript>> operators_;  // by their full names
  std::vector<std::shared_ptr<LoadedScript>> registered_;           // with active handlers or imports
  std::vector<std::weak_ptr<LoadedScript>> loaded_;
  RunLimits limits_;
};

}  // namespace boxcar::interp
