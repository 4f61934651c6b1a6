#include <boxcar/backends/functors/pointwise_products.h>
#include <boxcar/backends/meta/broadcast.h>
#include <boxcar/backends/meta/matrices.h>
#include <boxcar/backends/native/copy.h>
#include <boxcar/backends/native/memory_checks.h>
#include <boxcar/backends/native/pointwise.h>
#include <boxcar/backends/native/products.h>
#include <boxcar/backends/native/registration.h>
#include <boxcar/backends/native/write_out.h>
#include <boxcar/ivalue/resolved_tensor.h>
#include <boxcar/ops.h>

#include <array>

// Products with vectors, as matrices of one column or one row.

namespace boxcar::native {
namespace {

Tensor asColumn(const Tensor& vector) {
  const int64_t sizes[] = {vector.numel(), 1};
  const int64_t strides[] = {vector.strides()[0], 1};
  return vector.view(sizes, strides, vector.storage_offset());
}
Tensor asRow(const Tensor& vector) {
  const int64_t sizes[] = {1, vector.numel()};
  const int64_t strides[] = {1, vector.strides()[0]};
  return vector.view(sizes, strides, vector.storage_offset());
}

struct MatrixByVector {
  const Tensor& mat;
  const Tensor& vec;
  Device device;
  int64_t rows = mat.sizes()[0];

  ContiguousResult result() const { return {{&rows, 1}, mat.scalar_type(), device}; }
  void fill(const Tensor& out, const Scalar& beta, const Scalar& alpha) const {
    multiplyInto(asColumn(out), mat, asColumn(vec), alpha, beta);
  }
};

MatrixByVector checkedMv(const Tensor& self, const Tensor& vec) {
  const Device device = commonDevice({&self, &vec});
  meta::checkMv(self, vec);
  return {self, vec, device};
}
Tensor mv(const Tensor& self, const Tensor& vec) {
  const MatrixByVector product = checkedMv(self, vec);
  return product.result().make([&](const Tensor& out) { product.fill(out, 0, 1); });
}
Tensor& mvOut(const Tensor& self, const Tensor& vec, Tensor& out) {
  const MatrixByVector product = checkedMv(self, vec);
  return product.result().write(out, {&self, &vec}, [&](const Tensor& target) { product.fill(target, 0, 1); });
}

MatrixByVector checkedAddmv(const Tensor& self, const Tensor& mat, const Tensor& vec) {
  const Device device = commonDevice({&self, &mat, &vec});
  meta::checkAddmv(self, mat, vec);
  return {mat, vec, device};
}
void fillAddmv(const Tensor& out, const Tensor& self, const MatrixByVector& product, const Scalar& beta,
               const Scalar& alpha) {
  if (beta != Scalar(0) && !out.is_same(self)) copyElements(out, meta::expandTo(self, out.sizes()));
  product.fill(out, beta, alpha);
}
Tensor addmv(const Tensor& self, const Tensor& mat, const Tensor& vec, const Scalar& beta, const Scalar& alpha) {
  const MatrixByVector product = checkedAddmv(self, mat, vec);
  return product.result().make([&](const Tensor& out) { fillAddmv(out, self, product, beta, alpha); });
}
Tensor& addmvOut(const Tensor& self, const Tensor& mat, const Tensor& vec, const Scalar& beta, const Scalar& alpha,
                 Tensor& out) {
  const MatrixByVector product = checkedAddmv(self, mat, vec);
  return product.result().write(out, {&self, &mat, &vec}, [&](const Tensor& target) {
    checkFactors(target.scalar_type(), alpha, beta);
    fillAddmv(target, self, product, beta, alpha);
  });
}
Tensor& addmvInPlace(Tensor& self, const Tensor& mat, const Tensor& vec, const Scalar& beta, const Scalar& alpha) {
  const MatrixByVector product = checkedAddmv(self, mat, vec);
  meta::checkInPlaceSizes("addmv_", self, product.result().sizes);
  return product.result().write(self, {&mat, &vec},
                                [&](const Tensor& target) { fillAddmv(target, self, product, beta, alpha); });
}

// Returns one element as a matrix.
Tensor asMatrix(const Tensor& number) {
  constexpr int64_t kOnes[] = {1, 1};
  return number.view(kOnes, kOnes, number.storage_offset());
}

// Returns the complex conjugate, a view for the CPU, whose products know it; [tensor] itself if it is real.
Tensor conjugated(const Tensor& tensor) {
  if (!tensor.is_complex()) return tensor;
  return tensor.is_cpu() ? withOtherBit(tensor, DispatchKey::Conjugate) : boxcar::conj_physical(tensor);
}

template <bool conjugates>
struct DotProduct {
  const Tensor& a;
  const Tensor& b;
  ContiguousResult result;

  DotProduct(const Tensor& self, const Tensor& other)
      : a(self), b(other), result{{}, self.scalar_type(), commonDevice({&self, &other})} {
    meta::checkDot(self, other);
  }
  void fill(const Tensor& out) const {
    multiplyInto(asMatrix(out), asRow(conjugates ? conjugated(a) : a), asColumn(b), 1, 0);
  }
  static Tensor make(const Tensor& self, const Tensor& other) {
    const DotProduct product(self, other);
    return product.result.make([&](const Tensor& out) { product.fill(out); });
  }
  static Tensor& write(const Tensor& self, const Tensor& other, Tensor& out) {
    const DotProduct product(self, other);
    return product.result.write(out, {&self, &other}, [&](const Tensor& target) { product.fill(target); });
  }
};

constexpr Pointwise kAddr = makePointwise<Addr, 3, Result::kSame>("addr", kAllTypes);

// addr as a pointwise call: the vectors are a column and a row.
struct Addr {
  Tensor column;
  std::array<Scalar, 2> params;

  Addr(const Tensor& self, const Tensor& vec1, const Tensor& vec2, const Scalar& beta, const Scalar& alpha)
      : params{beta, alpha} {
    commonDevice({&self, &vec1, &vec2});
    meta::checkAddr(self, vec1, vec2, beta, alpha);
    column = asColumn(vec1);
  }
};

Tensor addr(const Tensor& self, const Tensor& vec1, const Tensor& vec2, const Scalar& beta, const Scalar& alpha) {
  const Addr call(self, vec1, vec2, beta, alpha);
  return pointwise(kAddr, {self, call.column, vec2}, call.params.data());
}
Tensor& addrOut(const Tensor& self, const Tensor& vec1, const Tensor& vec2, const Scalar& beta, const Scalar& alpha,
                Tensor& out) {
  const Addr call(self, vec1, vec2, beta, alpha);
  return pointwiseOut(kAddr, out, {self, call.column, vec2}, call.params.data());
}
Tensor& addrInPlace(Tensor& self, const Tensor& vec1, const Tensor& vec2, const Scalar& beta, const Scalar& alpha) {
  const Addr call(self, vec1, vec2, beta, alpha);
  return pointwiseInPlace(kAddr, self, {self, call.column, vec2}, call.params.data());
}

}  // namespace

BOXCAR_NATIVE_KERNELS(aten, m, multiplyMatrices) {
  m.impl("mv", BOXCAR_FN(mv));
  m.impl("mv.out", BOXCAR_FN(mvOut));
  m.impl("addmv", BOXCAR_FN(addmv));
  m.impl("addmv.out", BOXCAR_FN(addmvOut));
  m.impl("addmv_", BOXCAR_FN(addmvInPlace));
  m.impl("dot", BOXCAR_FN(DotProduct<false>::make));
  m.impl("dot.out", BOXCAR_FN(DotProduct<false>::write));
  m.impl("vdot", BOXCAR_FN(DotProduct<true>::make));
  m.impl("vdot.out", BOXCAR_FN(DotProduct<true>::write));
  m.impl("addr", BOXCAR_FN(addr));
  m.impl("addr.out", BOXCAR_FN(addrOut));
  m.impl("addr_", BOXCAR_FN(addrInPlace));
}

}  // namespace boxcar::native
