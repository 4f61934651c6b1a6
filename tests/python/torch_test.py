"""Models and tensors of PyTorch in boxcar. Where PyTorch is missing, only what is said of that is tested."""

import gc
import os
import unittest

import boxcar

try:
    import torch
except ModuleNotFoundError:
    torch = None


@unittest.skipIf(torch is not None, "PyTorch is here")
class WithoutTorch(unittest.TestCase):
    def test_from_torch_says_what_is_missing(self):
        with self.assertRaisesRegex(ModuleNotFoundError, r"needs PyTorch.*pip install torch.*boxcar\.load"):
            boxcar.from_torch(None)


def _models():
    """Returns {name: (module, arguments)}."""
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
                                      nn.Conv2d(8, 16, 3, stride=2), nn.SiLU(), nn.AdaptiveAvgPool2d(1))
            self.head = nn.Linear(16, 5)

        def forward(self, x):
            return self.head(self.body(x).flatten(1))

    torch.manual_seed(0)
    return {
        "mlp": (nn.Sequential(nn.Linear(6, 16), nn.GELU(), nn.LayerNorm(16), nn.Linear(16, 3)), (torch.randn(4, 6),)),
        "convolutions": (Net(), (torch.randn(2, 3, 16, 16),)),
        "transformer": (nn.TransformerEncoderLayer(16, 4, 32, batch_first=True), (torch.randn(2, 5, 16),)),
        "bfloat16": (nn.Sequential(nn.Linear(8, 8), nn.ReLU()).bfloat16(), (torch.randn(3, 8).bfloat16(),)),
    }


@unittest.skipIf(torch is None, "PyTorch is missing")
class FromTorch(unittest.TestCase):
    def test_models_return_what_pytorch_returns(self):
        for name, (module, args) in _models().items():
            for prepare in (False, True):
                with self.subTest(name, prepare=prepare):
                    module.eval()
                    program = boxcar.from_torch(module, args, prepare=prepare)
                    found = torch.from_dlpack(program(*map(boxcar.from_dlpack, args)))
                    with torch.no_grad():
                        expected = module(*args)
                    tolerances = {"rtol": 1.6e-2, "atol": 1e-2} if name == "bfloat16" else {"rtol": 1e-4, "atol": 1e-5}
                    torch.testing.assert_close(found, expected, **tolerances)

    def test_arguments_of_export_are_passed_on(self):
        class Scaled(torch.nn.Module):
            def forward(self, x, by=1.0):
                return x.relu().sum(1) * by
        batch = torch.export.Dim("batch")
        program = boxcar.from_torch(Scaled(), (torch.ones(4, 3),), dynamic_shapes=({0: batch},), strict=False)
        for size in (2, 7):
            self.assertEqual(program(boxcar.ones(size, 3)).tolist(), [3.0] * size)
        program = boxcar.from_torch(Scaled(), torch.ones(4, 3), {"by": torch.tensor(2.0)})
        self.assertEqual(program(boxcar.ones(4, 3), boxcar.tensor(5.0)).tolist(), [15.0] * 4)
        with self.assertRaisesRegex(TypeError, "only with a torch.nn.Module"):
            boxcar.from_torch(torch.export.export(Scaled(), (torch.ones(4, 3),)), strict=False)

    def test_an_exported_program_needs_no_arguments(self):
        class Scaled(torch.nn.Module):
            def forward(self, x, *, by):
                return x * by

        x = torch.arange(3.0)
        exported = torch.export.export(Scaled(), (x,), {"by": torch.tensor(2.0)})
        program = boxcar.from_torch(exported)
        self.assertEqual(program(boxcar.from_dlpack(x), by=boxcar.tensor(2.0)).tolist(), [0.0, 2.0, 4.0])
        with self.assertRaisesRegex(TypeError, "an ExportedProgram has its own"):
            boxcar.from_torch(exported, (x,))

    def test_the_weights_live_as_long_as_the_program(self):
        module, args = _models()["mlp"]
        before = len(os.listdir("/proc/self/fd"))
        program = boxcar.from_torch(module.eval(), args)
        x = boxcar.from_dlpack(args[0])
        first = program(x)
        gc.collect()
        program.prepare()  # loads the weights again
        self.assertTrue(boxcar.allclose(program(x), first, atol=1e-5))
        function = program.forward
        del program
        gc.collect()
        self.assertEqual(len(os.listdir("/proc/self/fd")), before)
        self.assertTrue(boxcar.allclose(function(x), first, atol=1e-5))

    def test_what_cannot_be_imported_is_named(self):
        with self.assertRaisesRegex(TypeError, "takes a torch.nn.Module .*, not an object of class 'int'"):
            boxcar.from_torch(3)

        @torch.library.custom_op("boxcar_test::unknown", mutates_args=())
        def unknown(x: torch.Tensor) -> torch.Tensor:
            return x.clone()

        unknown.register_fake(torch.empty_like)

        class Custom(torch.nn.Module):
            def forward(self, x):
                return torch.ops.boxcar_test.unknown(x)

        with self.assertRaisesRegex(RuntimeError, r"'Custom' cannot be imported(.|\n)*boxcar_test[:.]+unknown"):
            boxcar.from_torch(Custom(), torch.ones(2))


@unittest.skipIf(torch is None, "PyTorch is missing")
class Sharing(unittest.TestCase):
    def test_tensors_are_shared_both_ways_without_a_copy(self):
        for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.int16,
                      torch.int8, torch.uint8, torch.bool, torch.complex64, torch.complex128):
            with self.subTest(dtype=dtype):
                theirs = torch.ones(2, 3, dtype=dtype).t()
                ours = boxcar.from_dlpack(theirs)
                back = torch.from_dlpack(ours)
                self.assertEqual(str(ours.dtype).split(".")[-1], str(dtype).split(".")[-1])
                self.assertEqual((ours.shape, ours.stride()), (tuple(theirs.shape), theirs.stride()))
                self.assertEqual({ours.data_ptr(), back.data_ptr()}, {theirs.data_ptr()})
                ours.zero_()
                self.assertFalse(theirs.any())

    def test_memory_of_boxcar_outlives_its_tensor(self):
        ours = boxcar.arange(6, dtype=boxcar.float32)
        theirs = torch.from_dlpack(ours)
        del ours
        gc.collect()
        self.assertEqual(theirs.tolist(), [0, 1, 2, 3, 4, 5])

    def test_a_tensor_of_pytorchs_is_data(self):
        theirs = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
        ours = boxcar.tensor(theirs)
        ours[0] = 5
        self.assertEqual((ours.dtype, ours.tolist(), theirs.tolist()), (boxcar.float64, [5.0, 2.0], [1.0, 2.0]))
        self.assertEqual(boxcar.tensor([theirs[0], torch.tensor(3)]).tolist(), [1.0, 3.0])
        self.assertEqual(boxcar.Tensor(torch.arange(2)).dtype, boxcar.float32)
        self.assertEqual(boxcar.as_tensor(theirs.detach()).data_ptr(), theirs.data_ptr())

    def test_a_tensor_of_pytorch_is_refused_with_a_remedy(self):
        with self.assertRaisesRegex(TypeError, r"class 'torch\.Tensor'.*boxcar\.from_dlpack\(x\)"):
            boxcar.relu(torch.ones(2))
        with self.assertRaisesRegex(TypeError, r"boxcar\.from_dlpack\(x\)"):
            boxcar.cat([torch.ones(2)])
        with self.assertRaisesRegex(TypeError, r"class 'torch\.dtype'"):
            boxcar.ones(2, dtype=torch.float32)

    def test_steps_of_training_on_shared_weights_are_pytorchs(self):
        torch.manual_seed(0)
        x, target = torch.randn(8, 4), torch.randn(8, 3)
        theirs = torch.nn.Linear(4, 3)
        shared = torch.nn.Linear(4, 3)
        shared.load_state_dict(theirs.state_dict())
        weights = [boxcar.from_dlpack(each.detach()).requires_grad_() for each in shared.parameters()]
        optimizer = torch.optim.SGD(theirs.parameters(), lr=0.1)
        for _ in range(3):
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(theirs(x), target).backward()
            optimizer.step()
            loss = boxcar.mse_loss(boxcar.linear(boxcar.from_dlpack(x), *weights), boxcar.from_dlpack(target))
            loss.backward()
            with boxcar.no_grad():
                for weight in weights:
                    weight.sub_(weight.grad, alpha=0.1)
                    weight.grad = None
        for expected, found in zip(theirs.parameters(), shared.parameters()):
            torch.testing.assert_close(found, expected)


@unittest.skipIf(torch is None, "PyTorch is missing")
class OpInfo(unittest.TestCase):
    """`./dev opinfo --python` asks all of PyTorch's functions; here are some."""

    def test_functions_answer_pytorchs_samples_in_all_forms(self):
        import opinfo
        wanted = {"add", "max", "nn.functional.cross_entropy", "linalg.norm", "einsum", "new_zeros"}
        for info in opinfo.op_db:
            if info.name in wanted:
                counts, details = opinfo.compare_all(info, limit=3)
                self.assertEqual(opinfo.kind_of(counts, details), "equal", f"{info.name}: {details}")
                wanted.discard(info.name)
        self.assertEqual(wanted, set())

    def test_differences_are_noticed(self):
        import opinfo
        ones = torch.ones(2)
        self.assertIsNone(opinfo.difference(boxcar.ones(2), ones, True))
        self.assertIn("not close", opinfo.difference(boxcar.zeros(2), ones, True))
        self.assertIsNone(opinfo.difference(boxcar.zeros(2), ones, False))
        self.assertIn("expected torch.float32", opinfo.difference(boxcar.ones(2, dtype=boxcar.int64), ones, True))
        self.assertIn("expected sizes [2]", opinfo.difference(boxcar.ones(1), ones, True))
        self.assertIn("expected 2 results", opinfo.difference([boxcar.ones(2)], [ones, ones], True))


if __name__ == "__main__":
    unittest.main()
