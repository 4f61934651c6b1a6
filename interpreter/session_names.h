#pragma once

#include <boxcar/interpreter/input_scope.h>
#include <boxcar/interpreter/limits.h>
#include <boxcar/interpreter/loaded_script.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace boxcar::interp {

// The words that [text] may name things by: an input is compiled knowing of these alone, so that it costs no more when
// the session has much.
std::set<std::string> wordsOf(std::string_view text);

// What the code that a session has loaded is known by: functions and modes, operators, and what its statements have
// registered. Code that nothing is known of any more goes, unless other code calls it.
class SessionNames final {
 public:
  SessionNames() = default;
  explicit SessionNames(const RunLimits& limits) noexcept : limits_(limits) {}

  // What [script] declares, and what the modules that it imports do; its first [earlier] modules are no imports. The
  // names of functions and modes that are new, or mean something else now.
  std::vector<std::string> add(const std::shared_ptr<LoadedScript>& script, size_t earlier);
  void forget(const std::string& name) { scripts_.erase(name); }

  // The scripts whose functions or modes are among [words], and what the compiler is told of them.
  std::vector<std::shared_ptr<LoadedScript>> modulesFor(const std::set<std::string>& words,
                                                        std::vector<EarlierInputs::Module>& told) const;
  // Of a function or a mode; null where there is none.
  std::shared_ptr<LoadedScript> scriptOf(const std::string& name) const;
  std::vector<FunctionSchema> functions() const;
  std::vector<std::string> modes() const;
  const CodeUnit* codeOf(std::string_view function, size_t& index) const;
  // The code that declares the operator, and where in its source; null where the session has none.
  const CodeUnit* codeOf(const OperatorName& op, Span& place) const;

  bool hasOperator(const OperatorName& name) const { return operators_.contains(toString(name)); }
  // Why the session's operator of that name may not get this schema; empty where it may.
  std::string faultOf(const FunctionSchema& schema) const;
  // Nothing where the session has no such operator.
  void withdraw(const OperatorName& name);
  void restore(const OperatorName& name);

  // What an earlier input has registered in the place of [handler] goes.
  void replaceHandler(const CodeHandler& handler);

  // How far runs go, and calls of operators and handlers that no run makes, of what is loaded and of what will be.
  const RunLimits& limits() const noexcept { return limits_; }
  void setLimits(const RunLimits& limits) noexcept;

 private:
  void keepLoaded(const std::shared_ptr<LoadedScript>& script);
  void addLoaded(const std::shared_ptr<LoadedScript>& script);

  std::map<std::string, std::shared_ptr<LoadedScript>> scripts_;    // by function or mode
  std::map<std::string, std::shared_ptr<LoadedScript>> operators_;  // by their whole names
  std::vector<std::shared_ptr<LoadedScript>> registered_;           // whose impls and fallbacks stand
  std::vector<std::weak_ptr<LoadedScript>> loaded_;
  RunLimits limits_;
};

}  // namespace boxcar::interp
