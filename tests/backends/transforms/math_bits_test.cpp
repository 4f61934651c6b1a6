#include <boxcar/backends/autograd/autograd.h>
#include <boxcar/backends/transforms/math_bits.h>
#include <boxcar/dispatcher/handlers/handler.h>
#include <boxcar/ivalue/dlpack.h>
#include <boxcar/ivalue/resolved_tensor.h>
#include <gtest/gtest.h>

#include <complex>
#include <string>
#include <vector>

#include "tests/backends/tensor_helpers.h"

namespace boxcar {
namespace {

using Complex = std::complex<float>;

Tensor numbers() { return tensorOf<Complex>({{1, 4}, {2, 5}, {3, 6}}); }
Tensor square() { return view(tensorOf<Complex>({{1, 4}, {2, 5}, {3, 6}, {-1, 2}}), {2, 2}); }

// The names of the operators that are called below Conjugate.
class CallsBelow final : public Handler {
 public:
  void call(const OperatorHandle& op, DispatchKeySet keys, Stack& stack) override {
    names += toString(op.operator_name()).substr(6) + " ";
    op.redispatchBoxed(keys, stack);
  }
  ModeOptions modeOptions() const override { return {.key = DispatchKey::Python}; }
  std::string finish(bool) override { return {}; }

  std::string names;
};

template <class Call>
std::string callsBelow(Call&& call) {
  CallsBelow calls;
  const HandlerGuard on(calls);
  call();
  return calls.names;
}

TEST(Conjugates, AreViewsWithABit) {
  const Tensor z = numbers();
  const Tensor c = conj(z);
  EXPECT_TRUE(is_conj(c));
  EXPECT_FALSE(is_conj(z));
  EXPECT_EQ(c.storage(), z.storage());
  EXPECT_EQ(toString(c), "tensor([1.-4.j, 2.-5.j, 3.-6.j])");
  EXPECT_FALSE(is_conj(conj(c)));
  const Tensor x = floats({1, 2});
  EXPECT_TRUE(conj(x).is_same(x));
  EXPECT_FALSE(is_conj(_conj(x)));
}

TEST(Conjugates, HaveNegativeImaginaryParts) {
  const Tensor z = numbers();
  const Tensor part = imag(conj(z));
  EXPECT_TRUE(is_neg(part));
  EXPECT_EQ(part.storage(), z.storage());
  EXPECT_EQ(toString(part), "tensor([-4., -5., -6.])");
  EXPECT_FALSE(is_neg(real(conj(z))));
  EXPECT_EQ(toString(real(_neg_view(z))), "tensor([-1., -2., -3.])");
  EXPECT_TRUE(is_neg(real(_neg_view(z))));
}

TEST(Conjugates, AreResolvedByCopies) {
  const Tensor z = numbers();
  EXPECT_TRUE(resolve_conj(z).is_same(z));
  for (const Tensor& copy : {resolve_conj(conj(z)), clone(conj(z)), _conj_copy(z)}) {
    EXPECT_FALSE(hasMathBits(copy));
    EXPECT_NE(copy.storage(), z.storage());
    EXPECT_EQ(elements<Complex>(copy), (std::vector<Complex>{{1, -4}, {2, -5}, {3, -6}}));
  }
  EXPECT_EQ(toString(resolve_neg(_neg_view(conj(z)))), "tensor([-1.+4.j, -2.+5.j, -3.+6.j])");
}

TEST(Conjugates, GiveTheirBitsToViewsAlone) {
  const Tensor c = conj(square());
  EXPECT_TRUE(is_conj(select(c, 0, 1)));
  EXPECT_TRUE(is_conj(t(c)));
  EXPECT_TRUE(is_conj(view(c, {4})));
  EXPECT_TRUE(is_conj(split(c, 1)[1]));
  for (const Tensor& made : {add(c, 1), empty_like(c), zeros_like(c), new_ones(c, {2}), exp(c), cat({c, c})}) {
    EXPECT_FALSE(hasMathBits(made));
  }
  EXPECT_EQ(toString(zeros_like(c)), toString(zeros({2, 2}, ScalarType::ComplexFloat)));
  EXPECT_EQ(callsBelow([&] { empty_like(c); }), "empty_like ");
}

TEST(Conjugates, AreWrittenInTheTensor) {
  const Tensor z = numbers();
  Tensor c = conj(z);
  mul_(c, Scalar(std::complex<double>(0, 1)));
  EXPECT_EQ(toString(c), "tensor([4.+1.j, 5.+2.j, 6.+3.j])");
  EXPECT_EQ(toString(z), "tensor([4.-1.j, 5.-2.j, 6.-3.j])");
  EXPECT_TRUE(is_conj(c));
  copy_(c, z);
  EXPECT_EQ(toString(z), "tensor([4.+1.j, 5.+2.j, 6.+3.j])");
  Tensor part = imag(conj(z));
  EXPECT_TRUE(add_(part, 10).is_same(part));
  EXPECT_EQ(toString(z), "tensor([4.-9.j, 5.-8.j, 6.-7.j])");
  EXPECT_TRUE(mul_out(c, z, z).is_same(c));
  EXPECT_EQ(toString(c), "tensor([-65.-72.j, -39.-80.j, -13.-84.j])");
}

TEST(Conjugates, AreWrittenTwiceInOneCall) {
  const Tensor z = numbers();
  std::vector<Tensor> both{conj(slice(z, 0, 0, 1)), conj(slice(z, 0, 1, 3))};
  Tensor sums = conj(zeros({3}, ScalarType::ComplexFloat));
  cat_out(sums, both);
  EXPECT_EQ(toString(sums), "tensor([1.-4.j, 2.-5.j, 3.-6.j])");
  EXPECT_TRUE(is_conj(sums));
}

TEST(Conjugates, ThatAreWrittenGetTheSizesOfResults) {
  Tensor out = conj(empty({0}, ScalarType::ComplexFloat));
  add_out(out, numbers(), numbers());
  EXPECT_EQ(toString(out), "tensor([2.+8.j, 4.+10.j, 6.+12.j])");
  EXPECT_TRUE(is_conj(out));
}

TEST(Conjugates, AreMultipliedWithoutACopy) {
  const Tensor a = square();
  const Tensor left = conj(a);
  const Tensor right = conj(t(a));
  EXPECT_EQ(callsBelow([&] { mm(left, right); }), "mm ");
  const Tensor negative = _neg_view(right);
  EXPECT_EQ(callsBelow([&] { mm(left, negative); }), "conj_physical neg_ mm ");
  EXPECT_EQ(callsBelow([&] { add(left, right); }), "conj_physical conj_physical add.Tensor ");
  EXPECT_TRUE(allclose(mm(left, right), mm(conj_physical(a), conj_physical(t(a)))));
}

TEST(Conjugates, OfLargeMatricesAreMultipliedByTheLibrarysFlag) {
  for (const int64_t n : {3, 40, 130}) {
    const Tensor a = randn({n, n + 1}, ScalarType::ComplexDouble);
    const Tensor b = randn({n + 1, n}, ScalarType::ComplexDouble);
    const auto check = [&](const Tensor& left, const Tensor& right) {
      EXPECT_TRUE(allclose(mm(left, right), mm(resolve_conj(left), resolve_conj(right))));
    };
    check(conj(a), b);
    check(a, conj(b));
    check(conj(a), conj(b));
    check(conj(t(b)), b);
    check(t(b), conj(t(a)));
    const Tensor sum = randn({n, n}, ScalarType::ComplexDouble);
    EXPECT_TRUE(allclose(addmm(conj(sum), conj(a), b, 2, 3), addmm(conj_physical(sum), conj_physical(a), b, 2, 3)));
    const Tensor stack = randn({3, n, n + 1}, ScalarType::ComplexDouble);
    EXPECT_TRUE(allclose(matmul(conj(stack), b), matmul(conj_physical(stack), b)));
    EXPECT_TRUE(allclose(matmul(stack, conj(b)), matmul(stack, conj_physical(b))));
    const Tensor v = randn({n + 1}, ScalarType::ComplexDouble);
    EXPECT_TRUE(allclose(mv(conj(a), conj(v)), mv(conj_physical(a), conj_physical(v))));
    EXPECT_TRUE(allclose(dot(conj(v), v), vdot(v, v)));
    EXPECT_TRUE(allclose(vdot(conj(v), v), dot(v, v)));
  }
}

TEST(Conjugates, CannotBeReadThroughAPointer) {
  const Tensor c = conj(numbers());
  EXPECT_EQ(errorOf([&] { c.data_ptr<Complex>(); }),
            "the memory of a tensor that is conjugated or negated lazily does not hold its elements; read those of "
            "resolved(x), or of x.resolve_conj().resolve_neg()");
  EXPECT_EQ(resolved(c).data_ptr<Complex>()[1], Complex(2, -5));
  EXPECT_TRUE(resolved(numbers()).defined());
}

TEST(Conjugates, AreNotViewedAsOtherElements) {
  const Tensor c = conj(numbers());
  EXPECT_EQ(errorOf([&] { view_as_real(c); }),
            "view_as_real doesn't work on unresolved conjugated tensors: the memory has other imaginary parts. Use "
            "x.resolve_conj(), which does not share memory with x");
  EXPECT_EQ(errorOf([&] { view(c, ScalarType::Double); }),
            "view: the memory of a tensor that is conjugated or negated lazily does not hold its elements, so "
            "they cannot be viewed as float64; view x.resolve_conj().resolve_neg()");
  EXPECT_EQ(errorOf([&] { _neg_view(bools({true})); }),
            "_neg_view: a bool tensor has no negative elements; logical_not() has the opposite ones");
}

TEST(Conjugates, AreLentResolved) {
  const Tensor lent = fromDLPack(toDLPack(conj(numbers())));
  EXPECT_FALSE(hasMathBits(lent));
  EXPECT_EQ(elements<Complex>(lent), (std::vector<Complex>{{1, -4}, {2, -5}, {3, -6}}));
}

TEST(Conjugates, AreDifferentiated) {
  const Tensor z = numbers().set_requires_grad(true);
  const Tensor weights = tensorOf<Complex>({{1, 1}, {2, 4}, {5, 3}});
  const Tensor loss = sum(real(mul(conj(z), weights)));
  autograd::backward({{loss}});
  const Tensor gradient = autograd::gradOf(z);
  EXPECT_FALSE(hasMathBits(gradient));
  EXPECT_EQ(toString(detach(gradient)), "tensor([1.+1.j, 2.+4.j, 5.+3.j])");
}

TEST(Conjugates, ThatAreWrittenAreDifferentiated) {
  const Tensor x = floats({1, 2, 3}).set_requires_grad(true);
  const Tensor z = mul(numbers(), 1);
  Tensor part = imag(conj(z));
  mul_(part, x);
  const Tensor loss = sum(mul(imag(z), floats({1, 10, 100})));
  autograd::backward({{loss}});
  EXPECT_EQ(toString(autograd::gradOf(x)), "tensor([  4.,  50., 600.])");
  const Tensor w = numbers().set_requires_grad(true);
  const Tensor y = mul(w, 1);
  Tensor c = conj(y);
  Tensor first = select(c, 0, 0);
  mul_(first, Scalar(std::complex<double>(0, 1)));
  autograd::backward({{sum(real(mul(y, tensorOf<Complex>({{1, 1}, {2, 0}, {0, 3}}))))}});
  const Tensor plain = numbers().set_requires_grad(true);
  const Tensor changed = mul(plain, tensorOf<Complex>({{0, -1}, {1, 0}, {1, 0}}));
  autograd::backward({{sum(real(mul(changed, tensorOf<Complex>({{1, 1}, {2, 0}, {0, 3}}))))}});
  EXPECT_EQ(toString(autograd::gradOf(w)), toString(autograd::gradOf(plain)));
}

}  // namespace
}  // namespace boxcar
