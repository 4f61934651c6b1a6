#pragma once

#include <boxcar/ivalue/intrusive_ptr.h>

#include <exception>
#include <functional>
#include <memory>
#include <string>

namespace boxcar {

class IValue;

// A value that another thread is to bring. It is completed once, with a value or an error; who waits for it, or left a
// callback, is told then. All of it may be called on any thread.
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

  // Completes it, with [value], None or [error]. An Error where it is complete already.
  void markCompleted(IValue value);
  void markCompleted();
  void setError(std::exception_ptr error);
  // The same; leaves a future as it is that is complete already.
  void setErrorIfNeeded(std::exception_ptr error);

  // Return when it is complete; the second one throws its error.
  void wait() const;
  void waitAndThrow() const;

  bool completed() const;
  bool hasValue() const;
  bool hasError() const;
  // The value, or throws the error. An Error where it is not complete: wait() comes first.
  IValue value() const;
  // Null where there is none; the same as its text, or "".
  std::exception_ptr exception_ptr() const;
  std::string tryRetrieveErrorMessage() const;

  // Calls [callback] when this is complete, on the thread that completes it; now, where it is complete. What callbacks
  // throw comes out of the call that completes it, when all of them have run.
  void addCallback(Callback callback);
  // A future of what [callback] makes of this one when it is complete, or of what it throws.
  IntrusivePtr<Future> then(std::function<IValue(Future& completed)> callback);
  // The same for a callback whose result is a future: the one that is given ends as that does.
  IntrusivePtr<Future> thenAsync(std::function<IntrusivePtr<Future>(Future& completed)> callback);

 private:
  struct State;

  // Whether it was not complete before.
  bool complete(IValue value, std::exception_ptr error);

  std::unique_ptr<State> state_;
};

}  // namespace boxcar
