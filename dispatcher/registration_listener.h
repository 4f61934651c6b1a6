#pragma once

#include <boxcar/dispatcher/operator_handle.h>
#include <boxcar/ivalue/macros.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace boxcar {

// Is told which operators are defined, by Dispatcher::addRegistrationListener, in the order of the changes and under
// the dispatcher's lock: a callback may register, look up and remove, its own listener too, but should not wait for
// another thread that does.
class OpRegistrationListener {
 public:
  virtual ~OpRegistrationListener() = default;

  // The operator has a schema from now on.
  virtual void onOperatorRegistered(const OperatorHandle& op) = 0;
  // The operator's schema is still there, but goes now. Must not throw.
  virtual void onOperatorDeregistered(const OperatorHandle& op) = 0;
};

namespace detail {

// Listeners that may come and go while they are called. All under the dispatcher's lock.
class RegistrationListeners final {
 public:
  using Token = std::shared_ptr<OpRegistrationListener>;

  Token add(std::unique_ptr<OpRegistrationListener> listener) { return listeners_.emplace_back(std::move(listener)); }
  void remove(const Token& listener) { std::erase(listeners_, listener); }

  // Calls [event] for each listener that was there when this began and is still there.
  template <class Event>
  void call(Event&& event) const {
    const std::vector<Token> listeners = listeners_;
    for (const Token& listener : listeners) {
      if (isThere(listener)) event(*listener);
    }
  }
  bool isThere(const Token& listener) const {
    return std::find(listeners_.begin(), listeners_.end(), listener) != listeners_.end();
  }
  bool empty() const noexcept { return listeners_.empty(); }

 private:
  std::vector<Token> listeners_;
};

}  // namespace detail
}  // namespace boxcar
