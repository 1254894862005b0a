"""`config-patch`: a changed Hugging Face config, and the plan of patches that hooks apply."""
