#include <boxcar/backends/transforms/autocast_typed.h>
#include <boxcar/dispatcher/boxing/boxing.h>
#include <boxcar/dispatcher/boxing/cpp_signature.h>
#include <boxcar/dispatcher/registry/operator_entry.h>
#include <boxcar/ivalue/array_ref.h>
#include <boxcar/ivalue/ivalue.h>

#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace boxcar::autocast {
namespace {

uint32_t dtypeBits(const std::optional<Tensor>& tensor, DeviceType device) noexcept {
  return tensor.has_value() ? autocast::dtypeBits(*tensor, device) : 0;
}
uint32_t dtypeBits(std::span<const Tensor> tensors, DeviceType device) noexcept {
  uint32_t bits = 0;
  for (const Tensor& tensor : tensors) bits |= autocast::dtypeBits(tensor, device);
  return bits;
}
// Other arguments are never cast.
template <class Arg>
uint32_t dtypesOf(const Arg& argument, DeviceType device) noexcept {
  if constexpr (std::is_same_v<Arg, Tensor>) {
    return autocast::dtypeBits(argument, device);
  } else if constexpr (std::is_same_v<Arg, std::optional<Tensor>> || std::is_same_v<Arg, std::span<const Tensor>>) {
    return dtypeBits(argument, device);
  } else {
    return 0;
  }
}

template <class Function>
struct TypedKernel;

template <class R, class... Args>
struct TypedKernel<R(Args...)> final : UnboxedKernel<R(Args...)> {
  TypedKernel(const OperatorHandle& handle, CastPolicy of_class, DeviceType on, Kernel::BoxedFunction boxed_function)
      : UnboxedKernel<R(Args...)>(&run, boxed_function),
        op(handle.typed<R(Args...)>()),
        key(DispatchKeySet(autocastKeyOf(on)).raw_repr()),
        below(DispatchKeySet(DispatchKeySet::FULL_AFTER, autocastKeyOf(on))),
        policy(of_class),
        device(on) {}

  static R run(const Kernel* kernel, DispatchKeySet keys, Args... args) {
    const auto& self = *static_cast<const TypedKernel*>(kernel);
    const uint32_t dtypes = (uint32_t{0} | ... | dtypesOf(args, self.device));
    if (!leavesAlone(self.policy, dtypes, self.device)) [[unlikely]]
      return castAndCall(self, keys, static_cast<Args&&>(args)...);
    const WithoutKey without(self.key);
    return self.op.redispatch(keys & self.below, static_cast<Args&&>(args)...);
  }

  // Out of line: it is several times as long as the rest.
  [[gnu::noinline]] static R castAndCall(const TypedKernel& self, DispatchKeySet keys, Args... args) {
    return detail::boxAndCall<R, Args...>(&self, self.op, keys, static_cast<Args&&>(args)...);
  }

  TypedOperatorHandle<R(Args...)> op;
  uint64_t key;
  DispatchKeySet below;
  CastPolicy policy;
  DeviceType device;
};

using MakeKernel = const Kernel* (*)(const OperatorHandle& op, CastPolicy policy, DeviceType device,
                                     Kernel::BoxedFunction boxed);

struct TypedMaker {
  const CppSignature* signature;
  MakeKernel make;
};

template <class Function>
constexpr TypedMaker makerOf() {
  using Canonical = detail::CanonicalFunction<Function>;
  return {
      &detail::SignatureOf<Canonical>::kValue,
      [](const OperatorHandle& op, CastPolicy policy, DeviceType device, Kernel::BoxedFunction boxed) -> const Kernel* {
        return new TypedKernel<Canonical>(op, policy, device, boxed);
      }};
}

using T = const Tensor&;
using MaybeT = const std::optional<Tensor>&;
using Ints = IntArrayRef;
using Maybe = std::optional<double>;
using Number = const Scalar&;

// The types of operators that are quick, or that programs call often. Others take microseconds.
constexpr TypedMaker kMakers[] = {
    makerOf<Tensor(T)>(),                                                              // exp log reciprocal rsqrt
    makerOf<Tensor(T, T)>(),                                                           // mm bmm mv matmul prelu dot
    makerOf<Tensor(T, T, T)>(),                                                        // lu_solve
    makerOf<Tensor(T, T, MaybeT)>(),                                                   // linear
    makerOf<Tensor(T, T, T, Number)>(),                                                // addcmul addcdiv
    makerOf<Tensor(T, T, T, Number, Number)>(),                                        // addmm baddbmm addmv addr
    makerOf<Tensor(T, T, T, MaybeT, double, bool, Maybe, bool)>(),                     // scaled_dot_product_attention
    makerOf<Tensor(T, T, T, T, MaybeT, MaybeT)>(),                                     // gru_cell
    makerOf<Tensor(ArrayRef<Tensor>)>(),                                               // chain_matmul linalg_multi_dot
    makerOf<Tensor(ArrayRef<Tensor>, int64_t)>(),                                      // cat stack
    makerOf<Tensor(std::string_view, ArrayRef<Tensor>, std::optional<Ints>)>(),        // einsum
    makerOf<std::tuple<Tensor, Tensor>(T, ArrayRef<Tensor>, T, T, MaybeT, MaybeT)>(),  // lstm_cell
    makerOf<Tensor(T, T, MaybeT, Ints, Ints, Ints, int64_t)>(),                        // conv1d conv2d conv3d
    makerOf<Tensor(T, T, MaybeT, Ints, std::string_view, Ints, int64_t)>(),            // conv2d.padding
    makerOf<Tensor(T, T, MaybeT, Ints, Ints, Ints, int64_t, Ints)>(),                  // conv_transpose2d.input
    makerOf<Tensor(T, T, MaybeT, Ints, Ints, Ints, bool, Ints, int64_t)>(),            // convolution
    makerOf<Tensor(T, Number)>(),                                                      // pow.Tensor_Scalar
    makerOf<Tensor(Number, T)>(),                                                      // pow.Scalar
    makerOf<Tensor(T, Number, Number)>(),                                              // softplus
    makerOf<Tensor(T, bool)>(),                                                        // cholesky_inverse
    makerOf<Tensor(T, T, bool)>(),                                                     // linalg_solve
    makerOf<Tensor(T, Ints)>(),                                   // adaptive_avg_pool3d reflection_pad2d
    makerOf<Tensor(T, Ints, bool)>(),                             // logsumexp
    makerOf<Tensor(T, std::optional<ScalarType>)>(),              // prod
    makerOf<Tensor(T, int64_t, T, T)>(),                          // index_copy scatter_add
    makerOf<Tensor(T, T, int64_t)>(),                             // mse_loss l1_loss linalg_vecdot
    makerOf<Tensor(T, T, int64_t, double)>(),                     // smooth_l1_loss cosine_similarity
    makerOf<Tensor(T, T, double, int64_t)>(),                     // hinge_embedding_loss
    makerOf<Tensor(T, T, int64_t, bool)>(),                       // kl_div
    makerOf<Tensor(T, T, MaybeT, int64_t)>(),                     // binary_cross_entropy
    makerOf<Tensor(T, T, MaybeT, MaybeT, int64_t)>(),             // binary_cross_entropy_with_logits
    makerOf<Tensor(T, T, MaybeT, int64_t, int64_t)>(),            // nll_loss
    makerOf<Tensor(T, T, MaybeT, int64_t, int64_t, double)>(),    // cross_entropy_loss
    makerOf<Tensor(T, Ints, MaybeT, MaybeT, double, bool)>(),     // layer_norm
    makerOf<Tensor(T, Ints, MaybeT, Maybe)>(),                    // rms_norm
    makerOf<Tensor(T, int64_t, MaybeT, MaybeT, double, bool)>(),  // group_norm
};

}  // namespace

KernelFunction typedKernel(const OperatorHandle& op, CastPolicy policy, DeviceType device, KernelFunction boxed) {
  switch (policy) {
    case CastPolicy::lower_precision_fp:
    case CastPolicy::fp32:
    case CastPolicy::promote: break;
    default: return boxed;
  }
  const CppSignature* const signature = op.entry().cppSignature();
  for (const TypedMaker& maker : kMakers) {
    // Types of another library have other objects, and are called boxed.
    if (maker.signature != signature) continue;
    return KernelFunction(
        detail::StatelessKernel{maker.make(op, policy, device, boxed.kernel()->boxed), maker.signature});
  }
  return boxed;
}

}  // namespace boxcar::autocast
