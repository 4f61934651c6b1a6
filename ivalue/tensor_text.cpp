#include <boxcar/ivalue/host_copy.h>
#include <boxcar/ivalue/python_text.h>
#include <boxcar/ivalue/resolved_tensor.h>
#include <boxcar/ivalue/tensor.h>
#include <boxcar/ivalue/text.h>  // IWYU pragma: keep, for what formats a Device
#include <boxcar/ivalue/transform_text.h>
#include <boxcar/ivalue/zero_tensor.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace boxcar {
namespace {

// PyTorch's default print options.
constexpr int64_t kThreshold = 1000;  // a tensor with more elements is summarised
constexpr int64_t kEdgeItems = 3;     // elements shown at each end of a summarised dimension
constexpr size_t kLineWidth = 80;
constexpr std::string_view kPrefix = "tensor(";

constinit std::atomic<HostCopy> host_copy{nullptr};
constinit std::atomic<TransformText> transform_text{nullptr};

bool isFake(const Tensor& tensor) { return tensor.key_set().has(DispatchKey::Fake); }

// Returns [tensor] in readable memory; undefined for a tensor without any, or if nobody copies from its device.
Tensor onHost(const Tensor& tensor) {
  if (isFake(tensor)) return Tensor();
  if (isZeroTensor(tensor) && !tensor.is_meta()) return resolved(tensor);
  if (tensor.is_cpu() && tensor.layout() == Layout::Strided) return resolved(tensor);
  const HostCopy copy = host_copy.load(std::memory_order_acquire);
  if (copy == nullptr || tensor.is_meta()) return Tensor();
  return copy(tensor);
}

// How the numbers of one tensor (or its real or imaginary parts) are written: all in one form, padded to one width. As
// in PyTorch, only finite numbers other than zero determine the form.
class NumberFormat {
 public:
  // Integers and bools, written as they are; [width] is that of the longest.
  explicit NumberFormat(size_t width) : form_(Form::kAsIs), width_(width) {}

  explicit NumberFormat(const std::vector<double>& numbers) {
    double smallest = HUGE_VAL;
    double largest = 0;
    bool whole = true;
    for (const double number : numbers) {
      if (!decides(number)) continue;
      smallest = std::min(smallest, std::abs(number));
      largest = std::max(largest, std::abs(number));
      whole = whole && number == std::ceil(number);
    }
    if (largest == 0) return;
    const bool scientific = largest / smallest > 1000 || largest > 1e8 || (!whole && smallest < 1e-4);
    form_ = scientific ? Form::kScientific : whole ? Form::kWhole : Form::kFixed;
    for (const double number : numbers) {
      if (decides(number)) width_ = std::max(width_, bare(number).size());
    }
  }

  size_t width() const { return width_; }

  std::string format(double number) const { return padded(bare(number)); }

  std::string padded(std::string text) const {
    if (text.size() < width_) text.insert(0, width_ - text.size(), ' ');
    return text;
  }

 private:
  enum class Form { kAsIs, kWhole, kFixed, kScientific };

  static bool decides(double number) { return std::isfinite(number) && number != 0; }

  std::string bare(double number) const {
    if (std::isnan(number)) return "nan";
    if (std::isinf(number)) return number < 0 ? "-inf" : "inf";
    switch (form_) {
      case Form::kScientific: return fmt::format("{:.4e}", number);
      case Form::kFixed: return fmt::format("{:.4f}", number);
      default: return fmt::format("{:.0f}.", number);
    }
  }

  Form form_ = Form::kWhole;
  size_t width_ = 1;
};

// An element, converted for reading on the host.
struct TextElement {
  double real = 0;
  double imaginary = 0;
  int64_t integer = 0;
};

class TensorWriter {
 public:
  explicit TensorWriter(const Tensor& tensor)
      : tensor_(tensor),
        summarised_(tensor.numel() > kThreshold),
        real_(formatOf(&TextElement::real)),
        imaginary_(formatOf(&TextElement::imaginary)) {}

  std::string take() {
    write(0, 0, kPrefix.size());
    return std::move(text_);
  }

 private:
  bool isIntegral() const { return isIntegralType(tensor_.scalar_type(), /*includeBool=*/true); }

  TextElement elementAt(int64_t offset) const {
    return visitScalarType(kAllTypes, tensor_.scalar_type(), "print", [&](auto tag) {
      using T = typename decltype(tag)::type;
      const T value = static_cast<const T*>(tensor_.data_ptr())[offset];
      TextElement element;
      if constexpr (std::is_integral_v<T>) {
        element.integer = value;  // NOLINT(bugprone-signed-char-misuse): int8 is a number
      } else if constexpr (std::is_convertible_v<T, double>) {
        element.real = value;
      } else {
        element = {value.real(), value.imag()};
      }
      return element;
    });
  }

  // Calls [visit] with the index of each shown slice of [dim]; -1 stands for the omitted ones.
  template <class Visit>
  void forEachShown(int64_t dim, Visit visit) const {
    const int64_t size = tensor_.size(dim);
    const bool cut = summarised_ && size > 2 * kEdgeItems;
    for (int64_t i = 0; i < size; ++i) {
      if (cut && i == kEdgeItems) {
        visit(-1);
        i = size - kEdgeItems;
      }
      visit(i);
    }
  }

  template <class Visit>
  void forEachElement(int64_t dim, int64_t offset, const Visit& visit) const {
    if (dim == tensor_.dim()) {
      visit(elementAt(offset));
    } else {
      forEachShown(dim, [&](int64_t i) {
        if (i >= 0) forEachElement(dim + 1, offset + i * tensor_.stride(dim), visit);
      });
    }
  }

  NumberFormat formatOf(double TextElement::*part) const {
    if (isIntegral()) {
      size_t width = 1;
      forEachElement(0, 0, [&](const TextElement& element) { width = std::max(width, integerText(element).size()); });
      return NumberFormat(width);
    }
    std::vector<double> numbers;
    forEachElement(0, 0, [&](const TextElement& element) { numbers.push_back(element.*part); });
    return NumberFormat(numbers);
  }

  std::string integerText(const TextElement& element) const {
    if (tensor_.scalar_type() == ScalarType::Bool) return std::string(pythonBool(element.integer != 0));
    return fmt::to_string(element.integer);
  }

  std::string elementText(const TextElement& element) const {
    if (isIntegral()) return real_.padded(integerText(element));
    std::string text = real_.format(element.real);
    if (tensor_.is_complex()) {
      std::string imaginary = imaginary_.format(element.imaginary);
      imaginary.erase(0, imaginary.find_first_not_of(' '));
      if (imaginary[0] != '-') text += '+';
      text += imaginary + 'j';
    }
    return text;
  }

  // Writes the elements at [offset] along the dimensions from [dim] on. [indent] is the column of the first bracket.
  void write(int64_t dim, int64_t offset, size_t indent) {
    const int64_t dims_left = tensor_.dim() - dim;
    if (dims_left == 0) {
      text_ += elementText(elementAt(offset));
    } else if (dims_left == 1) {
      writeRow(offset, indent);
    } else {
      writeSlices(dim, offset, indent);
    }
  }

  void writeSlices(int64_t dim, int64_t offset, size_t indent) {
    const std::string separator = "," + std::string(tensor_.dim() - dim - 1, '\n') + std::string(indent + 1, ' ');
    std::string_view before = "[";
    forEachShown(dim, [&](int64_t i) {
      text_ += before;
      before = separator;
      if (i < 0) {
        text_ += "...";
      } else {
        write(dim + 1, offset + i * tensor_.stride(dim), indent + 1);
      }
    });
    text_ += ']';
  }

  void writeRow(int64_t offset, size_t indent) {
    // Each element is followed by a comma and a space; a complex one also by a j.
    const size_t element_width = real_.width() + 2 + (tensor_.is_complex() ? imaginary_.width() + 1 : 0);
    const size_t per_line = indent < kLineWidth ? std::max<size_t>(1, (kLineWidth - indent) / element_width) : 1;
    size_t written = 0;
    text_ += '[';
    forEachShown(tensor_.dim() - 1, [&](int64_t i) {
      if (written != 0) text_ += written % per_line == 0 ? ",\n" + std::string(indent + 1, ' ') : ", ";
      text_ += i < 0 ? " ..." : elementText(elementAt(offset + i * tensor_.strides().back()));
      ++written;
    });
    text_ += ']';
  }

  const Tensor& tensor_;
  bool summarised_;
  NumberFormat real_;
  NumberFormat imaginary_;
  std::string text_;
};

// As Python writes a tuple.
std::string sizeText(const Tensor& tensor) {
  return fmt::format("size=({}{})", fmt::join(tensor.sizes(), ", "), tensor.dim() == 1 ? "," : "");
}

// PyTorch counts the columns of the last line from 2 if the tensor has one line, otherwise from 1.
void append(std::string& text, const std::vector<std::string>& suffixes) {
  const size_t newline = text.rfind('\n');
  size_t column = newline == std::string::npos ? text.size() + 2 : text.size() - newline + 1;
  for (const std::string& suffix : suffixes) {
    if (column + suffix.size() + 2 > kLineWidth) {
      text += ",\n" + std::string(kPrefix.size(), ' ') + suffix;
      column = kPrefix.size() + suffix.size();
    } else {
      text += ", " + suffix;
      column += suffix.size() + 2;
    }
  }
}

}  // namespace

void setHostCopy(HostCopy copy) noexcept { host_copy.store(copy, std::memory_order_release); }

void setTransformText(TransformText text) noexcept { transform_text.store(text, std::memory_order_release); }

std::string toString(const Tensor& tensor) {
  if (!tensor.defined()) return "[ Tensor (undefined) ]";
  if (const TransformText write = transform_text.load(std::memory_order_acquire)) {
    if (std::string text = write(tensor); !text.empty()) return text;
  }
  const ScalarType dtype = tensor.scalar_type();
  const bool is_float = dtype == ScalarType::Float;
  const Tensor host = onHost(tensor);
  const bool shown = host.defined() && tensor.numel() != 0;
  // The printed elements, if any, show these types.
  const bool evident =
      is_float ||
      (shown && (dtype == ScalarType::Long || dtype == ScalarType::Bool || dtype == ScalarType::ComplexFloat));

  std::string text(kPrefix);
  std::vector<std::string> suffixes;
  if (!tensor.is_cpu() || isFake(tensor)) suffixes.push_back(fmt::format("device='{}'", tensor.device()));
  if (!host.defined()) {
    text += "...";
    suffixes.push_back(sizeText(tensor));
  } else if (shown) {
    text += TensorWriter(host).take();
  } else {
    text += "[]";
    if (tensor.dim() != 1) suffixes.push_back(sizeText(tensor));
  }
  if (!evident) suffixes.push_back(fmt::format("dtype=torch.{}", dtypeName(dtype)));
  if (tensor.layout() != Layout::Strided)
    suffixes.push_back(fmt::format("layout=torch.{}", layoutName(tensor.layout())));
  if (tensor.requires_grad()) suffixes.push_back("requires_grad=True");
  if (isFake(tensor)) suffixes.emplace_back("fake");
  append(text, suffixes);
  return text + ')';
}

}  // namespace boxcar
