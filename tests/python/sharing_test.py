"""Memory that tensors share with NumPy and other libraries."""

import gc
import io
import unittest

import boxcar

try:
    import numpy
except ImportError:
    numpy = None


@unittest.skipIf(numpy is None, "NumPy is not installed")
class Numpy(unittest.TestCase):
    def test_arrays_and_tensors_share_memory_both_ways(self):
        array = numpy.arange(6.0).reshape(2, 3)
        for tensor in (boxcar.from_numpy(array), boxcar.from_dlpack(array)):
            tensor[0, 0] = 42
            self.assertEqual(array[0, 0], 42)
            back = tensor.numpy()
            back[1, 2] = -1
            self.assertEqual(array[1, 2], -1)
            array[:] = numpy.arange(6.0).reshape(2, 3)
        lent = numpy.from_dlpack(boxcar.arange(3))
        self.assertEqual(lent.tolist(), [0, 1, 2])

    def test_an_array_of_a_zero_tensor_has_memory_of_its_own(self):
        zero = boxcar.ops.aten._efficientzerotensor([2, 3])
        array = zero.numpy()
        array[:] = 1
        self.assertEqual(zero.tolist(), [[0, 0, 0], [0, 0, 0]])
        self.assertEqual(numpy.asarray(zero.numpy(force=True)).sum(), 0)

    def test_strides_and_offsets_stay(self):
        array = numpy.arange(12).reshape(3, 4)[1:, ::2]
        tensor = boxcar.from_numpy(array)
        self.assertEqual(tensor.stride(), (4, 2))
        self.assertEqual(tensor.tolist(), array.tolist())
        self.assertEqual(boxcar.arange(12).reshape(3, 4).t().numpy().strides, (8, 32))
        self.assertEqual(boxcar.from_numpy(numpy.array(5)).shape, ())
        self.assertEqual(boxcar.zeros(0, 3).numpy().shape, (0, 3))

    def test_every_dtype_that_both_have(self):
        for name in ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "complex64",
                     "complex128"):
            array = numpy.array([0, 1, 3]).astype(name)
            tensor = boxcar.from_numpy(array)
            self.assertEqual(str(tensor.dtype), "boxcar." + name)
            self.assertEqual(tensor.numpy().dtype, array.dtype)
            self.assertEqual(tensor.tolist(), array.tolist())

    def test_the_array_lives_as_long_as_the_tensor(self):
        tensor = boxcar.from_numpy(numpy.full(1000, 7.0))
        gc.collect()
        self.assertEqual(tensor.sum().item(), 7000)
        array = boxcar.full([1000], 7.0).numpy()
        gc.collect()
        self.assertEqual(array.sum(), 7000)

    def test_what_cannot_be_shared_is_refused_with_a_remedy(self):
        read_only = numpy.zeros(2)
        read_only.flags.writeable = False
        with self.assertRaisesRegex(ValueError, "read-only.*copy it with boxcar.tensor"):
            boxcar.from_numpy(read_only)
        self.assertEqual(boxcar.tensor(read_only).tolist(), [0, 0])
        with self.assertRaisesRegex(BufferError, "read-only"):
            boxcar.from_dlpack(read_only)
        with self.assertRaisesRegex(ValueError, "not negative.*array.copy"):
            boxcar.from_numpy(numpy.arange(3)[::-1])
        with self.assertRaisesRegex(TypeError, "no dtype for elements of format 'U|w"):
            boxcar.from_numpy(numpy.array(["text"]))
        with self.assertRaisesRegex(TypeError, "no format for bfloat16"):
            boxcar.ones(2, dtype=boxcar.bfloat16).numpy()
        with self.assertRaisesRegex(RuntimeError, "tensor.detach"):
            boxcar.tensor([1.0], requires_grad=True).numpy()
        with self.assertRaisesRegex(TypeError, "meta"):
            boxcar.ones(2, device="meta").numpy()

    def test_arrays_are_data_and_indices(self):
        self.assertEqual(boxcar.tensor(numpy.eye(2, dtype="float32")).tolist(), [[1, 0], [0, 1]])
        self.assertEqual(boxcar.arange(4)[numpy.array([3, 1])].tolist(), [3, 1])
        x = boxcar.zeros(2)
        x[:] = numpy.array([1.0, 2.0])
        self.assertEqual(x.tolist(), [1, 2])
        self.assertEqual(boxcar.add(boxcar.ones(1), numpy.float32(2)).item(), 3)
        self.assertEqual(boxcar.zeros(numpy.int64(2)).shape, (2,))
        self.assertEqual(numpy.asarray(boxcar.ones(2), dtype="int32").tolist(), [1, 1])
        self.assertEqual(boxcar.ones(2).detach().numpy(force=True).tolist(), [1, 1])


class Dlpack(unittest.TestCase):
    def test_capsules_are_used_once(self):
        capsule = boxcar.ones(2).__dlpack__(max_version=(1, 0))
        self.assertEqual(boxcar.from_dlpack(capsule).tolist(), [1, 1])
        with self.assertRaisesRegex(ValueError, "used before"):
            boxcar.from_dlpack(capsule)

    def test_old_and_new_consumers_get_what_they_ask_for(self):
        x = boxcar.arange(3)
        self.assertIn('"dltensor"', repr(x.__dlpack__()))
        self.assertIn('"dltensor_versioned"', repr(x.__dlpack__(max_version=(1, 3))))
        self.assertEqual(boxcar.from_dlpack(x.__dlpack__()).tolist(), [0, 1, 2])
        self.assertEqual(x.__dlpack_device__(), (1, 0))

    def test_a_capsule_that_nobody_takes_frees_its_tensor(self):
        for _ in range(3):
            boxcar.ones(1000).__dlpack__()
            boxcar.ones(1000).__dlpack__(max_version=(1, 0))
        gc.collect()

    def test_a_copy_is_one(self):
        x = boxcar.zeros(2)
        boxcar.from_dlpack(x.__dlpack__(copy=True)).add_(1)
        self.assertEqual(x.tolist(), [0, 0])

    def test_a_tensor_that_requires_grad_is_refused(self):
        with self.assertRaisesRegex(BufferError, "requires grad"):
            boxcar.tensor([1.0], requires_grad=True).__dlpack__()

    def test_a_lazy_conjugate_is_lent_as_a_copy_that_says_so(self):
        x = boxcar.tensor([1 + 2j]).conj()
        self.assertEqual(boxcar.from_dlpack(x.__dlpack__(max_version=(1, 0))).tolist(), [1 - 2j])
        with self.assertRaisesRegex(BufferError, r"others get a copy; lend x.resolve_conj\(\).resolve_neg\(\)"):
            x.__dlpack__(copy=False)
        with self.assertRaisesRegex(TypeError, r"^numpy\(\): the memory of a tensor that is conjugated or negated lazily"):
            x.numpy()

    def test_what_is_no_array_is_named(self):
        with self.assertRaisesRegex(TypeError, "has __dlpack__.*not an object of class 'int'"):
            boxcar.from_dlpack(3)
        with self.assertRaisesRegex(TypeError, "object with a buffer, and not an object of class 'int'"):
            boxcar.from_numpy(3)

    def test_unknown_keywords_are_named(self):
        with self.assertRaisesRegex(TypeError, "no argument 'strem'"):
            boxcar.ones(1).__dlpack__(strem=None)


class Buffers(unittest.TestCase):
    def test_a_tensor_is_a_buffer(self):
        x = boxcar.arange(6, dtype=boxcar.int32).reshape(2, 3)
        view = memoryview(x)
        self.assertEqual((view.format, view.shape, view.strides), ("i", (2, 3), (12, 4)))
        view[0, 1] = 9
        self.assertEqual(x[0, 1].item(), 9)
        self.assertEqual(bytes(memoryview(boxcar.ones(1))), b"\x00\x00\x80\x3f")

    def test_a_zero_tensor_is_no_buffer(self):
        zero = boxcar.ops.aten._efficientzerotensor([2])
        with self.assertRaisesRegex(BufferError, r"a zero tensor has no memory, so it is no buffer; use tensor.clone\(\)"):
            memoryview(zero)
        with self.assertRaisesRegex(BufferError, r"it is a zero tensor, which has no memory; lend x.clone\(\)"):
            zero.__dlpack__()

    def test_a_transposed_tensor_needs_strides(self):
        with self.assertRaisesRegex(BufferError, "contiguous"):
            io.BytesIO(boxcar.ones(2, 3).t())

    def test_other_buffers_become_tensors(self):
        import array
        self.assertEqual(boxcar.from_numpy(array.array("d", [1, 2])).tolist(), [1, 2])
        self.assertEqual(boxcar.from_numpy(bytearray(b"ab")).tolist(), [97, 98])


if __name__ == "__main__":
    unittest.main()
