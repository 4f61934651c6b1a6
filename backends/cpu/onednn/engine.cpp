#include <boxcar/backends/cpu/onednn/engine.h>

namespace boxcar::cpu::onednn {

const dnnl::engine& engine() {
  // Never destroyed: threads that end later still hold streams.
  static const auto& engine = *new dnnl::engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

dnnl::stream& stream() {
  thread_local dnnl::stream stream(engine());
  return stream;
}

dnnl::memory::data_type dataTypeOf(ScalarType type) {
  using Type = dnnl::memory::data_type;
  switch (type) {
    case ScalarType::Float: return Type::f32;
    case ScalarType::BFloat16: return Type::bf16;
    case ScalarType::Half: return Type::f16;
    case ScalarType::Int: return Type::s32;
    case ScalarType::Char: return Type::s8;
    case ScalarType::Byte: return Type::u8;
    default: return Type::undef;
  }
}

bool multipliesBFloat16() {
  static const bool can = dnnl::get_effective_cpu_isa() >= dnnl::cpu_isa::avx512_core_bf16;
  return can;
}

dnnl::memory::desc descriptionOf(const Tensor& tensor) {
  const dnnl::memory::dims sizes(tensor.sizes().begin(), tensor.sizes().end());
  const dnnl::memory::dims strides(tensor.strides().begin(), tensor.strides().end());
  return {sizes, dataTypeOf(tensor.scalar_type()), strides};
}

dnnl::memory memoryOf(const Tensor& tensor, const dnnl::memory::desc& description) {
  return {description, engine(), tensor.data_ptr()};
}

}  // namespace boxcar::cpu::onednn
