"""Gradients as Python sees them: attributes, hooks and copies."""

import copy
import gc
import unittest

import boxcar


class Data(unittest.TestCase):
    def test_an_update_of_data_in_place_leaves_history_and_memory(self):
        w = boxcar.tensor([1.0, 2.0], requires_grad=True)
        address = w.data_ptr()
        w.data -= 0.5
        self.assertEqual((w.tolist(), w.requires_grad, w.is_leaf, w.data_ptr()), ([0.5, 1.5], True, True, address))

    def test_assigned_data_is_shared(self):
        w, other = boxcar.tensor([1.0], requires_grad=True), boxcar.tensor([[5.0, 6.0]])
        w.data = other
        other[0, 0] = 7
        self.assertEqual((w.tolist(), w.requires_grad), ([[7.0, 6.0]], True))
        w.sum().backward()
        self.assertEqual(w.grad.tolist(), [[1.0, 1.0]])

    def test_a_buffer_outlives_assigned_data(self):
        x = boxcar.full([1000], 3.0)
        view = memoryview(x)
        x.data = boxcar.zeros(1)
        gc.collect()
        boxcar.full([1000], 4.0)
        self.assertEqual((view[999], x.tolist()), (3.0, [0.0]))

    def test_data_of_another_kind_is_refused(self):
        w = boxcar.ones(2)
        with self.assertRaisesRegex(RuntimeError, "float32 on cpu, but y is int64 on cpu; convert it first"):
            w.data = boxcar.tensor([1])
        with self.assertRaisesRegex(TypeError, "Tensor.data must be a Tensor"):
            w.data = 1
        with self.assertRaisesRegex(RuntimeError, "a view stays with its base"):
            w[:1].data = boxcar.ones(3)


class Gradients(unittest.TestCase):
    def test_a_deep_copy_has_a_copy_of_the_gradient(self):
        w = boxcar.tensor([1.0], requires_grad=True)
        (w * 3).sum().backward()
        copied = copy.deepcopy(w)
        copied.grad.zero_()
        self.assertEqual((w.grad.tolist(), copied.grad.tolist()), ([3.0], [0.0]))
        self.assertIsNone(copy.deepcopy(boxcar.ones(1, requires_grad=True)).grad)

    def test_grad_takes_tensors_alone_and_gives_a_tuple(self):
        w, v = boxcar.ones(2, requires_grad=True), boxcar.ones(2, requires_grad=True)
        grad = boxcar.autograd.grad
        (slope,) = grad((w * 2).sum(), w)
        self.assertEqual(slope.tolist(), [2.0, 2.0])
        self.assertEqual(grad(w * 2, [w], grad_outputs=boxcar.ones(2))[0].tolist(), [2.0, 2.0])
        self.assertEqual([each is None for each in grad((w * 2).sum(), (w, v), allow_unused=True)], [False, True])
        self.assertIs(type(grad([(w * v).sum()], [w, v])), tuple)
        (second,) = grad(grad((w * w * w).sum(), w, create_graph=True)[0].sum(), w)
        self.assertEqual(second.tolist(), [6.0, 6.0])

    def test_remove_of_the_handle_ends_a_hook(self):
        w = boxcar.ones(1, requires_grad=True)
        handle = w.register_hook(lambda grad: grad * 10)
        w.sum().backward()
        handle.remove()
        handle.remove()
        w.sum().backward()
        self.assertEqual(w.grad.tolist(), [11.0])
        with w.register_hook(lambda grad: grad * 10):
            w.sum().backward()
        w.sum().backward()
        self.assertEqual(w.grad.tolist(), [22.0])


if __name__ == "__main__":
    unittest.main()
