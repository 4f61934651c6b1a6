# %% [markdown]
# # boxcar from Python
#
# This file is a notebook: editors such as VS Code and Jupyter (with jupytext) run its cells one by one, and
# `python python.py` runs them all. The cells of PyTorch are left out where it is not installed.

# %%
import os
import sys

import boxcar

try:
    import torch
except ModuleNotFoundError:
    torch = None

try:
    HERE = os.path.dirname(os.path.abspath(__file__))
except NameError:  # a notebook
    HERE = os.getcwd()

try:
    from IPython.display import display
except ModuleNotFoundError:
    display = print

# %% [markdown]
# ## 1. Tensors and operators
#
# Names and meanings are PyTorch's. A tensor shares its memory with NumPy and PyTorch.

# %%
data = boxcar.ops.io.load(os.path.join(HERE, "..", "data", "digits.safetensors"))
images, labels = data["train.images"].to(boxcar.float32) / 16, data["train.labels"]
test_images, test_labels = data["test.images"].to(boxcar.float32) / 16, data["test.labels"]
print("images", images.shape, images.dtype)

# %% [markdown]
# A call chooses its kernel by what its arguments are. `explain` tells how, and runs nothing.

# %%
print(boxcar.explain(boxcar.ops.aten.mm, images, images.t()))

# %% [markdown]
# ## 2. A model of PyTorch
#
# `boxcar.from_torch` exports it and reads it as a program: its operators, run by boxcar. `boxcar.load` reads what
# `torch.export.save` wrote.

# %%
if torch is None:
    print("PyTorch is not installed: the model is left out")
else:
    torch.manual_seed(0)
    module = torch.nn.Sequential(torch.nn.Linear(64, 32), torch.nn.GELU(), torch.nn.Linear(32, 10)).eval()
    example = torch.from_dlpack(test_images[:8])
    model = boxcar.from_torch(module, (example,))
    ours = model(test_images[:8])
    theirs = module(example)
    print("largest difference from PyTorch", float((torch.from_dlpack(ours) - theirs).abs().max()))
    assert torch.allclose(torch.from_dlpack(ours), theirs, atol=1e-5)

# %% [markdown]
# ## 3. An operator of your own
#
# The schema says what it takes. The derivative has the arguments and the result by their names.


# %%
@boxcar.op("tutorial::leaky(Tensor x, float slope=0.1) -> Tensor", key="CPU")
def leaky(x, slope):
    return boxcar.where(x > 0, x, x * slope)


@leaky.register_autograd
def leaky_backward(grad, x, slope):
    return boxcar.where(x > 0, grad, grad * slope)


print(leaky(boxcar.tensor([-1.0, 2.0])))

# %% [markdown]
# Scripts call it as any other operator.

# %%
script = boxcar.compile("""
fn twice(Tensor x) -> Tensor {
    return tutorial::leaky(tutorial::leaky(x), slope=0.5)
}
""")
print(script.twice(boxcar.tensor([-1.0, 2.0])))

# %% [markdown]
# ## 4. A handler for every operator
#
# In the block, each call comes to the function: here it counts them, and `redispatch` goes on.

# %%
counts = {}


def count(op, args):
    counts[op.name] = counts.get(op.name, 0) + 1
    return boxcar.redispatch(op, args)


with boxcar.handler(count):
    leaky(images[:2]).sum()
print("calls", counts)


# %% [markdown]
# A class of tensors sees only the calls that its tensors are in.


# %%
class Shown(boxcar.Tensor):
    def __boxcar_dispatch__(cls, op, args):
        print("  Shown:", op.name)
        return boxcar.redispatch(op, args)


boxcar.relu(Shown([1.0, -1.0])).sum()

# %% [markdown]
# ## 5. Train
#
# The network is two matrices with our operator between them.

# %%
boxcar.manual_seed(1)
weights = [boxcar.randn(64, 32) * 0.2, boxcar.randn(32, 10) * 0.2]
for weight in weights:
    weight.requires_grad = True


def scores_of(x):
    return leaky(x @ weights[0]) @ weights[1]


def step(x, y, rate=0.2):
    loss = boxcar.cross_entropy_loss(scores_of(x), y)
    loss.backward()
    with boxcar.no_grad():
        for weight in weights:
            weight -= rate * weight.grad
            weight.grad = None
    return loss.item()


first = step(images, labels)
with boxcar.progress("training"):
    for _ in range(200):
        last = step(images, labels)
print(f"loss {first:.3f} before, {last:.3f} after")
assert last < first / 2

with boxcar.no_grad():
    hits = (scores_of(test_images).argmax(1) == test_labels).sum().item()
print("correct", hits, "of", test_labels.numel())

# %% [markdown]
# ## 6. Where the time goes
#
# A notebook shows the profile as a table.

# %%
with boxcar.profile() as profile:
    step(images, labels)
print(profile.report)
if display is not print and "ipykernel" in sys.modules:
    display(profile)

# %% [markdown]
# The operator lasts for the process, unless it is removed.

# %%
leaky.remove()
