"""Values of Python as arguments of operators, and results as values of Python."""

import copy
import gc
import pickle
import unittest
import weakref

import boxcar


class Values(unittest.TestCase):
    def test_numbers_lists_and_names_become_arguments(self):
        self.assertEqual(boxcar.ones(2, 3).shape, (2, 3))
        self.assertEqual(boxcar.ones([2, 3]).shape, (2, 3))
        self.assertEqual(boxcar.zeros((1,), dtype=boxcar.int64).dtype, boxcar.int64)
        self.assertEqual(boxcar.full([2], 2.5).tolist(), [2.5, 2.5])
        self.assertEqual(boxcar.ones(1, device="meta").device, boxcar.device("meta"))
        self.assertEqual(boxcar.cat([boxcar.ones(1), boxcar.zeros(1)]).tolist(), [1.0, 0.0])

    def test_an_int_is_no_dtype_and_a_dtype_no_size(self):
        x = boxcar.arange(6, dtype=boxcar.float32).reshape(2, 3)
        self.assertEqual(x.view(6).shape, (6,))
        self.assertEqual(x.view(-1).shape, (6,))
        self.assertEqual(x.view(boxcar.int32).dtype, boxcar.int32)
        self.assertEqual(boxcar.ones(3).dtype, boxcar.float32)
        with self.assertRaisesRegex(TypeError, "'dtype' must be ScalarType.*, not int"):
            boxcar.zeros(2, dtype=3)

    def test_lists_of_tensors_that_operators_give_are_tuples(self):
        x = boxcar.arange(4)
        for result in (x.split(2), x.chunk(2), x.unbind(), boxcar.meshgrid(x, x), boxcar.where(x > 1),
                       boxcar.nonzero(x > 1, as_tuple=True)):
            self.assertIs(type(result), tuple)
        self.assertEqual(boxcar.cat(x.split(2)).tolist(), [0, 1, 2, 3])
        self.assertEqual(boxcar.cat(tuple(x.reshape(-1, 1).unbind()[:0]) + (x,)).tolist(), [0, 1, 2, 3])
        self.assertEqual(boxcar.stack(boxcar.zeros(200).unbind()).shape, (200,))

    def test_what_where_and_nonzero_give_is_an_index(self):
        x = boxcar.arange(6).reshape(2, 3)
        self.assertEqual(x[boxcar.where(x > 3)].tolist(), [4, 5])
        self.assertEqual(x[boxcar.nonzero(x > 3, as_tuple=True)].tolist(), [4, 5])
        x[boxcar.where(x > 3)] = 0
        self.assertEqual(x.tolist(), [[0, 1, 2], [3, 0, 0]])

    def test_a_range_is_an_index(self):
        self.assertEqual(boxcar.arange(4)[range(1, 4, 2)].tolist(), [1, 3])

    def test_pythons_classes_of_numbers_are_dtypes(self):
        for kind, dtype in ((float, boxcar.float64), (int, boxcar.int64), (bool, boxcar.bool), (complex, boxcar.complex128)):
            self.assertEqual(boxcar.zeros(2, dtype=kind).dtype, dtype)
            self.assertEqual(boxcar.tensor([1], dtype=kind).dtype, dtype)
            self.assertEqual(boxcar.ones(1).to(kind).dtype, dtype)

    def test_the_class_makes_floats_of_data_and_leaves_tensors(self):
        self.assertEqual(boxcar.Tensor([1, 2]).dtype, boxcar.float32)
        self.assertEqual(boxcar.Tensor([True]).tolist(), [1.0])
        self.assertEqual(boxcar.Tensor(boxcar.tensor([1, 2])).dtype, boxcar.int64)

    def test_tensors_in_lists_and_ranges_are_data(self):
        self.assertEqual(boxcar.tensor([boxcar.tensor(1.0), boxcar.tensor([2])]).tolist(), [1.0, 2.0])
        self.assertEqual(boxcar.tensor((boxcar.tensor(1), 2.5)).dtype, boxcar.float32)
        self.assertEqual(boxcar.tensor(range(3)).tolist(), [0, 1, 2])
        self.assertEqual(boxcar.tensor([range(2), [5, 6]]).tolist(), [[0, 1], [5, 6]])
        with self.assertRaisesRegex(ValueError, "must have one element, and this one has 2; use boxcar.stack"):
            boxcar.tensor([boxcar.ones(2)])
        endless = []
        endless += [endless, endless]
        with self.assertRaises(RecursionError):
            boxcar.tensor(endless)

    def test_a_tensor_of_a_tensor_is_a_copy_without_history(self):
        w = boxcar.ones(2, requires_grad=True)
        copied = boxcar.tensor(w)
        copied[0] = 5
        self.assertEqual((w.tolist(), copied.requires_grad), ([1.0, 1.0], False))

    def test_results_with_names_are_tuples_with_names(self):
        result = boxcar.tensor([[1, 5], [7, 2]]).max(dim=1)
        self.assertEqual(result.values.tolist(), [5, 7])
        self.assertEqual(result[1].tolist(), [1, 0])

    def test_a_class_without_a_value_is_named(self):
        with self.assertRaisesRegex(TypeError, "boxcar has no value for an object of class 'object'"):
            boxcar.relu(object())

    def test_an_element_of_another_type_is_a_type_error(self):
        with self.assertRaisesRegex(TypeError, "'tensors' must be Tensor.*found int"):
            boxcar.stack([boxcar.ones(1), 1])

    def test_devices_say_what_is_wrong(self):
        with self.assertRaisesRegex(ValueError, "the index is 0 to 127, not 300"):
            boxcar.device("cuda", 300)
        with self.assertRaisesRegex(ValueError, "in the text already"):
            boxcar.device("cuda:0", 1)

    def test_an_int_of_more_than_64_bits_is_an_overflow(self):
        with self.assertRaises(OverflowError):
            boxcar.add(boxcar.ones(1), 2**70)

    def test_a_list_that_holds_itself_ends_with_an_error(self):
        loop = []
        loop.append(loop)
        with self.assertRaises(RecursionError):
            boxcar.cat(loop)


class Identity(unittest.TestCase):
    def test_a_tensor_that_comes_back_is_the_same_object(self):
        x = boxcar.ones(2)
        x.note = "mine"
        self.assertIs(x.add_(1), x)
        self.assertIs(boxcar.ops.aten.relu_(x), x)
        script = boxcar.compile("fn same(Tensor[] xs) -> Tensor[] { return xs }")
        self.assertIs(script.same([x, x])[1], x)
        self.assertEqual(x.note, "mine")

    def test_gradients_are_one_object_each(self):
        x = boxcar.ones(2)
        x.requires_grad = True
        (x * x).sum().backward()
        self.assertIs(x.grad, x.grad)
        del x.grad
        self.assertIsNone(x.grad)

    def test_subclasses_keep_their_class_and_attributes(self):
        class Named(boxcar.Tensor):
            pass

        x = Named([1.0, 2.0])
        x.name = "x"
        self.assertIs(type(x.mul_(2)), Named)
        self.assertEqual(x.tolist(), [2.0, 4.0])
        self.assertEqual(x.name, "x")

    def test_tensors_are_freed(self):
        x = boxcar.ones(2)
        gone = weakref.ref(x)
        x.cycle = x
        del x
        gc.collect()
        self.assertIsNone(gone())


class Syntax(unittest.TestCase):
    def test_operators_of_python_are_operators(self):
        a, b = boxcar.tensor([1.0, 2.0]), boxcar.tensor([3.0, 5.0])
        for result, wanted in [(a + b, [4, 7]), (1 - a, [0, -1]), (a * 2, [2, 4]), (b / 2, [1.5, 2.5]), (2 / a, [2, 1]),
                               (b // 2, [1, 2]), (b % 2, [1, 1]), (a ** 2, [1, 4]), (2 ** a, [2, 4]), (-a, [-1, -2]),
                               (a < b, [True, True]), (a == 1, [True, False]), (a != b, [True, True])]:
            self.assertEqual(result.tolist(), wanted)
        self.assertEqual((a @ b).item(), 13)
        self.assertEqual((boxcar.tensor([6]) & 3).tolist(), [2])
        self.assertEqual((~boxcar.tensor([True])).tolist(), [False])

    def test_in_place_operators_write_the_tensor(self):
        x = boxcar.ones(2)
        y = x
        x += 1
        x *= 3
        self.assertIs(x, y)
        self.assertEqual(x.tolist(), [6, 6])

    def test_an_operand_of_another_class_is_pythons_error(self):
        with self.assertRaisesRegex(TypeError, "unsupported operand"):
            boxcar.ones(2) + "a"
        self.assertFalse(boxcar.ones(2) == "a")

    def test_numbers_of_tensors(self):
        self.assertEqual(int(boxcar.tensor(3.7)), 3)
        self.assertEqual(float(boxcar.tensor([2])), 2.0)
        self.assertEqual([10, 20, 30][boxcar.tensor(1)], 20)
        self.assertTrue(boxcar.tensor(1))
        with self.assertRaisesRegex(ValueError, "only a tensor with one element can be converted to float; this one has 2"):
            float(boxcar.ones(2))
        with self.assertRaisesRegex(RuntimeError, "ambiguous"):
            bool(boxcar.ones(2))

    def test_indexing_gives_views_and_copies(self):
        x = boxcar.arange(12).reshape(3, 4)
        self.assertEqual(x[1, 2].item(), 6)
        self.assertEqual(x[-1].tolist(), [8, 9, 10, 11])
        self.assertEqual(x[:, 1::2].tolist(), [[1, 3], [5, 7], [9, 11]])
        self.assertEqual(x[..., 0].tolist(), [0, 4, 8])
        self.assertEqual(x[None].shape, (1, 3, 4))
        self.assertEqual(x[x > 9].tolist(), [10, 11])
        self.assertEqual(x[[0, 2], [1, 1]].tolist(), [1, 9])
        self.assertEqual(x[boxcar.tensor([2, 0]), 1:3].tolist(), [[9, 10], [1, 2]])
        x[0] = 7
        x[1, :2] = boxcar.tensor([5, 6])
        x[x == 11] = -1
        x[2, [0, 1]] = [3, 4]
        self.assertEqual(x.tolist(), [[7, 7, 7, 7], [5, 6, 6, 7], [3, 4, 10, -1]])

    def test_an_index_that_is_out_of_range_is_an_index_error(self):
        with self.assertRaisesRegex(IndexError, "index 5 is out of bounds for dimension 0 with size 2"):
            boxcar.ones(2)[5]
        with self.assertRaisesRegex(IndexError, "too long"):
            boxcar.ones(2)[0, 0]
        for key, kind in (("a", "str"), (1.5, "float"), ({}, "Dict")):
            with self.assertRaisesRegex(IndexError, f"a Tensor cannot be indexed by {kind}.*; use ints, slices"):
                boxcar.ones(2)[key]

    def test_what_pytorch_has_as_attributes_are_attributes(self):
        x = boxcar.tensor([[1 + 2j, 3.0], [0, 4j]])
        self.assertEqual(x.real.tolist(), [[1, 3], [0, 0]])
        self.assertEqual(x.imag.tolist(), [[2, 0], [0, 4]])
        self.assertEqual(x.T.tolist(), [[1 + 2j, 0], [3, 4j]])
        self.assertEqual(x.H.tolist(), [[1 - 2j, 0], [3, -4j]])
        self.assertEqual(x.mH.tolist(), x.H.tolist())
        self.assertEqual(boxcar.ones(5, 2, 3).mT.shape, (5, 3, 2))

    def test_what_is_no_number_makes_no_tensor(self):
        for data, kind in (("a", "str"), (None, "NoneType"), ({}, "dict")):
            with self.assertRaisesRegex(TypeError, f"takes numbers, lists of them and arrays, .* of class '{kind}'"):
                boxcar.tensor(data)

    def test_iteration_length_and_membership(self):
        x = boxcar.arange(3)
        self.assertEqual([int(each) for each in x], [0, 1, 2])
        self.assertEqual(len(x), 3)
        self.assertIn(2, x)
        self.assertNotIn(5, x)
        with self.assertRaisesRegex(TypeError, "len"):
            len(boxcar.tensor(1))

    def test_hashes_are_those_of_objects(self):
        x, y = boxcar.ones(1), boxcar.ones(1)
        self.assertEqual(len({x, y, x}), 2)


class Copies(unittest.TestCase):
    def test_copies_and_pickles_of_zero_tensors_are_zeros(self):
        zero = boxcar.ops.aten._efficientzerotensor([2, 3], dtype=boxcar.float64)
        for made in (copy.deepcopy(zero), pickle.loads(pickle.dumps(zero)), copy.copy(zero).clone()):
            self.assertEqual((made.tolist(), made.dtype), ([[0, 0, 0], [0, 0, 0]], boxcar.float64))
            self.assertFalse(boxcar.ops.aten._is_zerotensor(made))
            made += 1
        self.assertEqual(repr(zero[0]), "tensor([0., 0., 0.], dtype=torch.float64)")

    def test_pickles_keep_elements_dtype_attributes_and_gradients(self):
        for dtype in (boxcar.float32, boxcar.bfloat16, boxcar.bool, boxcar.int8, boxcar.complex64):
            x = boxcar.tensor([[1, 0], [2, 3]]).to(dtype)[:, :1]
            y = pickle.loads(pickle.dumps(x))
            self.assertEqual(y.dtype, dtype)
            self.assertEqual(y.tolist(), x.tolist())
        x = boxcar.ones(2)
        x.note, x.requires_grad = "kept", True
        y = pickle.loads(pickle.dumps(x))
        self.assertEqual((y.note, y.requires_grad), ("kept", True))
        self.assertEqual(pickle.loads(pickle.dumps(boxcar.zeros(0, 3))).shape, (0, 3))
        meta = pickle.loads(pickle.dumps(boxcar.empty(2, 3, dtype=boxcar.int16, device="meta")))
        self.assertEqual((meta.shape, meta.dtype, meta.device), ((2, 3), boxcar.int16, boxcar.device("meta")))
        self.assertIs(pickle.loads(pickle.dumps(boxcar.float16)), boxcar.float16)
        self.assertEqual(pickle.loads(pickle.dumps(boxcar.device("cuda:1"))), boxcar.device("cuda:1"))

    def test_copies_share_memory_and_have_attributes_of_their_own(self):
        class Metres(boxcar.Tensor):
            pass

        x = Metres([1.0, 2.0])
        x.note, x.requires_grad = "kept", True
        y = copy.copy(x)
        self.assertEqual((type(y), y.note, y.requires_grad, y.data_ptr()), (Metres, "kept", True, x.data_ptr()))
        y.note = "other"
        self.assertEqual(x.note, "kept")
        with boxcar.fake():
            self.assertEqual(copy.copy(boxcar.ones(2)).shape, (2,))

    def test_deep_copies_have_memory_of_their_own(self):
        x = boxcar.ones(2)
        y = copy.deepcopy({"x": x, "again": x})
        y["x"].add_(1)
        self.assertEqual(x.tolist(), [1, 1])
        self.assertIs(y["x"], y["again"])

    def test_results_with_names_are_copied_and_pickled_with_them(self):
        most = boxcar.tensor([[1.0, 3.0], [4.0, 2.0]]).max(dim=1)
        for made in (pickle.loads(pickle.dumps(most)), copy.deepcopy(most), copy.copy(most)):
            self.assertIs(type(made), type(most))
            self.assertEqual((made.values.tolist(), made.indices.tolist()), ([3, 4], [1, 0]))
        self.assertEqual(type(most).__module__, "boxcar")

    def test_the_text_of_a_subclass_has_its_name(self):
        class Metres(boxcar.Tensor):
            pass
        self.assertEqual(repr(Metres([1.0])), "Metres([1.])")
        self.assertEqual(str(Metres([[1.0], [2.0]])), "Metres([[1.],\n        [2.]])")

        class LongName(boxcar.Tensor):
            pass
        self.assertEqual(f"{LongName([[1.0], [2.0]])}", "LongName([[1.],\n          [2.]])")
        self.assertEqual(repr(boxcar.tensor([1.0])), "tensor([1.])")


class Errors(unittest.TestCase):
    def test_what_is_no_element_is_a_type_error(self):
        x = boxcar.ones(2, 2)
        for value in ("a", None, {}, print):
            with self.assertRaisesRegex(TypeError, f"can be set to numbers.* class '{type(value).__name__}'"):
                x[0] = value
        x[0] = True
        x[1] = [2, 3]
        self.assertEqual(x.tolist(), [[1, 1], [2, 3]])

    def test_lists_and_steps_that_make_no_tensor_are_value_errors(self):
        x = boxcar.ones(2, 2)
        for call, text in ((lambda: boxcar.tensor([[1], [1, 2]]), "equally long"), (lambda: boxcar.tensor(["a"]), "not str"),
                           (lambda: x[::-1], "slice step must be positive, but it is -1"),
                           (lambda: x[..., ::0, boxcar.tensor([0])], "slice step must be positive, but it is 0")):
            with self.assertRaisesRegex(ValueError, text):
                call()
        with self.assertRaisesRegex(ValueError, "slice step"):
            x[::-1] = 1

    def test_an_index_that_does_not_fit_is_an_index_error_with_its_dimension(self):
        x, mask = boxcar.ones(2, 3), boxcar.tensor([True])

        def write(index):
            x[index] = 1
        places = {(1, 5): "index 5 is out of bounds for dimension 1 with size 3", (..., -4): "index -4 .* dimension 1",
                  (None, 0, None, 3): "index 3 .* dimension 1", 2: "index 2 .* dimension 0 with size 2",
                  (0, 0, 0): "3 dimensions is too long for a Tensor of 2"}
        for index, text in places.items():
            for call in (lambda: x[index], lambda: write(index)):
                with self.assertRaisesRegex(IndexError, text):
                    call()
        for index, text in ((mask, r"shape of the mask \[1\]"), (boxcar.tensor([7]), "index 7 .* dimension 0"), ([0, 9], "index 9")):
            for call in (lambda: x[index], lambda: write(index)):
                with self.assertRaisesRegex(IndexError, text):
                    call()
        self.assertEqual(x[1, -1].item(), 1)

    def test_an_empty_list_of_tensors_is_named(self):
        with self.assertRaisesRegex(RuntimeError, "aten::cat: it needs at least one tensor, and the list 'tensors'"):
            boxcar.cat([])


if __name__ == "__main__":
    unittest.main()
