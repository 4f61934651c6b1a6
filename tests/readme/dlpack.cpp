#include <boxcar/boxcar.h>
#include <boxcar/ivalue/dlpack_abi.h>  // or <dlpack/dlpack.h>, if it is installed
#include <boxcar/ops.h>

#include <iostream>
#include <vector>

using namespace boxcar;

// A matrix that another library shares through DLPack.
struct Matrix {
  std::vector<float> numbers;
  int64_t shape[2];
  int64_t strides[2];
  dlpack::ManagedTensor managed;
};

void freeMatrix(DLManagedTensorVersioned* managed) {
  std::cout << "the matrix is free\n";
  delete static_cast<Matrix*>(dlpack::asManagedTensor(managed)->manager_ctx);
}

DLManagedTensorVersioned* lend(Matrix* matrix) {
  matrix->managed = {.version = {1, 0}, .manager_ctx = matrix, .deleter = freeMatrix, .flags = 0, .dl_tensor = {}};
  matrix->managed.dl_tensor = {.data = matrix->numbers.data(),
                               .device = {dlpack::kCpu, 0},
                               .ndim = 2,
                               .dtype = {dlpack::kFloat, 32, 1},
                               .shape = matrix->shape,
                               .strides = matrix->strides,
                               .byte_offset = 0};
  return dlpack::asDLManagedTensor(&matrix->managed);
}

int main() {
  {
    auto* const matrix = new Matrix{.numbers = {1, 2, 3, 4}, .shape = {2, 2}, .strides = {2, 1}, .managed = {}};
    Tensor x = fromDLPack(lend(matrix));
    mul_(x, 10);
    std::cout << x << "\n" << matrix->numbers[3] << "\n";
  }

  // The other direction: the receiver of the pointer calls its deleter when it no longer needs the numbers.
  DLManagedTensorVersioned* const managed = toDLPack(arange(3));
  std::cout << static_cast<const int64_t*>(dlpack::asManagedTensor(managed)->dl_tensor.data)[2] << "\n";
  releaseDLPack(managed);
}
