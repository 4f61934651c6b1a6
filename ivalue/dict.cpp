#include <boxcar/ivalue/dict.h>
#include <boxcar/ivalue/dict_object.h>
#include <boxcar/ivalue/ivalue.h>

#include <boost/multi_index/hashed_index.hpp>
#include <boost/multi_index/member.hpp>
#include <boost/multi_index/random_access_index.hpp>
#include <boost/multi_index_container.hpp>
#include <new>

namespace boxcar {
namespace {

namespace mi = boost::multi_index;

struct Entry {
  IValue key;
  mutable IValue value;
};

using EntryTable = mi::multi_index_container<
    Entry,
    mi::indexed_by<mi::random_access<>, mi::hashed_unique<mi::member<Entry, IValue, &Entry::key>, std::hash<IValue>>>>;

}  // namespace

struct DictObject::Entries {
  EntryTable table;
};

DictObject::DictObject() : entries_(std::make_unique<Entries>()) {}

DictObject::~DictObject() {
  std::vector<IValue> values;
  try {
    values.reserve(size());
  } catch (const std::bad_alloc&) {
    return;  // Without memory the values are destroyed with the table, however deeply they are nested.
  }
  for (const Entry& entry : entries_->table) {
    if (entry.value.tag() >= IValue::kFirstHeapTag) values.push_back(std::move(entry.value));
  }
  detail::destroyNested(std::move(values));
}

size_t DictObject::size() const noexcept { return entries_->table.size(); }

const IValue* DictObject::find(const IValue& key) const {
  const auto& by_key = entries_->table.get<1>();
  const auto found = by_key.find(key);
  return found == by_key.end() ? nullptr : &found->value;
}

size_t DictObject::positionOf(const IValue& key) const {
  const EntryTable& table = entries_->table;
  return static_cast<size_t>(table.project<0>(table.get<1>().find(key)) - table.begin());
}

std::pair<size_t, bool> DictObject::insert(IValue key, IValue value) {
  EntryTable& table = entries_->table;
  const auto [place, inserted] = table.push_back(Entry{std::move(key), std::move(value)});
  return {static_cast<size_t>(place - table.begin()), inserted};
}

std::pair<size_t, bool> DictObject::insertOrAssign(IValue key, IValue value) {
  EntryTable& table = entries_->table;
  const auto [place, inserted] = table.push_back(Entry{std::move(key), value});
  if (!inserted) place->value = std::move(value);
  return {static_cast<size_t>(place - table.begin()), inserted};
}

void DictObject::setValueAt(size_t position, IValue value) { entries_->table[position].value = std::move(value); }

bool DictObject::erase(const IValue& key) { return entries_->table.get<1>().erase(key) != 0; }

void DictObject::eraseAt(size_t position) {
  EntryTable& table = entries_->table;
  table.erase(table.begin() + static_cast<std::ptrdiff_t>(position));
}

void DictObject::clear() noexcept { entries_->table.clear(); }

void DictObject::reserve(size_t size) {
  entries_->table.reserve(size);
  entries_->table.get<1>().reserve(size);
}

const IValue& DictObject::keyAt(size_t position) const { return entries_->table[position].key; }

const IValue& DictObject::valueAt(size_t position) const { return entries_->table[position].value; }

IntrusivePtr<DictObject> DictObject::copy() const {
  auto result = makeIntrusive<DictObject>();
  result->entries_->table = entries_->table;
  return result;
}

namespace detail {
void dictKeyNotFound(const IValue& key) { failIndex("the dict has no key {}", repr(key)); }
}  // namespace detail

}  // namespace boxcar
