"""How Tideline is put together: settings, routes, periodic tasks, logs."""
