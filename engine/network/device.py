"""Choose the device, the number of threads, the precision and how memory is kept."""

import ctypes
import functools
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # as glibc's malloc.h numbers them
_ANY_BLOCK = 1 << 30  # bytes


def choose_device(name: str = "auto") -> torch.device:
    """Return the device to train on: CUDA, then MPS, then the CPU, unless one is named."""
    if name != "auto":
        return torch.device(name)
    if torch.cuda.is_available():
        return torch.device("cuda")
    if torch.backends.mps.is_available():
        return torch.device("mps")
    return torch.device("cpu")


def to_device(tensor: Tensor, device: torch.device) -> Tensor:
    """Copy a tensor from the CPU to the device; the CPU does not wait for a GPU."""
    if device.type != "cuda":
        return tensor.to(device)
    return tensor.pin_memory().to(device, non_blocking=True)


def mixed_precision(
    device: torch.device, *, is_training: bool = False
) -> AbstractContextManager[None]:
    """Return a context in which matrix products are computed in bfloat16, where that is fast.

    bfloat16 has the range of float32, so gradients need no scaling. A GPU always does it. A CPU
    that multiplies in bfloat16 does it in training, and predicts in float32, so that a run finds
    the same entities on every CPU.
    """
    if not (_has_bfloat16(device) or (is_training and _multiplies_bfloat16(device))):
        return nullcontext()
    context: AbstractContextManager[None] = torch.autocast(device.type, dtype=torch.bfloat16)
    return context


def _has_bfloat16(device: torch.device) -> bool:
    return device.type == "cuda" and torch.cuda.is_bf16_supported()


def _multiplies_bfloat16(device: torch.device) -> bool:
    has_instructions = torch.cpu._is_amx_tile_supported() or torch.cpu._is_avx512_bf16_supported()
    return device.type == "cpu" and has_instructions


def linear(rows: Tensor, weights: Tensor, bias: Tensor | None) -> Tensor:
    """Return `functional.linear` of CPU tensors without gradients, by the faster library.

    MKL computes products in float32 at less than half the speed of oneDNN on processors of AMD.
    Both round in the last digits only.
    """
    if rows.dtype == torch.float32 and _has_slow_mkl():
        product: Tensor = torch.ops.mkldnn._linear_pointwise(rows, weights, bias, "none", [], "")
        return product
    return functional.linear(rows, weights, bias)


def add_linear(sums: Tensor, rows: Tensor, weights: Tensor) -> None:
    """Add `linear` of the rows to `sums`."""
    if sums.dtype == torch.float32 and _has_slow_mkl():
        sums.add_(linear(rows, weights, None))
    else:
        sums.addmm_(rows, weights.T)


@functools.cache
def _has_slow_mkl() -> bool:
    has_mkl = torch.backends.mkl.is_available()  # type: ignore[no-untyped-call]
    has_onednn = torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
    if not (has_mkl and has_onednn and hasattr(torch.ops.mkldnn, "_linear_pointwise")):
        return False
    with suppress(OSError):
        return "AuthenticAMD" in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    return False


def set_threads(count: int) -> None:
    """Use `count` threads in this process; more threads than cores slow every training down."""
    torch.set_num_threads(max(1, count))


@functools.cache
def keep_freed_memory() -> None:
    """Make this process keep the memory it frees, as the next batch needs about as much again.

    By default glibc returns large blocks to the system, which clears them page by page when they
    are needed again. That took a sixth of a pass through the LSTM on a CPU (152 ms against 126).
    Without glibc this does nothing.
    """
    with suppress(OSError, AttributeError):
        allocator = ctypes.CDLL("libc.so.6")
        allocator.mallopt(_TRIM_THRESHOLD, _ANY_BLOCK)
        allocator.mallopt(_MMAP_THRESHOLD, _ANY_BLOCK)
