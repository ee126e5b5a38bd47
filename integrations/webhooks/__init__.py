"""Events sent to other systems, signed as the Standard Webhooks specification has it."""
