"""Models of PyTorch as programs, without a file between them."""

import os

from boxcar import _core

_MISSING = ("from_torch() needs PyTorch, which this Python does not have: pip install torch. A model that was exported "
            "elsewhere is read by boxcar.load('model.pt2')")


class _Memory:
    """A file that is only memory. A program keeps it, since its weights are mapped from there."""

    def __init__(self):
        self._descriptor = os.memfd_create("boxcar_model", os.MFD_CLOEXEC)

    def fileno(self):
        return self._descriptor

    def __del__(self, close=os.close):
        close(self._descriptor)


def from_torch(model, args=(), kwargs=None, *, prepare=True, **export):
    """The Program of a model of PyTorch.

        program = boxcar.from_torch(module, (x,))
        y = program(boxcar.from_dlpack(x))

    model: a torch.nn.Module, which torch.export.export() exports for the example arguments `args` and `kwargs`; or what
    that returned, an ExportedProgram. Other arguments are those of torch.export.export(), such as `strict`, and
    `dynamic_shapes` for a batch of any size:

        batch = torch.export.Dim("batch")
        program = boxcar.from_torch(module, (x,), dynamic_shapes=({0: batch},))

    The program has its own copy of the weights. It is prepared (see Program.prepare) unless `prepare` says otherwise.
    """
    try:
        import torch
        import torch.export
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise ModuleNotFoundError(_MISSING, name="torch") from None
    if isinstance(model, torch.export.ExportedProgram):
        if args or kwargs or export:
            raise TypeError("from_torch() takes example arguments, and those of torch.export.export(), only with a "
                            "torch.nn.Module; an ExportedProgram has its own")
        exported, name = model, "ExportedProgram"
    elif isinstance(model, torch.nn.Module):
        if isinstance(args, torch.Tensor):
            args = (args,)
        exported, name = torch.export.export(model, tuple(args), kwargs, **export), type(model).__name__
    else:
        raise TypeError("from_torch() takes a torch.nn.Module with example arguments, or an ExportedProgram of "
                        f"torch.export.export(), not an object of class '{type(model).__name__}'")
    memory = _Memory()
    with open(memory.fileno(), "wb", closefd=False) as file:
        torch.export.save(exported, file)
    try:
        return _core._load_memory(memory, name, prepare)
    except RuntimeError as error:
        # The path of the memory tells nobody anything.
        path = f"/proc/self/fd/{memory.fileno()}"
        if type(error) is RuntimeError and path in str(error):
            raise RuntimeError(str(error).replace(path, name)) from None
        raise
