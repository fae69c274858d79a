"""All settings of reading, matching and training: defaults, allowed values, presets, limits."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any


@dataclass(frozen=True, slots=True)
class Rule:
    """Which values a setting may have; its text completes the sentence "must be ..."."""

    kind: type
    low: float = 0
    high: float = 0
    choices: tuple[str, ...] = ()
    is_optional: bool = False  # None is allowed too, and an empty text
    has_zero: bool = False  # 0 is allowed too, below `low`

    def allows(self, value: object) -> bool:
        """Return whether a setting may have this value.

        >>> [Rule(int, 1, 9).allows(value) for value in (1, 10, 1.0, True, "1")]
        [True, False, False, False, False]
        """
        if value is None:
            return self.is_optional
        if isinstance(value, bool):  # which Python counts among the whole numbers
            return self.kind is bool
        if isinstance(value, str):
            if self.choices:
                return value in self.choices
            return self.kind is str and (self.is_optional or bool(value.strip()))
        if not isinstance(value, int | float) or self.kind not in (int, float):
            return False
        if self.kind is int and not isinstance(value, int):
            return False  # but a whole number may stand for a decimal one
        return self.low <= value <= self.high or (self.has_zero and value == 0)  # never NaN

    def __str__(self) -> str:
        if self.choices:
            return f"one of {', '.join(self.choices)}"
        if self.kind is bool:
            return "True or False"
        if self.kind is str:
            return "None or a text" if self.is_optional else "a text that is not empty"
        form, what = (",", "a whole number") if self.kind is int else ("g", "a number")
        extra = "0 or " if self.has_zero else ""
        return f"{extra}{what} from {self.low:{form}} to {self.high:{form}}"


_YES_OR_NO = Rule(bool)
_NAME = Rule(str)
_OPTIONAL_NAME = Rule(str, is_optional=True)
_COUNT = Rule(int, 1, 100_000)


def _check(settings: Any, rules: Mapping[str, Rule]) -> None:
    """Raise ValueError for the first setting whose value its rule does not allow."""
    for field in fields(settings):
        value, rule = getattr(settings, field.name), rules[field.name]
        if not rule.allows(value):
            raise ValueError(f"{field.name} must be {rule}, got {value!r}")


MATCH_RULES = {
    "ignore_case": _YES_OR_NO,
    "exact_acronym_letters": Rule(int, 0, 100_000),
    "ignore_unicode_form": _YES_OR_NO,
    "ignore_accents": _YES_OR_NO,
    "ignore_plurals": _YES_OR_NO,
    "ignore_hyphens": _YES_OR_NO,
    "is_adaptive": _YES_OR_NO,
}


@dataclass(frozen=True, slots=True, repr=False)
class MatchOptions:
    """How freely a dictionary phrase may differ from the text and still match."""

    ignore_case: bool = True  # "Aspirin" matches "aspirin"
    exact_acronym_letters: int = 4  # "AIDS" must not match "aids": all-capital phrases this short
    ignore_unicode_form: bool = True  # composed or decomposed accents, ligatures, zero-width marks
    ignore_accents: bool = False  # "Sjogren" matches "Sjögren"
    ignore_plurals: bool = False  # "tumor" matches "tumors"
    ignore_hyphens: bool = False  # "beta blocker" matches "beta-blocker"
    # Each type ignores case as freely as the text suggests; abbreviations that it defines match too
    is_adaptive: bool = False

    def __post_init__(self) -> None:
        _check(self, MATCH_RULES)

    def __repr__(self) -> str:
        return f"MatchOptions({', '.join(f'{k}={v!r}' for k, v in self.record().items())})"

    def record(self) -> dict[str, bool | int]:
        """Return the options as JSON values.

        An option that version 0.1 did not have is left out unless it is on: what is stored, and
        every hash of it, stays the same.
        """
        values = asdict(self)
        return values if self.is_adaptive else {k: values[k] for k in values if k != "is_adaptive"}


MATCH_PRESETS: dict[str, MatchOptions] = {
    # The benchmark's rule: the same tokens, letter by letter.
    "strict": MatchOptions(ignore_case=False, exact_acronym_letters=0, ignore_unicode_form=False),
    "adaptive": MatchOptions(is_adaptive=True),
    "balanced": MatchOptions(),
    "loose": MatchOptions(ignore_accents=True, ignore_plurals=True, ignore_hyphens=True),
}
DEFAULT_MATCH_PRESET = "adaptive"


ENGLISH = "en"
# Languages whose abbreviations and stop words are known. In others, English rules are used.
LANGUAGES = {
    ENGLISH: "English", "de": "German", "fr": "French", "es": "Spanish", "it": "Italian",
    "pt": "Portuguese", "nl": "Dutch",
}  # fmt: skip

READ_RULES = {
    "text_column": _OPTIONAL_NAME,
    "id_column": _OPTIONAL_NAME,
    "lines_are_documents": _YES_OR_NO,
    "encoding": _OPTIONAL_NAME,
    "skip_bad_lines": _YES_OR_NO,
    "keep_entities": _YES_OR_NO,
    "language": Rule(str, choices=tuple(LANGUAGES), is_optional=True),
}


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How to read files whose layout the file itself does not tell."""

    text_column: str | None = None  # CSV/TSV/JSON: the column that holds the text
    id_column: str | None = None  # CSV/TSV/JSON: the column that holds the document id
    lines_are_documents: bool = False  # .txt: one document per line instead of one per file
    encoding: str | None = None  # overrides detection, e.g. "shift_jis"
    skip_bad_lines: bool = False  # skip lines that cannot be read, and count them
    keep_entities: bool = True  # keep the annotations in the file, as gold
    language: str | None = None  # whose sentences they are; None: English

    def __post_init__(self) -> None:
        _check(self, READ_RULES)


@dataclass(frozen=True, slots=True)
class Limits:
    """What one reading of files may cost; beyond it a message says so and nothing is read."""

    file_mb: int = 200  # one file, as uploaded
    import_mb: int = 2_000  # one file given to `glossa import`
    zip_members: int = 5_000  # files in one archive, or in a folder of dictionaries
    zip_unpacked_mb: int = 600  # all files of one archive, unpacked
    zip_ratio: int = 100  # times its own size that an archive may unpack to, ...
    zip_small_mb: int = 1  # ... unless all of it is no more than this
    project_mb: int = 4_000  # all files of a project's archive, unpacked
    lines: int = 5_000_000  # of one file
    documents: int = 1_000_000  # of files that are read together
    tokens: int = 20_000_000  # of files that are read together
    phrases: int = 1_000_000  # of dictionaries that are read together, repeated ones too
    sentence_tokens: int = 1_000  # a longer sentence is cut here, and counted


LIMITS = Limits()
_NO_LIMIT = 10**15
NO_LIMITS = Limits(
    **{field.name: _NO_LIMIT for field in fields(Limits) if field.name != "sentence_tokens"}
)


# What a person compares, from the least to the most trusted, as the paper ranks them.
METHODS = ("mpn", "mpu", "conf_mpu")
BASELINES = ("bnpu", "early_stopped", "autoner", "supervised")  # the paper's others
ENCODERS = ("bilstm", "transformer")
PRECISIONS = ("float32", "bfloat16", "int8", "auto")


SETTING_RULES = {
    "method": Rule(str, choices=(*METHODS, *BASELINES)),
    "encoder": Rule(str, choices=ENCODERS),
    "seed": Rule(int, 0, 2**32 - 1),
    "loss": Rule(str, choices=("mae", "cross_entropy", "gce")),
    "entity_weight": Rule(float, 1e-3, 10_000),
    "confidence_threshold": Rule(float, 0, 1),
    "is_one_sample": _YES_OR_NO,
    "negative_bound": Rule(str, choices=("clamp", "ascend")),
    "is_prior_matched": _YES_OR_NO,
    "is_label_checked": _YES_OR_NO,
    "is_suited_to_labels": _YES_OR_NO,
    "is_self_trained": _YES_OR_NO,
    "joining_probability": Rule(float, 0, 0.5),
    "is_abbreviation_aware": _YES_OR_NO,
    "mention_copies": Rule(int, 0, 100),
    "ensemble": Rule(int, 1, 20),
    "epochs": _COUNT,
    "batch_size": _COUNT,
    "learning_rate": Rule(float, 1e-8, 1),
    "learning_rate_schedule": Rule(str, choices=("steps", "linear")),
    "learning_rate_decay": Rule(float, 0, 100),
    "confidence_model": Rule(str, choices=("network", "linear")),
    "confidence_share": Rule(float, 0, 10),
    "confidence_epochs": _COUNT,
    "confidence_weight": Rule(float, 1e-3, 10_000),
    "confidence_learning_rate": Rule(float, 1e-8, 1),
    "confidence_folds": Rule(int, 2, 100, has_zero=True),
    "confidence_seeds": Rule(int, 1, 100),
    "word_vectors": _NAME,
    "lexicon_window": Rule(int, 0, 100),
    "lexicon_dropout": Rule(float, 0, 1),
    "hidden_size": _COUNT,
    "character_size": _COUNT,
    "character_dropout": Rule(float, 0, 0.95),
    "dropout": Rule(float, 0, 0.95),
    "encoder_name": _NAME,
    "encoder_window": _COUNT,
    "encoder_stride": Rule(int, 0, 100_000),
    "contextual_layer": Rule(int, 0, 1_000),  # the encoder has fewer; it says how many
    "encoder_precision": Rule(str, choices=PRECISIONS),
}


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings of a training run; SETTING_RULES has the allowed values of each.

    Comments give the paper's symbols.
    """

    method: str = "conf_mpu"  # mpn, mpu, conf_mpu, or one of BASELINES
    encoder: str = "bilstm"  # or "transformer"
    seed: int = 0  # same data, settings and seed: same result

    loss: str = "mae"  # of one token: mae (the paper's), cross_entropy, gce
    entity_weight: float = 15.0  # gamma; raise it when recall is low
    confidence_threshold: float = 0.5  # tau; unlabeled tokens above it are left out of the risk
    is_one_sample: bool = False  # average the unlabeled risk over all tokens, labeled ones too
    negative_bound: str = "clamp"  # or "ascend": what happens when the negative part is below zero

    is_prior_matched: bool = False  # weight non-entity so that predictions match the priors
    is_label_checked: bool = False  # phrases that the text contradicts do not label
    is_suited_to_labels: bool = False  # with few labeled words: dropout, larger share, one copy

    is_self_trained: bool = False  # a second tagger then learns what the first predicts
    joining_probability: float = 0.5  # a token beside an entity joins it above this; 0.5: never
    is_abbreviation_aware: bool = False  # short forms that the text defines follow their long forms

    mention_copies: int = 0  # labeled sentences again with other phrases of the dictionaries
    ensemble: int = 1  # taggers from different seeds, whose probabilities are averaged
    epochs: int = 100  # passes over the text; the last one is kept
    batch_size: int = 100  # sentences
    learning_rate: float = 5e-4  # of Adam
    learning_rate_schedule: str = "steps"  # or "linear": falls to zero by the last epoch
    learning_rate_decay: float = 0.05  # steps: lr / (1 + decay * epoch), changed every 5 epochs

    confidence_model: str = "network"  # behind lambda; or "linear": ridge regression, in a minute
    confidence_share: float = 1.0  # linear: likely entities left out, 1 = as many as priors say
    confidence_epochs: int = 100  # network: of the entity / non-entity tagger
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
    dropout: float = 0.0  # on the inputs and outputs of the encoder; the paper mentions none

    encoder_name: str = "minilm"  # transformer: "minilm", a folder, or a Hugging Face name
    encoder_window: int = 128  # sub-words the transformer sees at once
    encoder_stride: int = 32  # sub-words that neighbouring windows share
    contextual_layer: int = 0  # BiLSTM: hidden layer of the frozen encoder to add; 0 = none
    encoder_precision: str = "float32"  # of that layer; auto: what the processor computes fastest

    def __post_init__(self) -> None:
        _check(self, SETTING_RULES)
        if self.encoder_stride >= self.encoder_window:
            raise ValueError(
                f"encoder_stride must be below encoder_window, which is {self.encoder_window}, "
                f"got {self.encoder_stride}"
            )


def settings_of_card(values: Mapping[str, Any]) -> Settings:
    """Return the settings of a finished run, even if a number is outside the range allowed today.

    Earlier versions checked fewer ranges, and a run trained with such a number can still predict.
    Unknown names and values of the wrong kind raise TypeError or ValueError.
    """
    if not isinstance(values, Mapping):
        raise TypeError(f"settings are no table of names and values: {values!r}")
    odd = {
        name: value
        for name, value in values.items()
        if name in SETTING_RULES and _is_only_out_of_range(SETTING_RULES[name], value)
    }
    settings = Settings(**{name: value for name, value in values.items() if name not in odd})
    for name, value in odd.items():
        object.__setattr__(settings, name, value)  # past the check, as said above
    return settings


def _is_only_out_of_range(rule: Rule, value: object) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and rule.kind in (int, float) and not rule.allows(value)


# What the presets for a person's own text share. They differ from the paper where its setting
# differs from theirs:
# (a) Losses that level off (mae, gce) need a large gamma, or training may end at "nothing is an
#     entity". Cross-entropy needs none, so there is no gamma to choose.
# (b) The only lexicon is the dictionary that made the labels. Its bits equal the labels, so half
#     of them are hidden.
# (c) The labels come from the same text, so its unlabeled part alone is no fair sample of it.
# (d) There are too few epochs for character dropout to pay off.
# (e) Word vectors know words, not their meaning in context. The middle layer of a small transformer
#     does: it is computed once, and training is as fast as without it (F1 5 to 10 points higher on
#     biomedical text, the same on news; see bench/README.md).
# (f) A linear model on the same inputs ranks unlabeled tokens better than the paper's network does,
#     and a share of them given by the priors does not depend on when training stops.
# (g) With a learning rate that falls to zero, few epochs are enough and the last one is good.
# (h) A person's dictionary may list everyday words or wrong types; the paper's do so rarely.
# (i) Dictionaries hold the shorter names ("pain", not "postoperative pain"), so that a tagger cuts
#     names short. A token beside an entity may join it although "no entity" is a little likelier.
# (j) A text often defines its own abbreviations, and three letters say little by themselves.
_OWN_TEXT = Settings(
    loss="cross_entropy",
    entity_weight=1.0,
    confidence_weight=1.0,
    is_one_sample=True,
    lexicon_dropout=0.5,
    character_dropout=0.0,
    batch_size=32,
    contextual_layer=3,
    encoder_precision="auto",
    confidence_model="linear",
    learning_rate_schedule="linear",
    is_label_checked=True,
    is_suited_to_labels=True,
    joining_probability=0.2,
    is_abbreviation_aware=True,
)
TRAINING_PRESETS: dict[str, Settings] = {
    # A first look: all three methods on the sample in a minute, on two cores. Differences between
    # methods show; the scores are not the best possible.
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
        epochs=12,
        confidence_epochs=12,
        learning_rate=1e-3,
        confidence_learning_rate=5e-4,
        is_self_trained=True,
    ),
    # The paper's own numbers; its gamma is 28 on BC5CDR and 15 on CoNLL-2003.
    "paper": Settings(),
}
MOST_LIKELY = 0.5  # of the unlabeled tokens, left out as likely entities; the rest are negatives
DEFAULT_TRAINING_PRESET = "balanced"
# Fine-tuning a transformer needs other numbers: the paper's 5 epochs, 5e-5, 32 sentences per step.
_TRANSFORMER_PACE = {"quick": 2, "balanced": 4, "paper": 5}  # epochs


def training_settings(preset: str, encoder: str = "bilstm") -> Settings:
    """Return the preset's settings, with epochs and learning rates that suit the encoder."""
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
        is_self_trained=False,  # would fine-tune it twice, for an hour instead of half of one
        # As pipelines of transformers decode, where runs can be taken to:
        joining_probability=0.5,
        is_abbreviation_aware=False,
    )
