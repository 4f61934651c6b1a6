#pragma once

#include <boxcar/ivalue/intrusive_ptr.h>

#include <exception>
#include <functional>
#include <memory>
#include <string>

namespace boxcar {

class IValue;

// A value that another thread will provide. It is completed once, with a value or an error; that wakes the waiting
// threads and runs the callbacks. Every method may be called on any thread.
//
//   auto future = makeIntrusive<Future>();
//   std::thread worker([future] { future->markCompleted(IValue(42)); });
//   future->wait();
//   future->value().toInt();
class BOXCAR_API Future final : public ObjectOf<Future> {
 public:
  using Callback = std::function<void(Future& completed)>;

  Future();
  ~Future() override;

  // Completes it with [value], None or [error]. Throws Error if it is already complete.
  void markCompleted(IValue value);
  void markCompleted();
  void setError(std::exception_ptr error);
  // Like setError(), but does nothing to a future that is already complete.
  void setErrorIfNeeded(std::exception_ptr error);

  // Wait until it is complete; waitAndThrow() then throws its error, if it has one.
  void wait() const;
  void waitAndThrow() const;

  bool completed() const;
  bool hasValue() const;
  bool hasError() const;
  // Returns the value, or throws the error. Throws Error if it is not complete: call wait() first.
  IValue value() const;
  // The error, or null; and its text, or "".
  std::exception_ptr exception_ptr() const;
  std::string tryRetrieveErrorMessage() const;

  // Calls [callback] when this future completes, on the thread that completes it, or at once if it is already complete.
  // An exception from a callback leaves the completing call after all callbacks have run.
  void addCallback(Callback callback);
  // Returns a future for the result of [callback], called on this future when it completes, or for what it throws.
  IntrusivePtr<Future> then(std::function<IValue(Future& completed)> callback);
  // Like then(), for a callback that returns a future: the returned future ends as that one does.
  IntrusivePtr<Future> thenAsync(std::function<IntrusivePtr<Future>(Future& completed)> callback);

 private:
  struct State;

  // Returns whether it was not complete before.
  bool complete(IValue value, std::exception_ptr error);

  std::unique_ptr<State> state_;
};

}  // namespace boxcar
