"""Runs that were never trained, and texts in which they find many entities."""

import numpy as np
import torch

from engine.dictionaries.model import Dictionary, Phrase
from engine.experiment import Run
from engine.learning.assembly import make_inputs, make_tagger
from engine.learning.training_data import TrainingData
from engine.network.features import Lexicon
from engine.network.pretrained import open_pretrained
from engine.planning import METHODS
from engine.runs.saved import save_run
from engine.settings import MATCH_PRESETS, Settings
from engine.text.tokenization import make_document

TYPES = ("Chemical", "Disease")
TEXTS = (
    "Aspirin induced hypotension in patients with Parkinson's disease.  COX-2 was naïve 😀!",
    "",
    "No α-β-blocker helped. " + "Long sentences of many words go on and on in windows " * 8 + ".",
)
DOCUMENTS = tuple(make_document(f"d{i}", text) for i, text in enumerate(TEXTS))
LEXICON = Lexicon(
    (Dictionary("D", (Phrase("hypotension", "Disease"), Phrase("aspirin", "Chemical"))),),
    MATCH_PRESETS["balanced"],
    TYPES,
    False,
)
PLAIN = Settings(method="mpn", word_vectors="none", hidden_size=8, character_size=8)


def save_untrained(folder, settings, lexicon=None, odds=1.0):
    """A run that was never trained; its last layer is changed so that it finds many entities."""
    sentences = [list(s.tokens) for d in DOCUMENTS for s in d.sentences]
    data = TrainingData(sentences, np.zeros(0, np.int16), TYPES, lexicon)
    cpu, method = torch.device("cpu"), METHODS[settings.method]
    inputs = make_inputs(data, settings, cpu)
    count = settings.ensemble * (len(TYPES) if method.has_tagger_per_type else 1)
    taggers = []
    for seed in range(count):
        tagger = make_tagger(inputs, method.outputs(len(TYPES)), settings, seed, cpu)
        last = tagger.output if settings.encoder == "transformer" else tagger.head[-1]
        with torch.no_grad():
            last.weight *= 20
            batch = inputs.batch(np.arange(len(sentences)))
            last.bias -= tagger.eval()(batch).mean(dim=0)  # no class is the best everywhere
        taggers.append(tagger)
    priors = np.array([0.8, 0.1, 0.1])
    run = Run(settings, TYPES, priors, tuple(taggers), lexicon, open_pretrained(settings), (),
              None, odds)  # fmt: skip
    save_run(folder, run, data=data)
    return folder
