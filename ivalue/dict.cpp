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
    return;  // Without memory the values go with the table, however deep they are nested.
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

void DictObject::insertOrAssign(IValue key, IValue value) {
  const auto [position, inserted] = entries_->table.push_back(Entry{std::move(key), value});
  if (!inserted) position->value = std::move(value);
}

bool DictObject::erase(const IValue& key) { return entries_->table.get<1>().erase(key) != 0; }

void DictObject::clear() noexcept { entries_->table.clear(); }

const IValue& DictObject::keyAt(size_t position) const { return entries_->table[position].key; }

const IValue& DictObject::valueAt(size_t position) const { return entries_->table[position].value; }

IntrusivePtr<DictObject> DictObject::copy() const {
  auto result = makeIntrusive<DictObject>();
  result->entries_->table = entries_->table;
  return result;
}

namespace detail {
void dictKeyNotFound(const IValue& key) { BOXCAR_FAIL("the dict has no key {}", repr(key)); }
}  // namespace detail

}  // namespace boxcar
