"""The one training loop: a tagger is fitted to a risk, epoch by epoch, and can always go on.

Everything random in an epoch (batches, dropout) follows from the seed and the epoch's number, and
the state after each epoch is on disk before it is reported. So a run that was killed continues to
the same final weights as one that was not.
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
from torch.optim.swa_utils import AveragedModel

from engine.batches import Inputs, training_batches
from engine.files import written_whole
from engine.risk import Risk
from engine.text import InputError


@dataclass(frozen=True, slots=True)
class Epoch:
    """What one pass over the corpus did, averaged over its batches."""

    number: int  # from 1
    risk: float
    positive: float
    negative: float
    bounded: float  # share of where the non-negative bound could act that it acted on
    seconds: float
    tokens_per_second: float


@dataclass(frozen=True, slots=True)
class Schedule:
    """How long and how fast to train."""

    epochs: int
    batch_size: int  # sentences
    learning_rate: float
    decay: float = 0.05
    decay_every: int = 5  # epochs
    averaging: float = 0.0  # the tagger becomes its average over about the last 1 / so many steps
    seed: int = 0

    def rate(self, epoch: int) -> float:
        """Return the learning rate of an epoch (from 0): lr / (1 + decay * epoch), in steps."""
        return self.learning_rate / (
            1 + self.decay * self.decay_every * (epoch // self.decay_every)
        )


RiskOfBatch = Callable[[Tensor, Tensor], Risk]  # (probabilities, flat token indices) -> risk


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

    With a checkpoint from an earlier, unfinished call, training goes on after its last epoch.
    When `should_stop` says so, the tagger is left as it was after the last whole epoch. `only`
    names the sentences to train on, all when it is None.
    """
    optimizer = torch.optim.Adam(tagger.parameters(), lr=schedule.learning_rate, fused=True)
    average = _average_of(tagger, schedule.averaging)
    state = _State(tagger, optimizer, average)
    history = _restore(checkpoint, state) if checkpoint else []
    lengths = np.diff(inputs.bounds)
    token_count = int(lengths.sum() if only is None else lengths[only].sum())
    while len(history) < schedule.epochs:
        before = _snapshot(state) if should_stop else None
        try:
            record = _train_epoch(
                state,
                inputs,
                risk_of,
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
                f"training ran out of memory at {schedule.batch_size} sentences a batch. Retry "
                f"with batch_size={max(1, schedule.batch_size // 2)}; finished epochs are kept"
            ) from error
        if record is None:
            assert before is not None
            _load(before, state)
            break
        history.append(record)
        if checkpoint:
            _store(checkpoint, state, history)
        if on_epoch:
            on_epoch(record)
    if average is not None and history:
        tagger.load_state_dict(average.module.state_dict())
    tagger.eval()
    return history


@dataclass(frozen=True, slots=True)
class _State:
    """All that the next epoch depends on."""

    tagger: nn.Module
    optimizer: torch.optim.Optimizer
    average: AveragedModel | None


def _average_of(tagger: nn.Module, power: float) -> AveragedModel | None:
    """The average of a tagger's weights over its steps, step t weighed by about t ** power.

    A risk that is corrected batch by batch throws the weights about until the end; what they are
    thrown about is better than where they happen to stand last. How far back the average reaches
    follows from the steps taken (Shamir and Zhang 2013), so there is no length to choose.
    """
    if power == 0:
        return None

    def later_ones_more(
        averages: tuple[Tensor, ...] | list[Tensor],
        weights: tuple[Tensor, ...] | list[Tensor],
        steps: Tensor | int,
    ) -> None:
        share = (power + 1) / (float(steps) + 1 + power)
        for average, weight in zip(averages, weights, strict=True):
            average.lerp_(weight, share)

    return AveragedModel(tagger, multi_avg_fn=torch.no_grad()(later_ones_more))


def _is_out_of_memory(error: Exception) -> bool:
    # The CPU allocator of torch has no exception of its own.
    known = isinstance(error, MemoryError | torch.OutOfMemoryError)
    return known or "can't allocate memory" in str(error)


def _train_epoch(
    state: _State,
    inputs: Inputs,
    risk_of: RiskOfBatch,
    schedule: Schedule,
    *,
    epoch: int,
    token_count: int,
    only: npt.NDArray[np.int64] | None,
    should_stop: Callable[[], bool] | None,
) -> Epoch | None:
    """One pass over the corpus; None when it was stopped on the way."""
    tagger, optimizer = state.tagger, state.optimizer
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
        risk = risk_of(tagger(batch).softmax(dim=1), batch.tokens)
        optimizer.zero_grad(set_to_none=True)
        risk.objective.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        if state.average is not None:
            state.average.update_parameters(tagger)
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


def _snapshot(state: _State) -> dict[str, Tensor]:
    """All tensors that the next epoch depends on."""
    tensors = {f"tagger.{name}": value for name, value in state.tagger.state_dict().items()}
    for name, parameter in state.tagger.named_parameters():
        for key, value in state.optimizer.state.get(parameter, {}).items():
            tensors[f"optimizer.{key}.{name}"] = value
    if state.average is not None:
        averaged = state.average.state_dict()
        tensors |= {f"average.{name}": value for name, value in averaged.items()}
    return {name: value.detach().clone().contiguous() for name, value in tensors.items()}


def _load(tensors: dict[str, Tensor], state: _State) -> None:
    state.tagger.load_state_dict(_named(tensors, "tagger."))
    if state.average is not None:
        state.average.load_state_dict(_named(tensors, "average."))
    state.optimizer.state.clear()
    for name, parameter in state.tagger.named_parameters():
        kept = {
            key: tensors[f"optimizer.{key}.{name}"].clone()
            for key in ("step", "exp_avg", "exp_avg_sq")
            if f"optimizer.{key}.{name}" in tensors
        }
        if kept:
            state.optimizer.state[parameter] = kept


def _named(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {
        name.removeprefix(prefix): value
        for name, value in tensors.items()
        if name.startswith(prefix)
    }


def _store(path: Path, state: _State, history: list[Epoch]) -> None:
    metadata = {"history": json.dumps([asdict(epoch) for epoch in history])}
    tensors = {name: value.cpu() for name, value in _snapshot(state).items()}
    with written_whole(path) as out:
        out.write(save(tensors, metadata=metadata))


def _restore(path: Path, state: _State) -> list[Epoch]:
    if not path.exists():
        return []
    device = next(state.tagger.parameters()).device
    with safe_open(path, framework="pt") as stored:
        tensors = {name: stored.get_tensor(name).to(device) for name in stored.keys()}  # noqa: SIM118
        history = json.loads(stored.metadata()["history"])
    _load(tensors, state)
    return [Epoch(**epoch) for epoch in history]
