#include <boxcar/ivalue/ivalue.h>
#include <boxcar/ivalue/tuple.h>

namespace boxcar {

TupleObject::TupleObject(std::vector<IValue> elements) noexcept : elements_(std::move(elements)) {}
TupleObject::~TupleObject() { detail::destroyNested(std::move(elements_)); }
size_t TupleObject::size() const noexcept { return elements_.size(); }

Tuple::Tuple(std::vector<IValue> elements) : object_(makeIntrusive<TupleObject>(std::move(elements))) {}

bool operator==(const Tuple& a, const Tuple& b) { return a.object_ == b.object_ || a.elements() == b.elements(); }

}  // namespace boxcar
