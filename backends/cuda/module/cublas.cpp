#include <boxcar/backends/cuda/device.h>
#include <boxcar/backends/cuda/gemm.h>
#include <boxcar/backends/cuda/module/parts.h>
#include <boxcar/backends/cuda/shared_library.h>
#include <boxcar/backends/cuda/status.h>
#include <boxcar/backends/cuda/stream.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/tensor.h>
#include <cublasLt.h>

#include <algorithm>
#include <array>
#include <complex>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <tuple>

namespace boxcar::cuda {
namespace {

constexpr size_t kWorkspaceBytes = size_t{32} << 20;  // what NVIDIA recommends for Hopper

SharedLibrary& library() {
  static SharedLibrary& opened =
      *new SharedLibrary("cuBLAS", {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"});
  return opened;
}

// clang-format off
#define BOXCAR_CUBLAS_FUNCTIONS(X) \
  X(cublasLtCreate) X(cublasLtMatmul) X(cublasLtMatmulDescCreate) \
  X(cublasLtMatmulDescSetAttribute) X(cublasLtMatmulDescDestroy) X(cublasLtMatrixLayoutCreate) \
  X(cublasLtMatrixLayoutSetAttribute) X(cublasLtMatrixLayoutDestroy) X(cublasLtMatmulPreferenceCreate) \
  X(cublasLtMatmulPreferenceSetAttribute) X(cublasLtMatmulPreferenceDestroy) X(cublasLtMatmulAlgoGetHeuristic) \
  X(cublasLtGetStatusString)
// clang-format on

struct Functions {
#define BOXCAR_DECLARE(name) decltype(&::name) name = library().function<decltype(::name)>(#name, "mm");
  BOXCAR_CUBLAS_FUNCTIONS(BOXCAR_DECLARE)
#undef BOXCAR_DECLARE
};

const Functions& lib() {
  static const Functions functions;
  return functions;
}

void checkBlas(cublasStatus_t status, const GemmCall& call) {
  BOXCAR_CHECK(status == CUBLAS_STATUS_SUCCESS, "cuBLAS failed to multiply {} matrices of {} by {} and {} by {}: {}",
               dtypeName(call.type), call.m, call.k, call.k, call.n, lib().cublasLtGetStatusString(status));
}

// Returns the device's handle; there is one per device, for the lifetime of the process.
cublasLtHandle_t handle(const GemmCall& call) {
  static std::mutex mutex;
  static std::array<cublasLtHandle_t, kMaxDevices> handles{};
  const std::lock_guard lock(mutex);
  cublasLtHandle_t& made = handles[static_cast<size_t>(currentDevice())];
  if (made == nullptr) checkBlas(lib().cublasLtCreate(&made), call);
  return made;
}

// An object that cuBLAS creates and that must be destroyed.
template <class T>
struct Owned {
  T object = nullptr;
  cublasStatus_t (*destroy)(T);
  explicit Owned(cublasStatus_t (*destroy_object)(T)) : destroy(destroy_object) {}
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() {
    if (object != nullptr) destroy(object);
  }
};

struct Types {
  cudaDataType_t data;
  cudaDataType_t scale;
  cublasComputeType_t compute;
};

Types typesOf(ScalarType type) {
  switch (type) {
    case ScalarType::Half: return {CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F};
    case ScalarType::BFloat16: return {CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F};
    case ScalarType::Float:
      return {CUDA_R_32F, CUDA_R_32F, allowsTf32() ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F};
    case ScalarType::Double: return {CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F};
    case ScalarType::ComplexFloat: return {CUDA_C_32F, CUDA_C_32F, CUBLAS_COMPUTE_32F};
    default: return {CUDA_C_64F, CUDA_C_64F, CUBLAS_COMPUTE_64F};
  }
}

// A matrix as cuBLAS sees it, column-major: columns of [rows] contiguous elements, [step] apart; [turned] if it has to
// be transposed.
struct MatrixLayout {
  bool turned;
  int64_t rows;
  int64_t columns;
  int64_t step;
};

// Returns the layout of the transpose of a matrix of [rows] by [columns], because contiguous rows are columns for
// cuBLAS.
MatrixLayout layoutOf(const MatrixOperand& matrix, int64_t rows, int64_t columns) {
  const bool by_rows = matrix.column_step == 1 && (matrix.row_step >= columns || rows == 1);
  if (by_rows) return {false, columns, rows, std::max(matrix.row_step, columns)};
  return {true, rows, columns, std::max(matrix.column_step, rows)};
}

uint32_t alignmentOf(const void* data) {
  const auto address = reinterpret_cast<uintptr_t>(data);
  if (address == 0) return 256;
  return static_cast<uint32_t>(std::min<uintptr_t>(256, address & (~address + 1)));
}

void makeLayout(Owned<cublasLtMatrixLayout_t>& made, const GemmCall& call, const MatrixLayout& layout,
                int64_t batch_step) {
  checkBlas(lib().cublasLtMatrixLayoutCreate(&made.object, typesOf(call.type).data, static_cast<uint64_t>(layout.rows),
                                             static_cast<uint64_t>(layout.columns), layout.step),
            call);
  const auto batch = static_cast<int32_t>(call.batch);
  lib().cublasLtMatrixLayoutSetAttribute(made.object, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch, sizeof(batch));
  lib().cublasLtMatrixLayoutSetAttribute(made.object, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &batch_step,
                                         sizeof(batch_step));
}

using Key = std::tuple<int, ScalarType, bool, int64_t, int64_t, int64_t, int64_t, bool, int64_t, int64_t, bool, int64_t,
                       int64_t, uint32_t, bool>;

// Returns the algorithm that cuBLAS recommends. Finding it takes longer than a small product, so it is looked up once
// per shape.
std::optional<cublasLtMatmulAlgo_t> knownAlgorithm(const Key& key, const cublasLtMatmulAlgo_t* found) {
  static std::mutex mutex;
  static std::map<Key, cublasLtMatmulAlgo_t> known;
  const std::lock_guard lock(mutex);
  if (found != nullptr) {
    constexpr size_t kMost = 4096;
    if (known.size() >= kMost) known.clear();
    known[key] = *found;
    return *found;
  }
  const auto at = known.find(key);
  return at == known.end() ? std::nullopt : std::optional(at->second);
}

// Storage for alpha or beta in any type.
struct Factor {
  alignas(16) std::byte bytes[16];
  Factor(const Scalar& number, cudaDataType_t type) {
    const auto put = [&](auto value) { std::memcpy(bytes, &value, sizeof(value)); };
    switch (type) {
      case CUDA_R_32F: put(number.to<float>()); break;
      case CUDA_R_64F: put(number.to<double>()); break;
      case CUDA_C_32F: put(number.to<std::complex<float>>()); break;
      default: put(number.to<std::complex<double>>());
    }
  }
};

}  // namespace

// cuBLAS matrices are column-major, so c' = b' @ a', where ' is the transpose, yields a row-major c.
bool multiplyByLibrary(const GemmCall& call) {
  const Types types = typesOf(call.type);
  const MatrixLayout left = layoutOf(call.b, call.k, call.n);
  const MatrixLayout right = layoutOf(call.a, call.m, call.k);
  // A single row may have any step, including ones that are invalid for a layout.
  const MatrixLayout result{false, call.n, call.m, call.m == 1 ? call.n : std::max(call.c.row_step, call.n)};
  const Factor alpha(call.alpha, types.scale);
  const Factor beta(call.beta, types.scale);
  Owned<cublasLtMatmulDesc_t> description(lib().cublasLtMatmulDescDestroy);
  checkBlas(lib().cublasLtMatmulDescCreate(&description.object, types.compute, types.scale), call);
  const auto setTurned = [&](cublasLtMatmulDescAttributes_t attribute, bool turned) {
    const cublasOperation_t operation = turned ? CUBLAS_OP_T : CUBLAS_OP_N;
    checkBlas(lib().cublasLtMatmulDescSetAttribute(description.object, attribute, &operation, sizeof(operation)), call);
  };
  setTurned(CUBLASLT_MATMUL_DESC_TRANSA, left.turned);
  setTurned(CUBLASLT_MATMUL_DESC_TRANSB, right.turned);
  if (call.bias != nullptr) {
    const cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_BIAS;
    const auto set = [&](cublasLtMatmulDescAttributes_t attribute, const auto& value) {
      checkBlas(lib().cublasLtMatmulDescSetAttribute(description.object, attribute, &value, sizeof(value)), call);
    };
    set(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue);
    set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, call.bias);
  }
  Owned<cublasLtMatrixLayout_t> left_layout(lib().cublasLtMatrixLayoutDestroy);
  Owned<cublasLtMatrixLayout_t> right_layout(lib().cublasLtMatrixLayoutDestroy);
  Owned<cublasLtMatrixLayout_t> result_layout(lib().cublasLtMatrixLayoutDestroy);
  makeLayout(left_layout, call, left, call.b.batch_step);
  makeLayout(right_layout, call, right, call.a.batch_step);
  makeLayout(result_layout, call, result, call.c.batch_step);

  const int device = currentDevice();
  const uint32_t alignment =
      std::min({alignmentOf(call.a.data), alignmentOf(call.b.data), alignmentOf(call.c.data), alignmentOf(call.bias)});
  const Key key{device,       call.type,  allowsTf32(),      call.batch, call.m,
                call.n,       call.k,     left.turned,       left.step,  call.b.batch_step,
                right.turned, right.step, call.a.batch_step, alignment,  call.bias != nullptr};
  std::optional<cublasLtMatmulAlgo_t> algorithm = knownAlgorithm(key, nullptr);
  if (!algorithm) {
    Owned<cublasLtMatmulPreference_t> preference(lib().cublasLtMatmulPreferenceDestroy);
    checkBlas(lib().cublasLtMatmulPreferenceCreate(&preference.object), call);
    const auto prefer = [&](cublasLtMatmulPreferenceAttributes_t attribute, const auto& value) {
      lib().cublasLtMatmulPreferenceSetAttribute(preference.object, attribute, &value, sizeof(value));
    };
    prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, kWorkspaceBytes);
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignment);
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignment);
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, alignment);
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignment);
    cublasLtMatmulHeuristicResult_t found{};
    int count = 0;
    const cublasStatus_t status = lib().cublasLtMatmulAlgoGetHeuristic(
        handle(call), description.object, left_layout.object, right_layout.object, result_layout.object,
        result_layout.object, preference.object, 1, &found, &count);
    const bool is_refused =
        status == CUBLAS_STATUS_NOT_SUPPORTED || status == CUBLAS_STATUS_INVALID_VALUE || count == 0;
    if (call.bias != nullptr && is_refused) return false;
    checkBlas(status, call);
    BOXCAR_CHECK(count > 0, "cuBLAS has no algorithm for {} matrices of {} by {} and {} by {}", dtypeName(call.type),
                 call.m, call.k, call.k, call.n);
    algorithm = knownAlgorithm(key, &found.algo);
  }

  const auto workspace_bytes = static_cast<int64_t>(kWorkspaceBytes);
  const Tensor workspace = Tensor::allocate({&workspace_bytes, 1}, ScalarType::Byte,
                                            Device(DeviceType::CUDA, static_cast<DeviceIndex>(device)));
  checkBlas(lib().cublasLtMatmul(handle(call), description.object, alpha.bytes, call.b.data, left_layout.object,
                                 call.a.data, right_layout.object, beta.bytes, call.c.data, result_layout.object,
                                 call.c.data, result_layout.object, &*algorithm, workspace.data_ptr(), kWorkspaceBytes,
                                 static_cast<cudaStream_t>(currentStream().handle)),
            call);
  checkLaunch();
  return true;
}

}  // namespace boxcar::cuda
