"""The forms in which a trained tagger can leave Glossa, and what each needs; without torch."""

from dataclasses import dataclass
from importlib.util import find_spec


@dataclass(frozen=True, slots=True)
class ModelForm:
    """A form of a trained tagger: how it is used, its packages, and the extra that brings them."""

    use: str
    packages: tuple[str, ...]
    extra: str

    @property
    def missing(self) -> list[str]:
        """The packages that are not installed."""
        return [name for name in self.packages if find_spec(name) is None]


MODEL_FORMS = {
    "spacy": ModelForm('spacy.load("DIR")', ("spacy",), "spacy"),
    "transformers": ModelForm(
        'pipeline("token-classification", "DIR", aggregation_strategy="average")',
        ("transformers",),
        "train",
    ),
    "onnx": ModelForm("ONNX graphs for onnxruntime", ("onnx", "onnxruntime"), "onnx"),
}
