#include <boxcar/backends/cpu/lapack.h>
#include <boxcar/backends/cpu/openblas/library.h>

#include <algorithm>
#include <complex>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

// LAPACK's Fortran functions: all arguments by address, followed by the lengths of the strings.

namespace boxcar::cpu {
namespace {

template <class T>
constexpr char kPrefix = '?';
template <>
constexpr char kPrefix<float> = 's';
template <>
constexpr char kPrefix<double> = 'd';
template <>
constexpr char kPrefix<std::complex<float>> = 'c';
template <>
constexpr char kPrefix<std::complex<double>> = 'z';

// The functions for one type, by their addresses.
template <class T>
struct Functions {
  void* getrf = find("getrf");
  void* getrs = find("getrs");
  void* potrf = find("potrf");
  void* potrs = find("potrs");
  void* trsm = find("trsm");
  void* geqrf = find("geqrf");
  void* orgqr = find(kIsComplex<T> ? "ungqr" : "orgqr");
  void* syevd = find(kIsComplex<T> ? "heevd" : "syevd");
  void* gesdd = find("gesdd");
  void* ormqr = find(kIsComplex<T> ? "unmqr" : "ormqr");
  void* geev = find("geev");
  void* gels = find("gels");
  void* gelsy = find("gelsy");
  void* gelsd = find("gelsd");
  void* gelss = find("gelss");
  void* sytrf = find("sytrf");
  void* sytrs = find("sytrs");
  void* hetrf = find(kIsComplex<T> ? "hetrf" : "sytrf");
  void* hetrs = find(kIsComplex<T> ? "hetrs" : "sytrs");

  bool areComplete() const {
    return std::ranges::all_of(
        std::initializer_list<void*>{getrf, getrs, potrf, potrs, trsm, geqrf, orgqr, syevd, gesdd, ormqr, geev, gels,
                                     gelsy, gelsd, gelss, sytrf, sytrs, hetrf, hetrs},
        [](void* function) { return function != nullptr; });
  }

  static void* find(const char* name) {
    return openblas::findSymbol((std::string(1, kPrefix<T>) + name + "_").c_str());
  }
};

template <class T>
const Functions<T>& functions() {
  static const Functions<T> functions;
  return functions;
}

// Calls a function whose last argument is an info. If there are [texts], their lengths follow the info.
template <class... Arguments>
int callWithInfo(void* function, size_t texts, Arguments*... arguments) {
  const openblas::Threads threads;
  int info = 0;
  using Plain = void (*)(Arguments * ..., int*);
  using One = void (*)(Arguments * ..., int*, size_t);
  using Two = void (*)(Arguments * ..., int*, size_t, size_t);
  if (texts == 0) reinterpret_cast<Plain>(function)(arguments..., &info);
  if (texts == 1) reinterpret_cast<One>(function)(arguments..., &info, 1);
  if (texts == 2) reinterpret_cast<Two>(function)(arguments..., &info, 1, 1);
  return info;
}

int toInt(int64_t size) { return static_cast<int>(size); }
const char* triangle(bool upper) { return upper ? "U" : "L"; }

// A matrix whose singular values or eigenvectors are computed. OpenBLAS's products of complex matrices and vectors read
// one element past a vector (0.3.21, on every CPU); if the vector is a row, that element is in the column after the
// matrix. Complex matrices are therefore copied to memory with an additional column.
template <class T>
class Padded final {
 public:
  Padded(T* matrix, int rows, int columns) : matrix_(matrix) {
    if (!kIsComplex<T> || matrix == nullptr) return;
    count_ = static_cast<size_t>(rows) * static_cast<size_t>(columns);
    memory_.resize(count_ + static_cast<size_t>(rows));
    std::copy_n(matrix, count_, memory_.data());
  }

  T* data() { return memory_.empty() ? matrix_ : memory_.data(); }
  void copyBack() const { std::copy_n(memory_.data(), count_, matrix_); }

 private:
  T* matrix_;
  size_t count_ = 0;
  std::vector<T> memory_;
};

template <class T>
struct Adapters {
  using Real = RealOf<T>;

  // Returns the workspace length that a function reports in the workspace's first element if called with a length of
  // -1.
  static int lengthOf(const T& wanted) { return std::max(1, static_cast<int>(std::real(wanted))); }

  static int factorLu(int64_t rows, int64_t columns, T* a, int32_t* pivots) {
    const int m = toInt(rows), n = toInt(columns);
    return callWithInfo(functions<T>().getrf, 0, &m, &n, a, &m, pivots);
  }

  static void solveLu(bool transposed, int64_t size, int64_t columns, const T* a, const int32_t* pivots, T* b) {
    const int n = toInt(size), count = toInt(columns);
    callWithInfo(functions<T>().getrs, 1, transposed ? "T" : "N", &n, &count, a, &n, pivots, b, &n);
  }

  static int factorCholesky(bool upper, int64_t size, T* a) {
    const int n = toInt(size);
    return callWithInfo(functions<T>().potrf, 1, triangle(upper), &n, a, &n);
  }

  static void solveCholesky(bool upper, int64_t size, int64_t columns, const T* a, T* b) {
    const int n = toInt(size), count = toInt(columns);
    callWithInfo(functions<T>().potrs, 1, triangle(upper), &n, &count, a, &n, b, &n);
  }

  static void solveTriangular(bool left, bool upper, bool unit, int64_t rows, int64_t columns, const T* a, T* b) {
    using Trsm = void (*)(const char*, const char*, const char*, const char*, const int*, const int*, const T*,
                          const T*, const int*, T*, const int*, size_t, size_t, size_t, size_t);
    const openblas::Threads threads;
    const int m = toInt(rows), n = toInt(columns), order = left ? m : n;
    const T one = 1;
    reinterpret_cast<Trsm>(functions<T>().trsm)(left ? "L" : "R", triangle(upper), "N", unit ? "U" : "N", &m, &n, &one,
                                                a, &order, b, &m, 1, 1, 1, 1);
  }

  static int factorQr(int64_t rows, int64_t columns, T* a, T* tau) {
    const int m = toInt(rows), n = toInt(columns);
    int length = -1;
    T wanted = 0;
    int info = callWithInfo(functions<T>().geqrf, 0, &m, &n, a, &m, tau, &wanted, &length);
    if (info != 0) return info;
    length = lengthOf(wanted);
    std::vector<T> work(static_cast<size_t>(length));
    return callWithInfo(functions<T>().geqrf, 0, &m, &n, a, &m, tau, work.data(), &length);
  }

  static int formQ(int64_t rows, int64_t columns, int64_t reflections, T* a, const T* tau) {
    const int m = toInt(rows), n = toInt(columns), k = toInt(reflections);
    int length = -1;
    T wanted = 0;
    int info = callWithInfo(functions<T>().orgqr, 0, &m, &n, &k, a, &m, tau, &wanted, &length);
    if (info != 0) return info;
    length = lengthOf(wanted);
    std::vector<T> work(static_cast<size_t>(length));
    return callWithInfo(functions<T>().orgqr, 0, &m, &n, &k, a, &m, tau, work.data(), &length);
  }

  static int runEigen(const char* job, const char* uplo, int n, T* a, Real* values, T* work, int length,
                      Real* real_work, int real_length, int* int_work, int int_length) {
    if constexpr (kIsComplex<T>) {
      return callWithInfo(functions<T>().syevd, 2, job, uplo, &n, a, &n, values, work, &length, real_work, &real_length,
                          int_work, &int_length);
    } else {
      return callWithInfo(functions<T>().syevd, 2, job, uplo, &n, a, &n, values, work, &length, int_work, &int_length);
    }
  }

  static int findEigen(bool vectors, bool upper, int64_t size, T* a, Real* values) {
    const int n = toInt(size);
    const char* job = vectors ? "V" : "N";
    T wanted = 0;
    Real real_wanted = 0;
    int int_wanted = 0;
    const int info = runEigen(job, triangle(upper), n, a, values, &wanted, -1, &real_wanted, -1, &int_wanted, -1);
    if (info != 0) return info;
    const int length = lengthOf(wanted);
    std::vector<T> work(static_cast<size_t>(length + n));
    Padded<T> own(a, n, n);
    std::vector<Real> real_work(static_cast<size_t>(std::max(1, static_cast<int>(real_wanted))));
    std::vector<int> int_work(static_cast<size_t>(std::max(1, int_wanted)));
    const int result = runEigen(job, triangle(upper), n, own.data(), values, work.data(), length, real_work.data(),
                                static_cast<int>(real_work.size()), int_work.data(), static_cast<int>(int_work.size()));
    own.copyBack();
    return result;
  }

  static int runSvd(const char* job, int m, int n, T* a, Real* s, T* u, int u_step, T* vh, int vh_step, T* work,
                    int length, Real* real_work, int* int_work) {
    if constexpr (kIsComplex<T>) {
      return callWithInfo(functions<T>().gesdd, 1, job, &m, &n, a, &m, s, u, &u_step, vh, &vh_step, work, &length,
                          real_work, int_work);
    } else {
      return callWithInfo(functions<T>().gesdd, 1, job, &m, &n, a, &m, s, u, &u_step, vh, &vh_step, work, &length,
                          int_work);
    }
  }

  static int findSvd(char what, int64_t rows, int64_t columns, T* a, Real* s, T* u, T* vh) {
    const int m = toInt(rows), n = toInt(columns);
    const size_t least = static_cast<size_t>(std::min(m, n));
    const size_t most = static_cast<size_t>(std::max(m, n));
    const int vh_step = what == 'S' ? static_cast<int>(least) : n;
    const char job[] = {what, '\0'};
    // The size of the real workspace that LAPACK's documentation requires, for either job.
    const size_t real_length =
        what == 'N' ? 7 * least : std::max(5 * least * least + 5 * least, 2 * most * least + 2 * least * least + least);
    std::vector<Real> real_work(kIsComplex<T> ? real_length : 0);
    std::vector<int> int_work(8 * least);
    T wanted = 0;
    const int info = runSvd(job, m, n, a, s, u, m, vh, vh_step, &wanted, -1, real_work.data(), int_work.data());
    if (info != 0) return info;
    const int length = lengthOf(wanted);
    std::vector<T> work(static_cast<size_t>(length) + (kIsComplex<T> ? most : 0));
    const bool alone = what == 'N';
    Padded<T> own_a(a, m, n), own_u(alone ? nullptr : u, m, what == 'A' ? m : vh_step),
        own_vh(alone ? nullptr : vh, vh_step, n);
    const int result = runSvd(job, m, n, own_a.data(), s, own_u.data(), m, own_vh.data(), vh_step, work.data(), length,
                              real_work.data(), int_work.data());
    own_u.copyBack();
    own_vh.copyBack();
    return result;
  }

  // Calls run(work, length) twice: to ask for the length, and with a workspace of it and [more] elements.
  template <class Run>
  static int withWorkspace(int64_t more, Run&& run) {
    T wanted = 0;
    int length = -1;
    const int info = run(&wanted, &length);
    if (info != 0) return info;
    length = lengthOf(wanted);
    std::vector<T> work(static_cast<size_t>(length) + static_cast<size_t>(kIsComplex<T> ? more : 0));
    return run(work.data(), &length);
  }

  static int applyQ(bool left, bool adjoint, int64_t rows, int64_t columns, int64_t reflections, T* a, const T* tau,
                    T* c) {
    const int m = toInt(rows), n = toInt(columns), k = toInt(reflections), order = left ? m : n;
    const char* transposed = !adjoint ? "N" : kIsComplex<T> ? "C" : "T";
    Padded<T> own_a(a, order, k), own_c(c, m, n);
    const int info = withWorkspace(std::max(m, n), [&](T* work, int* length) {
      return callWithInfo(functions<T>().ormqr, 2, left ? "L" : "R", transposed, &m, &n, &k, own_a.data(), &order, tau,
                          own_c.data(), &m, work, length);
    });
    own_c.copyBack();
    return info;
  }

  static int findGeneralEigen(int64_t size, T* a, std::complex<Real>* values, std::complex<Real>* vectors) {
    const int n = toInt(size);
    const auto length = static_cast<size_t>(n);
    const char* job = vectors != nullptr ? "V" : "N";
    if constexpr (kIsComplex<T>) {
      Padded<T> own_a(a, n, n), own_vectors(vectors, n, n);
      std::vector<Real> real_work(2 * length);
      const int info = withWorkspace(n, [&](T* work, int* work_length) {
        return callWithInfo(functions<T>().geev, 2, "N", job, &n, own_a.data(), &n, values, static_cast<T*>(nullptr),
                            &n, own_vectors.data(), &n, work, work_length, real_work.data());
      });
      if (vectors != nullptr) own_vectors.copyBack();
      return info;
    } else {
      std::vector<Real> reals(length), imaginaries(length), right(vectors != nullptr ? length * length : 1);
      const int info = withWorkspace(0, [&](T* work, int* work_length) {
        return callWithInfo(functions<T>().geev, 2, "N", job, &n, a, &n, reals.data(), imaginaries.data(),
                            static_cast<T*>(nullptr), &n, right.data(), &n, work, work_length);
      });
      for (size_t i = 0; i < length; ++i) values[i] = {reals[i], imaginaries[i]};
      if (vectors != nullptr) pairColumns(length, imaginaries.data(), right.data(), vectors);
      return info;
    }
  }
  // Of a pair of conjugate eigenvectors, LAPACK returns the real and the imaginary part of the first.
  static void pairColumns(size_t n, const Real* imaginaries, const Real* right, std::complex<Real>* vectors) {
    for (size_t j = 0; j < n; ++j) {
      const bool is_pair = imaginaries[j] != 0 && j + 1 < n;
      for (size_t i = 0; i < n; ++i) {
        const Real real = right[i + j * n];
        const Real imaginary = is_pair ? right[i + (j + 1) * n] : Real(0);
        vectors[i + j * n] = {real, imaginary};
        if (is_pair) vectors[i + (j + 1) * n] = {real, -imaginary};
      }
      if (is_pair) ++j;
    }
  }

  static int solveLeastSquares(LeastSquares method, int64_t rows, int64_t columns, int64_t right_sides, Real rcond,
                               T* a, T* b, Real* s, int64_t* rank) {
    const int m = toInt(rows), n = toInt(columns), count = toInt(right_sides);
    const int most = std::max(m, n);
    Padded<T> own_a(a, m, n), own_b(b, most, count);
    T* const left = own_a.data();
    T* const right = own_b.data();
    const Functions<T>& f = functions<T>();
    // Enough for the functions that do not tell.
    std::vector<Real> real_work(kIsComplex<T> ? static_cast<size_t>(5 * most) : 0);
    std::vector<int> int_work(static_cast<size_t>(n));
    int found = 0;
    const int info = withWorkspace(most, [&](T* work, int* length) {
      if (method == LeastSquares::kGels) {
        return callWithInfo(f.gels, 1, "N", &m, &n, &count, left, &m, right, &most, work, length);
      }
      const auto call = [&](void* function, auto*... more) {
        return callWithInfo(function, 0, &m, &n, &count, left, &m, right, &most, more...);
      };
      const auto callReal = [&](void* function, auto* values) {
        if constexpr (kIsComplex<T>) {
          return call(function, values, &rcond, &found, work, length, real_work.data());
        } else {
          return call(function, values, &rcond, &found, work, length);
        }
      };
      if (method == LeastSquares::kGelsy) return callReal(f.gelsy, int_work.data());
      if (method == LeastSquares::kGelss) return callReal(f.gelss, s);
      const bool asks = *length == -1;
      Real real_wanted = 0;
      int int_wanted = 0;
      int* const own_int_work = asks ? &int_wanted : int_work.data();
      int result;
      if constexpr (kIsComplex<T>) {
        Real* const own_real_work = asks ? &real_wanted : real_work.data();
        result = call(f.gelsd, s, &rcond, &found, work, length, own_real_work, own_int_work);
      } else {
        result = call(f.gelsd, s, &rcond, &found, work, length, own_int_work);
      }
      if (asks) {
        real_work.resize(static_cast<size_t>(std::max(Real(1), real_wanted)));
        int_work.resize(static_cast<size_t>(std::max(1, int_wanted)));
      }
      return result;
    });
    own_b.copyBack();
    if (method != LeastSquares::kGels) *rank = found;
    return info;
  }

  static int factorLdl(bool hermitian, int64_t size, T* a, int32_t* pivots) {
    const int n = toInt(size);
    Padded<T> own(a, n, n);
    void* const function = hermitian ? functions<T>().hetrf : functions<T>().sytrf;
    const int info = withWorkspace(n, [&](T* work, int* length) {
      return callWithInfo(function, 1, "L", &n, own.data(), &n, pivots, work, length);
    });
    own.copyBack();
    return info;
  }

  static void solveLdl(bool hermitian, int64_t size, int64_t columns, T* a, const int32_t* pivots, T* b) {
    const int n = toInt(size), count = toInt(columns);
    Padded<T> own_a(a, n, n), own_b(b, n, count);
    callWithInfo(hermitian ? functions<T>().hetrs : functions<T>().sytrs, 1, "L", &n, &count, own_a.data(), &n, pivots,
                 own_b.data(), &n);
    own_b.copyBack();
  }

  static constexpr Lapack<T> kLapack = {
      factorLu,  solveLu, factorCholesky, solveCholesky,    solveTriangular,   factorQr,  formQ,
      findEigen, findSvd, applyQ,         findGeneralEigen, solveLeastSquares, factorLdl, solveLdl};
};

}  // namespace

template <class T>
const Lapack<T>* openBlasLapack() {
  return functions<T>().areComplete() ? &Adapters<T>::kLapack : nullptr;
}

template const Lapack<float>* openBlasLapack();
template const Lapack<double>* openBlasLapack();
template const Lapack<std::complex<float>>* openBlasLapack();
template const Lapack<std::complex<double>>* openBlasLapack();

}  // namespace boxcar::cpu
