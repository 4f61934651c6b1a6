#include <boxcar/backends/cuda/kernels/launch.h>
#include <boxcar/backends/cuda/module/parts.h>
#include <boxcar/backends/functors/arithmetic.h>

namespace boxcar::cuda {
namespace {

constexpr int kThreads = 256;

// One thread per element. Integer products are rare, and no library has them.
template <class T>
struct Multiply {
  int64_t m, n, k, batch;
  MatrixOperand a, b, c;
  T alpha, beta;

  BOXCAR_HOST_DEVICE void operator()(int64_t block, int thread) const {
    const int64_t number = block * kThreads + thread;
    if (number >= batch * m * n) return;
    const int64_t which = number / (m * n);
    const int64_t row = number / n % m;
    const int64_t column = number % n;
    const T* left = static_cast<const T*>(a.data) + which * a.batch_step + row * a.row_step;
    const T* right = static_cast<const T*>(b.data) + which * b.batch_step + column * b.column_step;
    T sum = 0;
    for (int64_t i = 0; i < k; ++i) {
      sum = functors::addElements(sum, functors::multiplyElements(left[i * a.column_step], right[i * b.row_step]));
    }
    T& target = static_cast<T*>(c.data)[which * c.batch_step + row * c.row_step + column * c.column_step];
    const T scaled = functors::multiplyElements(alpha, sum);
    target = beta == T(0) ? scaled : functors::addElements(functors::multiplyElements(beta, target), scaled);
  }
};

}  // namespace

void multiplyIntegers(const GemmCall& call) {
  visitScalarType(kIntegralTypes, call.type, "mm", [&]<class T>(std::type_identity<T>) {
    const Multiply<T> kernel{call.m,           call.n, call.k, call.batch, call.a, call.b, call.c, call.alpha.to<T>(),
                             call.beta.to<T>()};
    launchGrid<kThreads>(blocksFor(call.batch * call.m * call.n, kThreads), kernel);
  });
}

}  // namespace boxcar::cuda
