"""Registration of the model type `trickformer` with transformers, without importing transformers.

Many programs only use the C++ backend and never load transformers. So the registration waits until transformers loads
its module of AutoConfig. The model's own modules cannot be imported at that time, because transformers is only partly
imported. So a stand-in is registered, which imports them when AutoConfig reads a checkpoint.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from trickformer.models.legacy import MODEL_TYPE

_AUTO = "transformers.models.auto.configuration_auto"  # the module of AutoConfig


def register() -> None:
    """Register the model type now if AutoConfig is loaded, else as soon as it is loaded."""
    if _AUTO in sys.modules:
        _register_stand_in()
    else:
        sys.meta_path.insert(0, _AutoConfigFinder())


def _register_stand_in() -> None:
    from transformers.configuration_utils import PreTrainedConfig
    from transformers.models.auto.configuration_auto import AutoConfig

    class StandIn(PreTrainedConfig):
        """Config class that replaces itself: importing the model's module registers TrickformerConfig instead."""

        model_type = MODEL_TYPE

        @classmethod
        def from_dict(cls, config_dict: dict[str, Any], **kwargs: Any) -> Any:
            from trickformer.models.gpt2 import TrickformerConfig

            return TrickformerConfig.from_dict(config_dict, **kwargs)

    AutoConfig.register(MODEL_TYPE, StandIn, exist_ok=True)


class _RegisteringLoader(Loader):
    """Loader that loads the module of AutoConfig and registers the model type there."""

    def __init__(self, loader: Loader):
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        _register_stand_in()


class _AutoConfigFinder(MetaPathFinder):
    """Finder that hands the module of AutoConfig to `_RegisteringLoader`, and then removes itself."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != _AUTO:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is not None and spec.loader is not None:
            spec.loader = _RegisteringLoader(spec.loader)
        return spec
