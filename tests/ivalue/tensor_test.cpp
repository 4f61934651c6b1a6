#include <boxcar/ivalue/tensor.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <iterator>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tests/test_support.h"

namespace boxcar {
namespace {

using Sizes = std::vector<int64_t>;

const Device kMeta(DeviceType::Meta);
constexpr int64_t kHuge = int64_t{1} << 62;

Sizes vec(std::span<const int64_t> span) { return {span.begin(), span.end()}; }

Tensor floats(const Sizes& sizes) { return Tensor::allocate(sizes, ScalarType::Float); }

static_assert(sizeof(Tensor) == sizeof(void*));
static_assert(std::is_nothrow_copy_constructible_v<Tensor> && std::is_nothrow_move_constructible_v<Tensor>);

TEST(Tensor, AllocateGivesADenseContiguousTensor) {
  const Tensor tensor = floats({2, 3, 4});
  EXPECT_TRUE(tensor.defined());
  EXPECT_EQ(tensor.dim(), 3);
  EXPECT_EQ(tensor.numel(), 24);
  EXPECT_EQ(vec(tensor.sizes()), (Sizes{2, 3, 4}));
  EXPECT_EQ(vec(tensor.strides()), (Sizes{12, 4, 1}));
  EXPECT_EQ(tensor.storage_offset(), 0);
  EXPECT_EQ(tensor.dtype(), ScalarType::Float);
  EXPECT_EQ(tensor.itemsize(), 4u);
  EXPECT_EQ(tensor.nbytes(), 96u);
  EXPECT_EQ(tensor.storage()->nbytes(), 96u);
  EXPECT_TRUE(tensor.is_contiguous());
  EXPECT_TRUE(tensor.is_cpu());
  EXPECT_TRUE(tensor.is_floating_point());
  EXPECT_FALSE(tensor.is_complex());
  EXPECT_EQ(tensor.layout(), Layout::Strided);
  EXPECT_EQ(tensor.key_set(), DispatchKeySet({DispatchKey::CPU, DispatchKey::ADInplaceOrView}));
}

TEST(Tensor, ZeroDimensionalHasOneElement) {
  const Tensor tensor = floats({});
  EXPECT_EQ(tensor.dim(), 0);
  EXPECT_EQ(tensor.numel(), 1);
  *tensor.data_ptr<float>() = 2.5f;
  EXPECT_EQ(*tensor.const_data_ptr<float>(), 2.5f);
}

TEST(Tensor, ManyDimensionsLieOnTheHeap) {
  const Sizes sizes(9, 2);
  const Tensor tensor = floats(sizes);
  EXPECT_EQ(vec(tensor.sizes()), sizes);
  EXPECT_EQ(tensor.stride(0), 256);
  EXPECT_EQ(tensor.stride(-1), 1);
  EXPECT_EQ(tensor.numel(), 512);
}

TEST(Tensor, TheUndefinedTensorHasNothing) {
  const Tensor tensor;
  EXPECT_FALSE(tensor.defined());
  EXPECT_TRUE(tensor.key_set().empty());
  EXPECT_EQ(tensor.dim(), 0);
  EXPECT_EQ(tensor.numel(), 0);
  EXPECT_EQ(tensor.dtype(), ScalarType::Undefined);
  EXPECT_EQ(tensor.data_ptr(), nullptr);
  EXPECT_EQ(tensor.version(), 0u);
  EXPECT_TRUE(tensor.is_same(Tensor()));
  EXPECT_TRUE(Tensor(IntrusivePtr<TensorImpl>()).is_same(tensor));
  EXPECT_EQ(errorOf([&] { tensor.view(Sizes{}, Sizes{}, 0); }), "the undefined tensor has no views");
}

TEST(Tensor, TheUndefinedTensorSurvivesWhatItsCountDoes) {
  for (int i = 0; i < 1000; ++i) {
    Tensor from;
    const Tensor to = std::move(from);
    EXPECT_FALSE(from.defined());
    EXPECT_FALSE(to.defined());
  }
  EXPECT_GT(TensorImpl::undefined()->useCount(), 1u << 30);
}

TEST(Tensor, CopiesShareAndMovesLeaveTheUndefinedTensor) {
  Tensor first = floats({2});
  EXPECT_EQ(first.unsafeGetTensorImpl()->useCount(), 1u);
  Tensor second = first;
  EXPECT_TRUE(second.is_same(first));
  EXPECT_EQ(first.unsafeGetTensorImpl()->useCount(), 2u);
  const Tensor third = std::move(second);
  EXPECT_FALSE(second.defined());
  EXPECT_EQ(first.unsafeGetTensorImpl()->useCount(), 2u);
  const Tensor& same = first;
  first = same;
  EXPECT_EQ(first.unsafeGetTensorImpl()->useCount(), 2u);
  first = Tensor();
  EXPECT_EQ(third.unsafeGetTensorImpl()->useCount(), 1u);
  Tensor fourth;
  fourth.swap(first);
  EXPECT_FALSE(fourth.defined());
}

TEST(Tensor, AViewSharesStorageAndVersion) {
  const Tensor base = floats({3, 4});
  std::iota(base.data_ptr<float>(), base.data_ptr<float>() + 12, 0.0f);
  const Tensor column = base.view(Sizes{3}, Sizes{4}, 1);
  EXPECT_EQ(column.storage(), base.storage());
  EXPECT_EQ(column.storage_offset(), 1);
  EXPECT_EQ(*column.data_ptr<float>(), 1.0f);
  EXPECT_FALSE(column.is_contiguous());
  EXPECT_EQ(column.dtype(), ScalarType::Float);
  EXPECT_EQ(column.key_set(), base.key_set());
  base.storage()->bumpVersion();
  EXPECT_EQ(column.version(), 1u);
}

TEST(Tensor, AViewOutlivesItsBase) {
  Tensor base = floats({4});
  base.data_ptr<float>()[3] = 7;
  const Tensor last = base.view(Sizes{}, Sizes{}, 3);
  base = Tensor();
  EXPECT_EQ(*last.data_ptr<float>(), 7);
}

TEST(Tensor, ContiguityIgnoresStridesOfOnesAndOfNothing) {
  const Tensor base = floats({24});
  EXPECT_TRUE(base.view(Sizes{2, 1, 3}, Sizes{3, 17, 1}, 0).is_contiguous());
  EXPECT_FALSE(base.view(Sizes{2, 3}, Sizes{4, 1}, 0).is_contiguous());
  EXPECT_FALSE(base.view(Sizes{3}, Sizes{0}, 0).is_contiguous());
  EXPECT_TRUE(base.view(Sizes{0, 2}, Sizes{1, 5}, 0).is_contiguous());
  EXPECT_TRUE(base.view(Sizes{2, 0}, Sizes{1, 5}, 0).is_contiguous());
}

TEST(Tensor, AViewMustLieInsideTheStorage) {
  const Tensor base = floats({2, 3});
  EXPECT_EQ(
      errorOf([&] { base.view(Sizes{3}, Sizes{3}, 0); }),
      "a tensor of sizes [3], strides [3] and storage offset 0 needs 28 bytes of storage, but its storage has 24");
  EXPECT_EQ(
      errorOf([&] { base.view(Sizes{6}, Sizes{1}, 1); }),
      "a tensor of sizes [6], strides [1] and storage offset 1 needs 28 bytes of storage, but its storage has 24");
  EXPECT_EQ(errorOf([&] { base.view(Sizes{2}, Sizes{1, 1}, 0); }), "a tensor of 1 dimensions cannot have 2 strides");
  EXPECT_EQ(errorOf([&] { base.view(Sizes{2}, Sizes{-1}, 1); }),
            "a tensor cannot have a negative offset or stride: offset 1, strides [-1]");
  EXPECT_EQ(errorOf([&] { base.view(Sizes{2}, Sizes{1}, -1); }),
            "a tensor cannot have a negative offset or stride: offset -1, strides [1]");
  EXPECT_EQ(errorOf([&] { base.view(Sizes{-2}, Sizes{1}, 0); }),
            "a tensor cannot have a negative dimension: sizes [-2]");
  EXPECT_EQ(errorOf([&] {
              base.view(Sizes{3, 2}, Sizes{kHuge, 1}, 0);
            }),
            "a tensor of sizes [3, 2] and strides [4611686018427387904, 1] reaches further than 63 bits can count");
  EXPECT_EQ(errorOf([&] { base.view(Sizes{1}, Sizes{1}, kHuge); }),
            "a tensor of sizes [1] and strides [1] reaches further than 63 bits can count");
}

TEST(Tensor, AnEmptyViewNeedsNoStorage) {
  const Tensor base = floats({2});
  EXPECT_EQ(base.view(Sizes{0, 5}, Sizes{5, 1}, 100).numel(), 0);
}

TEST(Tensor, SizesThatCannotBeAreErrors) {
  EXPECT_EQ(errorOf([] { floats({2, -1}); }), "a tensor cannot have a negative dimension: sizes [2, -1]");
  EXPECT_EQ(errorOf([] { floats({0, -1}); }), "a tensor cannot have a negative dimension: sizes [0, -1]");
  EXPECT_EQ(errorOf([] {
              floats({kHuge, 2});
            }),
            "a tensor of sizes [4611686018427387904, 2] has more elements than 63 bits can count");
  EXPECT_EQ(errorOf([] { floats({kHuge}); }),
            "a tensor of sizes [4611686018427387904] and dtype float32 has more bytes than 63 bits can count");
  EXPECT_EQ(errorOf([] { Tensor::allocate(Sizes{2}, ScalarType::ComplexHalf); }),
            "a tensor cannot have the dtype complex32");
  EXPECT_NE(errorOf([] { Tensor::allocate(Sizes{2}, ScalarType::Undefined); }), "no error");
}

TEST(Tensor, ATensorOfNothingMayHaveAnyOtherDimensions) {
  const Tensor tensor = floats({0, kHuge, kHuge});
  EXPECT_EQ(tensor.numel(), 0);
  EXPECT_TRUE(tensor.is_contiguous());
}

// viewWith() takes a shorter path when no number is huge.
TEST(Tensor, WrittenViewsAreMeasuredAsAllViewsAre) {
  constexpr int64_t kNumbers[] = {-1, 0, 0, 1, 1, 2, 3, 4, 6, 12, (1 << 30) - 1, 1 << 30, int64_t{1} << 40, kHuge};
  const Tensor bases[] = {Tensor::allocate(Sizes{1}, ScalarType::Byte, kMeta),
                          Tensor::allocate(Sizes{12}, ScalarType::Float, kMeta),
                          Tensor::allocate(Sizes{int64_t{1} << 31}, ScalarType::ComplexDouble, kMeta),
                          Tensor::allocate(Sizes{int64_t{1} << 59}, ScalarType::Double, kMeta)};
  std::mt19937 random(1);
  const auto draw = [&] { return kNumbers[random() % std::size(kNumbers)]; };
  const auto outcomeOf = [](auto view) {
    std::string outcome;
    const std::string error = errorOf([&] {
      const Tensor made = view();
      outcome = fmt::format("{} elements from {}, {}, [{}], [{}]", made.numel(), made.storage_offset(),
                            made.is_contiguous(), fmt::join(made.sizes(), ", "), fmt::join(made.strides(), ", "));
    });
    return outcome + error;
  };
  size_t views = 0;
  for (int round = 0; round < 40000; ++round) {
    const Tensor& base = bases[random() % std::size(bases)];
    Sizes sizes(random() % 7);
    Sizes strides(sizes.size());
    // Strides are mostly dense, because few others fit.
    for (int64_t& size : sizes) size = random() % 2 == 0 ? draw() : 1 + static_cast<int64_t>(random() % 3);
    int64_t dense = 1;
    for (size_t i = sizes.size(); i-- > 0;) {
      strides[i] = random() % 8 == 0 ? draw() : dense;
      dense = static_cast<int64_t>(static_cast<uint64_t>(dense) * static_cast<uint64_t>(sizes[i]));
    }
    const int64_t offset = random() % 4 == 0 ? draw() : 0;
    const std::string wanted = outcomeOf([&] { return base.view(sizes, strides, offset); });
    const std::string found = outcomeOf([&] {
      return base.viewWith([&](Dims& dims) {
        dims.assign(sizes, strides);
        return offset;
      });
    });
    ASSERT_EQ(found, wanted);
    views += wanted.find(" elements from ") < 20 ? 1 : 0;
  }
  EXPECT_GT(views, 4000U);  // otherwise only errors were compared
  EXPECT_LT(views, 36000U);
}

TEST(Tensor, MetaTensorsHaveAShapeOnly) {
  const Tensor tensor = Tensor::allocate(Sizes{1 << 20, 1 << 20}, ScalarType::Double, kMeta);
  EXPECT_TRUE(tensor.is_meta());
  EXPECT_EQ(tensor.data_ptr(), nullptr);
  EXPECT_EQ(tensor.nbytes(), size_t{1} << 43);
  EXPECT_TRUE(tensor.key_set().has(DispatchKey::Meta));
  EXPECT_EQ(errorOf([&] { tensor.data_ptr<double>(); }),
            "the elements of a tensor on device 'meta' cannot be read by the CPU; copy it with .cpu() first");
}

TEST(Tensor, ElementsAreReadAsTheirOwnType) {
  EXPECT_EQ(errorOf([] { floats({2}).data_ptr<int64_t>(); }),
            "expected a tensor of dtype int64, found one of dtype float32");
}

TEST(Tensor, SizeAndStrideCountFromTheEnd) {
  const Tensor tensor = floats({2, 3});
  EXPECT_EQ(tensor.size(0), 2);
  EXPECT_EQ(tensor.size(-1), 3);
  EXPECT_EQ(tensor.stride(-2), 3);
  EXPECT_EQ(errorOf([&] { tensor.size(2); }), "Dimension out of range (expected to be in range of [-2, 1], but got 2)");
  EXPECT_EQ(errorOf([&] { tensor.stride(-3); }),
            "Dimension out of range (expected to be in range of [-2, 1], but got -3)");
  EXPECT_EQ(errorOf([] { floats({}).size(0); }), "Dimension specified as 0 but tensor has no dimensions");
  EXPECT_EQ(errorOf([] { floats({}).stride(-1); }), "Dimension specified as -1 but tensor has no dimensions");
}

TEST(Tensor, WrapDimensionTreatsNoDimensionsAsOne) {
  EXPECT_EQ(wrapDimension(-1, 0), 0);
  EXPECT_EQ(wrapDimension(0, 0), 0);
  EXPECT_EQ(errorOf([] { wrapDimension(1, 0); }),
            "Dimension out of range (expected to be in range of [-1, 0], but got 1)");
}

TEST(Tensor, RequiresGradBringsTheAutogradKey) {
  const Tensor tensor = floats({2});
  EXPECT_FALSE(tensor.key_set().has(DispatchKey::AutogradCPU));
  tensor.set_requires_grad(true);
  EXPECT_TRUE(tensor.requires_grad());
  EXPECT_TRUE(tensor.key_set().has(DispatchKey::AutogradCPU));
  const Tensor view = tensor.view(Sizes{1}, Sizes{1}, 0);
  EXPECT_FALSE(view.requires_grad());
  EXPECT_TRUE(view.key_set().has(DispatchKey::AutogradCPU));  // as long as it is a view
  view.unsafeGetTensorImpl()->clear_base();
  EXPECT_FALSE(view.key_set().has(DispatchKey::AutogradCPU));
  EXPECT_FALSE(tensor.shallowCopy().key_set().has(DispatchKey::AutogradCPU));
  tensor.set_requires_grad(false);
  EXPECT_EQ(tensor.key_set(), floats({2}).key_set());
  EXPECT_EQ(errorOf([] { Tensor::allocate(Sizes{2}, ScalarType::Long).set_requires_grad(true); }),
            "only tensors of floating point and complex dtype can require gradients, not int64");
}

TEST(TensorImpl, SetStorageChangesNothingIfTheShapeDoesNotFit) {
  const Tensor tensor = floats({2});
  const Tensor other = floats({2, 3});
  TensorImpl* impl = tensor.unsafeGetTensorImpl();
  const Storage before = tensor.storage();
  EXPECT_THROW(impl->setStorage(other.storage(), Sizes{7}, Sizes{1}, 0), Error);
  EXPECT_EQ(tensor.storage(), before);
  EXPECT_EQ(vec(tensor.sizes()), Sizes{2});
  impl->setStorage(other.storage(), Sizes{3, 1}, Sizes{1, 3}, 3);
  EXPECT_EQ(tensor.storage(), other.storage());
  EXPECT_EQ(vec(tensor.sizes()), (Sizes{3, 1}));
  EXPECT_EQ(tensor.storage_offset(), 3);
}

TEST(TensorImpl, SetShapeMayReadItsOwnShape) {
  const Sizes many{1, 2, 1, 3, 1, 2, 1};
  const Tensor tensor = floats(many);
  TensorImpl* impl = tensor.unsafeGetTensorImpl();
  impl->setShape(impl->sizes().subspan(1), impl->strides().subspan(1), 0);
  EXPECT_EQ(vec(tensor.sizes()), (Sizes{2, 1, 3, 1, 2, 1}));
  EXPECT_EQ(vec(tensor.strides()), (Sizes{6, 6, 2, 2, 1, 1}));
  impl->setShape(impl->sizes().first(5), impl->strides().first(5), 0);
  EXPECT_EQ(vec(tensor.sizes()), (Sizes{2, 1, 3, 1, 2}));
  EXPECT_EQ(vec(tensor.strides()), (Sizes{6, 6, 2, 2, 1}));
  impl->setShape(impl->sizes().subspan(2), impl->strides().subspan(2), 0);
  EXPECT_EQ(vec(tensor.sizes()), (Sizes{3, 1, 2}));
  EXPECT_EQ(vec(tensor.strides()), (Sizes{2, 2, 1}));
}

TEST(TensorImpl, SetShapeGrowsAndShrinksTheRank) {
  const Tensor tensor = floats({64});
  TensorImpl* impl = tensor.unsafeGetTensorImpl();
  for (const size_t rank : {6, 2, 5, 6, 8, 7, 0, 5}) {
    const Sizes sizes(rank, 1);
    const Sizes strides(rank, 3);
    impl->setShape(sizes, strides, 0);
    EXPECT_EQ(vec(tensor.sizes()), sizes);
    EXPECT_EQ(vec(tensor.strides()), strides);
  }
}

TEST(Tensor, AViewHasTheDimensionsThatAreWrittenAndItsOwnOffset) {
  const Tensor tensor = floats({2, 3, 4});
  const Tensor edited = tensor.viewWith([&](Dims& dims) {
    EXPECT_EQ(dims.rank(), 0U);
    dims.assignWithout(1, tensor.sizes(), tensor.strides());
    std::swap(dims.sizes()[0], dims.sizes()[1]);
    std::swap(dims.strides()[0], dims.strides()[1]);
    return int64_t{4};
  });
  EXPECT_EQ(vec(edited.sizes()), (Sizes{4, 2}));
  EXPECT_EQ(vec(edited.strides()), (Sizes{1, 12}));
  EXPECT_EQ(edited.storage_offset(), 4);
  EXPECT_EQ(edited.numel(), 8);
  EXPECT_FALSE(edited.is_contiguous());
  EXPECT_EQ(edited.storage(), tensor.storage());
  EXPECT_EQ(vec(tensor.sizes()), (Sizes{2, 3, 4}));
}

TEST(Tensor, AWrittenViewStaysInsideTheStorage) {
  const auto grow = [](Dims& dims) {
    dims.assign(Sizes{7, 3}, Sizes{3, 1});
    return int64_t{0};
  };
  EXPECT_EQ(errorOf([&] {
              floats({2, 3}).viewWith(grow);
            }),
            "a tensor of sizes [7, 3], strides [3, 1] and storage offset 0 needs 84 bytes of storage, but its storage "
            "has 24");
  EXPECT_EQ(errorOf([] { Tensor().viewWith([](Dims&) { return int64_t{0}; }); }), "the undefined tensor has no views");
  EXPECT_EQ(errorOf([] { Tensor().unsafeGetTensorImpl()->setShape(Sizes{1}, Sizes{1}, 0); }),
            "the undefined tensor has no views");
}

TEST(TensorImpl, AFailedSetShapeChangesNothing) {
  const Tensor tensor = floats({2, 3});
  EXPECT_NE(errorOf([&] { tensor.unsafeGetTensorImpl()->setShape(Sizes{7}, Sizes{1}, 0); }), "no error");
  EXPECT_EQ(vec(tensor.sizes()), (Sizes{2, 3}));
  EXPECT_EQ(tensor.numel(), 6);
}

struct Note final : TensorMetadata {
  Note(Kind kind, int* alive) : TensorMetadata(kind), alive_notes(alive) { ++*alive_notes; }
  ~Note() override { --*alive_notes; }
  IntrusivePtr<TensorMetadata> copy() const override {
    if (kind() == Kind::kAutograd) return nullptr;
    return makeIntrusive<Note>(kind(), alive_notes);
  }
  int* alive_notes;
};

TEST(TensorImpl, MetadataOfEachKindLivesAsLongAsTheTensor) {
  using Kind = TensorMetadata::Kind;
  int alive = 0;
  {
    const Tensor tensor = floats({1});
    TensorImpl& impl = *tensor.unsafeGetTensorImpl();
    EXPECT_EQ(impl.metadata(Kind::kNames), nullptr);
    impl.set_metadata(makeIntrusive<Note>(Kind::kNames, &alive));
    impl.set_metadata(makeIntrusive<Note>(Kind::kAutograd, &alive));
    impl.set_metadata(makeIntrusive<Note>(Kind::kBinding, &alive));
    EXPECT_EQ(alive, 3);
    const TensorMetadata* const names = impl.metadata(Kind::kNames);
    ASSERT_NE(names, nullptr);
    EXPECT_EQ(names->kind(), Kind::kNames);
    impl.set_metadata(makeIntrusive<Note>(Kind::kNames, &alive));
    EXPECT_EQ(alive, 3);
    EXPECT_NE(impl.metadata(Kind::kNames), names);
    impl.remove_metadata(Kind::kAutograd);
    EXPECT_EQ(alive, 2);
    EXPECT_EQ(impl.metadata(Kind::kAutograd), nullptr);
    EXPECT_NE(impl.metadata(Kind::kBinding), nullptr);
    impl.remove_metadata(Kind::kAutograd);
    EXPECT_EQ(alive, 2);
  }
  EXPECT_EQ(alive, 0);
}

TEST(TensorImpl, ACopyGetsTheMetadataThatCopiesHave) {
  using Kind = TensorMetadata::Kind;
  int alive = 0;
  const Tensor tensor = floats({1});
  tensor.unsafeGetTensorImpl()->set_metadata(makeIntrusive<Note>(Kind::kNames, &alive));
  tensor.unsafeGetTensorImpl()->set_metadata(makeIntrusive<Note>(Kind::kAutograd, &alive));
  const Tensor copy = floats({1});
  copy.unsafeGetTensorImpl()->copy_metadata(*tensor.unsafeGetTensorImpl());
  EXPECT_NE(copy.unsafeGetTensorImpl()->metadata(Kind::kNames), nullptr);
  EXPECT_EQ(copy.unsafeGetTensorImpl()->metadata(Kind::kAutograd), nullptr);
}

TEST(TensorImpl, AViewOfAViewKeepsTheTensorThatBothAreViewsOf) {
  Tensor tensor = floats({2, 3});
  TensorImpl* const impl = tensor.unsafeGetTensorImpl();
  EXPECT_EQ(impl->base(), nullptr);
  const Tensor row = tensor.view(Sizes{3}, Sizes{1}, 3);
  const Tensor element = row.viewWith([](Dims&) { return int64_t{4}; });
  EXPECT_EQ(row.unsafeGetTensorImpl()->base(), impl);
  EXPECT_EQ(element.unsafeGetTensorImpl()->base(), impl);
  tensor = Tensor();
  EXPECT_EQ(impl->useCount(), 2u);
  element.unsafeGetTensorImpl()->clear_base();
  EXPECT_EQ(element.unsafeGetTensorImpl()->base(), nullptr);
  EXPECT_EQ(row.unsafeGetTensorImpl()->base()->sizes().size(), 2u);
}

TEST(TensorImpl, AViewWithMetadataKeepsItsBase) {
  int alive = 0;
  const Tensor tensor = floats({2, 3});
  const Tensor row = tensor.view(Sizes{3}, Sizes{1}, 3);
  TensorImpl& impl = *row.unsafeGetTensorImpl();
  EXPECT_EQ(impl.metadata(TensorMetadata::Kind::kNames), nullptr);
  impl.set_metadata(makeIntrusive<Note>(TensorMetadata::Kind::kNames, &alive));
  EXPECT_EQ(impl.base(), tensor.unsafeGetTensorImpl());
  const Tensor element = row.viewWith([](Dims&) { return int64_t{4}; });
  EXPECT_EQ(element.unsafeGetTensorImpl()->base(), tensor.unsafeGetTensorImpl());
  impl.clear_base();
  EXPECT_EQ(impl.base(), nullptr);
  EXPECT_EQ(alive, 1);
}

}  // namespace
}  // namespace boxcar
