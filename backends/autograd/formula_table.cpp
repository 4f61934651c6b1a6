#include <boxcar/backends/autograd/formula_table.h>
#include <boxcar/dispatcher/registry/tag.h>
#include <boxcar/ivalue/error.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>
#include <tuple>
#include <vector>

namespace boxcar::autograd {
namespace {

const Formula* findFormula(const OperatorName& name) {
  const std::span<const Formula> all = allFormulas();
  const auto key = [](const Formula& formula) {
    return std::pair(std::string_view(formula.name), std::string_view(formula.overload_name));
  };
  const std::pair wanted(std::string_view(name.name), std::string_view(name.overload_name));
  const auto found = std::ranges::lower_bound(all, wanted, {}, key);
  return found != all.end() && key(*found) == wanted ? &*found : nullptr;
}

DifferentiatedOperator describe(const OperatorHandle& op) {
  const FunctionSchema& schema = op.schema();
  DifferentiatedOperator described{.formula = findFormula(schema.operator_name()),
                                   .arguments = schema.arguments().size(),
                                   .results = schema.returns().size(),
                                   .writes_self = false,
                                   .writes_out = false,
                                   .is_view = false,
                                   .is_pointwise = op.hasTag(Tag::pointwise),
                                   .written_arguments = 0};
  for (size_t i = 0; i < schema.arguments().size(); ++i) {
    const Argument& argument = schema.arguments()[i];
    if (i > 0 && argument.is_write() && !argument.is_out()) described.written_arguments |= uint64_t{1} << i;
    if (argument.is_out()) {
      described.writes_out = true;
    } else if (!argument.is_write() && argument.alias_info() != nullptr) {
      described.is_view = true;
    }
  }
  // Batch norm writes arguments, too: its statistics, which have no history.
  described.writes_self = !schema.arguments().empty() && schema.arguments()[0].is_write() && !described.writes_out &&
                          !schema.returns().empty() && schema.returns()[0].is_write();
  return described;
}

// A hash table that only grows, and that is read without a lock. A larger one replaces it when it is half full; the old
// one stays, because others may be reading it.
struct Table {
  struct Place {
    // A schema stays at its address for the life of the process.
    std::atomic<const FunctionSchema*> schema{nullptr};
    const DifferentiatedOperator* op = nullptr;
  };

  explicit Table(int bits) : shift(64 - bits), places(size_t{1} << bits) {}

  // The place of [schema], or the free one where it would be.
  Place& find(const FunctionSchema* schema) {
    size_t i = reinterpret_cast<uintptr_t>(schema) * 0x9E3779B97F4A7C15U >> shift;
    while (true) {
      const FunctionSchema* const found = places[i].schema.load(std::memory_order_acquire);
      if (found == schema || found == nullptr) return places[i];
      i = (i + 1) & (places.size() - 1);
    }
  }

  int shift;
  size_t used = 0;
  std::vector<Place> places;
  const Table* replaced = nullptr;  // kept, and so no leak
};

constinit std::atomic<Table*> current_table{nullptr};
constinit std::mutex table_mutex;

void add(const FunctionSchema* schema, const DifferentiatedOperator* op) {
  Table* table = current_table.load(std::memory_order_relaxed);
  if (table == nullptr || table->used * 2 >= table->places.size()) {
    auto* const larger = new Table(table == nullptr ? 6 : 65 - table->shift);
    if (table != nullptr) {
      for (const Table::Place& place : table->places) {
        const FunctionSchema* const moved = place.schema.load(std::memory_order_relaxed);
        if (moved == nullptr) continue;
        Table::Place& to = larger->find(moved);
        to.op = place.op;
        to.schema.store(moved, std::memory_order_relaxed);
      }
      larger->used = table->used;
      larger->replaced = table;
    }
    table = larger;
    current_table.store(table, std::memory_order_release);
  }
  Table::Place& place = table->find(schema);
  place.op = op;
  place.schema.store(schema, std::memory_order_release);
  ++table->used;
}

}  // namespace

const DifferentiatedOperator& differentiatedOperator(const OperatorHandle& op) {
  const FunctionSchema* const schema = &op.schema();
  if (Table* const table = current_table.load(std::memory_order_acquire)) {
    const Table::Place& place = table->find(schema);
    if (place.schema.load(std::memory_order_acquire) == schema) return *place.op;
  }
  const std::lock_guard lock(table_mutex);
  if (Table* const table = current_table.load(std::memory_order_relaxed)) {
    const Table::Place& place = table->find(schema);
    if (place.schema.load(std::memory_order_relaxed) == schema) return *place.op;
  }
  const auto* const described = new DifferentiatedOperator(describe(op));
  add(schema, described);
  return *described;
}

void failOnWrittenOut(const OperatorHandle& op, std::string_view has) {
  BOXCAR_FAIL(
      "{}(): functions with out=... arguments don't support automatic differentiation, but one of the arguments {}. "
      "Use the result of the call without out=, or detach() the arguments",
      op.operator_name().name, has);
}

void failOnRefusedArgument(const OperatorHandle& op, size_t index, std::string_view cannot) {
  const std::string_view name = op.operator_name().name;
  BOXCAR_FAIL("The function '{}' is not differentiable with respect to argument '{}'. This input cannot have {}",
              name.substr(name.find("::") + 2), op.schema().arguments()[index].name(), cannot);
}

}  // namespace boxcar::autograd
