#include <boxcar/ivalue/future.h>
#include <boxcar/ivalue/ivalue.h>

#include <condition_variable>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

namespace boxcar {
namespace {

constexpr std::string_view kCompleteAlready =
    "a completed future cannot get another value or error; setErrorIfNeeded() leaves it unchanged";

}  // namespace

struct Future::State {
  mutable std::mutex mutex;
  mutable std::condition_variable changed;
  bool completed = false;
  IValue value;
  std::exception_ptr error;
  std::vector<Callback> callbacks;
};

Future::Future() : state_(std::make_unique<State>()) {}
Future::~Future() = default;

// Callbacks run outside the lock: they may query this future, complete others, and drop the last reference to it.
bool Future::complete(IValue value, std::exception_ptr error) {
  const auto self = IntrusivePtr<Future>::share(this);
  std::vector<Callback> callbacks;
  {
    const std::lock_guard guard(state_->mutex);
    if (state_->completed) return false;
    state_->value = std::move(value);
    state_->error = std::move(error);
    state_->completed = true;
    callbacks.swap(state_->callbacks);
  }
  state_->changed.notify_all();
  std::exception_ptr failure;
  for (Callback& callback : callbacks) {
    try {
      callback(*this);
    } catch (...) {
      if (failure == nullptr) failure = std::current_exception();
    }
  }
  if (failure != nullptr) std::rethrow_exception(failure);
  return true;
}

void Future::markCompleted(IValue value) { BOXCAR_CHECK(complete(std::move(value), nullptr), "{}", kCompleteAlready); }

void Future::markCompleted() { markCompleted(IValue()); }

void Future::setError(std::exception_ptr error) {
  BOXCAR_CHECK(error != nullptr, "the error of a future cannot be a null pointer");
  BOXCAR_CHECK(complete(IValue(), std::move(error)), "{}", kCompleteAlready);
}

void Future::setErrorIfNeeded(std::exception_ptr error) {
  BOXCAR_CHECK(error != nullptr, "the error of a future cannot be a null pointer");
  complete(IValue(), std::move(error));
}

void Future::wait() const {
  std::unique_lock lock(state_->mutex);
  state_->changed.wait(lock, [&] { return state_->completed; });
}

void Future::waitAndThrow() const {
  wait();
  value();
}

bool Future::completed() const {
  const std::lock_guard guard(state_->mutex);
  return state_->completed;
}

bool Future::hasValue() const {
  const std::lock_guard guard(state_->mutex);
  return state_->completed && state_->error == nullptr;
}

bool Future::hasError() const {
  const std::lock_guard guard(state_->mutex);
  return state_->error != nullptr;
}

IValue Future::value() const {
  const std::lock_guard guard(state_->mutex);
  BOXCAR_CHECK(state_->completed, "a future has no value before it is completed; wait() for it first");
  if (state_->error != nullptr) std::rethrow_exception(state_->error);
  return state_->value;
}

std::exception_ptr Future::exception_ptr() const {
  const std::lock_guard guard(state_->mutex);
  return state_->error;
}

std::string Future::tryRetrieveErrorMessage() const {
  const std::exception_ptr error = exception_ptr();
  if (error == nullptr) return "";
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& thrown) {
    return thrown.what();
  } catch (...) {
    return "something that is not a std::exception";
  }
}

void Future::addCallback(Callback callback) {
  {
    const std::lock_guard guard(state_->mutex);
    if (!state_->completed) {
      state_->callbacks.push_back(std::move(callback));
      return;
    }
  }
  callback(*this);
}

IntrusivePtr<Future> Future::then(std::function<IValue(Future&)> callback) {
  auto next = makeIntrusive<Future>();
  addCallback([next, callback = std::move(callback)](Future& completed) {
    IValue value;
    try {
      value = callback(completed);
    } catch (...) {
      next->setError(std::current_exception());
      return;
    }
    next->markCompleted(std::move(value));
  });
  return next;
}

IntrusivePtr<Future> Future::thenAsync(std::function<IntrusivePtr<Future>(Future&)> callback) {
  auto next = makeIntrusive<Future>();
  const auto end_as = [next](Future& inner) {
    if (inner.hasError()) {
      next->setError(inner.exception_ptr());
    } else {
      next->markCompleted(inner.value());
    }
  };
  addCallback([next, end_as, callback = std::move(callback)](Future& completed) {
    IntrusivePtr<Future> inner;
    try {
      inner = callback(completed);
      BOXCAR_CHECK(inner, "a callback of thenAsync must return a future, not null");
    } catch (...) {
      next->setError(std::current_exception());
      return;
    }
    inner->addCallback(end_as);
  });
  return next;
}

}  // namespace boxcar
