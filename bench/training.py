"""Measure the speed and memory of training and predicting: ours, a plain PyTorch loop, a floor.

All systems get the same sentences (a sample of BC5CDR's train file), the same network at the
paper's size, the same risk (MPN) and the same number of threads, and they take turns:

  plain    batches as the paper's authors make them: 100 random sentences, padded to the longest,
           the character CNN over every padded position x 52 characters, pack_padded_sequence, and a
           mask; written as one usually writes PyTorch (their Python loops over tokens are left out)
  ours     engine.learning.fit and engine.network.predict_probabilities: sentences of similar
           length in a batch, no padding, the character CNN once per distinct word of a batch
  nn.LSTM  ours with torch's own LSTM on packed sequences in place of engine.network.recurrence,
           everything else equal; the line below the table has the gain, by the medians
  floor    only the matrix products of the LSTM and the MLP, forward and backward, in the shapes of
           our batches, without gradients that nothing learns from: nothing that computes this
           network by matrix products can be faster
  pair     ours twice at the same time, one process and one thread each, as methods and seeds train
           side by side; seconds per pass; only with two threads
  random   transformer: the same code as ours with random batches of 32 sentences
  before   transformer: ours with matrix products in float32, whatever the processor is fast at

The part "encoder" times layer 3 of the frozen MiniLM alone: as transformers computes it, padded
(before), and packed in each precision that this processor has. It takes turns, too.

The figure of a system is its fastest of --repeats passes; tokens are counted without padding. Then
`glossa predict` runs on large texts with a trained run, in its own process and from files
that another process wrote: reading, splitting and writing count too. The runs are

  paper     a BiLSTM of the paper's size, without MiniLM
  before    a balanced run whose layer of MiniLM is computed as before: padded, in float32, by
            transformers, in one process with all threads; later, one process per core
  balanced  the same run as it is now
  twin      its fast twin

"before MB" is the memory once torch is loaded, "peak" the most it ever held, which should hardly
grow with the text. "others" is how many processors other programs kept busy meanwhile; it should be
near 0.

    python -m bench.training [--sentences N] [--transformer-sentences N]
                             [--predict-tokens 1000000,10000000]
                             [--parts bilstm,transformer,encoder,predict] [--threads 1,2]
                             [--runs paper,before,balanced,twin] [--repeats N] [--data DIR]
"""

# The process that starts the cells imports nothing large: a new process inherits the peak memory of
# its parent.
import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from statistics import median
from time import perf_counter

from bench import environment

SETTING = "bc5cdr_big"
SENTENCES = 2_000
TRANSFORMER_SENTENCES = 480
PREDICT_TOKENS = 1_000_000
PARTS = ("bilstm", "transformer", "encoder", "predict")
RUNS = ("paper", "before", "balanced", "twin")
REPEATS = 2
SEED = 20220522
SENTENCES_PER_DOCUMENT = 10
PLAIN_CHARACTERS = 52  # of every word, as the authors pad them
PREDICTION_TOKENS = 8_000  # per batch, as in engine.network.tagger; the floor uses the same shapes
HEAD_SIZE = 100  # as in engine.network.tagger
TORCH_LSTM = "nn.LSTM"
WARM_UP = 200  # sentences before the clock starts

# Functions below import what they need, for the reason above.


@dataclass(frozen=True, slots=True)
class System:
    """A way to train and predict; each call is one whole pass and returns its seconds."""

    train: Callable[[int], float]  # takes the number of the pass
    predict: Callable[[], float]


def measure(systems: dict[str, System], tokens: int, repeats: int) -> list[dict]:
    """Let the systems take turns and return the fastest pass of each."""
    train: dict[str, list[float]] = {name: [] for name in systems}
    predict: dict[str, list[float]] = {name: [] for name in systems}
    for i in range(repeats):
        for name, system in systems.items():
            train[name].append(system.train(i))
            predict[name].append(system.predict())
    return [
        {
            "system": name,
            "train_seconds": round(min(train[name]), 3),
            "train_tokens_per_second": round(tokens / min(train[name])),
            "predict_seconds": round(min(predict[name]), 3),
            "predict_tokens_per_second": round(tokens / min(predict[name])),
            "all_train_seconds": [round(seconds, 3) for seconds in train[name]],
            "all_predict_seconds": [round(seconds, 3) for seconds in predict[name]],
        }
        for name in systems
    ]


def timed(work: Callable[[], object]) -> float:
    """Return how many seconds `work` takes."""
    started = perf_counter()
    work()
    return perf_counter() - started


# ---- what all systems share -----------------------------------------------------------------


def training_data(sentences: int, data_folder: Path):
    """Return a fixed sample of the train file, with its lexicon."""
    import numpy as np

    from bench.data import SETTINGS, dictionaries, load
    from engine.learning import TrainingData
    from engine.network import Lexicon
    from engine.settings import MATCH_PRESETS

    tokens, _, published = load(SETTING, data_folder)
    chosen = list(range(len(tokens)))
    if 0 < sentences < len(tokens):
        chosen = sorted(random.Random(SEED).sample(chosen, sentences))
    types = SETTINGS[SETTING].types
    return TrainingData(
        [tokens[i] for i in chosen],
        np.concatenate([np.array(published[i], np.int16) for i in chosen]),
        types,
        Lexicon(tuple(dictionaries(SETTING, data_folder)), MATCH_PRESETS["strict"], types, True),
    )


def risk_of_labels(data):
    """Return the MPN risk of a batch; the priors do not matter here, so take labeled shares."""
    import numpy as np
    import torch

    from engine.learning import mpn_risk

    counts = np.bincount(data.labels, minlength=len(data.types) + 1)
    priors = torch.tensor(counts / counts.sum(), dtype=torch.float32)
    labels = torch.from_numpy(data.labels.astype(np.int64))
    return lambda probs, tokens: mpn_risk(probs, labels[tokens], priors, entity_weight=28.0)


def ours(data, inputs, settings, risk_of) -> System:
    """Return the engine's own loops."""
    import numpy as np
    import torch

    from engine.learning import fit, make_tagger, schedule
    from engine.network import predict_probabilities

    tagger = make_tagger(inputs, len(data.types) + 1, settings, SEED, torch.device("cpu"))
    once = replace(schedule(settings), epochs=1)
    some = np.arange(min(WARM_UP, len(data.sentences)))

    def risk_of_logits(logits, tokens):
        return risk_of(logits.softmax(dim=1), tokens)

    fit(tagger, inputs, risk_of_logits, once, only=some)
    predict_probabilities(tagger, inputs, only=some)

    def train(number: int) -> float:
        this_pass = replace(once, seed=number)
        return timed(lambda: fit(tagger, inputs, risk_of_logits, this_pass))

    return System(train, lambda: timed(lambda: predict_probabilities(tagger, inputs)))


# ---- the BiLSTM -----------------------------------------------------------------------------


def run_bilstm(sentences: int, repeats: int, data_folder: Path) -> dict:
    """Return the figures of all systems for the BiLSTM."""
    import torch

    from engine.learning import make_inputs
    from engine.settings import training_settings

    data = training_data(sentences, data_folder)
    settings = training_settings("paper")
    inputs = make_inputs(data, settings, torch.device("cpu"))
    risk_of = risk_of_labels(data)
    threads = torch.get_num_threads()
    systems = {
        # In its own process: ours changes how a process keeps memory, a plain loop does not.
        "plain": apart("plain", threads, 1, sentences, data_folder),
        "ours": ours(data, inputs, settings, risk_of),
        TORCH_LSTM: with_torch_lstm(ours(data, inputs, settings, risk_of)),
        "floor": floor(data, inputs, settings),
    }
    if threads == 2:
        systems["pair"] = apart("ours", 1, 2, sentences, data_folder)
    tokens = len(data.labels)
    return {"tokens": tokens, "systems": measure(systems, tokens, repeats)}


def with_torch_lstm(system: System) -> System:
    """Return the same system with torch's own LSTM in place of engine.network.recurrence."""
    from unittest.mock import patch

    import torch
    from torch.nn.utils.rnn import PackedSequence

    from engine.network import BiLstmTagger

    def run_packed(lstm, parts, batch_sizes):
        hidden, _ = lstm(PackedSequence(torch.cat(list(parts), dim=1), batch_sizes))
        return hidden.data

    # The module that defines the tagger holds the name that the tagger calls.
    tagger_module = sys.modules[BiLstmTagger.__module__]
    swapped = patch.object(tagger_module, "run_bidirectional", run_packed)
    return System(swapped(system.train), swapped(system.predict))


def apart(name: str, threads: int, count: int, sentences: int, data_folder: Path) -> System:
    """Return `count` processes of a system that run their passes at the same time."""
    from multiprocessing import get_context

    context = get_context("spawn")
    ends = []
    for _ in range(count):
        end, other_end = context.Pipe()
        # A daemon ends with this process.
        context.Process(
            target=_serve_passes,
            args=(other_end, name, threads, sentences, data_folder),
            daemon=True,
        ).start()
        ends.append(end)
    for end in ends:
        end.recv()  # ready

    def all_at_once(order: tuple[str, int]) -> float:
        def ask() -> None:
            for end in ends:
                end.send(order)
            for end in ends:
                end.recv()

        return timed(ask) / len(ends)

    return System(
        lambda number: all_at_once(("train", number)), lambda: all_at_once(("predict", 0))
    )


def _serve_passes(connection, name: str, threads: int, sentences: int, data_folder: Path) -> None:
    import torch

    from engine.learning import make_inputs
    from engine.network import set_threads
    from engine.settings import training_settings

    set_threads(threads)
    data = training_data(sentences, data_folder)
    settings = training_settings("paper")
    risk_of = risk_of_labels(data)
    if name == "plain":
        system = plain(data, settings, risk_of)
    else:
        inputs = make_inputs(data, settings, torch.device("cpu"))
        system = ours(data, inputs, settings, risk_of)
    connection.send("ready")
    while True:
        stage, number = connection.recv()
        connection.send(system.train(number) if stage == "train" else system.predict())


def plain(data, settings, risk_of) -> System:
    """Return the usual loop, with padded random batches."""
    import numpy as np
    import torch
    from torch import nn
    from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

    from engine.network import (
        ALPHABET_SIZE,
        CASING_CLASSES,
        casing_classes,
        character_ids,
        distinct_words,
        lexicon_bits,
        load_vectors,
    )

    words, word_ids = distinct_words(data.sentences)
    lexicon = data.lexicon
    bits = lexicon_bits(
        data.sentences,
        lexicon.dictionaries,
        lexicon.options,
        types=lexicon.types,
        window=settings.lexicon_window,
    )
    vectors = torch.from_numpy(load_vectors(words, settings.word_vectors).matrix)
    sizes = [len(tokens) for tokens in data.sentences]
    ids = torch.from_numpy(word_ids.astype(np.int64))
    columns = {
        "words": ids,
        "characters": torch.from_numpy(character_ids(words, PLAIN_CHARACTERS)[0]).long()[ids],
        "casing": torch.from_numpy(casing_classes(words)).long()[ids],
        "extras": torch.from_numpy(bits).float(),
        "tokens": torch.arange(len(ids)),
    }
    by_sentence = {name: column.split(sizes) for name, column in columns.items()}

    class PlainTagger(nn.Module):
        """The paper's network on padded batches."""

        def __init__(self) -> None:
            super().__init__()
            size = settings.character_size
            self.word_vectors = nn.Embedding.from_pretrained(vectors)
            self.character_embedding = nn.Embedding(ALPHABET_SIZE, size, padding_idx=0)
            self.character_filter = nn.Conv1d(size, size, 3, padding=1)
            self.character_dropout = nn.Dropout(settings.character_dropout)
            self.dropout = nn.Dropout(settings.dropout)
            features = vectors.shape[1] + size + len(CASING_CLASSES) + bits.shape[1]
            self.lstm = nn.LSTM(
                features, settings.hidden_size, batch_first=True, bidirectional=True
            )
            self.head = nn.Sequential(
                nn.Linear(2 * settings.hidden_size, HEAD_SIZE),
                nn.ReLU(),
                nn.Linear(HEAD_SIZE, len(data.types) + 1),
            )

        def forward(self, batch):
            characters = batch["characters"]
            embedded = self.character_embedding(characters.flatten(0, 1))
            embedded = self.character_dropout(embedded)
            filtered = self.character_filter(embedded.transpose(1, 2)).max(dim=2).values
            spelled = self.character_dropout(filtered).view(*characters.shape[:2], -1)
            casing = nn.functional.one_hot(batch["casing"], len(CASING_CLASSES)).float()
            parts = [self.word_vectors(batch["words"]), spelled, casing, batch["extras"]]
            features = self.dropout(torch.cat(parts, dim=2))
            packed = pack_padded_sequence(
                features, batch["lengths"], batch_first=True, enforce_sorted=False
            )
            hidden, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True)
            return self.head(self.dropout(hidden))

    def batches(order: Sequence[int]) -> Iterator[dict]:
        for first in range(0, len(order), settings.batch_size):
            chosen = order[first : first + settings.batch_size]
            batch = {
                name: pad_sequence([column[i] for i in chosen], batch_first=True)
                for name, column in by_sentence.items()
            }
            lengths = torch.tensor([sizes[i] for i in chosen])
            mask = torch.arange(int(lengths.max())) < lengths[:, None]
            yield batch | {"lengths": lengths, "mask": mask}

    torch.manual_seed(SEED)
    tagger = PlainTagger()
    trainable = [parameter for parameter in tagger.parameters() if parameter.requires_grad]
    optimizer = torch.optim.Adam(trainable, lr=settings.learning_rate)

    def train_pass(order: Sequence[int]) -> None:
        tagger.train()
        for batch in batches(order):
            optimizer.zero_grad()
            probs = tagger(batch).softmax(dim=2)
            risk = risk_of(probs[batch["mask"]], batch["tokens"][batch["mask"]])
            risk.objective.backward()
            optimizer.step()

    def predict_pass() -> None:
        tagger.eval()
        with torch.no_grad():
            for batch in batches(range(len(sizes))):
                tagger(batch).softmax(dim=2)[batch["mask"]].numpy()

    def train(number: int) -> float:
        order = np.random.default_rng(number).permutation(len(sizes)).tolist()
        return timed(lambda: train_pass(order))

    train_pass(range(min(WARM_UP, len(sizes))))
    return System(train, lambda: timed(predict_pass))


def floor(data, inputs, settings) -> System:
    """Return only the matrix products of the LSTM and the MLP."""
    import numpy as np
    import torch

    from engine.learning import make_tagger
    from engine.network import prediction_batches, training_batches

    tagger = make_tagger(inputs, len(data.types) + 1, settings, SEED, torch.device("cpu"))
    features, hidden = tagger.lstm.input_size, tagger.lstm.hidden_size
    lengths = np.diff(inputs.bounds)
    generator = torch.Generator().manual_seed(SEED)

    def matrix(*shape: int) -> torch.Tensor:
        return torch.randn(shape, generator=generator)

    in_weights, step_weights = matrix(features, 4 * hidden), matrix(hidden, 4 * hidden)
    linear = [layer for layer in tagger.head if isinstance(layer, torch.nn.Linear)]
    head_weights = [matrix(layer.in_features, layer.out_features) for layer in linear]
    longest = np.sort(lengths)
    most = max(
        PREDICTION_TOKENS + int(longest[-1]), int(longest[-settings.batch_size :].sum())
    )  # tokens in a batch
    # One block of numbers for every left side: the numbers do not change the time.
    block = matrix(most, 4 * hidden)
    out = torch.empty(most, 4 * hidden)

    def left(rows: int, columns: int) -> torch.Tensor:
        return block[:rows].view(-1)[: rows * columns].view(rows, columns)

    def into(rows: int, columns: int) -> torch.Tensor:
        return out.view(-1)[: rows * columns].view(rows, columns)

    def product(
        rows: int, weights: torch.Tensor, *, with_backward: bool, learned: int | None = None
    ) -> None:
        inner, columns = weights.shape
        torch.mm(left(rows, inner), weights, out=into(rows, columns))
        if with_backward:
            wanted = weights[:learned]
            torch.mm(left(rows, columns), wanted.T, out=into(rows, len(wanted)))
            torch.mm(left(rows, inner).T, left(rows, columns), out=into(inner, columns))

    def products(chosen: np.ndarray, *, with_backward: bool) -> None:
        sizes = np.sort(lengths[chosen])
        shorter = np.searchsorted(sizes, np.arange(sizes[-1]), side="right")
        steps = (len(sizes) - shorter).tolist()
        rows = int(sizes.sum())
        for _ in range(2):  # directions
            # Of the input, only the character part is learned; the rest gets no gradient.
            product(rows, in_weights, with_backward=with_backward, learned=settings.character_size)
            for sentences in steps:
                torch.mm(left(sentences, hidden), step_weights, out=into(sentences, 4 * hidden))
            if with_backward:
                for sentences in steps:
                    torch.mm(
                        left(sentences, 4 * hidden), step_weights.T, out=into(sentences, hidden)
                    )
                torch.mm(left(rows, hidden).T, left(rows, 4 * hidden), out=into(hidden, 4 * hidden))
        for weights in head_weights:
            product(rows, weights, with_backward=with_backward)

    def train_pass(number: int) -> None:
        size = settings.batch_size
        for chosen in training_batches(inputs.bounds, size, seed=number, epoch=0):
            products(chosen, with_backward=True)

    def predict_pass() -> None:
        for chosen in prediction_batches(inputs.bounds, PREDICTION_TOKENS):
            products(chosen, with_backward=False)

    predict_pass()
    return System(lambda number: timed(lambda: train_pass(number)), lambda: timed(predict_pass))


# ---- the transformer ------------------------------------------------------------------------


def run_transformer(sentences: int, repeats: int, data_folder: Path) -> dict:
    """Return the figures of both ways to make batches for the transformer."""
    import torch

    from engine.learning import make_inputs
    from engine.settings import training_settings

    data = training_data(sentences, data_folder)
    settings = training_settings("paper", "transformer")
    inputs = make_inputs(data, settings, torch.device("cpu"))
    risk_of = risk_of_labels(data)
    systems = {
        "random": random_batches(data, inputs, settings, risk_of),
        "before": in_float32(ours(data, inputs, settings, risk_of)),
        "ours": ours(data, inputs, settings, risk_of),
    }
    tokens = len(data.labels)
    return {"tokens": tokens, "systems": measure(systems, tokens, repeats)}


def in_float32(system: System) -> System:
    """Return the same system without bfloat16."""
    from contextlib import nullcontext
    from unittest.mock import patch

    from engine.network import TransformerTagger

    module = sys.modules[TransformerTagger.__module__]
    swapped = patch.object(module, "mixed_precision", lambda *_, **__: nullcontext())
    return System(swapped(system.train), swapped(system.predict))


def random_batches(data, inputs, settings, risk_of) -> System:
    """Return the engine's tagger, trained on batches of sentences of any length."""
    import numpy as np
    import torch

    from engine.learning import make_tagger

    tagger = make_tagger(inputs, len(data.types) + 1, settings, SEED, torch.device("cpu"))
    optimizer = torch.optim.Adam(tagger.parameters(), lr=settings.learning_rate, fused=True)
    count = len(data.sentences)

    def batches(order: np.ndarray) -> Iterator[np.ndarray]:
        for first in range(0, len(order), settings.batch_size):
            yield order[first : first + settings.batch_size]

    def train_pass(order: np.ndarray) -> None:
        tagger.train()
        for chosen in batches(order):
            batch = inputs.batch(chosen)
            risk = risk_of(tagger(batch).softmax(dim=1), batch.tokens)
            optimizer.zero_grad(set_to_none=True)
            risk.objective.backward()
            optimizer.step()

    def predict_pass() -> None:
        tagger.eval()
        with torch.inference_mode():
            for chosen in batches(np.arange(count)):
                tagger(inputs.batch(chosen)).softmax(dim=1).numpy()

    def train(number: int) -> float:
        order = np.random.default_rng(number).permutation(count)
        return timed(lambda: train_pass(order))

    train_pass(np.arange(min(settings.batch_size, count)))
    return System(train, lambda: timed(predict_pass))


# ---- the frozen encoder ---------------------------------------------------------------------


def run_encoder(sentences: int, repeats: int, data_folder: Path) -> dict:
    """Return tokens per second of the frozen encoder, padded as before and in each precision."""
    from engine.network import choose_device, context_of, open_pretrained
    from engine.settings import training_settings

    data = training_data(sentences, data_folder)
    balanced = training_settings("balanced")
    pretrained = open_pretrained(balanced)

    def encode(precision: str, number: int) -> float:
        # Some sentences less each time, so that nothing is remembered.
        part = data.sentences[number:]
        changed = replace(balanced, encoder_precision=precision)
        return timed(lambda: context_of(part, changed, choose_device(), pretrained))

    systems = {"before": padded(lambda number: encode("float32", number))}
    for precision in ("float32", *fast_precisions()):
        systems[precision] = partial(encode, precision)
    for system in systems.values():
        system(max(0, len(data.sentences) - WARM_UP))
    seconds: dict[str, list[float]] = {name: [] for name in systems}
    for number in range(repeats):
        for name, system in systems.items():
            seconds[name].append(system(number))
    tokens = len(data.labels)
    return {
        "tokens": tokens,
        "systems": [
            {
                "system": name,
                "seconds": round(min(seconds[name]), 3),
                "tokens_per_second": round(tokens / min(seconds[name])),
                "to_before": round(median(seconds["before"]) / median(seconds[name]), 2),
                "all_seconds": [round(each, 3) for each in seconds[name]],
            }
            for name in systems
        ],
    }


def padded(work: Callable) -> Callable:
    """Return `work` with the encoder of transformers, on padded batches, in float32."""
    from unittest.mock import patch

    from engine.network import Pretrained, contextual_features, set_threads

    features, device = (sys.modules[f.__module__] for f in (contextual_features, set_threads))
    is_padded = patch.object(features, "is_packable", lambda _: False)
    is_whole = patch.object(Pretrained, "frozen_encoder", lambda self, _: self.encoder)
    has_mkl_only = patch.object(device, "_has_slow_mkl", lambda: False)
    return is_padded(is_whole(has_mkl_only(work)))


def fast_precisions() -> list[str]:
    """Return the precisions other than float32 that this processor computes fast."""
    import torch

    has_bfloat16 = torch.cpu._is_amx_tile_supported() or torch.cpu._is_avx512_bf16_supported()
    has = {"bfloat16": has_bfloat16, "int8": torch.cpu._is_vnni_supported()}
    return [name for name in has if has[name]]


def show_encoder(row: dict) -> None:
    """Print the lines of the frozen encoder."""
    for system in row.get("systems", []):
        print(
            f"{row['part']:<12}{row['threads']:>8} {system['system']:<9}"
            f"{system['seconds']:>8.2f} s{system['tokens_per_second']:>10,} tokens/s"
            f"{system['to_before']:>8.2f} x before (medians){row['others']:>8.2f}",
            flush=True,
        )
    if "failed" in row:
        print(f"{row['part']:<12}{row['threads']:>8} failed: {row['failed']}", flush=True)


# ---- a large text ---------------------------------------------------------------------------


def make_run(folder: Path, data_folder: Path) -> dict:
    """Train taggers briefly, so that they find about as much as real ones, and save them."""
    import numpy as np

    from bench.data import SETTINGS, load
    from engine.experiment import make_twin, run_supervised
    from engine.learning import twin_settings
    from engine.runs import save_run, save_twin
    from engine.settings import training_settings
    from engine.text import classes_from_spans, make_tokenized_document, spans_from_tags

    data = training_data(0, data_folder)
    _, tags, _ = load(SETTING, data_folder)
    types = SETTINGS[SETTING].types
    gold = [classes_from_spans(spans_from_tags(row), len(row), types) for row in tags[:1000]]
    data = replace(
        data, sentences=data.sentences[:1000], labels=np.concatenate(gold).astype(np.int16)
    )
    briefly = {"method": "supervised", "epochs": 2, "batch_size": 10, "learning_rate": 2e-3}
    paper = run_supervised(data, replace(training_settings("paper"), **briefly))
    save_run(folder / "paper", paper, data=data)
    balanced = run_supervised(data, replace(training_settings("balanced"), **briefly))
    save_run(folder / "balanced", balanced, data=data)
    settings = replace(twin_settings(balanced.settings, len(data.labels)), epochs=2)
    documents = [make_tokenized_document("text", data.sentences)]
    save_twin(folder / "twin", make_twin(balanced, documents, settings=settings), "balanced")
    return {}


def text_file(folder: Path, token_count: int) -> Path:
    return folder / f"text-{token_count}.jsonl"


def make_texts(folder: Path, token_count: int, data_folder: Path) -> dict:
    """Write a text of `token_count` tokens to a file, without holding it in memory."""
    from bench.data import load
    from bench.matching import make_text

    lines = make_text(token_count, load(SETTING, data_folder)[0])
    with text_file(folder, token_count).open("w", encoding="utf-8") as out:
        number = 0
        while document := list(islice(lines, SENTENCES_PER_DOCUMENT)):
            number += 1
            out.write(json.dumps({"id": str(number), "text": "\n".join(document)}) + "\n")
    return {}


def run_predict(folder: Path, token_count: int, name: str) -> dict:
    """Return speed and memory of `glossa predict` with a run on a text of `token_count` tokens."""
    from contextlib import redirect_stdout
    from io import StringIO

    import torch

    import engine.runs  # noqa: F401 - torch is loaded before memory is measured
    from engine.cli import main

    before = peak_mb()
    text, out = text_file(folder, token_count), StringIO()
    entities = folder / f"entities-{token_count}.csv"
    run = folder / ("balanced" if name == "before" else name)
    predict = padded(main) if name == "before" else main
    workers = "1" if name == "before" else str(torch.get_num_threads())
    started, own = perf_counter(), _own_seconds()
    with redirect_stdout(out):
        code = predict(
            ["predict", "--run", str(run), str(text), "--out", str(entities), "--workers", workers]
        )
    seconds = perf_counter() - started
    assert code == 0
    return {
        "run": name,
        "tokens": token_count,
        "text_mb": round(text.stat().st_size / 1e6),
        "predict_seconds": round(seconds, 2),
        "predict_tokens_per_second": round(token_count / seconds),
        "cpu_seconds": round(_own_seconds() - own, 2),
        "before_mb": before,
        "peak_mb": peak_mb(),
        "worker_mb": peak_mb(resource.RUSAGE_CHILDREN),
        "entities": int(out.getvalue().split("Wrote ")[1].split()[0].replace(",", "")),
    }


def peak_mb(whose: int = resource.RUSAGE_SELF) -> int:
    """Return the peak memory of this process so far, or of the largest that it started."""
    return round(resource.getrusage(whose).ru_maxrss / 1024)


# ---- cells ----------------------------------------------------------------------------------


def run_cell(options: argparse.Namespace) -> dict:
    """Return the figures of one cell, measured in this process."""
    from bench.data import DATA
    from engine.network import set_threads

    part, threads, folder, name = options.cell
    set_threads(int(threads))
    data_folder = Path(options.data or DATA)
    if part == "bilstm":
        return run_bilstm(options.sentences, options.repeats, data_folder)
    if part == "transformer":
        return run_transformer(options.transformer_sentences, options.repeats, data_folder)
    if part == "encoder":
        return run_encoder(options.sentences, options.repeats, data_folder)
    if part == "make_run":
        return make_run(Path(folder), data_folder)
    tokens = int(options.predict_tokens)
    if part == "make_texts":
        return make_texts(Path(folder), tokens, data_folder)
    return run_predict(Path(folder), tokens, name)


def start_cell(
    options: argparse.Namespace,
    part: str,
    threads: int,
    folder: str = "",
    tokens: int = 0,
    name: str = "",
) -> dict:
    """Run a cell in its own process and return its figures, or {"failed": why}."""
    command = [sys.executable, "-m", "bench.training", "--cell", part, str(threads), folder, name]
    command += ["--predict-tokens", str(tokens)]
    for name in ("sentences", "transformer_sentences", "repeats", "data"):
        command += [f"--{name.replace('_', '-')}", str(getattr(options, name))]
    started, busy, own = perf_counter(), _busy_seconds(), _own_seconds()
    done = subprocess.run(
        command,
        cwd=environment.ROOT,
        env={**os.environ, "OMP_NUM_THREADS": str(threads), "PYTHONHASHSEED": "0"},
        capture_output=True,
        text=True,
    )
    row = {"part": part, "threads": threads}
    others = _busy_seconds() - busy - (_own_seconds() - own)
    row["others"] = round(max(others, 0) / (perf_counter() - started), 2)
    if done.returncode:
        why = (done.stderr.strip().splitlines() or [f"code {done.returncode}"])[-1]
        return row | {"failed": why}
    return row | json.loads(done.stdout.splitlines()[-1])


def _busy_seconds() -> float:
    """Return the processor time of all programs on the machine; 0 without /proc."""
    try:
        fields = Path("/proc/stat").read_text(encoding="ascii").split()
    except OSError:
        return 0.0
    user, nice, system = map(int, fields[1:4])
    return (user + nice + system) / os.sysconf("SC_CLK_TCK")


def _own_seconds() -> float:
    return sum(
        used.ru_utime + used.ru_stime
        for used in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


# ---- the table ------------------------------------------------------------------------------


def add_ratios(row: dict) -> None:
    """Add the speed of each system relative to the slow loop and to the floor."""
    systems = {system["system"]: system for system in row["systems"]}
    slow = systems.get("plain") or systems["random"]
    for system in systems.values():
        for stage in ("train", "predict"):
            name = f"{stage}_tokens_per_second"
            system[f"{stage}_to_slow"] = round(system[name] / slow[name], 2)
            if "floor" in systems:
                system[f"{stage}_of_floor"] = round(system[name] / systems["floor"][name], 3)


def recurrence_gain(row: dict) -> dict[str, float]:
    """Return how many times as fast ours is as ours with nn.LSTM, by the medians of the passes.

    Both take turns in one process, so a median is hardly changed by a busy moment of the machine.
    """
    systems = {system["system"]: system for system in row["systems"]}
    if TORCH_LSTM not in systems:
        return {}
    return {
        stage: round(
            median(systems[TORCH_LSTM][f"all_{stage}_seconds"])
            / median(systems["ours"][f"all_{stage}_seconds"]),
            2,
        )
        for stage in ("train", "predict")
    }


def show_head() -> None:
    print(
        f"{'encoder':<12}{'threads':>8} {'system':<8}{'train s':>9}{'tokens/s':>10}{'x plain':>9}"
        f"{'of floor':>10}{'predict s':>11}{'tokens/s':>10}{'x plain':>9}{'of floor':>10}"
        f"{'others':>8}",
        flush=True,
    )


def show(row: dict) -> None:
    """Print the lines of a cell."""
    head = f"{row['part']:<12}{row['threads']:>8} "
    if "failed" in row:
        print(f"{head}failed: {row['failed']}", flush=True)
        return
    for system in row["systems"]:
        line = f"{head}{system['system']:<8}"
        for stage, width in (("train", 9), ("predict", 11)):
            of_floor = system.get(f"{stage}_of_floor")
            line += (
                f"{system[f'{stage}_seconds']:>{width}.2f}"
                f"{system[f'{stage}_tokens_per_second']:>10,}{system[f'{stage}_to_slow']:>9.2f}"
                f"{'' if of_floor is None else f'{of_floor:.0%}':>10}"
            )
        print(f"{line}{row['others']:>8.2f}", flush=True)
    if gain := row["recurrence_gain"]:
        print(
            f"{head}ours is {gain['train']:.2f} times as fast as with nn.LSTM in training, "
            f"{gain['predict']:.2f} times in predicting (medians)",
            flush=True,
        )


def show_predict(row: dict) -> None:
    """Print the figures of the large text."""
    if "failed" in row:
        print(f"predicting a large text failed: {row['failed']}")
        return
    print(
        f"\npredicting {row['tokens']:,} tokens ({row['text_mb']:,} MB), "
        f"{row['threads']} thread(s), run {row['run']}: "
        f"{row['predict_seconds']:.1f} s, {row['predict_tokens_per_second']:,} tokens/s, "
        f"{row['cpu_seconds']:.1f} processor seconds, "
        f"{row['entities']:,} entities; {row['before_mb']:,} MB before, "
        f"{row['peak_mb']:,} MB peak, {row['worker_mb']:,} MB in a worker; "
        f"others {row['others']:.2f}",
        flush=True,
    )


def predict_rows(
    options: argparse.Namespace, threads: Sequence[int], folder: str
) -> Iterator[dict]:
    """Yield the figures per length of text and number of threads."""
    made = start_cell(options, "make_run", 1, folder)
    for tokens in map(int, options.predict_tokens.split(",")):
        if "failed" not in made:
            made = start_cell(options, "make_texts", 1, folder, tokens)
        for count in threads:
            for name in options.runs.split(","):
                failed = "failed" in made
                yield (
                    made if failed else start_cell(options, "predict", count, folder, tokens, name)
                )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    number = {"type": int, "metavar": "N"}
    parser.add_argument(
        "--sentences", **number, default=SENTENCES, help="BiLSTM; 0 = all (%(default)s)"
    )
    parser.add_argument(
        "--transformer-sentences", **number, default=TRANSFORMER_SENTENCES, help="(%(default)s)"
    )
    parser.add_argument(
        "--predict-tokens", default=str(PREDICT_TOKENS), help="sizes with commas (%(default)s)"
    )
    parser.add_argument("--parts", default=",".join(PARTS), help="with commas (%(default)s)")
    parser.add_argument("--runs", default=",".join(RUNS), help="of predict (%(default)s)")
    parser.add_argument("--threads", default="1,2", help="with commas (%(default)s)")
    parser.add_argument("--repeats", **number, default=REPEATS, help="(%(default)s)")
    parser.add_argument("--data", default="", help="benchmark data (../shared/data)")
    parser.add_argument("--cell", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.cell:
        print(json.dumps(run_cell(options)))
        return
    parts = options.parts.split(",")
    if unknown := set(options.runs.split(",")) - set(RUNS):
        parser.error(f"unknown run: {', '.join(sorted(unknown))}; choose from {', '.join(RUNS)}")
    if unknown := set(parts) - set(PARTS):
        parser.error(f"unknown part: {', '.join(sorted(unknown))}; choose from {', '.join(PARTS)}")
    threads = [int(count) for count in options.threads.split(",")]
    rows = []
    show_head()
    for part in (part for part in parts if part != "predict"):
        for count in threads:
            rows.append(start_cell(options, part, count))
            if part == "encoder":
                show_encoder(rows[-1])
                continue
            if "failed" not in rows[-1]:
                add_ratios(rows[-1])
                rows[-1]["recurrence_gain"] = recurrence_gain(rows[-1])
            show(rows[-1])
    if "predict" in parts:
        with tempfile.TemporaryDirectory(prefix="glossa_bench_") as folder:
            for row in predict_rows(options, threads, folder):
                rows.append(row)
                show_predict(row)
    environment.finish({"benchmark": "training", "seed": SEED, "cells": rows})


if __name__ == "__main__":
    main()
