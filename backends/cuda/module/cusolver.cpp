#include <boxcar/backends/cuda/device.h>
#include <boxcar/backends/cuda/matrix_kernels.h>
#include <boxcar/backends/cuda/module/parts.h>
#include <boxcar/backends/cuda/shared_library.h>
#include <boxcar/backends/cuda/solvers.h>
#include <boxcar/backends/cuda/status.h>
#include <boxcar/backends/cuda/stream.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/tensor.h>
#include <cublas_v2.h>
#include <cusolverDn.h>

#include <algorithm>
#include <array>
#include <mutex>

namespace boxcar::cuda {
namespace {

SharedLibrary& solverLibrary() {
  static SharedLibrary& opened =
      *new SharedLibrary("cuSOLVER", {"libcusolver.so.12", "libcusolver.so.11", "libcusolver.so"});
  return opened;
}
SharedLibrary& blasLibrary() {
  static SharedLibrary& opened = *new SharedLibrary("cuBLAS", {"libcublas.so.13", "libcublas.so.12", "libcublas.so"});
  return opened;
}

#define BOXCAR_SOLVER(name) \
  decltype(&::cusolverDn##name) name = solverLibrary().function<decltype(::cusolverDn##name)>("cusolverDn" #name, op);

// The functions that all types share. [op] is the first operator that needs the library.
struct Common {
  std::string_view op;
  BOXCAR_SOLVER(Create)
  BOXCAR_SOLVER(SetStream)
  BOXCAR_SOLVER(CreateGesvdjInfo)
  BOXCAR_SOLVER(DestroyGesvdjInfo)
};
const Common& common(std::string_view op) {
  static const Common functions{op};
  return functions;
}

#undef BOXCAR_SOLVER

// The functions for elements of T, which the libraries call Element.
template <class T>
struct Functions;

#define BOXCAR_SOLVER(member, name) \
  decltype(&::cusolverDn##name) member = solverLibrary().function<decltype(::cusolverDn##name)>("cusolverDn" #name, op);
#define BOXCAR_SIZED_SOLVER(member, name) BOXCAR_SOLVER(member##_size, name##_bufferSize) BOXCAR_SOLVER(member, name)
#define BOXCAR_SOLVERS_OF(T, Number, RealNumber, S, Q, E) \
  template <>                                             \
  struct Functions<T> {                                   \
    using Element = Number;                               \
    using Real = RealNumber;                              \
    std::string_view op;                                  \
    BOXCAR_SIZED_SOLVER(getrf, S##getrf)                  \
    BOXCAR_SOLVER(getrs, S##getrs)                        \
    BOXCAR_SIZED_SOLVER(potrf, S##potrf)                  \
    BOXCAR_SOLVER(potrf_batched, S##potrfBatched)         \
    BOXCAR_SOLVER(potrs, S##potrs)                        \
    BOXCAR_SIZED_SOLVER(geqrf, S##geqrf)                  \
    BOXCAR_SIZED_SOLVER(orgqr, Q)                         \
    BOXCAR_SIZED_SOLVER(syevd, E)                         \
    BOXCAR_SIZED_SOLVER(gesvdj, S##gesvdj)                \
  };
BOXCAR_SOLVERS_OF(float, float, float, S, Sorgqr, Ssyevd)
BOXCAR_SOLVERS_OF(double, double, double, D, Dorgqr, Dsyevd)
BOXCAR_SOLVERS_OF(std::complex<float>, cuComplex, float, C, Cungqr, Cheevd)
BOXCAR_SOLVERS_OF(std::complex<double>, cuDoubleComplex, double, Z, Zungqr, Zheevd)
#undef BOXCAR_SOLVERS_OF
#undef BOXCAR_SIZED_SOLVER
#undef BOXCAR_SOLVER

template <class T>
const Functions<T>& functions(std::string_view op) {
  static const Functions<T> found{op};
  return found;
}

#define BOXCAR_BLAS(member, name) decltype(&::name) member = blasLibrary().function<decltype(::name)>(#name, op);

struct CommonBlas {
  std::string_view op;
  BOXCAR_BLAS(create, cublasCreate_v2)
  BOXCAR_BLAS(set_stream, cublasSetStream_v2)
};
const CommonBlas& commonBlas(std::string_view op) {
  static const CommonBlas functions{op};
  return functions;
}

template <class T>
struct BlasFunctions;

#define BOXCAR_BLAS_OF(T, Number, S)                    \
  template <>                                           \
  struct BlasFunctions<T> {                             \
    using Element = Number;                             \
    using Type = T;                                     \
    std::string_view op;                                \
    BOXCAR_BLAS(trsm, cublas##S##trsm_v2)               \
    BOXCAR_BLAS(trsm_batched, cublas##S##trsmBatched)   \
    BOXCAR_BLAS(getrf_batched, cublas##S##getrfBatched) \
    BOXCAR_BLAS(getrs_batched, cublas##S##getrsBatched) \
  };
BOXCAR_BLAS_OF(float, float, S)
BOXCAR_BLAS_OF(double, double, D)
BOXCAR_BLAS_OF(std::complex<float>, cuComplex, C)
BOXCAR_BLAS_OF(std::complex<double>, cuDoubleComplex, Z)
#undef BOXCAR_BLAS_OF
#undef BOXCAR_BLAS

template <class T>
const BlasFunctions<T>& blasFunctions(std::string_view op) {
  static const BlasFunctions<T> found{op};
  return found;
}

void checkSolver(cusolverStatus_t status, std::string_view op) {
  BOXCAR_CHECK(status == CUSOLVER_STATUS_SUCCESS, "{}: cuSOLVER failed with status {}", op, static_cast<int>(status));
}
void checkBlas(cublasStatus_t status, std::string_view op) {
  BOXCAR_CHECK(status == CUBLAS_STATUS_SUCCESS, "{}: cuBLAS failed with status {}", op, static_cast<int>(status));
}

cudaStream_t stream() { return static_cast<cudaStream_t>(currentStream().handle); }

// A library handle for the current device and stream, which only one thread uses at a time. There is one per device,
// for the lifetime of the process.
class SolverHandle final {
 public:
  explicit SolverHandle(std::string_view op) : lock_(mutex()) {
    static std::array<cusolverDnHandle_t, kMaxDevices> handles{};
    handle_ = &handles[static_cast<size_t>(currentDevice())];
    if (*handle_ == nullptr) checkSolver(common(op).Create(handle_), op);
    checkSolver(common(op).SetStream(*handle_, stream()), op);
  }
  operator cusolverDnHandle_t() const { return *handle_; }

 private:
  static std::mutex& mutex() {
    static std::mutex the;
    return the;
  }

  std::lock_guard<std::mutex> lock_;
  cusolverDnHandle_t* handle_ = nullptr;
};

class BlasHandle final {
 public:
  explicit BlasHandle(std::string_view op) : lock_(mutex()) {
    static std::array<cublasHandle_t, kMaxDevices> handles{};
    handle_ = &handles[static_cast<size_t>(currentDevice())];
    if (*handle_ == nullptr) checkBlas(commonBlas(op).create(handle_), op);
    checkBlas(commonBlas(op).set_stream(*handle_, stream()), op);
  }
  operator cublasHandle_t() const { return *handle_; }

 private:
  static std::mutex& mutex() {
    static std::mutex the;
    return the;
  }

  std::lock_guard<std::mutex> lock_;
  cublasHandle_t* handle_ = nullptr;
};

// Device memory for [count] elements. Afterwards the allocator reuses it for later work on the same stream.
template <class Element>
class Workspace final {
 public:
  explicit Workspace(int64_t count) {
    const int64_t bytes = std::max<int64_t>(1, count) * static_cast<int64_t>(sizeof(Element));
    memory_ = Tensor::allocate({&bytes, 1}, ScalarType::Byte,
                               Device(DeviceType::CUDA, static_cast<DeviceIndex>(currentDevice())));
  }
  operator Element*() const { return static_cast<Element*>(memory_.data_ptr()); }

 private:
  Tensor memory_;
};

int toInt(int64_t size) { return static_cast<int>(size); }
int rowsOf(const MatrixBatch& a) { return toInt(a.rows); }
int columnsOf(const MatrixBatch& a) { return toInt(a.columns); }
int leastOf(const MatrixBatch& a) { return toInt(std::min(a.rows, a.columns)); }

template <class Element>
Element* matrixAt(const MatrixBatch& a, int64_t i) {
  return static_cast<Element*>(a.data) + i * a.rows * a.columns;
}
template <class Element, class Address>
auto vectorAt(Address* vectors, int64_t i, int64_t length) {
  using Pointer = std::conditional_t<std::is_const_v<Address>, const Element*, Element*>;
  return static_cast<Pointer>(vectors) + i * length;
}

cublasFillMode_t triangleOf(bool upper) { return upper ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER; }

// Calls body(functions, handle) with the functions for the type of [a].
template <class Body>
void withSolver(const MatrixBatch& a, const Body& body) {
  visitScalarType(kSolverTypes, a.type, a.op, [&]<class T>(std::type_identity<T>) {
    const Functions<T>& f = functions<T>(a.op);
    const SolverHandle handle(a.op);
    body(f, handle);
  });
  checkLaunch();
}

template <class Body>
void withBlas(const MatrixBatch& a, const Body& body) {
  visitScalarType(kSolverTypes, a.type, a.op, [&]<class T>(std::type_identity<T>) {
    const BlasFunctions<T>& f = blasFunctions<T>(a.op);
    const BlasHandle handle(a.op);
    body(f, handle);
  });
  checkLaunch();
}

template <class F>
using ElementOf = typename std::remove_cvref_t<F>::Element;
template <class F>
using RealOf = typename std::remove_cvref_t<F>::Real;

// Whether to process the batch with one kernel. That is done for several small matrices, because one alone leaves most
// of a device idle; large ones are processed one by one.
bool goesTogether(const MatrixBatch& a) {
  constexpr int64_t kLargest = 128;
  return a.count > 1 && a.count <= INT32_MAX && a.rows <= kLargest && a.columns <= kLargest;
}

// The addresses of a batch's matrices, in device memory.
template <class Element>
class Addresses final {
 public:
  explicit Addresses(const MatrixBatch& a) : memory_(a.count) {
    const auto bytes = a.rows * a.columns * static_cast<int64_t>(sizeof(Element));
    launchSequence(static_cast<int64_t*>(memory_), ScalarType::Long, a.count,
                   {native::Sequence::kSteps, Scalar(static_cast<int64_t>(reinterpret_cast<intptr_t>(a.data))),
                    Scalar(bytes), a.count, 0});
  }
  operator Element**() const { return reinterpret_cast<Element**>(static_cast<int64_t*>(memory_)); }

 private:
  static_assert(sizeof(Element*) == sizeof(int64_t));
  Workspace<int64_t> memory_;
};

void factorLuTogether(const MatrixBatch& a, int32_t* pivots, int32_t* info) {
  withBlas(a, [&](const auto& f, cublasHandle_t handle) {
    const Addresses<ElementOf<decltype(f)>> addresses(a);
    checkBlas(f.getrf_batched(handle, rowsOf(a), addresses, rowsOf(a), pivots, info, toInt(a.count)), a.op);
  });
}

void solveLuTogether(bool transposed, const MatrixBatch& a, const int32_t* pivots, const MatrixBatch& b) {
  withBlas(a, [&](const auto& f, cublasHandle_t handle) {
    const Addresses<ElementOf<decltype(f)>> factors(a);
    const Addresses<ElementOf<decltype(f)>> right_sides(b);
    int wrong_argument = 0;
    checkBlas(f.getrs_batched(handle, transposed ? CUBLAS_OP_T : CUBLAS_OP_N, rowsOf(a), columnsOf(b), factors,
                              rowsOf(a), pivots, right_sides, rowsOf(a), &wrong_argument, toInt(a.count)),
              a.op);
  });
}

void factorLu(const MatrixBatch& a, int32_t* pivots, int32_t* info) {
  if (a.rows == a.columns && goesTogether(a)) return factorLuTogether(a, pivots, info);
  withSolver(a, [&](const auto& f, cusolverDnHandle_t handle) {
    using Element = ElementOf<decltype(f)>;
    const int m = rowsOf(a);
    const int n = columnsOf(a);
    int length = 0;
    checkSolver(f.getrf_size(handle, m, n, matrixAt<Element>(a, 0), m, &length), a.op);
    const Workspace<Element> work(length);
    for (int64_t i = 0; i < a.count; ++i) {
      checkSolver(f.getrf(handle, m, n, matrixAt<Element>(a, i), m, work, pivots + i * std::min(m, n), info + i), a.op);
    }
  });
}

void solveLu(bool transposed, const MatrixBatch& a, const int32_t* pivots, const MatrixBatch& b) {
  if (goesTogether(a) && goesTogether(b)) return solveLuTogether(transposed, a, pivots, b);
  withSolver(a, [&](const auto& f, cusolverDnHandle_t handle) {
    using Element = ElementOf<decltype(f)>;
    const int n = rowsOf(a);
    const Workspace<int> info(1);
    for (int64_t i = 0; i < a.count; ++i) {
      checkSolver(f.getrs(handle, transposed ? CUBLAS_OP_T : CUBLAS_OP_N, n, columnsOf(b), matrixAt<Element>(a, i), n,
                          pivots + i * n, matrixAt<Element>(b, i), n, info),
                  a.op);
    }
  });
}

void factorCholesky(bool upper, const MatrixBatch& a, int32_t* info) {
  withSolver(a, [&](const auto& f, cusolverDnHandle_t handle) {
    using Element = ElementOf<decltype(f)>;
    const int n = rowsOf(a);
    if (goesTogether(a)) {
      const Addresses<Element> addresses(a);
      return checkSolver(f.potrf_batched(handle, triangleOf(upper), n, addresses, n, info, toInt(a.count)), a.op);
    }
    int length = 0;
    checkSolver(f.potrf_size(handle, triangleOf(upper), n, matrixAt<Element>(a, 0), n, &length), a.op);
    const Workspace<Element> work(length);
    for (int64_t i = 0; i < a.count; ++i) {
      checkSolver(f.potrf(handle, triangleOf(upper), n, matrixAt<Element>(a, i), n, work, length, info + i), a.op);
    }
  });
}

void solveCholesky(bool upper, const MatrixBatch& a, const MatrixBatch& b) {
  withSolver(a, [&](const auto& f, cusolverDnHandle_t handle) {
    using Element = ElementOf<decltype(f)>;
    const int n = rowsOf(a);
    const Workspace<int> info(1);
    for (int64_t i = 0; i < a.count; ++i) {
      checkSolver(f.potrs(handle, triangleOf(upper), n, columnsOf(b), matrixAt<Element>(a, i), n,
                          matrixAt<Element>(b, i), n, info),
                  a.op);
    }
  });
}

void solveTriangular(bool left, bool upper, bool unit, const MatrixBatch& a, const MatrixBatch& b) {
  const cublasSideMode_t side = left ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT;
  const cublasDiagType_t diagonal = unit ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT;
  const int order = rowsOf(a);
  const int m = rowsOf(b);
  const int n = columnsOf(b);
  withBlas(a, [&](const auto& f, cublasHandle_t handle) {
    using Element = ElementOf<decltype(f)>;
    const typename std::remove_cvref_t<decltype(f)>::Type number(1);
    const auto* const one = reinterpret_cast<const Element*>(&number);
    if (goesTogether(a) && goesTogether(b)) {
      const Addresses<Element> triangles(a);
      const Addresses<Element> right_sides(b);
      return checkBlas(f.trsm_batched(handle, side, triangleOf(upper), CUBLAS_OP_N, diagonal, m, n, one, triangles,
                                      order, right_sides, m, toInt(a.count)),
                       a.op);
    }
    for (int64_t i = 0; i < a.count; ++i) {
      checkBlas(f.trsm(handle, side, triangleOf(upper), CUBLAS_OP_N, diagonal, m, n, one, matrixAt<Element>(a, i),
                       order, matrixAt<Element>(b, i), m),
                a.op);
    }
  });
}

void factorQr(const MatrixBatch& a, void* tau) {
  withSolver(a, [&](const auto& f, cusolverDnHandle_t handle) {
    using Element = ElementOf<decltype(f)>;
    const int m = rowsOf(a);
    const int n = columnsOf(a);
    int length = 0;
    checkSolver(f.geqrf_size(handle, m, n, matrixAt<Element>(a, 0), m, &length), a.op);
    const Workspace<Element> work(length);
    const Workspace<int> info(1);
    for (int64_t i = 0; i < a.count; ++i) {
      checkSolver(
          f.geqrf(handle, m, n, matrixAt<Element>(a, i), m, vectorAt<Element>(tau, i, leastOf(a)), work, length, info),
          a.op);
    }
  });
}

void formQ(const MatrixBatch& a, int64_t reflections, const void* tau) {
  withSolver(a, [&](const auto& f, cusolverDnHandle_t handle) {
    using Element = ElementOf<decltype(f)>;
    const int m = rowsOf(a);
    const int n = columnsOf(a);
    const int k = toInt(reflections);
    int length = 0;
    checkSolver(f.orgqr_size(handle, m, n, k, matrixAt<Element>(a, 0), m, vectorAt<Element>(tau, 0, k), &length), a.op);
    const Workspace<Element> work(length);
    const Workspace<int> info(1);
    for (int64_t i = 0; i < a.count; ++i) {
      checkSolver(
          f.orgqr(handle, m, n, k, matrixAt<Element>(a, i), m, vectorAt<Element>(tau, i, k), work, length, info), a.op);
    }
  });
}

void findEigen(bool vectors, bool upper, const MatrixBatch& a, void* values, int32_t* info) {
  const cusolverEigMode_t job = vectors ? CUSOLVER_EIG_MODE_VECTOR : CUSOLVER_EIG_MODE_NOVECTOR;
  withSolver(a, [&](const auto& f, cusolverDnHandle_t handle) {
    using Element = ElementOf<decltype(f)>;
    using Real = RealOf<decltype(f)>;
    const int n = rowsOf(a);
    int length = 0;
    checkSolver(f.syevd_size(handle, job, triangleOf(upper), n, matrixAt<Element>(a, 0), n,
                             vectorAt<Real>(values, 0, n), &length),
                a.op);
    const Workspace<Element> work(length);
    for (int64_t i = 0; i < a.count; ++i) {
      checkSolver(f.syevd(handle, job, triangleOf(upper), n, matrixAt<Element>(a, i), n, vectorAt<Real>(values, i, n),
                          work, length, info + i),
                  a.op);
    }
  });
}

// The parameters of Jacobi's method, left at the library's defaults.
struct JacobiChoices {
  explicit JacobiChoices(std::string_view by) : op(by) { checkSolver(common(op).CreateGesvdjInfo(&choices), op); }
  ~JacobiChoices() { common(op).DestroyGesvdjInfo(choices); }
  JacobiChoices(const JacobiChoices&) = delete;
  JacobiChoices& operator=(const JacobiChoices&) = delete;

  std::string_view op;
  gesvdjInfo_t choices = nullptr;
};

void findSvd(char what, const MatrixBatch& a, void* s, void* u, void* v, int32_t* info) {
  const cusolverEigMode_t job = what == 'N' ? CUSOLVER_EIG_MODE_NOVECTOR : CUSOLVER_EIG_MODE_VECTOR;
  const int is_short = what == 'A' ? 0 : 1;
  withSolver(a, [&](const auto& f, cusolverDnHandle_t handle) {
    using Element = ElementOf<decltype(f)>;
    using Real = RealOf<decltype(f)>;
    const int m = rowsOf(a);
    const int n = columnsOf(a);
    const int k = leastOf(a);
    const int64_t u_size = int64_t{m} * (what == 'A' ? m : k);
    const int64_t v_size = int64_t{n} * (what == 'A' ? n : k);
    // Without vectors, cuSOLVER still writes to their memory, unlike its manual says.
    const Workspace<Element> unused_u(u == nullptr ? u_size : 0);
    const Workspace<Element> unused_v(v == nullptr ? v_size : 0);
    const auto uOf = [&](int64_t i) -> Element* { return u == nullptr ? unused_u : vectorAt<Element>(u, i, u_size); };
    const auto vOf = [&](int64_t i) -> Element* { return v == nullptr ? unused_v : vectorAt<Element>(v, i, v_size); };
    const JacobiChoices jacobi(a.op);
    int length = 0;
    checkSolver(f.gesvdj_size(handle, job, is_short, m, n, matrixAt<Element>(a, 0), m, vectorAt<Real>(s, 0, k), uOf(0),
                              m, vOf(0), n, &length, jacobi.choices),
                a.op);
    const Workspace<Element> work(length);
    for (int64_t i = 0; i < a.count; ++i) {
      checkSolver(f.gesvdj(handle, job, is_short, m, n, matrixAt<Element>(a, i), m, vectorAt<Real>(s, i, k), uOf(i), m,
                           vOf(i), n, work, length, info + i, jacobi.choices),
                  a.op);
    }
  });
}

}  // namespace

const SolverFunctions& librarySolvers() {
  static constexpr SolverFunctions kFunctions = {
      .factor_lu = factorLu,
      .solve_lu = solveLu,
      .factor_cholesky = factorCholesky,
      .solve_cholesky = solveCholesky,
      .solve_triangular = solveTriangular,
      .factor_qr = factorQr,
      .form_q = formQ,
      .find_eigen = findEigen,
      .find_svd = findSvd,
  };
  return kFunctions;
}

}  // namespace boxcar::cuda
