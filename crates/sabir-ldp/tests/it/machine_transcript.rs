//! The specification's diagram of negotiation and fallback, message for message.
