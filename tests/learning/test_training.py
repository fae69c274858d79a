"""Tests of the training loop; some really kill a subprocess at random moments (SIGKILL)."""

import json
import os
import platform
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors import safe_open
from torch import nn

from engine.files import writing
from engine.learning.risk import Risk, supervised_risk
from engine.learning.training import Epoch, Schedule, fit
from engine.network.batches import WordInputs
from engine.network.device import set_threads
from engine.network.features import distinct_words
from engine.network.tagger import BiLstmTagger, predict_probabilities
from engine.network.word_shapes import casing_classes, character_ids
from engine.text.model import InputError
from tests.support.waiting import LIMIT

ROOT = Path(__file__).parents[2]
EPOCHS = 5


def toy():
    """Sentences of "ab…" and "xy…" words; the ones that end in y are entities."""
    random = np.random.default_rng(0)
    words = ["abab", "ba", "bbaa", "xyxy", "xxy", "yyxy"]
    sentences = [
        [str(w) for w in random.choice(words, size=random.integers(1, 9))] for _ in range(60)
    ]
    labels = torch.tensor([int(w.endswith("y")) for tokens in sentences for w in tokens])
    distinct, word_ids = distinct_words(sentences)
    inputs = WordInputs(
        sentences,
        np.zeros((len(distinct), 0), np.float32),
        character_ids(distinct)[0],
        casing_classes(distinct),
        word_ids=word_ids,
        device=torch.device("cpu"),
    )

    def risk_of(logits, tokens):
        return supervised_risk(logits.softmax(dim=1), labels[tokens])

    return inputs, risk_of, labels


def fresh_tagger(seed=0):
    torch.manual_seed(seed)
    return BiLstmTagger(classes=2, vector_size=0, bit_size=0, character_size=6, hidden_size=16)


def schedule(epochs=EPOCHS, seed=0):
    return Schedule(epochs=epochs, batch_size=6, learning_rate=0.01, seed=seed)


def train(epochs=EPOCHS, seed=0, **options):
    inputs, risk_of, _ = toy()
    tagger = fresh_tagger(seed)
    history = fit(tagger, inputs, risk_of, schedule(epochs, seed), **options)
    return tagger, history


def weights(tagger):
    return {name: value.numpy().tobytes() for name, value in tagger.state_dict().items()}


def without_times(history):
    return [(e.number, e.risk, e.positive, e.negative, e.bounded) for e in history]


# As many threads as the subprocesses have, so that sums are rounded alike.
pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="module")
def straight():
    return train()


# ---- learning -------------------------------------------------------------------------------


def test_risk_falls_on_what_can_be_learned():
    inputs, risk_of, labels = toy()
    tagger = fresh_tagger()
    history = fit(tagger, inputs, risk_of, schedule(epochs=12))
    assert [e.number for e in history] == list(range(1, 13))
    assert history[-1].risk < 0.1 * history[0].risk
    assert (predict_probabilities(tagger, inputs).argmax(axis=1) == labels.numpy()).all()


def test_epoch_records_what_it_took():
    _, (first, *_) = train(epochs=1)
    token_count = int(toy()[0].bounds[-1])
    assert first.seconds > 0
    assert first.tokens_per_second == pytest.approx(token_count / first.seconds)


def test_same_seed_gives_the_same_weights_bit_for_bit(straight):
    again, history = train()
    assert weights(again) == weights(straight[0])
    assert without_times(history) == without_times(straight[1])


def test_another_seed_gives_other_weights(straight):
    assert weights(train(seed=1)[0]) != weights(straight[0])


def test_fit_leaves_the_tagger_ready_to_predict(straight):
    assert not straight[0].training


def test_fit_sees_only_the_sentences_asked_for():
    inputs, risk_of, _ = toy()
    seen = set()

    def watch(logits, tokens):
        seen.update(tokens.tolist())
        return risk_of(logits, tokens)

    only = np.array([3, 8, 21])
    fit(fresh_tagger(), inputs, watch, schedule(epochs=2), only=only)
    assert seen == {t for i in only for t in range(inputs.bounds[i], inputs.bounds[i + 1])}


def test_divergence_is_explained_in_one_sentence_that_says_what_to_do():
    inputs, risk_of, _ = toy()

    def diverge(logits, tokens):
        risk = risk_of(logits, tokens)
        return Risk(*(part * float("nan") for part in risk))

    with pytest.raises(InputError) as caught:
        fit(fresh_tagger(), inputs, diverge, schedule())
    assert str(caught.value) == (
        "training diverged in epoch 1 (the risk is nan). "
        "Lower the learning rate or the entity weight"
    )


# ---- learning rate --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("epoch", "rate"),
    # decay 0.05, in steps of 5 epochs: 1 / (1 + 0.05 * 0), … * 5), … * 10), … * 95)
    [(0, 0.1), (4, 0.1), (5, 0.08), (9, 0.08), (10, 0.1 / 1.5), (99, 0.1 / 5.75)],
)
def test_learning_rate_falls_every_five_epochs(epoch, rate):
    assert Schedule(100, 8, 0.1).rate(epoch) == pytest.approx(rate)


def test_learning_rate_without_decay_stays():
    assert Schedule(100, 8, 0.1, decay=0).rate(99) == 0.1


class Slope(nn.Module):
    """One number that every step lowers by exactly the learning rate of Adam."""

    def __init__(self):
        super().__init__()
        self.height = nn.Parameter(torch.zeros(()))

    def forward(self, batch):
        return torch.zeros(len(batch.tokens), 2) + self.height


def test_each_epoch_steps_at_its_own_rate():
    inputs, _, _ = toy()
    slope, zero = Slope(), torch.zeros(())
    one_batch = Schedule(epochs=7, batch_size=60, learning_rate=0.1)
    fit(slope, inputs, lambda *_: Risk(slope.height * 1, slope.height * 1, zero, zero), one_batch)
    # Adam with a constant gradient moves by the rate: 5 * 0.1 + 2 * 0.08
    assert slope.height.item() == pytest.approx(-0.66, abs=1e-5)


# ---- checkpoints ----------------------------------------------------------------------------


def test_two_epochs_and_three_more_are_five(tmp_path, straight):
    checkpoint = tmp_path / "checkpoint.safetensors"
    _, first = train(epochs=2, checkpoint=checkpoint)
    reported = []
    # Fresh weights from another seed: the checkpoint must replace all of them.
    inputs, risk_of, _ = toy()
    tagger = fresh_tagger(seed=99)
    history = fit(
        tagger, inputs, risk_of, schedule(), checkpoint=checkpoint, on_epoch=reported.append
    )
    assert weights(tagger) == weights(straight[0])
    assert history[:2] == first
    assert reported == history[2:]
    assert without_times(history) == without_times(straight[1])


def test_a_finished_checkpoint_is_not_trained_again(tmp_path, straight):
    checkpoint = tmp_path / "checkpoint.safetensors"
    _, history = train(checkpoint=checkpoint)
    reported = []
    tagger, again = train(checkpoint=checkpoint, on_epoch=reported.append)
    assert (reported, again) == ([], history)
    assert weights(tagger) == weights(straight[0])


def test_checkpoint_is_on_disk_before_its_epoch_is_reported(tmp_path):
    checkpoint = tmp_path / "checkpoint.safetensors"
    stored = []
    train(checkpoint=checkpoint, on_epoch=lambda _: stored.append(len(stored_history(checkpoint))))
    assert stored == [1, 2, 3, 4, 5]


def stored_history(checkpoint):
    with safe_open(checkpoint, framework="pt") as stored:
        return [Epoch(**record) for record in json.loads(stored.metadata()["history"])]


def test_checkpoint_is_safetensors_with_weights_optimizer_and_history(tmp_path, straight):
    checkpoint = tmp_path / "checkpoint.safetensors"
    tagger, history = train(checkpoint=checkpoint)
    with safe_open(checkpoint, framework="pt") as stored:
        names = set(stored.keys())
        assert torch.equal(stored.get_tensor("tagger.head.2.bias"), tagger.head[2].bias)
    assert {n.split(".")[0] for n in names} == {"tagger", "optimizer"}
    assert {n.split(".")[1] for n in names if n.startswith("o")} == {
        "step", "exp_avg", "exp_avg_sq"
    }  # fmt: skip
    assert stored_history(checkpoint) == history
    # The length of a JSON header, then the header: neither a pickle nor a zip of pickles.
    content = checkpoint.read_bytes()
    assert json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    assert os.listdir(tmp_path) == ["checkpoint.safetensors"]


# ---- cancel ---------------------------------------------------------------------------------


def test_cancel_ends_after_the_batch_and_returns_to_the_last_whole_epoch(tmp_path, straight):
    inputs, risk_of, _ = toy()
    tagger, batches = fresh_tagger(), []

    def counted(logits, tokens):
        batches.append(tokens)
        return risk_of(logits, tokens)

    fit(tagger, inputs, risk_of, schedule(2), checkpoint=tmp_path / "c")
    history = fit(
        tagger,
        inputs,
        counted,
        schedule(),
        checkpoint=tmp_path / "c",
        should_stop=lambda: len(batches) == 3,
    )
    assert len(batches) == 3  # of ten per epoch
    assert len(history) == 2
    assert weights(tagger) == weights(train(epochs=2)[0])
    assert not tagger.training
    # The checkpoint is still that of the second epoch.
    assert weights(train(checkpoint=tmp_path / "c")[0]) == weights(straight[0])


def test_cancel_in_the_first_epoch_leaves_the_tagger_unchanged():
    inputs, risk_of, _ = toy()
    answers = iter([False, False, False, True])
    tagger = fresh_tagger()
    history = fit(tagger, inputs, risk_of, schedule(), should_stop=lambda: next(answers))
    assert history == []
    assert weights(tagger) == weights(fresh_tagger())


def test_a_run_that_could_be_stopped_but_is_not_gives_the_same_weights(straight):
    assert weights(train(should_stop=lambda: False)[0]) == weights(straight[0])


# ---- kill -9 --------------------------------------------------------------------------------


def serve():
    """Train in a new process for each line of the input; run by the subprocess of `trainer`.

    A line is a checkpoint and the number of the epoch in whose checkpoint to hang, or 0.
    """
    set_threads(1)
    for line in sys.stdin:
        process_id = os.fork()
        if process_id == 0:
            train_to_be_killed(*json.loads(line))
            time.sleep(LIMIT)  # if training ends first, stay alive for the kill
            os._exit(0)
        say(os.waitstatus_to_exitcode(os.waitpid(process_id, 0)[1]))


def train_to_be_killed(checkpoint, hang_in_epoch):
    inputs, risk_of, _ = toy()
    epochs_done = []

    def slow(logits, tokens):
        time.sleep(0.005)
        return risk_of(logits, tokens)

    def hang(_descriptor):
        if len(epochs_done) == hang_in_epoch - 1:
            say("writing")
            time.sleep(LIMIT)

    if hang_in_epoch:
        writing.os.fsync = hang
    say(os.getpid())
    where = Path(checkpoint)
    fit(fresh_tagger(), inputs, slow, schedule(), checkpoint=where, on_epoch=epochs_done.append)


def say(what):
    sys.stdout.write(f"{what}\n")
    sys.stdout.flush()


class Trainer:
    """Processes that train and are killed; torch is imported only once for all of them."""

    def __init__(self):
        self._server = subprocess.Popen(
            [sys.executable, "-c", "from tests.learning.test_training import serve; serve()"],
            cwd=ROOT,
            env=os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def close(self):
        self._server.communicate(timeout=LIMIT)
        assert self._server.returncode == 0

    def train_and_kill(self, checkpoint, *, delay=0.0, hang_in_epoch=0):
        """Kill a training `delay` seconds after it began, or in the write it hangs in."""
        self._server.stdin.write(json.dumps([str(checkpoint), hang_in_epoch]) + "\n")
        self._server.stdin.flush()
        process_id = int(self._server.stdout.readline())
        if hang_in_epoch:
            assert self._server.stdout.readline() == "writing\n"
        time.sleep(delay)
        os.kill(process_id, signal.SIGKILL)
        assert int(self._server.stdout.readline()) == -signal.SIGKILL


@pytest.fixture(scope="module")
def trainer():
    trainer = Trainer()
    yield trainer
    trainer.close()


def test_training_killed_at_random_moments_resumes_to_the_same_weights(trainer, tmp_path, straight):
    took = sum(epoch.seconds for epoch in straight[1]) + EPOCHS * 10 * 0.005  # ten naps per epoch
    for i, part in enumerate(np.random.default_rng().uniform(0, 0.9, size=5)):
        checkpoint = tmp_path / str(i) / "checkpoint.safetensors"
        trainer.train_and_kill(checkpoint, delay=part * took)
        tagger, history = train(checkpoint=checkpoint)
        place = f"killed after {part:.3f} of {took:.2f} s"
        assert weights(tagger) == weights(straight[0]), place
        assert without_times(history) == without_times(straight[1]), place


def test_training_killed_while_it_writes_a_checkpoint_resumes_from_the_one_before(
    trainer, tmp_path, straight
):
    checkpoint = tmp_path / "checkpoint.safetensors"
    trainer.train_and_kill(checkpoint, hang_in_epoch=1)
    assert not checkpoint.exists()
    trainer.train_and_kill(checkpoint, hang_in_epoch=3)
    leftovers = list(tmp_path.glob(".*.part"))
    assert len(leftovers) == 2
    assert len(stored_history(checkpoint)) == 2
    for leftover in leftovers:
        leftover.write_bytes(leftover.read_bytes()[:1000])  # as on a slow disk
    reported = []
    tagger, _ = train(checkpoint=checkpoint, on_epoch=reported.append)
    assert [e.number for e in reported] == [3, 4, 5]
    assert weights(tagger) == weights(straight[0])


def test_training_killed_while_it_writes_the_first_checkpoint_starts_again(tmp_path, straight):
    (tmp_path / ".checkpoint.safetensors.a1b2c3.part").write_bytes(b"\x10\x00\x00")
    tagger, history = train(checkpoint=tmp_path / "checkpoint.safetensors")
    assert len(history) == EPOCHS
    assert weights(tagger) == weights(straight[0])


@pytest.mark.parametrize(
    "error", [MemoryError(), RuntimeError("DefaultCPUAllocator: can't allocate memory: 9 bytes")]
)
def test_running_out_of_memory_is_explained_and_suggests_a_smaller_batch(error):
    def risk_of(logits, tokens):
        raise error

    inputs, _, _ = toy()
    with pytest.raises(InputError, match=r"at 6 sentences per batch\. Retry with batch_size=3"):
        fit(fresh_tagger(), inputs, risk_of, schedule())


def test_other_errors_of_a_risk_pass_through():
    def risk_of(logits, tokens):
        raise RuntimeError("shapes differ")

    inputs, _, _ = toy()
    with pytest.raises(RuntimeError, match="shapes differ"):
        fit(fresh_tagger(), inputs, risk_of, schedule())


def test_memory_that_is_freed_stays_with_the_process():
    # glibc only: elsewhere the allocator is left as it is.
    code = """
import resource, sys
import torch
from engine.network.device import keep_freed_memory
torch.set_num_threads(1)
if sys.argv[1] == "keep":
    keep_freed_memory()
def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(3):
    torch.zeros(20_000_000)
before = faults()
for _ in range(10):
    torch.zeros(20_000_000)
print(faults() - before)
"""

    def faults_of(way):
        command = [sys.executable, "-c", code, way]
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
        return int(done.stdout)

    if platform.libc_ver()[0] != "glibc":
        pytest.skip("another C library")
    assert faults_of("keep") < faults_of("as it is") / 10
