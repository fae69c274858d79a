"""Every knob a person can turn before learning starts, its default, and the limits on uploads."""

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class MatchOptions:
    """How freely a dictionary phrase may differ from the text and still match."""

    ignore_case: bool = True  # "Aspirin" matches "aspirin"
    exact_acronym_letters: int = 4  # "AIDS" must not match "aids": all-capital phrases this short
    ignore_unicode_form: bool = True  # composed or decomposed accents, ligatures, zero-width marks
    ignore_accents: bool = False  # "Sjogren" matches "Sjögren"
    ignore_plurals: bool = False  # "tumor" matches "tumors"
    ignore_hyphens: bool = False  # "beta blocker" matches "beta-blocker"

    def __post_init__(self) -> None:
        if self.exact_acronym_letters < 0:
            raise ValueError(
                f"exact_acronym_letters must be 0 or more, got {self.exact_acronym_letters}"
            )


MATCH_PRESETS: dict[str, MatchOptions] = {
    # The benchmark's rule: the very same tokens, letter by letter.
    "strict": MatchOptions(ignore_case=False, exact_acronym_letters=0, ignore_unicode_form=False),
    "balanced": MatchOptions(),
    "loose": MatchOptions(ignore_accents=True, ignore_plurals=True, ignore_hyphens=True),
}
DEFAULT_MATCH_PRESET = "balanced"


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How to read files whose layout cannot be told from the file alone."""

    text_column: str | None = None  # CSV/TSV/JSON: the column that holds the text
    id_column: str | None = None  # CSV/TSV/JSON: the column that holds the document id
    lines_are_documents: bool = False  # .txt: one document a line instead of one a file
    encoding: str | None = None  # overrides detection, e.g. "shift_jis"
    skip_bad_lines: bool = False  # leave out lines that can't be read, and count them
    keep_entities: bool = True  # annotations in the file are kept, as gold


@dataclass(frozen=True, slots=True)
class Limits:
    """What an upload may weigh; beyond it a message says so and nothing is read."""

    file_mb: int = 200  # one file, as uploaded
    import_mb: int = 2_000  # one file given to `python -m engine import`
    zip_members: int = 5_000  # files in one archive
    zip_unpacked_mb: int = 600  # all files of one archive, unpacked
    project_mb: int = 4_000  # all files of a project's archive, unpacked
    sentence_tokens: int = 1_000  # a longer sentence is cut here, and counted


LIMITS = Limits()


METHODS = ("mpn", "mpu", "conf_mpu")  # what a person compares
BASELINES = ("bnpu", "early_stopped", "supervised")  # the paper's other learners, for bench/
ENCODERS = ("bilstm", "transformer")


@dataclass(frozen=True, slots=True)
class Settings:
    """Every knob of a training run. The paper's symbol is in the comment."""

    method: str = "conf_mpu"  # mpn, mpu, conf_mpu; baselines bnpu, early_stopped, supervised
    encoder: str = "bilstm"  # or "transformer"
    seed: int = 0  # same data, settings and seed: same result

    loss: str = "mae"  # of one token: mae (the paper's), cross_entropy, gce
    entity_weight: float = 15.0  # gamma; raise it when recall is low
    confidence_threshold: float = 0.5  # tau; unlabeled tokens above it are left out of the risk
    is_one_sample: bool = False  # average the unlabeled risk over all tokens, labeled ones too
    negative_bound: str = "clamp"  # or "ascend": what a negative part below zero does

    is_prior_matched: bool = False  # weigh non-entity so that as many tokens as the priors say win

    epochs: int = 100  # passes over the text; the last one is kept
    batch_size: int = 100  # sentences
    learning_rate: float = 5e-4  # of Adam
    learning_rate_decay: float = 0.05  # lr / (1 + decay * epoch), changed every 5 epochs

    confidence_epochs: int = 100  # of the entity / non-entity tagger behind lambda
    confidence_weight: float = 10.0  # gamma of that tagger
    confidence_learning_rate: float = 1e-4  # of Adam, for that tagger
    confidence_folds: int = 0  # 0 = score the tokens it was trained on (the authors' way)
    confidence_seeds: int = 1  # how many such taggers are averaged

    word_vectors: str = "glove"  # "none", or the path of a GloVe / word2vec file
    lexicon_window: int = 4  # longest phrase, in tokens, that gives lexicon bits; 0 = none
    lexicon_dropout: float = 0.0  # share of tokens whose lexicon bits are hidden in training
    hidden_size: int = 200  # of the LSTM, per direction
    character_size: int = 30  # of the character embedding and its CNN
    character_dropout: float = 0.5  # of the embedding and of the CNN's output, as the authors do
    dropout: float = 0.0  # on the inputs and the outputs of the encoder; the paper names none

    encoder_name: str = "minilm"  # transformer: "minilm", a folder, or a Hugging Face name
    encoder_window: int = 128  # sub-words the transformer sees at once
    encoder_stride: int = 32  # sub-words that neighbouring windows share
    contextual_layer: int = 0  # BiLSTM: hidden layer of the frozen encoder to add; 0 = none

    def __post_init__(self) -> None:
        _check_choice("method", self.method, (*METHODS, *BASELINES))
        _check_choice("encoder", self.encoder, ENCODERS)
        _check_choice("loss", self.loss, ("mae", "cross_entropy", "gce"))
        _check_choice("negative_bound", self.negative_bound, ("clamp", "ascend"))
        _check_range("confidence_threshold", self.confidence_threshold, 0, 1)
        for name in ("dropout", "character_dropout"):
            _check_range(name, getattr(self, name), 0, 0.95)
        _check_range("lexicon_dropout", self.lexicon_dropout, 0, 1)
        for name in ("epochs", "confidence_epochs", "batch_size", "hidden_size", "character_size"):
            _check_range(name, getattr(self, name), 1, 100_000)
        for name in ("learning_rate", "confidence_learning_rate"):
            _check_range(name, getattr(self, name), 1e-8, 1)
        for name in ("entity_weight", "confidence_weight"):
            _check_range(name, getattr(self, name), 1e-3, 10_000)
        if not 0 <= self.encoder_stride < self.encoder_window:
            raise ValueError(
                f"encoder_stride must be in [0, encoder_window), got {self.encoder_stride}"
            )


def _check_choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(choices)}, got {value!r}")


def _check_range(name: str, value: float, low: float, high: float) -> None:
    if not low <= value <= high:
        raise ValueError(f"{name} must be in [{low:g}, {high:g}], got {value:g}")


# What the presets for a person's own text have in common. They depart from the paper where its
# setting differs from theirs: (a) losses that level off (mae, gce) need a large gamma, or training
# may end at "nothing is an entity"; cross-entropy needs none, so there is no gamma to choose; (b)
# the only lexicon a person has is the dictionary that made the labels, so its bits are the labels,
# and half of them are hidden; (c) the labels come from the same text, so its unlabeled part alone
# is no sample of it; (d) their epochs are too few for hidden characters to pay off; (e) word
# vectors know words, not what they mean where they stand: the middle layer of a small transformer
# does, which is looked at once and trains as fast as the rest (F1 5 to 10 points higher on
# biomedical text, the same on news; see bench/README.md).
_OWN_TEXT = Settings(
    loss="cross_entropy",
    entity_weight=1.0,
    confidence_weight=1.0,
    is_one_sample=True,
    lexicon_dropout=0.5,
    character_dropout=0.0,
    batch_size=32,
    contextual_layer=3,
)
TRAINING_PRESETS: dict[str, Settings] = {
    # A first look: as few epochs as it takes to be done with all three methods on the sample in a
    # minute, on two cores. Differences between methods show, scores are not the best possible.
    "quick": replace(
        _OWN_TEXT,
        epochs=9,
        confidence_epochs=6,
        learning_rate=2e-3,
        confidence_learning_rate=1e-3,
        hidden_size=100,
    ),
    "balanced": replace(
        _OWN_TEXT,
        epochs=20,
        confidence_epochs=12,
        learning_rate=1e-3,
        confidence_learning_rate=5e-4,
    ),
    # The paper's own numbers; its gamma is 28 on BC5CDR and 15 on CoNLL-2003.
    "paper": Settings(),
}
DEFAULT_TRAINING_PRESET = "balanced"
# Fine-tuning a transformer is another pace: the paper's 5 epochs, 5e-5, 32 sentences a step.
_TRANSFORMER_PACE = {"quick": 2, "balanced": 4, "paper": 5}  # epochs


def training_settings(preset: str, encoder: str = "bilstm") -> Settings:
    """Return the preset's settings, at the pace of the encoder."""
    settings = TRAINING_PRESETS[preset]
    if encoder == "bilstm":
        return settings
    epochs = _TRANSFORMER_PACE[preset]
    return replace(
        settings,
        encoder=encoder,
        epochs=epochs,
        confidence_epochs=epochs,
        batch_size=32,
        learning_rate=5e-5,
        confidence_learning_rate=5e-5,
        dropout=0.1,
        contextual_layer=0,  # it is the context
    )
