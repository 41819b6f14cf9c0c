//! Signals that ask the program to stop. Where one cannot be heard it does what it does to any
//! program.

use tokio::signal::unix::{Signal, SignalKind, signal};

/// Heard from the beginning on, so that none is lost between two moments of listening.
pub(crate) struct Signals {
    interrupt: Option<Signal>,
    terminate: Option<Signal>,
    hangup: Option<Signal>,
    /// Listened for so that it does not end the program: a file that may not grow any more is an error
    /// of whoever writes it, who says so.
    _too_large: Option<Signal>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    /// Ctrl-C: stop what you do.
    Interrupt,
    /// End, in order. With the code that a shell would give.
    End(u8),
}

impl Stop {
    pub(crate) fn exit_code(self) -> u8 {
        match self {
            Self::Interrupt => 130,
            Self::End(code) => code,
        }
    }
}

impl Signals {
    pub(crate) fn listen() -> Self {
        Self {
            interrupt: signal(SignalKind::interrupt()).ok(),
            terminate: signal(SignalKind::terminate()).ok(),
            hangup: signal(SignalKind::hangup()).ok(),
            _too_large: signal(SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw())).ok(),
        }
    }

    pub(crate) async fn next(&mut self) -> Stop {
        tokio::select! {
            () = heard(&mut self.interrupt) => Stop::Interrupt,
            () = heard(&mut self.terminate) => Stop::End(143),
            () = heard(&mut self.hangup) => Stop::End(129),
        }
    }
}

async fn heard(signal: &mut Option<Signal>) {
    match signal {
        Some(signal) => _ = signal.recv().await,
        None => std::future::pending().await,
    }
}
