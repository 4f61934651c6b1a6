"""Names and argument forms that PyTorch's Python accepts."""

import pathlib
import pydoc
import tempfile
import unittest

import boxcar


class Arguments(unittest.TestCase):
    def test_the_first_argument_is_input_by_name(self):
        x = boxcar.tensor([1.0, -2.0])
        self.assertEqual(boxcar.add(input=x, other=x).tolist(), [2.0, -4.0])
        self.assertEqual(boxcar.relu(input=x).tolist(), [1.0, 0.0])
        self.assertEqual(boxcar.ops.aten.mul.Tensor(input=x, other=x).tolist(), [1.0, 4.0])
        weight = boxcar.ones(1, 2)  # here schemas have it, too
        self.assertEqual(boxcar.linear(input=x, weight=weight).tolist(), [-1.0])

    def test_numpys_names_are_pytorchs_too(self):
        x = boxcar.tensor([[1.0, 2.0], [3.0, 4.0]])
        self.assertEqual(boxcar.sum(x, axis=1, keepdims=True).tolist(), [[3.0], [7.0]])
        self.assertEqual(x.mean(axis=0).tolist(), [2.0, 3.0])
        self.assertEqual(boxcar.add(x1=x, x2=1).tolist(), [[2.0, 3.0], [4.0, 5.0]])

    def test_a_name_twice_is_refused(self):
        x = boxcar.ones(2)
        with self.assertRaisesRegex(TypeError, "'self' is given twice"):
            boxcar.add(x, x, input=x)
        with self.assertRaisesRegex(TypeError, "axis"):
            boxcar.sum(x, dim=0, axis=0)

    def test_functions_of_scripts_have_only_their_own_names(self):
        script = boxcar.compile("fn twice(Tensor self) -> Tensor { return self + self }")
        with self.assertRaisesRegex(TypeError, "input"):
            script.twice(input=boxcar.ones(1))


class Module(unittest.TestCase):
    def test_every_name_of_the_module_is_there(self):
        for name in dir(boxcar):
            try:
                self.assertTrue(hasattr(boxcar, name), name)
            except ModuleNotFoundError:
                self.assertIn(name, ("from_torch",))

    def test_help_of_the_module_and_of_its_classes_is_there(self):
        text = pydoc.plain(pydoc.render_doc(boxcar))
        self.assertIn("an operator dispatcher, and scripts and models", text)
        self.assertIn("class Operator", text)
        self.assertEqual(boxcar.Operator.__module__, "boxcar")
        self.assertEqual(boxcar.relu.__module__, "boxcar")
        for each in (boxcar.Operator, boxcar.Function, boxcar.Tensor, boxcar.relu, boxcar.no_grad):
            self.assertIn("boxcar", pydoc.plain(pydoc.render_doc(each)))


class Methods(unittest.TestCase):
    def test_conversions_are_methods_by_the_names_of_dtypes(self):
        x = boxcar.tensor([1.0, 0.0])
        for name, dtype in (("float", boxcar.float32), ("double", boxcar.float64), ("half", boxcar.float16),
                            ("bfloat16", boxcar.bfloat16), ("int", boxcar.int32), ("long", boxcar.int64),
                            ("short", boxcar.int16), ("char", boxcar.int8), ("byte", boxcar.uint8), ("bool", boxcar.bool),
                            ("cfloat", boxcar.complex64), ("cdouble", boxcar.complex128)):
            self.assertEqual(getattr(x, name)().dtype, dtype, name)
        image = boxcar.ones(1, 2, 3, 3)
        self.assertEqual(image.half(memory_format=boxcar.channels_last).stride(), (18, 1, 6, 2))
        with self.assertRaisesRegex(TypeError, "nothing but memory_format="):
            x.float(1)

    def test_several_tensors_get_dimensions_at_once(self):
        shapes = [each.shape for each in boxcar.atleast_1d(boxcar.tensor(1), boxcar.ones(2, 3))]
        self.assertEqual(shapes, [(1,), (2, 3)])

    def test_small_things_that_programs_of_pytorchs_use(self):
        x = boxcar.tensor([[1.0, 2.0], [3.0, 4.0]])
        self.assertTrue(boxcar.is_tensor(x) and x.is_contiguous() and not x.t().is_contiguous())
        image = boxcar.ones(1, 2, 3, 3).contiguous(memory_format=boxcar.channels_last)
        self.assertTrue(image.is_contiguous(memory_format=boxcar.channels_last))
        self.assertEqual(x.type(boxcar.int64).dtype, boxcar.int64)
        self.assertEqual(x.type_as(boxcar.tensor(1)).dtype, boxcar.int64)
        self.assertEqual(boxcar.tensor(1).new_tensor([2.0]).dtype, boxcar.int64)
        self.assertEqual([each.tolist() for each in reversed(x)], [[3.0, 4.0], [1.0, 2.0]])
        self.assertEqual(complex(boxcar.tensor(1 + 2j)), 1 + 2j)
        self.assertEqual(boxcar.promote_types(boxcar.int32, boxcar.float16), boxcar.float16)
        self.assertEqual(boxcar.result_type(x, 1), boxcar.float32)
        self.assertEqual(x[:, boxcar.newaxis].shape, (2, 1, 2))
        self.assertEqual((boxcar.inf, round(boxcar.pi, 2), round(boxcar.e, 2)), (float("inf"), 3.14, 2.72))
        self.assertNotEqual(boxcar.nan, boxcar.nan)
        x.add_(1)
        self.assertEqual(x._version, 1)

    def test_methods_whose_tensor_is_not_the_first_argument_of_the_operator(self):
        x = boxcar.tensor([1.0, 2.0])
        self.assertEqual(x.where(x > 1, 0).tolist(), [0.0, 2.0])
        self.assertAlmostEqual(x.polygamma(1)[0].item(), 1.644934, places=5)

    def test_operators_between_underscores_are_found(self):
        x = boxcar.tensor([3])
        self.assertEqual(boxcar.ops.aten.__and__(x, 2).tolist(), [2])
        with self.assertRaises(AttributeError):
            boxcar.ops.aten.__no_such__


class Forms(unittest.TestCase):
    """Calls that PyTorch's Python takes and its schemas do not."""

    def test_trace_of_a_matrix_is_an_operator_and_of_a_path_a_handler(self):
        x = boxcar.tensor([[1.0, 2.0], [3.0, 4.0]])
        self.assertEqual(boxcar.trace(x), 5)
        self.assertEqual(boxcar.trace(input=x), 5)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "t.ops")
            with boxcar.trace(path):
                x.relu()
            self.assertIn("relu", path.read_text(encoding="utf-8"))

    def test_factories_take_requires_grad_and_out_with_a_dtype(self):
        self.assertTrue(boxcar.zeros(2, requires_grad=True).requires_grad)
        self.assertFalse(boxcar.rand_like(boxcar.ones(2), requires_grad=False).requires_grad)
        self.assertTrue(boxcar.ones(1).new_zeros(2, requires_grad=True).is_leaf)
        out = boxcar.empty(0)
        self.assertIs(boxcar.arange(3, dtype=boxcar.float32, device="cpu", out=out), out)
        self.assertEqual(out.tolist(), [0, 1, 2])
        with self.assertRaisesRegex(RuntimeError, r"`dtype` is boxcar.int64, but that of `out` is boxcar.float32"):
            boxcar.zeros(2, dtype=boxcar.int64, out=out)

    def test_several_outs_are_a_tuple(self):
        values, indices = boxcar.empty(0), boxcar.empty(0, dtype=boxcar.int64)
        result = boxcar.max(boxcar.tensor([[1.0, 3.0]]), 1, out=(values, indices))
        self.assertIs(result.values, values)
        self.assertEqual((values.tolist(), indices.tolist()), ([3.0], [1]))

    def test_tensors_may_be_separate_arguments(self):
        x, y = boxcar.tensor([1.0, 2.0]), boxcar.tensor([[3.0], [4.0]])
        self.assertEqual([each.shape for each in boxcar.broadcast_tensors(x, y)], [(2, 2), (2, 2)])
        self.assertEqual(boxcar.meshgrid(x, x, indexing="ij")[0].tolist(), [[1.0, 1.0], [2.0, 2.0]])
        self.assertEqual(boxcar.cartesian_prod(x, x).shape, (4, 2))
        self.assertEqual(boxcar.block_diag(y, y).shape, (4, 2))
        self.assertEqual(boxcar.einsum("i,ji->i", x, y.expand(2, 2)).tolist(), [7.0, 14.0])

    def test_words_and_numbers_stand_for_what_schemas_want(self):
        x = boxcar.tensor([[3.0, 0.0], [0.0, 4.0]])
        self.assertEqual(boxcar.tensordot(x, x, dims=2).item(), 25.0)
        self.assertEqual(boxcar.norm(x, "fro").item(), 5.0)
        self.assertEqual(boxcar.norm(x, "nuc").item(), 7.0)
        self.assertEqual([each.tolist() for each in x.nonzero(as_tuple=True)], [[0, 1], [0, 1]])
        self.assertEqual(boxcar.cdist(x, x, compute_mode="donot_use_mm_for_euclid_dist")[0, 1].item(), 5.0)

    def test_a_call_of_no_form_has_the_error_of_its_schemas(self):
        with self.assertRaisesRegex(TypeError, "no overload of aten::add takes"):
            boxcar.add(boxcar.ones(1), "one")
        with self.assertRaisesRegex(TypeError, "must be str, not Tensor"):
            boxcar.einsum(boxcar.ones(1), boxcar.ones(1))
        with self.assertRaisesRegex(TypeError, "aten::nonzero.*'self' must be Tensor, not str"):
            boxcar.nonzero("one")
        with self.assertRaisesRegex(TypeError, "aten::tensordot"):
            boxcar.tensordot(boxcar.ones(1), boxcar.ones(1), [0], "one")
        with self.assertRaisesRegex(TypeError, "has no argument 'requires_grad'"):
            boxcar.relu(boxcar.ones(1), requires_grad=True)


class NamedDimensions(unittest.TestCase):
    """PyTorch removed them in 2.13. Each way to give names is refused by the same sentence."""

    SENTENCE = ("tensors have no named dimensions, as PyTorch removed them: give the number of a dimension, and keep it in "
                "a variable to name it")

    def assertRefused(self, error, call):
        with self.assertRaises(error) as caught:
            call()
        self.assertIn(self.SENTENCE, str(caught.exception))

    def test_arguments(self):
        x = boxcar.ones(2, 3)
        self.assertRefused(TypeError, lambda: boxcar.tensor([1.0], names=["N"]))
        self.assertEqual(boxcar.tensor([1.0], names=None).tolist(), [1.0])
        self.assertRefused(TypeError, lambda: boxcar.ones(2, 3, names=("N", "C")))
        self.assertRefused(TypeError, lambda: x.sum("N"))
        self.assertRefused(TypeError, lambda: x.sum(["N", "C"]))
        self.assertRefused(TypeError, lambda: x.select("N", 0))
        self.assertRefused(TypeError, lambda: x.permute("C", "N"))

    def test_attributes(self):
        x = boxcar.ones(2, 3)
        for name in ("names", "rename", "rename_", "refine_names", "align_to", "align_as", "has_names"):
            with self.subTest(name):
                self.assertFalse(hasattr(x, name))
                self.assertRefused(AttributeError, lambda: getattr(x, name))
        self.assertRefused(AttributeError, lambda: boxcar.align_tensors)


class Functions(unittest.TestCase):
    def test_namespaces_have_the_names_of_pytorch(self):
        x = boxcar.eye(2)
        self.assertEqual(boxcar.linalg.det(x).item(), 1.0)
        self.assertEqual(boxcar.fft.fft(boxcar.ones(2)).tolist(), [2.0, 0.0])
        self.assertEqual(boxcar.special.expit(boxcar.zeros(1)).tolist(), [0.5])
        self.assertIn("svd", dir(boxcar.linalg))
        with self.assertRaisesRegex(AttributeError, "there is no operator aten::linalg_none"):
            boxcar.linalg.none

    def test_functions_that_are_no_operators(self):
        x = boxcar.tensor([3, 1, 3])
        self.assertEqual(boxcar.unique(x).tolist(), [1, 3])
        self.assertEqual([each.tolist() for each in x.unique(return_counts=True)], [[1, 3], [1, 2]])
        self.assertEqual(boxcar.unique_consecutive(x).tolist(), [3, 1, 3])
        self.assertEqual(boxcar.broadcast_shapes((2, 1), (3,), 1), (2, 3))
        self.assertEqual([each.tolist() for each in boxcar.unravel_index(boxcar.tensor([4, 5]), (2, 3))], [[1, 1], [1, 2]])
        self.assertEqual(boxcar.stft(boxcar.ones(8), 4, return_complex=True).shape, (3, 9))

    def test_functions_of_neural_networks(self):
        import boxcar.nn.functional as F
        x = boxcar.tensor([[1.0, -1.0]])
        self.assertEqual(F.relu(x).tolist(), [[1.0, 0.0]])
        self.assertEqual(F.mse_loss(x, boxcar.zeros(1, 2), reduction="sum").item(), 2.0)
        self.assertAlmostEqual(F.cross_entropy(x, boxcar.tensor([0])).item(), 0.126928, places=5)
        self.assertEqual(F.interpolate(x.unsqueeze(0), scale_factor=2).tolist(), [[[1.0, 1.0, -1.0, -1.0]]])
        pooled, indices = F.max_pool1d(x, 2, return_indices=True)
        self.assertEqual((F.max_unpool1d(pooled, indices, 2).tolist()), [[1.0, 0.0]])
        self.assertEqual(F.conv1d(x, boxcar.ones(1, 1, 2)).tolist(), [[0.0]])
        self.assertIs(F.relu(x, inplace=True), x)
        with self.assertRaisesRegex(ValueError, "`reduction` must be none, mean or sum, not 'all'"):
            F.l1_loss(x, x, reduction="all")
        with self.assertRaisesRegex(AttributeError, "boxcar.nn.functional has no nothing"):
            F.nothing


if __name__ == "__main__":
    unittest.main()
