"""Puts Tideline together and starts it: settings, urls, local servers, runner."""
