"""Function transforms of callables of Python."""

import copy
import functools
import unittest

import boxcar
from boxcar import func


class Line:
    def __init__(self, slope):
        self.slope = slope

    def __call__(self, x):
        return x * self.slope

    def total(self, x, scale=1.0):
        return (x * self.slope * scale).sum()


class Callables(unittest.TestCase):
    x = boxcar.tensor([[1.0, 2.0], [3.0, 4.0]])

    def test_parameters_with_defaults_may_be_left_out(self):
        def f(x, by=2.0):
            return (x * by).sum()

        self.assertEqual(func.vmap(f)(self.x).tolist(), [6.0, 14.0])
        self.assertEqual(func.vmap(f, in_dims=(0, None))(self.x, 3.0).tolist(), [9.0, 21.0])
        self.assertEqual(func.grad(f)(self.x[0]).tolist(), [2.0, 2.0])
        self.assertEqual(func.grad(f)(self.x[0], 5.0).tolist(), [5.0, 5.0])
        self.assertEqual(func.jacrev(f)(self.x[0]).tolist(), [2.0, 2.0])
        self.assertEqual(func.jacfwd(f)(self.x[0]).tolist(), [2.0, 2.0])
        self.assertEqual(func.vmap(func.grad(f))(self.x).tolist(), [[2.0, 2.0], [2.0, 2.0]])
        value, pull = func.vjp(f, self.x)
        self.assertEqual((value.item(), pull(boxcar.tensor(1.0))[0].tolist()), (20.0, [[2.0, 2.0], [2.0, 2.0]]))
        self.assertEqual(func.functionalize(f)(self.x).item(), 20.0)

    def test_any_number_of_arguments(self):
        def dot(*tensors):
            product = tensors[0]
            for each in tensors[1:]:
                product = product * each
            return product.sum()

        self.assertEqual(func.vmap(dot)(self.x, self.x).tolist(), [5.0, 25.0])
        self.assertEqual(func.grad(dot, argnums=-1)(self.x[0], self.x[1]).tolist(), [1.0, 2.0])
        with self.assertRaisesRegex(RuntimeError, r"func::grad: argnums is 2, but a function of Python takes 1 argument"):
            func.grad(dot, argnums=2)(self.x[0])
        with self.assertRaisesRegex(RuntimeError, r"func::grad: argument 0 of a function of Python has no tensor"):
            func.grad(dot)(3.0)

    def test_objects_methods_and_partial_functions(self):
        line = Line(3.0)
        self.assertEqual(func.vmap(line)(self.x).tolist(), [[3.0, 6.0], [9.0, 12.0]])
        self.assertEqual(func.grad(line.total)(self.x[0]).tolist(), [3.0, 3.0])
        self.assertEqual(func.vmap(functools.partial(line.total, scale=2.0))(self.x).tolist(), [18.0, 42.0])
        self.assertEqual(func.hessian(lambda x, power=3: (x ** power).sum())(self.x[0]).tolist(), [[6.0, 0.0], [0.0, 12.0]])


class Modules(unittest.TestCase):
    def test_the_namespace_is_imported_as_a_module(self):
        from boxcar.func import vmap
        import boxcar.func
        self.assertIs(vmap, func.vmap)
        self.assertIs(boxcar.func, func)


class InsideVmap(unittest.TestCase):
    x = boxcar.tensor([[1.0, 2.0], [3.0, 4.0]])

    def test_data_copies_and_new_tensors(self):
        def f(x):
            return x.data * 2 + copy.copy(x) + boxcar.tensor(x) + boxcar.as_tensor(x)

        self.assertEqual(func.vmap(f)(self.x).tolist(), (self.x * 5).tolist())

    def test_a_tensor_of_one_number_indexes(self):
        table, i = boxcar.arange(12.0).reshape(4, 3), boxcar.tensor([1, 3])
        self.assertTrue(func.vmap(lambda i: table[i])(i).equal(table[i]))

        def clear(i, x):
            y = x.clone()
            y[i] = 0
            return y

        self.assertEqual(func.vmap(clear)(i, boxcar.ones(2, 4)).tolist(), [[1, 0, 1, 1], [1, 1, 1, 0]])

    def test_what_is_the_same_for_all_has_no_dimension(self):
        self.assertEqual(func.vmap(lambda x: boxcar.ones(2), out_dims=None)(self.x).tolist(), [1, 1])

    def test_a_jacobian_names_itself(self):
        with self.assertRaisesRegex(RuntimeError, r"cannot be called inside func::jacfwd\(\)"):
            func.jacfwd(lambda x: x * x.sum().item())(self.x[0])

    def test_memory_is_not_lent(self):
        for lend in (memoryview, boxcar.Tensor.__dlpack__, boxcar.Tensor.numpy):
            with self.assertRaisesRegex(Exception, "it stands for several slices; take what the function returns"):
                func.vmap(lambda x: (lend(x), x)[1])(self.x)


if __name__ == "__main__":
    unittest.main()
