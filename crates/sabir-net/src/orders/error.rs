//! Why an order is not taken, or not found. What goes wrong with one that was taken is in the order.

use std::fmt;

use sabir_store::StoreError;

use super::request::OrderId;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OrderError {
    Invalid {
        field: &'static str,
        why: String,
    },
    /// The key was given with another request.
    KeyTaken {
        order: OrderId,
    },
    NotFound,
    /// It has ended.
    Over,
    TooMany {
        limit: usize,
    },
    /// What runs takes so much memory that this has to wait.
    TooLarge {
        /// In MiB.
        limit: usize,
    },
    /// Orders that orders placed are nested too deeply.
    TooDeep {
        limit: u32,
    },
    /// The node is stopping.
    Stopping,
    Store(StoreError),
    NoRandomNumbers,
}

impl OrderError {
    /// Stable, for programs and models.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Invalid { .. } => "INVALID",
            Self::KeyTaken { .. } => "KEY_TAKEN",
            Self::NotFound => "NOT_FOUND",
            Self::Over => "OVER",
            Self::TooMany { .. } => "TOO_MANY",
            Self::TooLarge { .. } => "TOO_LARGE",
            Self::TooDeep { .. } => "TOO_DEEP",
            Self::Stopping => "STOPPING",
            Self::Store(_) => "STORE",
            Self::NoRandomNumbers => "NO_RANDOM_NUMBERS",
        }
    }
}

impl fmt::Display for OrderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid { field, why } => write!(f, "{field}: {why}"),
            Self::KeyTaken { order } => {
                write!(f, "this key was given with another request before, for {order}")
            }
            Self::NotFound => f.write_str("there is no such order"),
            Self::Over => f.write_str("the order has ended"),
            Self::TooMany { limit } => {
                write!(f, "{limit} orders run already: wait until one has ended")
            }
            Self::TooLarge { limit } => {
                write!(f, "orders that run take {limit} MiB already: wait until one has ended")
            }
            Self::TooDeep { limit } => {
                write!(f, "orders are nested {limit} deep already: do this yourself")
            }
            Self::Stopping => f.write_str("the node is stopping"),
            Self::Store(error) => error.fmt(f),
            Self::NoRandomNumbers => f.write_str("the system has no random numbers"),
        }
    }
}

impl std::error::Error for OrderError {}

impl From<StoreError> for OrderError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}
