"""KL-SFT: supervised fine-tuning on target policies (ShapeLLM, A.9)."""
