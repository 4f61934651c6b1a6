#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/stack.h>

#include <algorithm>

namespace boxcar {

IValue& Stack::at(size_t index) {
  BOXCAR_CHECK_INDEX(index < size(), "stack index {} is out of range for a stack of {} values", index, size());
  return begin_[index];
}

void Stack::grow(size_t capacity) {
  const size_t doubled = std::max({capacity, 2 * this->capacity(), size_t{8}});
  auto* memory = static_cast<IValue*>(::operator new(doubled * sizeof(IValue)));
  const size_t count = size();
  if (count != 0) std::memcpy(static_cast<void*>(memory), static_cast<const void*>(begin_), count * sizeof(IValue));
  ::operator delete(begin_);
  begin_ = memory;
  end_ = memory + count;
  limit_ = memory + doubled;
}

void Stack::takeAll(Stack& other) {
  const size_t count = other.size();
  reserve(size() + count);
  std::memcpy(static_cast<void*>(end_), static_cast<const void*>(other.begin_), count * sizeof(IValue));
  end_ += count;
  other.end_ = other.begin_;
}

void Stack::resize(size_t size) {
  if (size < this->size()) erase(begin_ + size, end_);
  reserve(size);
  while (this->size() < size) new (end_++) IValue();
}

IValue* Stack::erase(const_iterator first, const_iterator past) noexcept {
  IValue* const gap = begin_ + (first - begin_);
  for (const IValue* dying = first; dying != past; ++dying) dying->~IValue();
  const size_t behind = static_cast<size_t>(end_ - past);
  if (behind != 0 && first != past) {
    std::memmove(static_cast<void*>(gap), static_cast<const void*>(past), behind * sizeof(IValue));
  }
  end_ = gap + behind;
  return gap;
}

IValue* Stack::makeGap(const_iterator position, size_t count) {
  const std::ptrdiff_t index = position - begin_;
  const size_t behind = static_cast<size_t>(end_ - position);
  if (size() + count > capacity()) grow(size() + count);
  IValue* const gap = begin_ + index;
  if (behind != 0 && count != 0) {
    std::memmove(static_cast<void*>(gap + count), static_cast<const void*>(gap), behind * sizeof(IValue));
  }
  end_ += count;
  return gap;
}

bool operator==(const Stack& a, const Stack& b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); }

}  // namespace boxcar
