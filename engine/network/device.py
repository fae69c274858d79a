"""Choose the device, the number of threads, the precision and how memory is kept."""

import ctypes
import functools
from contextlib import AbstractContextManager, nullcontext, suppress

import torch
from torch import Tensor

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

    bfloat16 has the range of float32, so gradients need no scaling. A GPU always does it; a CPU
    with AMX does it in training, and predicts in float32, so that a run finds the same entities on
    every CPU.
    """
    if not (_has_bfloat16(device) or (is_training and _has_amx(device))):
        return nullcontext()
    context: AbstractContextManager[None] = torch.autocast(device.type, dtype=torch.bfloat16)
    return context


def _has_bfloat16(device: torch.device) -> bool:
    return device.type == "cuda" and torch.cuda.is_bf16_supported()


def _has_amx(device: torch.device) -> bool:
    return device.type == "cpu" and torch.cpu._is_amx_tile_supported()


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
