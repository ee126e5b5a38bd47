"""An open-loop load of seeded clients, each call recorded."""
