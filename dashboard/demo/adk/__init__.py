"""The reference service: a small Google ADK app with a scripted model, for the demo and for tests.

The modules here make its environment and its database, start it, and say how to go on. What it is made of is in
`served`, and runs in that environment alone: `apps` is what `adk api_server` serves, `reference` what the apps are made
of. Nothing of the product is imported there. Only `apps` and `reference.inside` import google-adk, so only they are
left out of the type check.
"""
