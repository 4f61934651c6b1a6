#include <boxcar/backends/functors/element.h>
#include <boxcar/backends/meta/broadcast.h>
#include <boxcar/backends/meta/matrices.h>
#include <boxcar/backends/native/copy.h>
#include <boxcar/backends/native/memory_checks.h>
#include <boxcar/backends/native/pointwise.h>
#include <boxcar/backends/native/products.h>
#include <boxcar/backends/native/registration.h>
#include <boxcar/backends/native/write_out.h>

// Matrix products, and sums with them.

namespace boxcar::native {
namespace {

// A checked product of matrices or batches of them.
struct Product {
  const Tensor& a;
  const Tensor& b;
  DimVector sizes;
  Device device;

  ContiguousResult result() const { return {sizes, a.scalar_type(), device}; }
  Tensor make() const {
    return result().make([&](const Tensor& out) { multiplyInto(out, a, b, 1, 0); });
  }
  Tensor& write(Tensor& out) const {
    return result().write(out, {&a, &b}, [&](const Tensor& target) { multiplyInto(target, a, b, 1, 0); });
  }
};

// beta * self + alpha * product
struct ProductAndSum {
  const Tensor& self;
  Product product;
  const Scalar& beta;
  const Scalar& alpha;

  // [expanded] has the sizes of the result.
  void fill(const Tensor& out, const Tensor& expanded) const {
    if (out.is_meta() || out.numel() == 0) return;
    addProduct(out.device(), out, expanded, product.a, product.b, alpha, beta);
  }
  Tensor make() const {
    const Tensor expanded = meta::expandTo(self, product.sizes);
    return product.result().make([&](const Tensor& out) { fill(out, expanded); });
  }
  Tensor& write(Tensor& out) const {
    const Tensor expanded = meta::expandTo(self, product.sizes);
    return product.result().write(out, {&self, &product.a, &product.b}, [&](const Tensor& target) {
      checkFactors(target.scalar_type(), alpha, beta);
      fill(target, expanded);
    });
  }
  Tensor& writeInPlace(std::string_view name, Tensor& target) const {
    meta::checkInPlaceSizes(name, target, product.sizes);
    return product.result().write(target, {&product.a, &product.b}, [&](const Tensor& out) { fill(out, target); });
  }
};

Product checkedMm(const Tensor& self, const Tensor& mat2) {
  const Device device = commonDevice({&self, &mat2});
  meta::checkMm(self, mat2);
  return {self, mat2, dimVector(self.sizes()[0], mat2.sizes()[1]), device};
}
Tensor mm(const Tensor& self, const Tensor& mat2) { return checkedMm(self, mat2).make(); }
Tensor& mmOut(const Tensor& self, const Tensor& mat2, Tensor& out) { return checkedMm(self, mat2).write(out); }

ProductAndSum checkedAddmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta,
                           const Scalar& alpha) {
  const Device device = commonDevice({&self, &mat1, &mat2});
  meta::checkAddmm(self, mat1, mat2);
  return {self, {mat1, mat2, dimVector(mat1.sizes()[0], mat2.sizes()[1]), device}, beta, alpha};
}
Tensor addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta, const Scalar& alpha) {
  return checkedAddmm(self, mat1, mat2, beta, alpha).make();
}
Tensor& addmmOut(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta, const Scalar& alpha,
                 Tensor& out) {
  return checkedAddmm(self, mat1, mat2, beta, alpha).write(out);
}
Tensor& addmmInPlace(Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta, const Scalar& alpha) {
  return checkedAddmm(self, mat1, mat2, beta, alpha).writeInPlace("addmm_", self);
}

Product checkedBmm(const Tensor& self, const Tensor& mat2) {
  const Device device = commonDevice({&self, &mat2});
  meta::checkBmm(self, mat2);
  return {self, mat2, {self.sizes()[0], self.sizes()[1], mat2.sizes()[2]}, device};
}
Tensor bmm(const Tensor& self, const Tensor& mat2) { return checkedBmm(self, mat2).make(); }
Tensor& bmmOut(const Tensor& self, const Tensor& mat2, Tensor& out) { return checkedBmm(self, mat2).write(out); }

ProductAndSum checkedBaddbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta,
                             const Scalar& alpha) {
  const Device device = commonDevice({&self, &batch1, &batch2});
  meta::checkBaddbmm(self, batch1, batch2);
  return {self, {batch1, batch2, {batch1.sizes()[0], batch1.sizes()[1], batch2.sizes()[2]}, device}, beta, alpha};
}
Tensor baddbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta,
               const Scalar& alpha) {
  return checkedBaddbmm(self, batch1, batch2, beta, alpha).make();
}
Tensor& baddbmmOut(const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta,
                   const Scalar& alpha, Tensor& out) {
  return checkedBaddbmm(self, batch1, batch2, beta, alpha).write(out);
}
Tensor& baddbmmInPlace(Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta,
                       const Scalar& alpha) {
  return checkedBaddbmm(self, batch1, batch2, beta, alpha).writeInPlace("baddbmm_", self);
}

// beta * self + alpha * the sum of all products. float16 and bfloat16 are converted before the first product and after
// the last.
class BatchSum {
 public:
  BatchSum(const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta, const Scalar& alpha)
      : self_(self), batch1_(batch1), batch2_(batch2), beta_(beta), alpha_(alpha) {
    device_ = commonDevice({&self, &batch1, &batch2});
    meta::checkBaddbmm(self, batch1, batch2);
    sizes_ = {batch1.sizes()[1], batch2.sizes()[2]};
  }

  Tensor make() const {
    const Tensor expanded = meta::expandTo(self_, sizes_);
    return result().make([&](const Tensor& out) { fill(out, expanded); });
  }
  Tensor& write(Tensor& out) const {
    const Tensor expanded = meta::expandTo(self_, sizes_);
    return result().write(out, {&self_, &batch1_, &batch2_}, [&](const Tensor& target) {
      checkFactors(target.scalar_type(), alpha_, beta_);
      fill(target, expanded);
    });
  }
  Tensor& writeInPlace(Tensor& self) const {
    meta::checkInPlaceSizes("addbmm_", self, sizes_);
    return write(self);
  }

 private:
  ContiguousResult result() const { return {sizes_, batch1_.scalar_type(), device_}; }

  static Tensor matrixAt(const Tensor& batch, int64_t i) {
    return batch.view(batch.sizes().last(2), batch.strides().last(2), batch.storage_offset() + i * batch.strides()[0]);
  }

  // With no products, multiply matrices of inner size 0, which leaves beta * self.
  void scale(const Tensor& target) const {
    const DimVector left{sizes_[0], 0};
    const DimVector right{0, sizes_[1]};
    const ScalarType type = target.scalar_type();
    multiplyInto(target, Tensor::allocate(left, type, device_), Tensor::allocate(right, type, device_), alpha_, beta_);
  }

  void fill(const Tensor& out, const Tensor& expanded) const {
    const ScalarType type = out.scalar_type();
    const bool is_half = type == ScalarType::Half || type == ScalarType::BFloat16;
    const auto widened = [&](const Tensor& tensor) { return is_half ? convertTo(tensor, ScalarType::Float) : tensor; };
    const Tensor target = is_half ? Tensor::allocate(sizes_, ScalarType::Float, device_) : out;
    const Tensor batch1 = widened(batch1_);
    const Tensor batch2 = widened(batch2_);
    if (beta_ != Scalar(0)) copyElements(target, expanded);
    const int64_t count = batch1.sizes()[0];
    if (count == 0) scale(target);
    for (int64_t i = 0; i < count; ++i) {
      multiplyInto(target, matrixAt(batch1, i), matrixAt(batch2, i), alpha_, i == 0 ? beta_ : Scalar(1));
    }
    if (is_half) copyElements(out, target);
  }

  const Tensor& self_;
  const Tensor& batch1_;
  const Tensor& batch2_;
  const Scalar& beta_;
  const Scalar& alpha_;
  Device device_ = Device(DeviceType::CPU);
  DimVector sizes_;
};

Tensor addbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta, const Scalar& alpha) {
  return BatchSum(self, batch1, batch2, beta, alpha).make();
}
Tensor& addbmmOut(const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta,
                  const Scalar& alpha, Tensor& out) {
  return BatchSum(self, batch1, batch2, beta, alpha).write(out);
}
Tensor& addbmmInPlace(Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta,
                      const Scalar& alpha) {
  return BatchSum(self, batch1, batch2, beta, alpha).writeInPlace(self);
}

}  // namespace

void checkFactors(ScalarType type, const Scalar& alpha, const Scalar& beta) {
  visitScalarType(kRealTypes + kComplexTypes, type, "mm", [&]<class T>(std::type_identity<T>) {
    alpha.to<functors::Compute<T>>();
    beta.to<functors::Compute<T>>();
  });
}

BOXCAR_NATIVE_KERNELS(aten, m, multiplyMatrices, addProduct) {
  m.impl("mm", BOXCAR_FN(mm));
  m.impl("mm.out", BOXCAR_FN(mmOut));
  m.impl("addmm", BOXCAR_FN(addmm));
  m.impl("addmm.out", BOXCAR_FN(addmmOut));
  m.impl("addmm_", BOXCAR_FN(addmmInPlace));
  m.impl("bmm", BOXCAR_FN(bmm));
  m.impl("bmm.out", BOXCAR_FN(bmmOut));
  m.impl("baddbmm", BOXCAR_FN(baddbmm));
  m.impl("baddbmm.out", BOXCAR_FN(baddbmmOut));
  m.impl("baddbmm_", BOXCAR_FN(baddbmmInPlace));
  m.impl("addbmm", BOXCAR_FN(addbmm));
  m.impl("addbmm.out", BOXCAR_FN(addbmmOut));
  m.impl("addbmm_", BOXCAR_FN(addbmmInPlace));
}

}  // namespace boxcar::native
