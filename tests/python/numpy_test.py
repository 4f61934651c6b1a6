"""Numbers and arrays of NumPy's beside tensors."""

import unittest

import boxcar

try:
    import numpy
except ImportError:
    numpy = None


@unittest.skipIf(numpy is None, "NumPy is not installed")
class Scalars(unittest.TestCase):
    def test_operators_with_numpys_numbers_give_tensors_with_gradients_on_either_side(self):
        w = boxcar.tensor([1.0, 2.0], requires_grad=True)
        for result in (w * numpy.float32(3), numpy.float64(2) * w, numpy.int64(1) + w, w.sum() * numpy.float32(2),
                       numpy.float32(2) - w, w - numpy.float16(2), numpy.float64(2) / w, w ** numpy.float64(2),
                       numpy.float64(2) ** w, w + numpy.bool_(True), numpy.float32(2) * w.sum()):
            self.assertIs(type(result), boxcar.Tensor)
            self.assertTrue(result.requires_grad)
            self.assertEqual(result.dtype, boxcar.float32)
        self.assertEqual((numpy.float32(5) - w).tolist(), [4.0, 3.0])
        (w * numpy.float32(3)).sum().backward()
        self.assertEqual(w.grad.tolist(), [3.0, 3.0])

    def test_comparisons_with_numpys_numbers_give_tensors(self):
        w = boxcar.tensor([1.0, -2.0])
        for result in (w > numpy.float32(0), numpy.float32(0) < w, w == numpy.int8(1), numpy.int64(1) == w):
            self.assertIs(type(result), boxcar.Tensor)
            self.assertEqual(result.tolist(), [True, False])

    def test_complex_numbers_of_numpys_keep_both_parts(self):
        result = boxcar.ones(1) * numpy.complex64(1 + 2j)
        self.assertEqual((result.dtype, result.tolist()), (boxcar.complex64, [1 + 2j]))

    def test_a_step_of_descent_may_be_a_number_of_numpys(self):
        w = boxcar.tensor([1.0], requires_grad=True)
        (w * 3).sum().backward()
        with boxcar.no_grad():
            w -= numpy.float64(0.5) * w.grad
        self.assertEqual(w.tolist(), [-0.5])


@unittest.skipIf(numpy is None, "NumPy is not installed")
class Arrays(unittest.TestCase):
    def test_a_tensor_with_an_array_gives_a_tensor(self):
        for result in (boxcar.ones(2) + numpy.ones(2), boxcar.tensor([4.0, 4.0], dtype=boxcar.float64) / numpy.full(2, 2)):
            self.assertEqual((result.dtype, result.tolist()), (boxcar.float64, [2.0, 2.0]))
        self.assertEqual((boxcar.ones(2) * numpy.array(3.0)).dtype, boxcar.float32)
        self.assertEqual((boxcar.ones(2) == numpy.array([1.0, 2.0])).tolist(), [True, False])
        x = boxcar.ones(2)
        x += numpy.ones(2)
        self.assertEqual(x.tolist(), [2.0, 2.0])

    def test_an_array_on_the_left_is_refused_as_by_pytorch(self):
        for operator in (lambda: numpy.ones(2) + boxcar.ones(2), lambda: numpy.ones(2) * boxcar.ones(2)):
            with self.assertRaises(TypeError):
                operator()

    def test_lists_do_not_add_to_tensors(self):
        with self.assertRaisesRegex(TypeError, "unsupported operand"):
            boxcar.ones(2) + [1, 2]


@unittest.skipIf(numpy is None, "NumPy is not installed")
class Recorded(unittest.TestCase):
    def test_no_array_is_lent_by_a_tensor_that_requires_grad(self):
        w = boxcar.tensor([1.0], requires_grad=True)
        for lend in (numpy.asarray, numpy.array, boxcar.Tensor.numpy):
            with self.assertRaisesRegex(RuntimeError, "requires grad.*tensor.detach"):
                lend(w)
        with self.assertRaisesRegex(BufferError, "requires grad.*tensor.detach"):
            memoryview(w)
        self.assertEqual(numpy.asarray(w.detach()).tolist(), [1.0])

    def test_under_no_grad_it_is_lent(self):
        w = boxcar.tensor([1.0], requires_grad=True)
        with boxcar.no_grad():
            self.assertEqual((w.numpy().tolist(), numpy.asarray(w).tolist()), ([1.0], [1.0]))

    def test_kernels_below_autograd_get_arrays_of_their_arguments(self):
        with boxcar.op("numpy_test::scale(Tensor x, float by) -> Tensor")(
                lambda x, by: boxcar.from_numpy(x.numpy() * numpy.float32(by))) as scale:
            scale.register_autograd(lambda grad, by: grad * by)
            w = boxcar.tensor([2.0], requires_grad=True)
            result = scale(w, 3.0)
            result.sum().backward()
            self.assertEqual((result.tolist(), w.grad.tolist()), ([6.0], [3.0]))


@unittest.skipIf(numpy is None, "NumPy is not installed")
class Data(unittest.TestCase):
    def test_lists_of_arrays_and_of_numpys_numbers_keep_their_dtypes(self):
        x = boxcar.tensor([numpy.ones(2), numpy.zeros(2)])
        self.assertEqual((x.dtype, x.tolist()), (boxcar.float64, [[1.0, 1.0], [0.0, 0.0]]))
        self.assertEqual(boxcar.tensor([numpy.int32(3)]).dtype, boxcar.int32)
        self.assertEqual(boxcar.tensor([1, numpy.float64(2)]).dtype, boxcar.float64)
        self.assertEqual(boxcar.tensor((1, numpy.int8(3))).dtype, boxcar.int64)
        self.assertEqual(boxcar.tensor([numpy.bool_(True)]).dtype, boxcar.bool)

    def test_dates_are_refused(self):
        with self.assertRaisesRegex(TypeError, "no dtype for elements of class 'numpy.datetime64'"):
            boxcar.tensor(numpy.datetime64("2020-01-01"))

    def test_as_tensor_and_asarray_share_memory_where_they_can(self):
        array = numpy.zeros(2)
        boxcar.as_tensor(array).fill_(1)
        self.assertEqual(array.tolist(), [1.0, 1.0])
        boxcar.asarray(array, copy=True).fill_(2)
        self.assertEqual(array.tolist(), [1.0, 1.0])
        self.assertEqual(boxcar.as_tensor(array, dtype=boxcar.int64).tolist(), [1, 1])
        with self.assertRaisesRegex(ValueError, "must be a copy"):
            boxcar.asarray(array, dtype=boxcar.float32, copy=False)
        with self.assertRaisesRegex(ValueError, "must be a copy"):
            boxcar.asarray([1], copy=False)
        self.assertTrue(boxcar.asarray([1.0], requires_grad=True).requires_grad)


if __name__ == "__main__":
    unittest.main()
