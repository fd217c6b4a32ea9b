"""vLLM in this process as an engine: our sampler as its logits processor, our adapters in its slots."""
