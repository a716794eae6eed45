namespace trickformer {}
