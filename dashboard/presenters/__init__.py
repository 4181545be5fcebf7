"""What each page prints, prepared: frozen dataclasses and the pure helpers that fill them. No models, no
queries.

One module a page, and `build_<page>` beside it fills it from what the selectors bring; `parts` holds what
pages share, `acts` the forms a decision is made with. A field of type `SafeString` carries text that
somebody outside wrote and must come from `text.reveal` or `text.reveal_line`; every other string is escaped
by the template as usual.
"""
