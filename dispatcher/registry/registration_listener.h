#pragma once

#include <boxcar/dispatcher/registry/operator_handle.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace boxcar {

// Learns which operators are defined, through Dispatcher::addRegistrationListener, under the dispatcher's lock. A
// callback may register, look up and remove, even its own listener, but must not load plugins or wait for another
// thread that does any of this. If it defines an operator, all listeners learn of that before the remaining listeners
// learn of the definition that triggered the callback.
class OpRegistrationListener {
 public:
  virtual ~OpRegistrationListener() = default;

  // The operator now has a schema. An exception here removes the definition again and reaches the definer.
  virtual void onOperatorRegistered(const OperatorHandle& op) = 0;
  // The operator's schema is about to be removed. Must not throw.
  virtual void onOperatorDeregistered(const OperatorHandle& op) = 0;
};

namespace detail {

// Listeners that may be added and removed while they are called. Everything here runs under the dispatcher's lock.
class RegistrationListeners final {
 public:
  using Token = std::shared_ptr<OpRegistrationListener>;

  Token add(std::unique_ptr<OpRegistrationListener> listener) { return listeners_.emplace_back(std::move(listener)); }
  void remove(const Token& listener) { std::erase(listeners_, listener); }

  // Calls [event] for each of [listeners] that is still registered.
  template <class Event>
  void call(const std::vector<Token>& listeners, Event&& event) const {
    for (const Token& listener : listeners) {
      if (isThere(listener)) event(listener);
    }
  }
  // Returns a copy, which does not change when listeners are added or removed.
  std::vector<Token> all() const { return listeners_; }
  bool isThere(const Token& listener) const {
    return std::find(listeners_.begin(), listeners_.end(), listener) != listeners_.end();
  }

 private:
  std::vector<Token> listeners_;
};

}  // namespace detail
}  // namespace boxcar
