#include <boxcar/dispatcher/registry/operator_cost.h>

#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace boxcar {
namespace {

struct CostRegistry {
  std::mutex mutex;
  // Newest first.
  std::map<std::string, std::list<std::shared_ptr<const CostFunction>>> costs;
};

// Never destroyed: handles that are static objects are destroyed when the process ends.
CostRegistry& costRegistry() {
  static CostRegistry& instance = *new CostRegistry;
  return instance;
}

}  // namespace

RegistrationHandleRAII registerCost(std::string name, CostFunction cost) {
  const auto shared = std::make_shared<const CostFunction>(std::move(cost));
  const std::lock_guard lock(costRegistry().mutex);
  costRegistry().costs[name].push_front(shared);
  return RegistrationHandleRAII([name = std::move(name), shared] {
    const std::lock_guard undo_lock(costRegistry().mutex);
    costRegistry().costs[name].remove(shared);
  });
}

CostFunction findCost(const std::string& name) {
  const std::lock_guard lock(costRegistry().mutex);
  for (const std::string& wanted : {name, name.substr(0, name.rfind('.'))}) {
    const auto found = costRegistry().costs.find(wanted);
    if (found != costRegistry().costs.end() && !found->second.empty()) return *found->second.front();
  }
  return {};
}

}  // namespace boxcar
