#include <boxcar/backends/cuda/convolution.h>
#include <boxcar/backends/cuda/device.h>
#include <boxcar/backends/cuda/gemm.h>
#include <boxcar/backends/cuda/module/parts.h>
#include <boxcar/backends/cuda/shared_library.h>
#include <boxcar/backends/cuda/status.h>
#include <boxcar/backends/cuda/stream.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/tensor.h>
#include <cudnn.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace boxcar::cuda {
namespace {

// Algorithms that need a larger workspace are not used.
constexpr size_t kMostWorkspaceBytes = size_t{1} << 30;
constexpr size_t kMostPrepared = 512;
constexpr int kMostCandidates = 8;

SharedLibrary& library() {
  static SharedLibrary& opened = *new SharedLibrary("cuDNN 9", {"libcudnn.so.9"});
  return opened;
}

// clang-format off
#define BOXCAR_CUDNN_FUNCTIONS(X) \
  X(cudnnCreate) X(cudnnSetStream) X(cudnnGetErrorString) \
  X(cudnnCreateTensorDescriptor) X(cudnnSetTensorNdDescriptor) X(cudnnDestroyTensorDescriptor) \
  X(cudnnCreateFilterDescriptor) X(cudnnSetFilterNdDescriptor) X(cudnnDestroyFilterDescriptor) \
  X(cudnnCreateConvolutionDescriptor) X(cudnnSetConvolutionNdDescriptor) X(cudnnDestroyConvolutionDescriptor) \
  X(cudnnSetConvolutionGroupCount) X(cudnnSetConvolutionMathType) \
  X(cudnnGetConvolutionForwardAlgorithm_v7) X(cudnnConvolutionForward) \
  X(cudnnGetConvolutionBackwardDataAlgorithm_v7) X(cudnnConvolutionBackwardData)
// clang-format on

struct Functions {
#define BOXCAR_DECLARE(name) decltype(&::name) name = library().function<decltype(::name)>(#name, "convolution");
  BOXCAR_CUDNN_FUNCTIONS(BOXCAR_DECLARE)
#undef BOXCAR_DECLARE
};

const Functions& lib() {
  static const Functions functions;
  return functions;
}

void checkCudnn(cudnnStatus_t status) {
  BOXCAR_CHECK(status == CUDNN_STATUS_SUCCESS, "cuDNN failed at a convolution: {}", lib().cudnnGetErrorString(status));
}

// Whether [status] means that cuDNN does not support the convolution, rather than that it failed.
bool isRefusal(cudnnStatus_t status) {
  return status >= CUDNN_STATUS_BAD_PARAM && status < CUDNN_STATUS_INTERNAL_ERROR;
}

// A descriptor that cuDNN creates and that must be destroyed.
template <class T>
class Description final {
 public:
  Description(cudnnStatus_t (*create)(T*), cudnnStatus_t (*destroy)(T)) : destroy_(destroy) {
    checkCudnn(create(&object_));
  }
  ~Description() { destroy_(object_); }
  Description(const Description&) = delete;
  Description& operator=(const Description&) = delete;

  T get() const { return object_; }

 private:
  T object_ = nullptr;
  cudnnStatus_t (*destroy_)(T);
};

cudnnDataType_t dataTypeOf(ScalarType type) {
  switch (type) {
    case ScalarType::Half: return CUDNN_DATA_HALF;
    case ScalarType::BFloat16: return CUDNN_DATA_BFLOAT16;
    case ScalarType::Double: return CUDNN_DATA_DOUBLE;
    default: return CUDNN_DATA_FLOAT;
  }
}

std::vector<int> toInts(std::span<const int64_t> values) {
  std::vector<int> ints;
  for (const int64_t value : values) ints.push_back(static_cast<int>(value));
  return ints;
}

// An algorithm for a convolution. The number is from cuDNN's enumeration of forward or of backward algorithms.
struct Candidate {
  int algorithm;
  size_t workspace;
  cudnnMathType_t math;
};

// A convolution's descriptors, and the algorithms that cuDNN recommends for it, fastest first.
struct Prepared {
  Description<cudnnTensorDescriptor_t> input{lib().cudnnCreateTensorDescriptor, lib().cudnnDestroyTensorDescriptor};
  Description<cudnnTensorDescriptor_t> out{lib().cudnnCreateTensorDescriptor, lib().cudnnDestroyTensorDescriptor};
  Description<cudnnFilterDescriptor_t> weight{lib().cudnnCreateFilterDescriptor, lib().cudnnDestroyFilterDescriptor};
  Description<cudnnConvolutionDescriptor_t> convolution{lib().cudnnCreateConvolutionDescriptor,
                                                        lib().cudnnDestroyConvolutionDescriptor};
  bool transposed = false;
  bool is_double = false;
  std::vector<Candidate> candidates;
};

// A thread's cuDNN state for a device. When the thread ends, the next thread gets its sessions, because creating and
// destroying one takes cuDNN long.
struct Session {
  cudnnHandle_t handle = nullptr;
  StreamHandle stream = nullptr;
  std::map<std::vector<int64_t>, std::unique_ptr<Prepared>> prepared;
};

// Sessions that no thread uses.
struct SpareSessions {
  std::mutex mutex;
  std::array<std::vector<Session*>, kMaxDevices> of;
};
SpareSessions& spareSessions() {
  static SpareSessions& spare = *new SpareSessions;
  return spare;
}

struct ThreadSessions {
  std::array<Session*, kMaxDevices> of{};
  ~ThreadSessions() {
    SpareSessions& spare = spareSessions();
    const std::lock_guard lock(spare.mutex);
    for (size_t i = 0; i < of.size(); ++i) {
      if (of[i] != nullptr) spare.of[i].push_back(of[i]);
    }
  }
};

// Returns the thread's session for the current device, set to its current stream.
Session& session() {
  thread_local ThreadSessions sessions;
  const auto device = static_cast<size_t>(currentDevice());
  Session*& own = sessions.of[device];
  if (own == nullptr) {
    SpareSessions& spare = spareSessions();
    const std::lock_guard lock(spare.mutex);
    if (!spare.of[device].empty()) {
      own = spare.of[device].back();
      spare.of[device].pop_back();
    }
  }
  if (own == nullptr) {
    auto made = std::make_unique<Session>();
    checkCudnn(lib().cudnnCreate(&made->handle));
    own = made.release();
  }
  const StreamHandle stream = currentStream().handle;
  if (own->stream != stream) {
    checkCudnn(lib().cudnnSetStream(own->handle, static_cast<cudaStream_t>(stream)));
    own->stream = stream;
  }
  return *own;
}

// Multiplies float32 as float32, not TensorFloat-32, unless that is allowed.
cudnnMathType_t mathOf(ScalarType type) {
  if (type == ScalarType::Half || type == ScalarType::BFloat16) return CUDNN_TENSOR_OP_MATH;
  return type == ScalarType::Float && !allowsTf32() ? CUDNN_FMA_MATH : CUDNN_DEFAULT_MATH;
}

// Returns false if cuDNN does not support the convolution.
bool describe(const ConvolutionCall& call, Prepared& prepared) {
  const meta::Convolution& c = call.arguments;
  const cudnnDataType_t type = dataTypeOf(call.type);
  prepared.transposed = c.transposed;
  prepared.is_double = call.type == ScalarType::Double;
  bool is_taken = true;
  const auto take = [&](cudnnStatus_t status) {
    if (isRefusal(status)) {
      is_taken = false;
    } else {
      checkCudnn(status);
    }
  };
  const auto describeTensor = [&](cudnnTensorDescriptor_t tensor, std::span<const int64_t> sizes) {
    const std::vector<int> strides = toInts(convolutionStrides(sizes, c.channels_last));
    take(lib().cudnnSetTensorNdDescriptor(tensor, type, static_cast<int>(sizes.size()), toInts(sizes).data(),
                                          strides.data()));
  };
  describeTensor(prepared.input.get(), call.input_sizes);
  describeTensor(prepared.out.get(), c.output_sizes);
  take(lib().cudnnSetFilterNdDescriptor(prepared.weight.get(), type,
                                        c.channels_last ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW,
                                        static_cast<int>(call.weight_sizes.size()), toInts(call.weight_sizes).data()));
  take(lib().cudnnSetConvolutionNdDescriptor(
      prepared.convolution.get(), static_cast<int>(c.rank()), toInts(c.padding).data(), toInts(c.stride).data(),
      toInts(c.dilation).data(), CUDNN_CROSS_CORRELATION, prepared.is_double ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT));
  take(lib().cudnnSetConvolutionGroupCount(prepared.convolution.get(), static_cast<int>(c.groups)));
  take(lib().cudnnSetConvolutionMathType(prepared.convolution.get(), mathOf(call.type)));
  return is_taken;
}

// Asks cuDNN for the algorithms of [prepared]; [ask] queries forward or backward ones.
template <class Advice, class Ask>
void findCandidates(const ConvolutionCall& call, Prepared& prepared, const Ask& ask) {
  std::array<Advice, kMostCandidates> advice{};
  int count = 0;
  const cudnnStatus_t status = ask(&count, advice.data());
  if (isRefusal(status)) return;
  checkCudnn(status);
  const cudnnMathType_t wanted = mathOf(call.type);
  for (const Advice& one : std::span(advice).first(static_cast<size_t>(count))) {
    if (one.status != CUDNN_STATUS_SUCCESS || one.memory > kMostWorkspaceBytes) continue;
    prepared.candidates.push_back(
        {static_cast<int>(one.algo), one.memory, wanted == CUDNN_FMA_MATH ? wanted : one.mathType});
  }
}

std::unique_ptr<Prepared> prepare(const ConvolutionCall& call, cudnnHandle_t handle) {
  auto prepared = std::make_unique<Prepared>();
  if (!describe(call, *prepared)) return prepared;
  if (call.arguments.transposed) {
    findCandidates<cudnnConvolutionBwdDataAlgoPerf_t>(call, *prepared, [&](int* count, auto* advice) {
      return lib().cudnnGetConvolutionBackwardDataAlgorithm_v7(handle, prepared->weight.get(), prepared->input.get(),
                                                               prepared->convolution.get(), prepared->out.get(),
                                                               kMostCandidates, count, advice);
    });
  } else {
    findCandidates<cudnnConvolutionFwdAlgoPerf_t>(call, *prepared, [&](int* count, auto* advice) {
      return lib().cudnnGetConvolutionForwardAlgorithm_v7(handle, prepared->input.get(), prepared->weight.get(),
                                                          prepared->convolution.get(), prepared->out.get(),
                                                          kMostCandidates, count, advice);
    });
  }
  return prepared;
}

Prepared& preparedFor(const ConvolutionCall& call, Session& session) {
  const std::vector<int64_t> key = convolutionKey(call, !allowsTf32());
  const auto known = session.prepared.find(key);
  if (known != session.prepared.end()) return *known->second;
  if (session.prepared.size() >= kMostPrepared) session.prepared.clear();
  return *(session.prepared[key] = prepare(call, session.handle));
}

cudnnStatus_t run(const ConvolutionCall& call, const Prepared& prepared, const Candidate& candidate,
                  cudnnHandle_t handle) {
  const int64_t workspace_size[] = {static_cast<int64_t>(candidate.workspace)};
  const Tensor workspace = Tensor::allocate(workspace_size, ScalarType::Byte,
                                            Device(DeviceType::CUDA, static_cast<DeviceIndex>(currentDevice())));
  // One and zero in cuDNN's compute type.
  constexpr double kDoubles[] = {1, 0};
  constexpr float kFloats[] = {1, 0};
  const void* const one = prepared.is_double ? static_cast<const void*>(&kDoubles[0]) : &kFloats[0];
  const void* const zero = prepared.is_double ? static_cast<const void*>(&kDoubles[1]) : &kFloats[1];
  const void* const before = call.accumulates ? one : zero;
  checkCudnn(lib().cudnnSetConvolutionMathType(prepared.convolution.get(), candidate.math));
  if (prepared.transposed) {
    // Computes the input gradient of a convolution from the result to the input.
    return lib().cudnnConvolutionBackwardData(
        handle, one, prepared.weight.get(), call.weight, prepared.input.get(), call.input, prepared.convolution.get(),
        static_cast<cudnnConvolutionBwdDataAlgo_t>(candidate.algorithm), workspace.data_ptr(), candidate.workspace,
        before, prepared.out.get(), call.out);
  }
  return lib().cudnnConvolutionForward(handle, one, prepared.input.get(), call.input, prepared.weight.get(),
                                       call.weight, prepared.convolution.get(),
                                       static_cast<cudnnConvolutionFwdAlgo_t>(candidate.algorithm),
                                       workspace.data_ptr(), candidate.workspace, before, prepared.out.get(), call.out);
}

}  // namespace

bool convolveByCudnn(const ConvolutionCall& call) {
  if (convolveByPlan(call)) return true;
  Session& own = session();
  Prepared& prepared = preparedFor(call, own);
  while (!prepared.candidates.empty()) {
    const cudnnStatus_t status = run(call, prepared, prepared.candidates.front(), own.handle);
    if (!isRefusal(status)) {
      checkCudnn(status);
      checkLaunch();
      return true;
    }
    prepared.candidates.erase(prepared.candidates.begin());  // recommended, but not available
  }
  return false;
}

}  // namespace boxcar::cuda
