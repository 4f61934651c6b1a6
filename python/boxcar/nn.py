"""PyTorch's functions of neural networks: boxcar.nn.functional. Modules are there in PyTorch; see boxcar.from_torch()."""

import sys

from boxcar import _functional as functional

sys.modules["boxcar.nn.functional"] = functional  # import boxcar.nn.functional as F
