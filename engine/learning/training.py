"""Train a tagger on a risk, epoch by epoch, and resume after an interruption.

All randomness (batches, dropout) follows from the seed and the epoch's number, and the state after
each epoch is on disk before the epoch is reported. So a run that was killed and resumed ends with
the same weights as one that was not.
"""

import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from safetensors import safe_open
from safetensors.torch import save
from torch import Tensor, nn

from engine.files import written_whole
from engine.learning.risk import Risk
from engine.network import Inputs, keep_freed_memory, training_batches
from engine.text import InputError


@dataclass(frozen=True, slots=True)
class Epoch:
    """The record of one pass over the corpus, averaged over its batches."""

    number: int  # from 1
    risk: float
    positive: float
    negative: float
    bounded: float  # share of bounded terms that were below zero
    seconds: float
    tokens_per_second: float


@dataclass(frozen=True, slots=True)
class Schedule:
    """Number of epochs, batch size and learning rates."""

    epochs: int
    batch_size: int  # sentences
    learning_rate: float
    decay: float = 0.05
    decay_every: int = 5  # epochs
    is_linear: bool = False  # falls to zero by the last epoch instead, in equal steps
    seed: int = 0

    def rate(self, epoch: int) -> float:
        """Return the learning rate of an epoch (from 0): lr / (1 + decay * epoch), in steps.

        >>> [Schedule(4, 32, 1.0, is_linear=True).rate(epoch) for epoch in range(4)]
        [1.0, 0.75, 0.5, 0.25]
        """
        if self.is_linear:
            return self.learning_rate * (1 - epoch / self.epochs)
        return self.learning_rate / (
            1 + self.decay * self.decay_every * (epoch // self.decay_every)
        )


RiskOfBatch = Callable[[Tensor, Tensor], Risk]  # (logits, flat token indices) -> risk


def fit(
    tagger: nn.Module,
    inputs: Inputs,
    risk_of: RiskOfBatch,
    schedule: Schedule,
    *,
    only: npt.NDArray[np.int64] | None = None,
    checkpoint: Path | None = None,
    on_epoch: Callable[[Epoch], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> list[Epoch]:
    """Train `tagger` in place and return the record of every epoch, earlier ones included.

    With a checkpoint from an earlier, unfinished call, training continues after its last epoch.
    If `should_stop` says so, the tagger is left as it was after the last whole epoch. `only` names
    the sentences to train on; None means all.
    """
    keep_freed_memory()
    optimizer = torch.optim.Adam(tagger.parameters(), lr=schedule.learning_rate, fused=True)
    history = _restore(checkpoint, tagger, optimizer) if checkpoint else []
    lengths = np.diff(inputs.bounds)
    token_count = int(lengths.sum() if only is None else lengths[only].sum())
    while len(history) < schedule.epochs:
        before = _snapshot(tagger, optimizer) if should_stop else None
        try:
            record = _train_epoch(
                tagger,
                inputs,
                risk_of,
                optimizer,
                schedule,
                epoch=len(history),
                token_count=token_count,
                only=only,
                should_stop=should_stop,
            )
        except (MemoryError, RuntimeError) as error:
            if not _is_out_of_memory(error):
                raise
            raise InputError(
                f"training ran out of memory at {schedule.batch_size} sentences per batch. Retry "
                f"with batch_size={max(1, schedule.batch_size // 2)}; finished epochs are kept"
            ) from error
        if record is None:
            assert before is not None
            _load(before, tagger, optimizer)
            break
        history.append(record)
        if checkpoint:
            _store(checkpoint, tagger, optimizer, history)
        if on_epoch:
            on_epoch(record)
    tagger.eval()
    return history


def _is_out_of_memory(error: Exception) -> bool:
    # torch has no exception class for a CPU that is out of memory.
    known = isinstance(error, MemoryError | torch.OutOfMemoryError)
    return known or "can't allocate memory" in str(error)


def _train_epoch(
    tagger: nn.Module,
    inputs: Inputs,
    risk_of: RiskOfBatch,
    optimizer: torch.optim.Optimizer,
    schedule: Schedule,
    *,
    epoch: int,
    token_count: int,
    only: npt.NDArray[np.int64] | None,
    should_stop: Callable[[], bool] | None,
) -> Epoch | None:
    """Train for one pass over the corpus; return None if it was stopped on the way."""
    tagger.train()
    torch.manual_seed(schedule.seed * 100_003 + epoch)  # dropout
    for group in optimizer.param_groups:
        group["lr"] = schedule.rate(epoch)
    began = time.perf_counter()
    sums, steps = torch.zeros(4, device=next(tagger.parameters()).device), 0
    batches = training_batches(
        inputs.bounds, schedule.batch_size, seed=schedule.seed, epoch=epoch, only=only
    )
    for indices in batches:
        if should_stop and should_stop():
            return None
        batch = inputs.batch(indices)
        risk = risk_of(tagger(batch), batch.tokens)
        optimizer.zero_grad(set_to_none=True)
        risk.objective.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        sums += torch.stack([risk.value, risk.positive, risk.negative, risk.bounded]).detach()
        steps += 1
    seconds = time.perf_counter() - began
    value, positive, negative, bounded = (sums / max(steps, 1)).tolist()
    if not np.isfinite(value):
        raise InputError(
            f"training diverged in epoch {epoch + 1} (the risk is {value}). "
            "Lower the learning rate or the entity weight"
        )
    return Epoch(
        epoch + 1, value, positive, negative, bounded, seconds, token_count / max(seconds, 1e-9)
    )


# ---- checkpoints ----------------------------------------------------------------------------


def _snapshot(tagger: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """Return copies of all tensors that the next epoch depends on."""
    tensors = {f"tagger.{name}": value for name, value in tagger.state_dict().items()}
    for name, parameter in tagger.named_parameters():
        for key, value in optimizer.state.get(parameter, {}).items():
            tensors[f"optimizer.{key}.{name}"] = value
    return {name: value.detach().clone().contiguous() for name, value in tensors.items()}


def _load(tensors: dict[str, Tensor], tagger: nn.Module, optimizer: torch.optim.Optimizer) -> None:
    state = {
        name.removeprefix("tagger."): value
        for name, value in tensors.items()
        if name.startswith("tagger.")
    }
    tagger.load_state_dict(state)
    optimizer.state.clear()
    for name, parameter in tagger.named_parameters():
        kept = {
            key: tensors[f"optimizer.{key}.{name}"].clone()
            for key in ("step", "exp_avg", "exp_avg_sq")
            if f"optimizer.{key}.{name}" in tensors
        }
        if kept:
            optimizer.state[parameter] = kept


def _store(
    path: Path, tagger: nn.Module, optimizer: torch.optim.Optimizer, history: list[Epoch]
) -> None:
    metadata = {"history": json.dumps([asdict(epoch) for epoch in history])}
    tensors = {name: value.cpu() for name, value in _snapshot(tagger, optimizer).items()}
    with written_whole(path) as out:
        out.write(save(tensors, metadata=metadata))


def stored_history(path: Path) -> list[Epoch]:
    """Return the records of the epochs that a checkpoint includes."""
    with safe_open(path, framework="pt") as stored:
        return [Epoch(**epoch) for epoch in json.loads(stored.metadata()["history"])]


def _restore(path: Path, tagger: nn.Module, optimizer: torch.optim.Optimizer) -> list[Epoch]:
    if not path.exists():
        return []
    device = next(tagger.parameters()).device
    with safe_open(path, framework="pt") as stored:
        tensors = {name: stored.get_tensor(name).to(device) for name in stored.keys()}  # noqa: SIM118
    _load(tensors, tagger, optimizer)
    return stored_history(path)
