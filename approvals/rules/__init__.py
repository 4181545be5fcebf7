"""Pure rules: no database, no network, no clock. What goes in decides what comes out."""
