#include <boxcar/interpreter/service/calls.h>
#include <boxcar/interpreter/service/signature.h>

namespace boxcar::service {

Signatures signatures(std::string_view text, uint32_t offset, const std::string& name, const Workspace& workspace) {
  Signatures result;
  const Cursor cursor(Source::create(name, std::string(text)), offset);
  const auto call = cursor.openCall();
  if (!call) return result;
  Analysis analysis(std::string(text), name, workspace);
  result.parameter = call->argument;
  bool has_best = false;
  for (const CallCandidate& candidate : candidatesOf(analysis, cursor, *call)) {
    Signatures::One one{candidate.signature, {}};
    const auto& arguments = candidate.schema->arguments();
    size_t at = one.text.find('(');
    for (size_t i = 0; i < arguments.size(); ++i) {
      const std::string parameter = toString(arguments[i]);
      at = one.text.find(parameter, at);
      if (at == std::string::npos) break;
      const size_t end = at + parameter.size();
      if (i >= candidate.skipped) one.parameters.emplace_back(static_cast<uint32_t>(at), static_cast<uint32_t>(end));
      at = end;
    }
    if (!has_best && one.parameters.size() > call->argument) {
      has_best = true;
      result.best = result.all.size();
      const auto named = candidate.schema->argumentIndexWithName(call->keyword);
      if (!call->keyword.empty() && named && static_cast<size_t>(*named) >= candidate.skipped) {
        result.parameter = static_cast<size_t>(*named) - candidate.skipped;
      }
    }
    result.all.push_back(std::move(one));
  }
  return result;
}

}  // namespace boxcar::service
