"""The one place where the device and the number of threads are decided."""

import torch


def choose_device(name: str = "auto") -> torch.device:
    """Return the device to train on: CUDA, then MPS, then the CPU, unless one is named."""
    if name != "auto":
        return torch.device(name)
    if torch.cuda.is_available():
        return torch.device("cuda")
    if torch.backends.mps.is_available():
        return torch.device("mps")
    return torch.device("cpu")


def set_threads(count: int) -> None:
    """Use `count` threads here; two trainings with two threads each on two cores starve both."""
    torch.set_num_threads(max(1, count))
