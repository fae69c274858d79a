"""A trained tagger in the forms that other tools load. Needs torch.

forms            write a run as one of these, whole or not at all
transformers_folder   a folder for `pipeline("token-classification")` of transformers
spacy_pipeline   a folder for `spacy.load`, and the component in it
onnx_graphs      networks as ONNX
onnx_folder      a folder of such graphs, and predicting with them
"""

from engine.portable.forms import export_model
from engine.portable.onnx_folder import OnnxTagger

__all__ = ["OnnxTagger", "export_model"]
