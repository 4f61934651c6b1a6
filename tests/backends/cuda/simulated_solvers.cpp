// cuSOLVER and cuBLAS of the simulated device, implemented by the CPU's solvers.

#include <boxcar/backends/cpu/lapack.h>
#include <boxcar/backends/cuda/module/parts.h>
#include <boxcar/backends/cuda/simulated_launch.h>
#include <boxcar/backends/cuda/solvers.h>

#include <algorithm>
#include <vector>

namespace boxcar::cuda {
namespace {

template <class T>
T* matrixAt(const MatrixBatch& a, int64_t i) {
  return static_cast<T*>(a.data) + i * a.rows * a.columns;
}
int64_t leastOf(const MatrixBatch& a) { return std::min(a.rows, a.columns); }

// Runs body(LAPACK for T, i) for each matrix of [a].
template <class Body>
void enqueueForEach(const MatrixBatch& a, const Body& body) {
  enqueueSimulated([=] {
    visitScalarType(kSolverTypes, a.type, a.op, [&]<class T>(std::type_identity<T>) {
      for (int64_t i = 0; i < a.count; ++i) body(cpu::lapack<T>(), std::type_identity<T>(), i);
    });
  });
}

void factorLu(const MatrixBatch& a, int32_t* pivots, int32_t* info) {
  enqueueForEach(a, [=]<class T>(const cpu::Lapack<T>& lapack, std::type_identity<T>, int64_t i) {
    info[i] = lapack.factorLu(a.rows, a.columns, matrixAt<T>(a, i), pivots + i * leastOf(a));
  });
}

void solveLu(bool transposed, const MatrixBatch& a, const int32_t* pivots, const MatrixBatch& b) {
  enqueueForEach(a, [=]<class T>(const cpu::Lapack<T>& lapack, std::type_identity<T>, int64_t i) {
    lapack.solveLu(transposed, a.rows, b.columns, matrixAt<T>(a, i), pivots + i * a.rows, matrixAt<T>(b, i));
  });
}

void factorCholesky(bool upper, const MatrixBatch& a, int32_t* info) {
  enqueueForEach(a, [=]<class T>(const cpu::Lapack<T>& lapack, std::type_identity<T>, int64_t i) {
    info[i] = lapack.factorCholesky(upper, a.rows, matrixAt<T>(a, i));
  });
}

void solveCholesky(bool upper, const MatrixBatch& a, const MatrixBatch& b) {
  enqueueForEach(a, [=]<class T>(const cpu::Lapack<T>& lapack, std::type_identity<T>, int64_t i) {
    lapack.solveCholesky(upper, a.rows, b.columns, matrixAt<T>(a, i), matrixAt<T>(b, i));
  });
}

void solveTriangular(bool left, bool upper, bool unit, const MatrixBatch& a, const MatrixBatch& b) {
  enqueueForEach(a, [=]<class T>(const cpu::Lapack<T>& lapack, std::type_identity<T>, int64_t i) {
    lapack.solveTriangular(left, upper, unit, b.rows, b.columns, matrixAt<T>(a, i), matrixAt<T>(b, i));
  });
}

void factorQr(const MatrixBatch& a, void* tau) {
  enqueueForEach(a, [=]<class T>(const cpu::Lapack<T>& lapack, std::type_identity<T>, int64_t i) {
    lapack.factorQr(a.rows, a.columns, matrixAt<T>(a, i), static_cast<T*>(tau) + i * leastOf(a));
  });
}

void formQ(const MatrixBatch& a, int64_t reflections, const void* tau) {
  enqueueForEach(a, [=]<class T>(const cpu::Lapack<T>& lapack, std::type_identity<T>, int64_t i) {
    lapack.formQ(a.rows, a.columns, reflections, matrixAt<T>(a, i), static_cast<const T*>(tau) + i * reflections);
  });
}

void findEigen(bool vectors, bool upper, const MatrixBatch& a, void* values, int32_t* info) {
  enqueueForEach(a, [=]<class T>(const cpu::Lapack<T>& lapack, std::type_identity<T>, int64_t i) {
    using Real = typename cpu::Lapack<T>::Real;
    info[i] = lapack.findEigen(vectors, upper, a.rows, matrixAt<T>(a, i), static_cast<Real*>(values) + i * a.rows);
  });
}

// LAPACK returns V^H; V is its conjugate transpose.
template <class T>
void turn(const std::vector<T>& vh, int64_t rows, int64_t columns, T* v) {
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      const T element = vh[static_cast<size_t>(i + j * rows)];
      if constexpr (functors::kIsComplex<T>) {
        v[j + i * columns] = std::conj(element);
      } else {
        v[j + i * columns] = element;
      }
    }
  }
}

void findSvd(char what, const MatrixBatch& a, void* s, void* u, void* v, int32_t* info) {
  enqueueForEach(a, [=]<class T>(const cpu::Lapack<T>& lapack, std::type_identity<T>, int64_t i) {
    using Real = typename cpu::Lapack<T>::Real;
    const int64_t k = leastOf(a);
    const int64_t u_columns = what == 'S' ? k : a.rows;
    const int64_t vh_rows = what == 'S' ? k : a.columns;
    std::vector<T> vh(static_cast<size_t>(vh_rows * a.columns));
    info[i] = lapack.findSvd(what, a.rows, a.columns, matrixAt<T>(a, i), static_cast<Real*>(s) + i * k,
                             u == nullptr ? nullptr : static_cast<T*>(u) + i * a.rows * u_columns, vh.data());
    if (v != nullptr) turn(vh, vh_rows, a.columns, static_cast<T*>(v) + i * vh_rows * a.columns);
  });
}

}  // namespace

const SolverFunctions& librarySolvers() {
  static constexpr SolverFunctions kFunctions = {factorLu, solveLu, factorCholesky, solveCholesky, solveTriangular,
                                                 factorQr, formQ,   findEigen,      findSvd};
  return kFunctions;
}

}  // namespace boxcar::cuda
