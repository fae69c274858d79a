"""A folder of ONNX graphs with what their inputs are made from, and predicting with them."""

import json
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from engine.experiment import Run, decode
from engine.learning import groups, tokens_of, weigh
from engine.network import (
    CASING_CLASSES,
    BiLstmTagger,
    Lexicon,
    Pretrained,
    SubwordInputs,
    TransformerTagger,
    WordInputs,
    has_context,
    has_encoder,
    lexicon_from,
    make_word_inputs,
    open_vectors,
    pool,
    save_encoder,
    sentence_bounds,
    vectors_of,
    window_of,
)
from engine.planning import METHODS, title_of
from engine.portable.onnx_graphs import word_graph, write_layer, write_logits
from engine.run_folder import LEXICON, Card, damaged, read_card, read_lexicon_record, write_card
from engine.settings import Settings
from engine.text import Document, Entity, InputError

Sentences = Sequence[Sequence[str]]
_LAYOUT = "onnx.json"
_TOKENIZER = "tokenizer"
_CONTEXT = "context.onnx"
_SENTENCES_AT_ONCE = 32


# ---- writing --------------------------------------------------------------------------------


def write_onnx(run_folder: Path, trained: Run, out: Path) -> list[str]:
    """Write the graphs of a run, its card, its lexicon and its tokenizer."""
    settings, method = trained.settings, METHODS[trained.settings.method]
    if method.predicts_ties:
        raise InputError(
            f"{title_of(settings.method)} predicts ties between tokens, which these graphs do not "
            "hold. Export the run as spacy"
        )
    layout: dict[str, Any] = {"types": ["", *trained.types], "odds": trained.odds}
    if settings.encoder == "transformer":
        names = [f"tagger-{i}.onnx" for i in range(len(trained.taggers))]
        for name, tagger in zip(names, trained.taggers, strict=True):
            assert isinstance(tagger, TransformerTagger)
            write_logits(out / name, tagger.cpu())
    else:
        names = ["tagger.onnx"]
        sizes = _sizes(trained)
        graph = word_graph(
            [tagger for tagger in trained.taggers if isinstance(tagger, BiLstmTagger)],
            sizes,
            ensemble=settings.ensemble,
            is_per_type=method.has_tagger_per_type,
            odds=trained.odds,
        )
        (out / names[0]).write_bytes(graph)
        layout["inputs"] = sizes
    if has_encoder(settings):
        encoder, tokenizer = trained.pretrained.encoder
        layout["window"] = window_of(settings, trained.pretrained.encoder)
        layout["stride"] = settings.encoder_stride
        save_encoder(out / _TOKENIZER, encoder, tokenizer, has_weights=False)
        if has_context(settings):
            write_layer(out / _CONTEXT, encoder, settings.contextual_layer)
    layout["graphs"] = names
    write_card(out, read_card(run_folder))
    shutil.copyfile(run_folder / LEXICON, out / LEXICON)
    (out / _LAYOUT).write_text(json.dumps(layout, indent=2) + "\n", encoding="ascii")
    (out / "README.md").write_text(_readme(settings), encoding="utf-8")
    return []


def _sizes(trained: Run) -> dict[str, int]:
    vectors = trained.pretrained.vectors.source.dimension
    context = 0
    if has_context(trained.settings):
        context = int(trained.pretrained.encoder[0].config.hidden_size)
    first = trained.taggers[0]
    assert isinstance(first, BiLstmTagger)
    seen = first.lstm.input_size - first.character_embedding.embedding_dim
    bits = seen - vectors - context - len(CASING_CLASSES)
    return {"vectors": vectors, "bits": bits, "context": context}


_ABBREVIATIONS = """
Before that, the places of an abbreviation that a document defines, "atrial fibrillation (AF)", get
their mean probabilities, and half of those of its long form.
"""


def _readme(settings: Settings) -> str:
    if settings.encoder == "transformer":
        body = (
            "`tagger-*.onnx` reads `input_ids` and `attention_mask` (windows of sub-words) and "
            "gives `logits` per sub-word. The mean over the sub-words of a token are its logits; "
            "softmax gives probabilities, of which non-entity (class 0) is multiplied by `odds`."
        )
    else:
        body = (
            "`tagger.onnx` reads one sentence: `characters` (numbers, 0 = padding), `casing`, and "
            "where the run has them `vectors`, `bits` (dictionary phrases around a token) and "
            "`context` (`context.onnx`, the mean over a token's sub-words). It gives "
            "`probabilities` per token; class 0 is no entity."
        )
    joining = settings.joining_probability
    return f"""# A tagger trained by Glossa, as ONNX

{body}

Entities are runs of tokens of one class, the likeliest of each token. A token that would be none
joins the entity beside it if the probability of that type is above {joining:g}.
{_ABBREVIATIONS * settings.is_abbreviation_aware}
`onnx.json` has the classes and sizes. In Python, Glossa makes the inputs and decodes the result:

```python
import glossa

tagger = glossa.load_onnx("this folder")
found = glossa.predict(tagger, glossa.read_corpus("new.txt"))
```
"""


# ---- predicting -----------------------------------------------------------------------------


class OnnxTagger:
    """A run whose networks are ONNX graphs; it gives the same entities as the run itself."""

    def __init__(self, folder: Path) -> None:
        try:
            import onnxruntime
        except ImportError:
            raise InputError(
                "ONNX graphs need onnxruntime, which is not installed. "
                'Run: pip install "glossa[onnx]"'
            ) from None
        self.card: Card = read_card(folder)
        try:
            self._layout = json.loads((folder / _LAYOUT).read_bytes())
            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = torch.get_num_threads()
            options.log_severity_level = 3

            def open_graph(name: str) -> Any:
                path = str(folder / Path(name).name)
                return onnxruntime.InferenceSession(path, options, ["CPUExecutionProvider"])

            self._graphs = [open_graph(name) for name in self._layout["graphs"]]
            has_layer = (folder / _CONTEXT).exists()
            self._context = open_graph(_CONTEXT) if has_layer else None
        except InputError:
            raise
        except Exception as error:  # onnxruntime raises classes of its own
            raise damaged(folder / _LAYOUT) from error
        self._lexicon: Lexicon | None = lexicon_from(read_lexicon_record(folder / LEXICON))
        self._tokenizer = _open_tokenizer(folder / _TOKENIZER)
        self._pretrained = Pretrained(open_vectors(vectors_of(self.card.settings)))

    def predict(
        self, documents: Iterable[Document], run_id: str = ""
    ) -> dict[str, tuple[Entity, ...]]:
        """Return the entities that the graphs find, by document id."""
        entities: dict[str, tuple[Entity, ...]] = {}
        types, settings = self.card.types, self.card.settings
        for group in groups(documents):
            probs = self.probabilities(tokens_of(group))
            entities |= decode(group, probs, types, settings, run_id)
        return entities

    def probabilities(self, sentences: Sentences) -> npt.NDArray[np.float32]:
        """Return (tokens, classes) probabilities of sentences."""
        if not any(sentences):
            return np.zeros((0, len(self.card.types) + 1), np.float32)
        if self.card.settings.encoder == "transformer":
            return self._from_subwords(sentences)
        context = None
        if self._context is not None:
            hidden = self._pooled(sentences, self._context)
            context = hidden.astype(np.float16)  # as the run itself rounds them
        inputs = make_word_inputs(
            sentences,
            self._lexicon,
            self.card.settings,
            torch.device("cpu"),
            pretrained=self._pretrained,
            context=context,
        )
        rows = [self._of_sentence(inputs, i) for i in range(len(inputs)) if sentences[i]]
        return np.concatenate(rows)

    def _of_sentence(self, inputs: WordInputs, i: int) -> npt.NDArray[np.float32]:
        batch = inputs.batch(np.array([i]))  # of one sentence: in the order of the text
        words = inputs.word_ids[inputs.bounds[i] : inputs.bounds[i + 1]]
        given = {
            "vectors": inputs.vectors[words],
            "characters": inputs.characters[words],
            "casing": inputs.casing[words],
            "bits": batch.bits,
            "context": batch.context,
        }
        [graph] = self._graphs
        wanted = {value.name for value in graph.get_inputs()}
        feed = {name: tensor.numpy() for name, tensor in given.items() if name in wanted}
        probs: npt.NDArray[np.float32] = graph.run(None, feed)[0]
        return probs

    def _from_subwords(self, sentences: Sentences) -> npt.NDArray[np.float32]:
        settings = self.card.settings
        logits = [torch.from_numpy(self._pooled(sentences, graph)) for graph in self._graphs]
        by_tagger = [values.softmax(dim=1).numpy() for values in logits]
        size = settings.ensemble
        means = [
            np.stack(by_tagger[i : i + size]).mean(axis=0) for i in range(0, len(by_tagger), size)
        ]
        probs: npt.NDArray[np.float32] = means[0]
        if METHODS[settings.method].has_tagger_per_type:
            by_type = np.stack([binary[:, 1] for binary in means], axis=1)
            probs = np.concatenate([1 - by_type.max(axis=1, keepdims=True), by_type], axis=1)
        return weigh(probs, float(self._layout["odds"]))

    def _pooled(self, sentences: Sentences, graph: Any) -> npt.NDArray[np.float32]:
        """Return the mean of a graph's rows over the sub-words of each token, in text order."""
        layout = self._layout
        subwords = SubwordInputs(
            sentences, self._tokenizer, window=layout["window"], stride=layout["stride"]
        )
        order = np.argsort(subwords.sentence_sizes, kind="stable")
        order = order[np.diff(sentence_bounds(sentences))[order] > 0]
        rows: npt.NDArray[np.float32] | None = None
        for start in range(0, len(order), _SENTENCES_AT_ONCE):
            batch = subwords.batch(order[start : start + _SENTENCES_AT_ONCE])
            feed = {
                "input_ids": batch.input_ids.numpy(),
                "attention_mask": batch.attention_mask.numpy(),
            }
            pooled = pool(torch.from_numpy(graph.run(None, feed)[0]), batch).numpy()
            if rows is None:
                rows = np.zeros((subwords.token_count, pooled.shape[1]), np.float32)
            rows[batch.tokens.numpy()] = pooled
        assert rows is not None
        return rows


def _open_tokenizer(folder: Path) -> Any:
    if not folder.is_dir():
        return None
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
