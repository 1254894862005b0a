"""What `config-patch` plans and hooks apply inside an engine: identity layers, balanced routing.

`plan` is the document between them, `model_of_plan` asks whether it is for the model at hand,
`install` is what the hooks call. Nothing here imports torch or an engine when it is imported.
"""
