"""Registration of the model type `trickformer` with transformers, without importing transformers.

Many programs run models with the C++ backend alone and never load transformers. So the registration waits until
transformers loads its module of AutoConfig. The model's own modules must wait longer, because that module is loaded in
the middle of other imports. So a stand-in is registered, which loads them when AutoConfig reads a checkpoint.
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
    """Register the model type now if AutoConfig is loaded, else as soon as it is."""
    if _AUTO in sys.modules:
        _register_stand_in()
    else:
        sys.meta_path.insert(0, _AutoConfigFinder())


def _register_stand_in() -> None:
    from transformers.configuration_utils import PreTrainedConfig
    from transformers.models.auto.configuration_auto import AutoConfig

    class StandIn(PreTrainedConfig):
        """Makes way for TrickformerConfig: the model's module registers it, and itself."""

        model_type = MODEL_TYPE

        @classmethod
        def from_dict(cls, config_dict: dict[str, Any], **kwargs: Any) -> Any:
            from trickformer.models.gpt2 import TrickformerConfig

            return TrickformerConfig.from_dict(config_dict, **kwargs)

    AutoConfig.register(MODEL_TYPE, StandIn, exist_ok=True)


class _RegisteringLoader(Loader):
    """Loads the module of AutoConfig and registers the model type there."""

    def __init__(self, loader: Loader):
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        _register_stand_in()


class _AutoConfigFinder(MetaPathFinder):
    """Finds the module of AutoConfig once, for `_RegisteringLoader`."""

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
