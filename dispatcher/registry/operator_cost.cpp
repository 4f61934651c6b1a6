#include <boxcar/dispatcher/registry/operator_cost.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace boxcar {
namespace {

struct CostTable {
  std::string_view ns;
  std::span<const CostRow> rows;
};

struct CostRegistry {
  std::mutex mutex;
  // Newest first.
  std::map<std::string, std::list<std::shared_ptr<const CostFunction>>> costs;
  std::vector<CostTable> unread_tables;
  std::map<std::string, OperatorCost (*)(const FinishedCall&)> from_tables;

  void readTables() {
    for (const CostTable& table : unread_tables) {
      for (const CostRow& row : table.rows) {
        for (size_t begin = 0; begin < row.operators.size();) {
          const size_t end = std::min(row.operators.find(' ', begin), row.operators.size());
          from_tables[fmt::format("{}::{}", table.ns, row.operators.substr(begin, end - begin))] = row.cost;
          begin = end + 1;
        }
      }
    }
    unread_tables.clear();
  }

  CostFunction find(const std::string& name) const {
    if (const auto found = costs.find(name); found != costs.end() && !found->second.empty())
      return *found->second.front();
    if (const auto found = from_tables.find(name); found != from_tables.end()) return found->second;
    return {};
  }
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

void registerCosts(std::string_view ns, std::span<const CostRow> table) {
  const std::lock_guard lock(costRegistry().mutex);
  costRegistry().unread_tables.push_back({ns, table});
}

CostFunction findCost(const std::string& name) {
  CostRegistry& registry = costRegistry();
  const std::lock_guard lock(registry.mutex);
  registry.readTables();
  CostFunction found = registry.find(name);
  return found ? found : registry.find(name.substr(0, name.rfind('.')));
}

}  // namespace boxcar
