"""What `config-patch` plans and hooks apply inside an engine: identity layers, balanced routing.

`plan` is the document between them; `install` is what the hooks call. Nothing here imports torch or
an engine when it is imported.
"""
