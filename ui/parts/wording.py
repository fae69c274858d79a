"""The words for methods, presets, encoders, stages and states; the same on every page."""

from engine.planning import METHODS

METHOD_NAMES = {
    "dictionary": "Dictionary",
    **{method.name: method.title for method in METHODS.values()},
    "gold": "Gold",
    "review": "Reviewed",
    "likely": "Likely name",
}
JOB_NAMES = {
    "train": "Training",
    "curve": "Coverage curves",
    "predict": "Prediction",
    "shards": "Prediction of a large corpus",
    "probe": "Measuring the speed",
    "suggest": "Finding likely names",
    "twin": "Making a fast twin",
}
JOB_STATES = {
    "queued": "waiting",
    "running": "running",
    "stopping": "stopping",
    "cancelled": "cancelled",
    "failed": "failed",
    "interrupted": "interrupted",
    "done": "done",
}
JOB_STAGES = {  # what a job does, by the stage that it reports
    "waiting": "Waiting for its turn",
    "reading": "Reading the text",
    "labels": "Matching the dictionaries",
    "prepare": "Reading, matching, estimating priors",
    "priors": "Estimating the priors",
    "context": "Encoding the text with the frozen encoder",
    "confidence": "Estimating the confidence",
    "training": "Training",
    "suggest": "Looking for likely names",
    "predict": "Finding entities and scoring them",
    "hidden": "Comparing on hidden phrases",
    "done": "Done",
}
MATCH_PRESETS = {
    "strict": "Exactly the same words, letter by letter.",
    "adaptive": "Any case only where the text writes a type in lower case; abbreviations that the "
    "text defines.",
    "balanced": "Any case, but short acronyms as written: AIDS is not aids.",
    "loose": "Any case, accents, plurals and hyphens.",
}
TRAINING_PRESETS = {
    "quick": "A first look: fewer epochs, a small network. Scores are not the best possible.",
    "balanced": "A larger network, which teaches a second one. A good result in reasonable time.",
    "paper": "The published settings, 100 epochs, without the context of words. Takes the longest.",
}
ENCODERS = {
    "bilstm": "BiLSTM",
    "transformer": "Fine-tuned transformer",
}
ENCODER_HELP = (
    "The network that reads the text. The BiLSTM uses word vectors and, unless you switch it off, "
    "the output of a transformer that is not trained; it is fast on a CPU. Fine-tuning "
    "trains the transformer itself, which takes many times longer without a GPU."
)
MEASURE_HELP = "Trains a few batches with each method. This takes some seconds and keeps nothing."


def method_name(method: str) -> str:
    """Return a method as people see it; what has no name goes by its own.

    >>> method_name("conf_mpu"), method_name("other")
    ('Conf-MPU', 'other')
    """
    return METHOD_NAMES.get(method, method)
