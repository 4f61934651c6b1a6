#pragma once

#include <boxcar/dispatcher/operator_handle.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace boxcar {

// Is told which operators are defined, by Dispatcher::addRegistrationListener, under the dispatcher's lock: a callback
// may register, look up and remove, its own listener too, but must not wait for another thread that does, nor load
// plugins. What it defines is told to all before the listeners behind it hear of the definition that it was told of.
class OpRegistrationListener {
 public:
  virtual ~OpRegistrationListener() = default;

  // The operator has a schema from now on. What this throws takes the definition back and reaches the one who defines.
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

  // Calls [event] for each of [listeners] that is still there.
  template <class Event>
  void call(const std::vector<Token>& listeners, Event&& event) const {
    for (const Token& listener : listeners) {
      if (isThere(listener)) event(listener);
    }
  }
  // A copy, which stays as it is while listeners come and go.
  std::vector<Token> all() const { return listeners_; }
  bool isThere(const Token& listener) const {
    return std::find(listeners_.begin(), listeners_.end(), listener) != listeners_.end();
  }

 private:
  std::vector<Token> listeners_;
};

}  // namespace detail
}  // namespace boxcar
