"""Classes of tensors, PythonDispatcher, and what becomes of exceptions of kernels and handlers in Python."""

import gc
import threading
import unittest
import weakref

import boxcar
from boxcar import redispatch

aten = boxcar.ops.aten


class Logged(boxcar.Tensor):
    """Notes the operators on it; results are of the class, too."""

    calls = []

    def __boxcar_dispatch__(cls, op, args):
        cls.calls.append(op.name)
        return cls(redispatch(op, args))


class Meters(boxcar.Tensor):
    """A tensor with a unit, which products raise to a power."""

    def __boxcar_dispatch__(cls, op, args):
        powers = [a.power for a in args if isinstance(a, Meters)]
        if op.name.startswith("aten::mul"):
            power = sum(powers)
        elif op.name.startswith("aten::add"):
            if len(powers) < 2 or len(set(powers)) > 1:
                raise TypeError("only lengths of the same power are added")
            power = powers[0]
        else:
            return NotImplemented
        result = cls(redispatch(op, args))
        result.power = power
        return result


def meters(values, power=1):
    made = Meters(values)
    made.power = power
    return made


class Plain(boxcar.Tensor):
    """Its results are plain tensors."""

    seen = []

    def __boxcar_dispatch__(cls, op, args):
        cls.seen.append(op.name)
        return redispatch(op, args)


class TensorClasses(unittest.TestCase):
    def setUp(self):
        Logged.calls.clear()
        Plain.seen.clear()

    def test_an_unknown_key_is_a_value_error_everywhere(self):
        relu = boxcar.ops.aten.relu
        for ask in (lambda: relu.has_kernel("CPQ"), lambda: relu.call_at("CPQ", [boxcar.ones(1)]),
                    lambda: boxcar.fallback("CPQ", print), lambda: boxcar.PythonDispatcher().impl(relu, "CPQ")):
            with self.assertRaisesRegex(ValueError, "'CPQ' is not a dispatch key. Did you mean 'CPU'"):
                ask()

    def test_a_schema_without_a_namespace_is_refused(self):
        with self.assertRaisesRegex(ValueError, "no namespace; .* 'my::f'"):
            boxcar.op("f(Tensor x) -> Tensor")(lambda x: x)
        with self.assertRaisesRegex(TypeError, r'takes the operator\'s schema.*write @boxcar\.op\("my::twice\(Tensor x\)'):
            @boxcar.op
            def twice(x):
                return x * 2

    def test_a_missing_kernel_names_what_registers_one_in_python(self):
        with boxcar.Library("unserved") as library:
            op = library.define("f(Tensor x) -> Tensor")
            with self.assertRaisesRegex(RuntimeError, r'Register a kernel with boxcar\.Library\("unserved"\)\.impl\(name, "CPU"\), '
                                                      r'or with register_kernel\("CPU"\) of what boxcar\.op\(\) made'):
                op(boxcar.ones(1))

    def test_operators_come_to_the_class(self):
        x = Logged([1.0, -2.0])
        y = boxcar.relu(x) * 2
        self.assertIs(type(y), Logged)
        self.assertEqual(y.detach().tolist(), [2.0, 0.0])
        self.assertEqual(Logged.calls[:2], ["aten::relu", "aten::mul.Scalar"])

    def test_lists_bring_their_classes(self):
        self.assertIs(type(boxcar.cat([boxcar.ones(1), Logged([2.0])])), Logged)
        self.assertEqual(Logged.calls, ["aten::cat"])

    def test_units(self):
        self.assertEqual((meters([2.0]) * meters([3.0])).power, 2)
        self.assertEqual(boxcar.Tensor(meters([2.0]) + meters([3.0])).tolist(), [5.0])
        with self.assertRaisesRegex(TypeError, "only lengths of the same power are added"):
            meters([2.0]) + meters([3.0], 2)

    def test_not_implemented_by_all_names_the_operator_and_the_classes(self):
        with self.assertRaisesRegex(TypeError, "no class of tensors answers aten::relu: Meters left the call to "
                                               "others; answer it in one of them"):
            meters([1.0]).relu()

    def test_a_derived_class_comes_before_its_base(self):
        order = []

        class Base(boxcar.Tensor):
            def __boxcar_dispatch__(cls, op, args):
                order.append(cls.__name__)
                return NotImplemented

        class Derived(Base):
            pass

        with self.assertRaises(TypeError):
            Base([1.0]) + Derived([1.0])
        self.assertEqual(order, ["Derived", "Base"])

    def test_results_are_plain_unless_the_class_wraps_them(self):
        x = Plain([[1.0, 2.0]])
        for result in (x + 1, x[0], x.view([2]), x.t()):
            self.assertIs(type(result), boxcar.Tensor)
        count = len(Plain.seen)
        x.view([2]).view([2, 1]).relu()  # of a view, which shares nothing of the class
        self.assertEqual(Plain.seen[count:], ["aten::view"])
        self.assertIs(x.add_(1), x)

    def test_a_plain_tensor_of_one_with_a_class_does_not_come_to_it(self):
        plain = boxcar.Tensor(Plain([1.0]))
        Plain.seen.clear()
        self.assertEqual((plain + 1).tolist(), [2.0])
        self.assertEqual(Plain.seen, [])

    def test_without_the_method_a_subclass_costs_no_call(self):
        class Named(boxcar.Tensor):
            pass

        self.assertEqual((Named([1.0]) + 1).tolist(), [2.0])

    def test_derivatives_come_to_the_class(self):
        x = Logged([3.0])
        x.requires_grad = True
        (x * x).sum().backward()
        self.assertEqual(x.grad.tolist(), [6.0])
        self.assertIn("aten::mul.Tensor", Logged.calls)

    def test_modes_at_python_come_before_classes(self):
        order = []

        class Noted(boxcar.Tensor):
            def __boxcar_dispatch__(cls, op, args):
                order.append("class")
                return redispatch(op, args)

        def mode(op, args):
            order.append("mode")
            return redispatch(op, args)

        with boxcar.handler(mode, key="Python"):
            Noted([1.0]) + 1
        self.assertEqual(order, ["mode", "class"])
        with boxcar.profile() as profile:
            Noted([1.0]) + 1
        self.assertEqual(order[2:], ["class"])
        self.assertIn("aten::add", profile.report)

    def test_scripts_reach_the_class(self):
        script = boxcar.compile("fn f(Tensor x) -> Tensor { return relu(x) + 1 }")
        self.assertIs(type(script.f(Logged([-1.0]))), Logged)
        self.assertEqual(Logged.calls[:2], ["aten::relu", "aten::add.Scalar"])

    def test_the_class_and_its_attributes_last_while_only_cpp_holds_the_tensor(self):
        found = []

        class Kept(boxcar.Tensor):
            def __boxcar_dispatch__(cls, op, args):
                found.extend((op.name, a.note) for a in args if type(a) is Kept)
                return redispatch(op, args)

        x = Kept([2.0])
        x.note = ["mine"]
        x.requires_grad = True
        y = x * x  # autograd's history holds x
        gone = weakref.ref(x)
        del x
        gc.collect()
        self.assertIsNone(gone())
        found.clear()
        y.backward()
        y.detach_()
        self.assertIn(("aten::mul.Tensor", ["mine"]), found)

    def test_attributes_go_when_the_tensor_does(self):
        class Mark:
            pass

        x = Plain([2.0])
        x.mark = Mark()
        gone = weakref.ref(x.mark)
        x.requires_grad = True
        y = x * x
        del x
        gc.collect()
        self.assertIsNotNone(gone())
        del y
        gc.collect()
        self.assertIsNone(gone())

    def test_a_cycle_through_an_attribute_is_collected(self):
        x = Plain([2.0])
        x.me = x
        gone = weakref.ref(x)
        del x
        gc.collect()
        self.assertIsNone(gone())

    def test_endless_recursion_is_an_error(self):
        class Again(boxcar.Tensor):
            def __boxcar_dispatch__(cls, op, args):
                return op(*args)

        with self.assertRaises(RecursionError):
            Again([1.0]).relu()


class Dispatcher(unittest.TestCase):
    def test_kernels_serve_while_it_is_on(self):
        kernels = boxcar.PythonDispatcher()

        @kernels.impl("aten::relu", "CPU")
        def relu(x):
            return redispatch(aten.relu, [x]) + 10

        x = boxcar.tensor([-1.0, 2.0])
        self.assertEqual(x.relu().tolist(), [0.0, 2.0])
        with kernels:
            self.assertEqual(x.relu().tolist(), [10.0, 12.0])
            self.assertEqual((x + 1).tolist(), [0.0, 3.0])
        self.assertEqual(x.relu().tolist(), [0.0, 2.0])

    def test_any_level_of_a_call(self):
        kernels = boxcar.PythonDispatcher()
        order = []

        @kernels.impl(aten.mul.Tensor, "AutogradCPU")
        def above(a, b):
            order.append("AutogradCPU")
            return redispatch(aten.mul.Tensor, [a, b])

        @kernels.impl(aten.mul.Tensor, "CPU")
        def below(a, b):
            order.append("CPU")
            return redispatch(aten.mul.Tensor, [a, b])

        x = boxcar.tensor([3.0], requires_grad=True)
        with kernels:
            y = x * x
        y.backward()
        self.assertEqual(x.grad.tolist(), [6.0])
        self.assertEqual(order, ["AutogradCPU", "CPU"])

    def test_handlers_and_classes_work_while_it_is_on(self):
        kernels = boxcar.PythonDispatcher()
        kernels.impl("aten::relu", "CPU")(lambda x: x * 0 + 7)
        seen = []

        def handler(op, args):
            seen.append(op.name)
            return redispatch(op, args)

        with kernels, boxcar.handler(handler):
            self.assertEqual(Plain([1.0]).relu().tolist(), [7.0])
        self.assertEqual(seen[0], "aten::relu")

    def test_the_innermost_with_a_kernel_wins(self):
        outer, inner = boxcar.PythonDispatcher(), boxcar.PythonDispatcher()
        outer.impl("aten::relu", "CPU")(lambda x: x + 1)
        outer.impl("aten::abs", "CPU")(lambda x: x + 2)
        inner.impl("aten::relu", "CPU")(lambda x: x + 3)
        x = boxcar.tensor([0.0])
        with outer:
            with inner:
                self.assertEqual((x.relu().item(), x.abs().item()), (3.0, 2.0))
            self.assertEqual(x.relu().item(), 1.0)

    def test_other_threads_do_not_see_it(self):
        kernels = boxcar.PythonDispatcher()
        kernels.impl("aten::relu", "CPU")(lambda x: x + 1)
        got = []
        with kernels:
            thread = threading.Thread(target=lambda: got.append(boxcar.relu(boxcar.tensor([0.0])).item()))
            thread.start()
            thread.join()
        self.assertEqual(got, [0.0])

    def test_exceptions_leave_it_as_it_was(self):
        kernels = boxcar.PythonDispatcher()

        @kernels.impl("aten::relu", "CPU")
        def relu(x):
            raise KeyError("mine")

        x = boxcar.tensor([-1.0])
        with self.assertRaisesRegex(KeyError, "mine"):
            with kernels:
                x.relu()
        self.assertEqual(x.relu().tolist(), [0.0])

    def test_errors_name_the_remedy(self):
        kernels = boxcar.PythonDispatcher()
        with self.assertRaisesRegex(ValueError, "a call does not stop at Autograd: name a key that has a kernel"):
            kernels.impl("aten::relu", "Autograd")
        with self.assertRaisesRegex(ValueError, "aten::add has several overloads: take one of them by its attribute "
                                                r"\(Tensor, "):
            kernels.impl("aten::add", "CPU")
        kernels.impl("aten::relu", "CPU")(lambda x: x)
        with self.assertRaisesRegex(ValueError, "has a kernel of aten::relu for CPU already"):
            kernels.impl("aten::relu", "CPU")(lambda x: x)
        with self.assertRaisesRegex(RuntimeError, "this PythonDispatcher is not on, on this thread"):
            kernels.__exit__(None, None, None)


class Attributes(unittest.TestCase):
    def test_an_operator_with_a_name_alone_means_the_overload_without_one(self):
        self.assertEqual(aten.relu.schema, "aten::relu(Tensor self) -> Tensor")

    def test_operators_have_the_attributes_of_scripts(self):
        add = aten.add.Tensor
        self.assertEqual(add.name, "aten::add.Tensor")
        self.assertEqual(add.overload, "Tensor")
        self.assertEqual(aten.relu.overload, "")
        self.assertEqual(add.arg_names, ["self", "other", "alpha"])
        self.assertTrue(add.schema.startswith("aten::add.Tensor(Tensor self, Tensor other"))
        self.assertIn("pointwise", add.tags)
        self.assertTrue(add.has_kernel("CPU"))
        self.assertFalse(add.has("XLA"))
        self.assertEqual(add.call_at("CPU", [boxcar.ones(1), boxcar.ones(1), 10]).tolist(), [11.0])

    def test_wrong_keys_and_counts_are_named(self):
        with self.assertRaisesRegex(ValueError, "CPUU"):
            aten.relu.has("CPUU")
        with self.assertRaisesRegex(TypeError, r"call_at\(\) of aten::relu takes all of its 1 arguments, not 2"):
            aten.relu.call_at("CPU", [boxcar.ones(1), 2])
        with self.assertRaisesRegex(ValueError, "several overloads"):
            aten.add.tags


if __name__ == "__main__":
    unittest.main()
