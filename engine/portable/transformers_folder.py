"""A fine-tuned transformer as a folder for `pipeline("token-classification")` of transformers.

Our tagger takes the mean of a token's sub-words and then a linear layer. The standard classes have
the same linear layer over each sub-word, so the mean of their logits over a token are our logits,
exactly. The pipeline with `aggregation_strategy="average"` takes the mean of the probabilities
instead, and finds words and windows by its own rules, so single entities differ: on the sample,
97 % of what either finds is the same, and far less with the other strategies (bench.portable). No
code of ours is in the folder.
"""

import json
from pathlib import Path
from typing import Any

import torch

from engine.experiment import Run
from engine.network import TransformerTagger, save_encoder, window_of
from engine.planning import METHODS, title_of
from engine.text import InputError

_TRIAL = ["aspirin", "induced", "hypotension", "in", "Parkinson", "'s", "disease"]
_LARGEST_DIFFERENCE = 1e-3
_HEADS = ("classifier", "score")


def write_transformers(trained: Run, out: Path) -> list[str]:
    """Write the folder; InputError if no standard class can express the run."""
    tagger = _only_tagger(trained)
    _, tokenizer = trained.pretrained.encoder
    model = _standard_model(trained, tagger)
    _check(trained, tagger, model, tokenizer)
    tokenizer.backend_tokenizer.no_truncation()
    tokenizer.backend_tokenizer.no_padding()
    tokenizer.model_max_length = window_of(trained.settings, trained.pretrained.encoder)
    save_encoder(out, model, tokenizer, has_weights=True)
    notes = [
        'use aggregation_strategy="average" and one sentence at a time; the pipeline averages '
        "probabilities over its own words, so single entities may differ from glossa predict (on "
        "the sample 3 in 100; with another strategy, far more)"
    ]
    joining = trained.settings.joining_probability
    if joining < 0.5:
        notes.append(
            f"the run lets tokens join an entity above a probability of {joining:g}, and the "
            "pipeline does not: its names may be shorter"
        )
    if trained.settings.is_abbreviation_aware:
        notes.append(
            "the run treats abbreviations like what they stand for, and the pipeline does not: it "
            "may find one and miss the other"
        )
    (out / "README.md").write_text(_readme(trained, notes), encoding="utf-8")
    return notes


def _only_tagger(trained: Run) -> TransformerTagger:
    settings, method = trained.settings, METHODS[trained.settings.method]
    if settings.encoder != "transformer":
        raise InputError(
            "this run is a BiLSTM, which transformers cannot load. Export it as spacy or onnx, or "
            "train with --encoder transformer"
        )
    if method.predicts_ties or method.has_tagger_per_type or len(trained.taggers) != 1:
        raise InputError(
            f"{title_of(settings.method)} with {len(trained.taggers)} taggers is not one network "
            "with one class per token, as transformers needs it. Export it as spacy"
        )
    [tagger] = trained.taggers
    assert isinstance(tagger, TransformerTagger)
    return tagger


def _standard_model(trained: Run, tagger: TransformerTagger) -> Any:
    """Return the same network as AutoModelForTokenClassification makes it."""
    from transformers import AutoModelForTokenClassification

    config = type(tagger.encoder.config).from_dict(tagger.encoder.config.to_dict())
    # I- alone: neighbours of one type are one entity, as in `glossa predict`.
    names = ["O", *(f"I-{name}" for name in trained.types)]
    config.id2label = dict(enumerate(names))
    config.label2id = {name: i for i, name in enumerate(names)}
    config.num_labels = len(names)
    try:
        model = AutoModelForTokenClassification.from_config(config)  # type: ignore[no-untyped-call]
    except (ValueError, KeyError) as error:
        raise InputError(
            f"transformers has no token classification for {config.model_type}. "
            "Export the run as spacy or onnx"
        ) from error
    encoder = getattr(model, model.base_model_prefix)
    left = encoder.load_state_dict(tagger.encoder.state_dict(), strict=False)
    head = next((getattr(model, name) for name in _HEADS if hasattr(model, name)), None)
    if left.missing_keys or not isinstance(head, torch.nn.Linear):
        raise InputError(
            f"the class of transformers for {config.model_type} has other parts than this tagger. "
            "Export the run as spacy or onnx"
        )
    with torch.no_grad():
        head.weight.copy_(tagger.output.weight)
        head.bias.copy_(tagger.output.bias)
        # The weight of non-entity becomes part of its bias: softmax makes them the same.
        head.bias[0] += float(torch.log(torch.tensor(trained.odds, dtype=torch.float64)))
    return model.eval()


def _check(trained: Run, tagger: TransformerTagger, model: Any, tokenizer: Any) -> None:
    """Raise InputError if the two networks do not give the same logits."""
    ids = tokenizer(" ".join(_TRIAL), return_tensors="pt", padding=False, truncation=False)
    given = {"input_ids": ids["input_ids"], "attention_mask": ids["attention_mask"]}
    with torch.inference_mode():
        ours = tagger.eval().cpu().output(tagger.encoder(**given).last_hidden_state)
        ours[..., 0] += float(torch.log(torch.tensor(trained.odds)))
        theirs = model(**given).logits
    if (ours - theirs).abs().max() > _LARGEST_DIFFERENCE:
        raise InputError(
            f"the class of transformers for {model.config.model_type} computes something else than "
            "this tagger. Export the run as spacy or onnx"
        )


def _readme(trained: Run, notes: list[str]) -> str:
    listed = json.dumps(list(trained.types), ensure_ascii=False)
    listed_notes = "\n".join(f"Note: {note}." for note in notes)
    return f"""# A tagger trained by Glossa

Types: {listed}. Method: {title_of(trained.settings.method)}. `glossa.card.json` says what made it.

```python
from transformers import pipeline

tagger = pipeline("token-classification", "this folder", aggregation_strategy="average")
tagger("Aspirin induced hypotension.")
```

{listed_notes}
"""
