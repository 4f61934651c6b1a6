"""Names and argument forms that PyTorch's Python accepts."""

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

    def test_operators_between_underscores_are_found(self):
        x = boxcar.tensor([3])
        self.assertEqual(boxcar.ops.aten.__and__(x, 2).tolist(), [2])
        with self.assertRaises(AttributeError):
            boxcar.ops.aten.__no_such__


if __name__ == "__main__":
    unittest.main()
