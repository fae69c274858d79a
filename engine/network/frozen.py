"""Contextual features of a text from a frozen transformer, computed once per corpus and cached."""

from collections.abc import Callable
from pathlib import Path

import torch

from engine.network.packed import chosen_precision
from engine.network.pretrained import Pretrained, Tokens, encoder_alone, has_context, windows_of
from engine.network.transformer import (
    Features,
    cached_features,
    contextual_features,
    features_key,
    keep_features,
)
from engine.settings import Settings
from engine.text import InputError


def context_of(
    sentences: Tokens,
    settings: Settings,
    device: torch.device,
    pretrained: Pretrained,
    *,
    cache: Path | None = None,
) -> Features | None:
    """Return a hidden layer of the frozen transformer, one row per token; None without context.

    With `cache`, a folder, it is computed once per corpus.
    """
    if not has_context(settings):
        return None
    context = _Context(sentences, settings, device, pretrained)
    if cache is None:
        return context.compute()
    return cached_features(cache, context.key, context.compute)


def keep_context(
    sentences: Tokens,
    settings: Settings,
    device: torch.device,
    cache: Path,
    *,
    on_share: Callable[[float], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> Path | None:
    """Return the file in `cache` with the contextual features; None without context.

    Runs that train side by side share this file, so that not each of them computes the features.
    Raises Stopped if `should_stop` says so.
    """
    if not has_context(settings):
        return None
    pretrained = encoder_alone(settings)
    context = _Context(sentences, settings, device, pretrained)
    return keep_features(cache, context.key, lambda: context.compute(on_share, should_stop))


class _Context:
    """Sentences, encoder and layer of which features are computed."""

    def __init__(
        self, sentences: Tokens, settings: Settings, device: torch.device, pretrained: Pretrained
    ) -> None:
        encoder = pretrained.frozen_encoder(device)
        self._encoder, _ = encoder
        self._layer, self._device = settings.contextual_layer, device
        last = self._encoder.config.num_hidden_layers
        if self._layer > last:
            raise InputError(
                f"contextual_layer is {self._layer}, and {settings.encoder_name} has {last} "
                "layers. Choose one of them, or 0 for none"
            )
        self._precision = chosen_precision(settings.encoder_precision, self._encoder, device)
        self._inputs = windows_of(sentences, settings, encoder)

    @property
    def key(self) -> str:
        return features_key(self._inputs, self._encoder, self._layer, self._precision)

    def compute(
        self,
        on_share: Callable[[float], None] | None = None,
        should_stop: Callable[[], bool] | None = None,
    ) -> Features:
        return contextual_features(
            self._inputs,
            self._encoder,
            layer=self._layer,
            device=self._device,
            precision=self._precision,
            on_share=on_share,
            should_stop=should_stop,
        )
