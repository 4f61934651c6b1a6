#include <boxcar/backends/meta/class_losses.h>
#include <boxcar/backends/meta/spatial.h>
#include <boxcar/ivalue/error.h>

namespace boxcar::meta {
namespace {

void checkTypes(const char* op, const Tensor& self, const Tensor& target, const Tensor& weight, int64_t classes) {
  const ScalarType type = target.scalar_type();
  BOXCAR_CHECK(type == ScalarType::Long || type == ScalarType::Byte,
               "{}: expected a target of classes with dtype int64 or uint8, but it has {}", op, dtypeName(type));
  BOXCAR_CHECK(!weight.defined() || (weight.dim() == 1 && weight.sizes()[0] == classes),
               "{}: weight tensor should be defined either for all {} classes or no classes but got weight tensor of "
               "shape: {}",
               op, classes, listOf(weight.sizes()));
  BOXCAR_CHECK(!weight.defined() || weight.scalar_type() == self.scalar_type(),
               "{}: expected a weight of the input's dtype {}, but it has {}", op, dtypeName(self.scalar_type()),
               dtypeName(weight.scalar_type()));
}

}  // namespace

LossReduction lossReduction(int64_t reduction) {
  BOXCAR_CHECK(reduction >= 0 && reduction <= 2, "reduction must be 0 (none), 1 (mean) or 2 (sum), but it is {}",
               reduction);
  return static_cast<LossReduction>(reduction);
}

ClassLoss checkNllLoss(const Tensor& self, const Tensor& target, const Tensor& weight, int64_t reduction) {
  constexpr const char* kName = "nll_loss";
  const bool is_none = lossReduction(reduction) == LossReduction::kNone;
  BOXCAR_CHECK(self.dim() == 1 || self.dim() == 2, "nll_loss: input tensor should be 1D or 2D, but it has sizes {}",
               listOf(self.sizes()));
  BOXCAR_CHECK(target.dim() <= 1,
               "nll_loss: 0D or 1D target tensor expected, multi-target not supported, but it has "
               "sizes {}",
               listOf(target.sizes()));
  const bool is_sample = self.dim() == 1 && target.dim() == 0;
  BOXCAR_CHECK(is_sample || (self.dim() == 2 && target.dim() == 1 && self.sizes()[0] == target.sizes()[0]),
               "nll_loss: size mismatch (got input: {}, target: {})", listOf(self.sizes()), listOf(target.sizes()));
  const int64_t classes = self.sizes().back();
  checkTypes(kName, self, target, weight, classes);
  return {is_none ? toDimVector(target.sizes()) : DimVector(), target.numel(), classes, 1};
}

ClassLoss checkNllLoss2d(const Tensor& self, const Tensor& target, const Tensor& weight, int64_t reduction) {
  constexpr const char* kName = "nll_loss2d";
  const bool is_none = lossReduction(reduction) == LossReduction::kNone;
  BOXCAR_CHECK(target.dim() == 3,
               "nll_loss2d: only batches of spatial targets supported (3D tensors) but got targets "
               "of dimension: {}",
               target.dim());
  BOXCAR_CHECK(self.dim() == 4,
               "nll_loss2d: only batches of spatial inputs supported (4D tensors), but got input of "
               "dimension: {}",
               self.dim());
  const auto in = self.sizes();
  const auto wanted = target.sizes();
  BOXCAR_CHECK(in[0] == wanted[0] && in[2] == wanted[1] && in[3] == wanted[2],
               "nll_loss2d: size mismatch (got input: {}, target: {})", listOf(in), listOf(wanted));
  checkTypes(kName, self, target, weight, in[1]);
  return {is_none ? toDimVector(wanted) : DimVector(), in[0], in[1], in[2] * in[3]};
}

}  // namespace boxcar::meta
