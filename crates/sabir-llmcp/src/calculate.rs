//! Arithmetic for `app.calculate`: an expression in, a decimal number out.
//!
//! Decimal, because a person who adds 0.1 and 0.2 wants 0.3. It knows numbers and a few functions,
//! no variables, no units and no dates, and whatever it is given it ends soon.

use std::fmt;

use rust_decimal::{Decimal, RoundingStrategy};

mod evaluate;

/// The value of `expression`, rounded half away from zero to `precision` places behind the point,
/// or with as many as it has.
///
/// Sums and products are exact to 28 digits. A quotient that goes on for ever is cut to 24, which
/// hides the crumbs: `2 / 3 * 3` is 2.
pub fn calculate(expression: &str, precision: Option<u32>) -> Result<String, CalculateError> {
    if expression.len() > MAX_LENGTH {
        return Err(CalculateError { at: MAX_LENGTH, problem: CalculateProblem::TooLong });
    }
    if let Some(given) = precision.filter(|given| *given > MAX_PRECISION) {
        return Err(CalculateError { at: 0, problem: CalculateProblem::Precision { given } });
    }
    let value = evaluate::evaluate(expression)?;
    Ok(match precision {
        Some(places) => format!("{:.*}", places as usize, without_sign(round(value, places))),
        None => without_sign(value.normalize()).to_string(),
    })
}

/// Why there is no number, and at which byte of the expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CalculateError {
    pub at: usize,
    pub problem: CalculateProblem,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CalculateProblem {
    TooLong,
    TooDeep,
    Precision { given: u32 },
    UnexpectedCharacter { found: char },
    UnexpectedEnd,
    Unclosed,
    Number,
    Comma,
    UnknownFunction { name: String },
    ArgumentCount { name: &'static str, wanted: &'static str },
    Places,
    Exponent,
    DivisionByZero,
    TooLarge,
    TooSmall,
}

impl fmt::Display for CalculateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at byte {})", self.problem, self.at)
    }
}

impl fmt::Display for CalculateProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong => write!(f, "the expression is longer than {MAX_LENGTH} bytes"),
            Self::TooDeep => write!(f, "the expression is nested deeper than {MAX_DEPTH} levels"),
            Self::Precision { given } => {
                write!(f, "a precision of {given} is more than {MAX_PRECISION}")
            }
            Self::UnexpectedCharacter { found } => write!(f, "{found:?} has no meaning here"),
            Self::UnexpectedEnd => f.write_str("the expression stops where a number should be"),
            Self::Unclosed => f.write_str("this parenthesis is never closed"),
            Self::Number => {
                f.write_str("this number has too many digits, or none behind its point")
            }
            Self::Comma => f.write_str(
                "a comma only separates the arguments of a function; write 1000, not 1,000",
            ),
            Self::UnknownFunction { name } => {
                write!(f, "there is no {name:?}; there are abs, max, min and round")
            }
            Self::ArgumentCount { name, wanted } => write!(f, "{name} takes {wanted}"),
            Self::Places => f.write_str("places to round to are a whole number from 0 to 28"),
            Self::Exponent => f.write_str("an exponent is a whole number from -1000 to 1000"),
            Self::DivisionByZero => f.write_str("division by zero"),
            Self::TooLarge => f.write_str("the number is too large for 28 digits"),
            Self::TooSmall => f.write_str("the number is too small for 28 places behind the point"),
        }
    }
}

impl std::error::Error for CalculateError {}

fn round(value: Decimal, places: u32) -> Decimal {
    value.round_dp_with_strategy(places, RoundingStrategy::MidpointAwayFromZero)
}

/// There is a minus zero in this arithmetic, and nobody wants to read it.
fn without_sign(value: Decimal) -> Decimal {
    if value.is_zero() { value.abs() } else { value }
}

/// Longer than anything a person would write down, short enough to be shown whole when it is wrong.
const MAX_LENGTH: usize = 1000;

/// Each level is a few calls on the stack; nobody counts that many parentheses.
const MAX_DEPTH: usize = 64;

/// What the tool offers. More places are there without asking for any.
const MAX_PRECISION: u32 = 6;
