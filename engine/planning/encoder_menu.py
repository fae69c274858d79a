"""The transformers that the app offers by name: what each is for, its size and its license."""

from dataclasses import dataclass

OWN_FOLDER = "own"


@dataclass(frozen=True, slots=True)
class KnownEncoder:
    """A transformer that can be chosen by name."""

    name: str  # "minilm", or its name on Hugging Face
    title: str
    field: str  # what it was trained on
    languages: str
    megabytes: int  # of the files that are downloaded, about; 0 = it comes with Glossa
    license: str
    parameters: int  # in millions

    @property
    def slug(self) -> str:
        """Its name as that of a folder."""
        return self.name.replace("/", "--")

    @property
    def needs(self) -> str:
        """What it needs, in one sentence."""
        memory = max(1, round(self.parameters * 4 * 4 / 1000))  # weights, gradients, Adam's two
        speed = "is fast enough on a CPU" if self.parameters < 50 else "wants a GPU"
        return f"Fine-tuning it takes about {memory} GB of memory and {speed}."


# Licenses, languages and parameters are those of the model cards. Sizes are those of the weights in
# float32 with the head of the pretraining, and of the tokenizer, to about one per cent; a download
# shows the size that the hub says.
ENCODER_MENU = (
    KnownEncoder("minilm", "MiniLM", "general text", "English", 0, "Apache-2.0", 23),
    KnownEncoder(
        "distilbert/distilbert-base-cased",
        "DistilBERT, cased",
        "general text, with letter case",
        "English",
        265,
        "Apache-2.0",
        66,
    ),
    KnownEncoder(
        "google-bert/bert-base-cased",
        "BERT, cased",
        "general text, with letter case",
        "English",
        440,
        "Apache-2.0",
        108,
    ),
    KnownEncoder("FacebookAI/roberta-base", "RoBERTa", "general text", "English", 500, "MIT", 125),
    KnownEncoder(
        "thomas-sounack/BioClinical-ModernBERT-base",
        "BioClinical ModernBERT",
        "biomedical and clinical text",
        "English",
        600,
        "MIT",
        150,
    ),
    KnownEncoder(
        "distilbert/distilbert-base-multilingual-cased",
        "DistilBERT, multilingual",
        "general text, with letter case",
        "104 languages",
        545,
        "Apache-2.0",
        135,
    ),
    KnownEncoder(
        "FacebookAI/xlm-roberta-base",
        "XLM-RoBERTa",
        "general text",
        "100 languages",
        1_130,
        "MIT",
        278,
    ),
)


def known_encoder(name: str) -> KnownEncoder | None:
    """Return the encoder of this name, if the menu has it."""
    return next((encoder for encoder in ENCODER_MENU if encoder.name == name), None)
