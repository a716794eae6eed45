"""The policy-value model, the backends that run it, and the players that use it.

Importing this package registers the model type `trickformer` with AutoConfig and AutoModel of transformers.
"""

from trickformer.models import auto

auto.register()
