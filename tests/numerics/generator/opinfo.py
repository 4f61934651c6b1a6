"""Records the operators that PyTorch's own samples call, as cases.

The samples are those of torch.testing._internal (OpInfo), by which PyTorch tests its functions. A call is recorded above
autograd, before it is taken apart, and what it is made of is recorded, too.
"""

import collections
import hashlib
import json
import warnings

import torch
from torch._dispatch.python import enable_python_dispatcher
from torch._subclasses.schema_check_mode import SchemaCheckMode
from torch.utils._python_dispatch import TorchDispatchMode

from . import expected, gradients, store

DTYPES = (torch.float32, torch.float64, torch.int64, torch.bool, torch.complex64, torch.complex128, torch.bfloat16,
          torch.float16, torch.int8)

# What tensors of boxcar are not.
LEFT_OUT = ("sparse", "_nested", "nested_", "quantize", "fake_quant", "mkldnn", "_coalesce", "_indices", "_values",
            "crow_", "ccol_", "to_dense", "_to_dense", "chalf")
# Their results are whatever the memory holds.
UNINITIALISED = ("empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided", "empty_permuted", "resize_",
                 "resize_as_", "resize", "resize_as")
# Their vectors are as good with other signs.
ANY_SIGN = ("linalg_eig", "linalg_eigh", "_linalg_eigh", "linalg_svd", "_linalg_svd", "svd")
# Refusals that do not show what is right: of out= dtypes, and of Python's binding.
UNCLEAR = (*expected.kOutDtypeTexts, "Expected a value of type", "OpOverload")


def is_plain(tensor):
    return (type(tensor) in (torch.Tensor, torch.nn.Parameter) and tensor.layout == torch.strided and
            tensor.device.type == "cpu" and tensor.dtype in store.kNames and not tensor.is_quantized)


WIDER = {torch.float16: torch.float64, torch.bfloat16: torch.float64, torch.float32: torch.float64,
         torch.complex64: torch.complex128}


class Widener(expected.Copier):
    """Copies arguments, with wider floats."""

    def _tensor(self, tensor):
        if id(tensor) not in self.tensors:
            self.tensors[id(tensor)] = tensor.to(WIDER.get(tensor.dtype, tensor.dtype), copy=True)
            self.kept.append(tensor)
        return self.tensors[id(tensor)]


def error_of(function, schema, bound):
    """Returns how far PyTorch's results are from those that it computes in wider floats, at most an eighth of the
    largest; None if they are infinite where the wider ones are not."""
    try:
        narrow = expected.outcome_of(function, schema, bound, upcast=False).results
        widener = Widener()
        wide = expected.as_list(expected.invoke(function, {name: widener.copy(value) for name, value in bound.items()}),
                                 schema.return_count)
    except (expected.Refused, expected.Unsupported) as reason:
        if "complex32" in str(reason):
            raise expected.Unsupported(str(reason)) from reason
        return 0.0
    error = 0.0
    for one, other in zip(expected.tensors_in(narrow), expected.tensors_in(wide)):
        if one.shape != other.shape or not (one.is_floating_point() or one.is_complex()) or one.numel() == 0:
            continue
        one = one.resolve_conj().to(WIDER.get(one.dtype, one.dtype))
        distance = (one - other.resolve_conj()).abs()
        is_finite = torch.isfinite(distance)
        if (torch.isfinite(other) & ~torch.isfinite(one)).any():
            return None
        if is_finite.any():
            error = max(error, min(distance[is_finite].max().item(), one[is_finite].abs().max().item() / 8))
    return error


class Collector:
    """Makes cases of calls: of each operator and dtype at most [limit] different ones."""

    kError = 4  # the error that a result may have, in PyTorch's own

    def __init__(self, operators, limit):
        self.operators = operators
        self.limit = limit
        self.elements = store.Elements()
        self.cases = []
        self.calls = collections.Counter()
        self.missing = collections.Counter()
        self.kept = collections.Counter()
        self.seen = set()
        self.dtype = None
        self.undifferentiated = []  # what add_gradients() needs of calls

    def note(self, function, args, kwargs):
        name = function.name()
        if not name.startswith("aten::") or any(part in name for part in LEFT_OUT):
            return
        bound = {argument.name: value for argument, value in zip(function._schema.arguments, args)}
        bound.update(kwargs)
        tensors = [tensor for value in bound.values() for tensor in expected.tensors_in(value)]
        if not all(is_plain(tensor) for tensor in tensors):
            return
        self.calls[name] += 1
        schema = self.operators.find(name)
        if schema is None:
            self.missing[name] += 1
            return
        key = (name, self.dtype)
        if self.kept[key] >= self.limit:
            return
        if self._add(schema, function, bound):
            self.kept[key] += 1

    def _with_tensors(self, schema, bound):
        """Returns the operator for numbers if [bound] has one for a tensor, as Python may give one."""
        for argument in schema.arguments:
            if argument.type == "Tensor" and isinstance(bound.get(argument.name), (bool, int, float, complex)):
                return self.operators.find(f"aten::{schema.base}.Scalar")
        return schema

    def _add(self, schema, function, bound):
        schema = self._with_tensors(schema, bound)
        if schema is None:
            return False
        written = [argument.name for argument in schema.arguments if argument.is_written]
        written += [name for name in gradients.kHiddenWrites.get(schema.base, ()) if bound.get(name) is not None]
        encoder = store.CaseEncoder(self.elements)
        # The function's dtype is often not that of an operator inside.
        dtype = next((tensor.dtype for value in bound.values() for tensor in expected.tensors_in(value)), self.dtype)
        # Conjugates and negatives are views with a bit, which boxcar does not have.
        bound = {name: self._resolved(value) for name, value in bound.items()}
        try:
            key = store.CaseEncoder(self.elements)
            arguments = {name: key.argument(value) for name, value in bound.items()}
            digest = hashlib.sha1(json.dumps([schema.name, arguments, key.storages, key.tensors]).encode()).digest()
            if digest in self.seen:
                return False
            self.seen.add(digest)
            call = expected.torch_function(schema)
            error = 0.0
            extra = {"strides": False} if schema.base.startswith("_fft") else {}
            if schema.base in ANY_SIGN:
                extra["mag"] = True
            if dtype in expected.kTolerances:
                rtol, atol = expected.kTolerances[dtype]
                error = error_of(call, schema, bound)
                extra["tol"] = [rtol, atol + self.kError * (error or 0)]
            # The results of halves are those of float32, rounded, unless PyTorch's own overflow.
            outcome = expected.outcome_of(call, schema, bound, upcast=error is not None)
            outcome.results = [self._resolved(result) for result in outcome.results]
            if torch.Tag.nondeterministic_seeded in function.tags or schema.base in UNINITIALISED:
                extra["values"] = False
            self.cases.append(encoder.encode(schema.name, dtype, outcome, written, extra))
            if dtype in gradients.kWide and not schema.outs and "values" not in extra:
                # The tensors may be written before add_gradients().
                copier = expected.Copier()
                before = {name: copier.copy(value) for name, value in bound.items()}
                for tensor in gradients.all_tensors(bound):
                    encoder.tensor_index[id(copier.copy(tensor))] = encoder.tensor_index[id(tensor)]
                self.undifferentiated.append((self.cases[-1], call, schema, before, outcome.results, encoder))
        except expected.Refused as reason:
            if any(text in str(reason) for text in UNCLEAR):
                return False
            self.cases.append(encoder.encode_error(schema.name, dtype, bound, str(reason)))
        except (expected.Unsupported, LookupError, TypeError):
            return False
        return True

    def add_gradients(self):
        """Records the gradients of the cases since the last time. Call it while no calls are recorded."""
        for case, call, schema, values, results, encoder in self.undifferentiated:
            record = gradients.record(call, schema, values, results, encoder, case.get("mag", False))
            if record is not None:
                case["grad"] = record
        self.undifferentiated.clear()

    def _resolved(self, value):
        if isinstance(value, torch.Tensor):
            return value.resolve_conj().resolve_neg() if value.is_conj() or value.is_neg() else value
        return [self._resolved(element) for element in value] if isinstance(value, (list, tuple)) else value


class Recorder(SchemaCheckMode):
    """Notes calls above autograd. PyTorch lets only modes of its own be there, and kinds of them."""

    def __init__(self, collector):
        TorchDispatchMode.__init__(self, _dispatch_key=torch._C.DispatchKey.PreDispatch)
        self.collector = collector

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        self.collector.note(function, args, kwargs)
        if function._can_decompose():
            with self:
                result = function.decompose(*args, **kwargs)
            if result is not NotImplemented:
                return result
        return function(*args, **kwargs)


def record(infos, operators, seed, limit, running, crashing):
    """Records the samples and the error inputs of [infos]. [running] is told the current place, in case PyTorch crashes;
    places in [crashing] are left out. Returns the Collector."""
    torch.set_num_threads(1)
    torch.backends.mkldnn.set_flags(False)
    warnings.simplefilter("ignore")
    collector = Collector(operators, limit)
    recorder = Recorder(collector)

    def call(place, function, sample):
        if place in crashing:
            return
        running(place)
        try:
            with torch.no_grad(), enable_python_dispatcher(), recorder:
                function(sample.input, *sample.args, **sample.kwargs)
        except Exception:  # a refusal is a case already, or was one of Python's
            pass
        running(f"gradients of {place}")
        if f"gradients of {place}" in crashing:
            collector.undifferentiated.clear()
        collector.add_gradients()

    for info in infos:
        name = f"{info.name}.{info.variant_test_name}".removesuffix(".")
        for dtype in DTYPES:
            if dtype not in info.dtypes:
                continue
            collector.dtype = dtype
            torch.manual_seed(seed)
            for number, sample in enumerate(samples_of(info.sample_inputs, dtype)):
                call(f"{name} {store.dtype_name(dtype)} {number}", info.op, sample)
        collector.dtype = torch.float32
        if info.error_inputs_func is not None:
            torch.manual_seed(seed)
            for number, error in enumerate(samples_of(info.error_inputs)):
                call(f"{name} error {number}", info.op, error.sample_input)
    return collector


def samples_of(make, *dtype):
    """Yields what [make] makes, up to where it fails."""
    try:
        yield from make("cpu", *dtype, set_seed=False)  # else PyTorch seeds each sample with the same number
    except Exception:
        return
