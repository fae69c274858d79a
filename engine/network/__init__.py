"""What a tagger sees and what it is: inputs, pretrained encoders, and the networks.

Needs torch.

    device                              processor or GPU, threads, memory
    vectors, vector_files               pretrained word vectors, and their files
    word_shapes, lexicon                casing and characters; bits of dictionary phrases
    encoders, subwords                  Hugging Face encoders; windows of sub-words
    pretrained, frozen                  the pretrained parts; a text's context, kept on disk
    minilm                              the built-in encoder, read without transformers
    packed                              the layers of a frozen BERT, without padding, in 8 bits too
    features, batches                   all inputs of a tagger, and cutting them into batches
    token_features                      the same inputs as fixed columns, for linear models
    recurrence, tagger, transformer     the LSTM, the BiLSTM tagger, the transformer tagger
"""

from engine.network.batches import (
    Inputs,
    WordInputs,
    prediction_batches,
    sentence_bounds,
    training_batches,
)
from engine.network.device import choose_device, keep_freed_memory, set_threads
from engine.network.encoders import MINILM, load_encoder, open_saved_encoder, save_encoder
from engine.network.features import (
    EncodedInputs,
    Lexicon,
    distinct_words,
    lexicon_from,
    lexicon_record,
    make_word_inputs,
)
from engine.network.frozen import context_of, keep_context
from engine.network.lexicon import lexicon_bits
from engine.network.pretrained import (
    Pretrained,
    Tokens,
    count_cut_tokens,
    cut_notes,
    has_context,
    has_encoder,
    open_pretrained,
    vectors_of,
    window_of,
)
from engine.network.subwords import SubwordInputs, pool
from engine.network.tagger import BiLstmTagger, predict_probabilities
from engine.network.token_features import TokenFeatures
from engine.network.transformer import (
    Features,
    Stopped,
    TransformerTagger,
    contextual_features,
    open_features,
)
from engine.network.vectors import (
    VectorTable,
    frequent_words,
    load_vectors,
    open_vectors,
    vectors_fingerprint,
)
from engine.network.word_shapes import ALPHABET_SIZE, CASING_CLASSES, casing_classes, character_ids

__all__ = [
    "ALPHABET_SIZE",
    "CASING_CLASSES",
    "MINILM",
    "BiLstmTagger",
    "EncodedInputs",
    "Features",
    "Inputs",
    "Lexicon",
    "Pretrained",
    "Stopped",
    "SubwordInputs",
    "TokenFeatures",
    "Tokens",
    "TransformerTagger",
    "VectorTable",
    "WordInputs",
    "casing_classes",
    "character_ids",
    "choose_device",
    "context_of",
    "contextual_features",
    "count_cut_tokens",
    "cut_notes",
    "distinct_words",
    "frequent_words",
    "has_context",
    "has_encoder",
    "keep_context",
    "keep_freed_memory",
    "lexicon_bits",
    "lexicon_from",
    "lexicon_record",
    "load_encoder",
    "load_vectors",
    "make_word_inputs",
    "open_features",
    "open_pretrained",
    "open_saved_encoder",
    "open_vectors",
    "pool",
    "predict_probabilities",
    "prediction_batches",
    "save_encoder",
    "sentence_bounds",
    "set_threads",
    "training_batches",
    "vectors_fingerprint",
    "vectors_of",
    "window_of",
]
