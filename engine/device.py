"""The one place where the device and the number of threads are decided."""

from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor


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
    """Return a tensor of the CPU on the device; a GPU gets it while the CPU goes on."""
    if device.type != "cuda":
        return tensor.to(device)
    return tensor.pin_memory().to(device, non_blocking=True)


def mixed_precision(device: torch.device) -> AbstractContextManager[None]:
    """Return a context in which matrix products are computed in bfloat16, where a GPU can.

    bfloat16 reaches as far as float32, so gradients need no scaling. A CPU stays exact.
    """
    if not _has_bfloat16(device):
        return nullcontext()
    context: AbstractContextManager[None] = torch.autocast(device.type, dtype=torch.bfloat16)
    return context


def _has_bfloat16(device: torch.device) -> bool:
    return device.type == "cuda" and torch.cuda.is_bf16_supported()


def set_threads(count: int) -> None:
    """Use `count` threads here; two trainings with two threads each on two cores starve both."""
    torch.set_num_threads(max(1, count))
