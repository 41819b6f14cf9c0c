//! Reads an expression and computes it in the same pass. Nothing is kept but the numbers.
//!
//! From loose to tight: `+ -`, then `* / %`, then signs, then `^`, which groups to the right. So
//! `-2^2` is -4, as on paper.

use rust_decimal::prelude::ToPrimitive;
use rust_decimal::{Decimal, RoundingStrategy};

use super::{CalculateError, CalculateProblem, MAX_DEPTH, round};

pub(super) fn evaluate(expression: &str) -> Result<Decimal, CalculateError> {
    let mut evaluator = Evaluator { text: expression, at: 0, depth: 0, endless: false };
    let value = evaluator.sum()?;
    match evaluator.peek() {
        None => Ok(if evaluator.endless { without_crumbs(value) } else { value }),
        Some(',') => Err(evaluator.here(CalculateProblem::Comma)),
        Some(found) => Err(evaluator.here(CalculateProblem::UnexpectedCharacter { found })),
    }
}

struct Evaluator<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    /// Whether a quotient had to be cut.
    endless: bool,
}

impl Evaluator<'_> {
    fn sum(&mut self) -> Result<Decimal, CalculateError> {
        let mut left = self.product()?;
        loop {
            let at = self.at;
            let sum = match self.peek() {
                Some('+') => {
                    self.skip();
                    left.checked_add(self.product()?)
                }
                Some('-' | '−') => {
                    self.skip();
                    left.checked_sub(self.product()?)
                }
                _ => return Ok(left),
            };
            left = sum.ok_or_else(|| error(at, CalculateProblem::TooLarge))?;
        }
    }

    fn product(&mut self) -> Result<Decimal, CalculateError> {
        let mut left = self.signed()?;
        loop {
            let Some(operator @ ('*' | '×' | '/' | '÷' | '%')) = self.peek() else {
                return Ok(left);
            };
            let at = self.at;
            self.skip();
            let right = self.signed()?;
            left = match operator {
                '*' | '×' => multiply(left, right),
                '%' if right.is_zero() => Err(CalculateProblem::DivisionByZero),
                '%' => left.checked_rem(right).ok_or(CalculateProblem::TooLarge),
                _ => self.divide(left, right),
            }
            .map_err(|problem| error(at, problem))?;
        }
    }

    fn signed(&mut self) -> Result<Decimal, CalculateError> {
        match self.peek() {
            Some('-' | '−') => {
                self.skip();
                Ok(-self.deeper(Self::signed)?)
            }
            Some('+') => {
                self.skip();
                self.deeper(Self::signed)
            }
            _ => self.power(),
        }
    }

    fn power(&mut self) -> Result<Decimal, CalculateError> {
        let base = self.atom()?;
        let at = self.at;
        if self.peek() != Some('^') {
            return Ok(base);
        }
        self.skip();
        let exponent = self.deeper(Self::signed)?;
        let exponent = exponent
            .to_i64()
            .filter(|whole| Decimal::from(*whole) == exponent && whole.abs() <= MAX_EXPONENT)
            .ok_or_else(|| error(at, CalculateProblem::Exponent))?;
        let raised = raise(base, exponent.unsigned_abs()).map_err(|problem| error(at, problem))?;
        if exponent < 0 {
            return self.divide(Decimal::ONE, raised).map_err(|problem| error(at, problem));
        }
        Ok(raised)
    }

    fn atom(&mut self) -> Result<Decimal, CalculateError> {
        let next = self.peek();
        let start = self.at;
        match next {
            Some('(') => {
                self.skip();
                let value = self.deeper(Self::sum)?;
                self.close(start)?;
                Ok(value)
            }
            Some(c) if c.is_ascii_digit() || c == '.' => self.number(),
            Some(c) if c.is_alphabetic() => self.function(),
            Some(',') => Err(self.here(CalculateProblem::Comma)),
            Some(found) => Err(self.here(CalculateProblem::UnexpectedCharacter { found })),
            None => Err(self.here(CalculateProblem::UnexpectedEnd)),
        }
    }

    fn number(&mut self) -> Result<Decimal, CalculateError> {
        let rest = &self.text[self.at..];
        let length = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let digits = &rest[..length];
        let number = match digits.ends_with('.') {
            true => None,
            false => Decimal::from_str_exact(digits).ok(),
        };
        let number = number.ok_or_else(|| self.here(CalculateProblem::Number))?;
        self.at += length;
        Ok(number)
    }

    fn function(&mut self) -> Result<Decimal, CalculateError> {
        let start = self.at;
        let rest = &self.text[start..];
        let length = rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
        let name = &rest[..length];
        let function = Function::named(name).ok_or_else(|| {
            error(start, CalculateProblem::UnknownFunction { name: name.to_owned() })
        })?;
        self.at += length;
        let open = match self.peek() {
            Some('(') => self.at,
            Some(found) => {
                return Err(self.here(CalculateProblem::UnexpectedCharacter { found }));
            }
            None => return Err(self.here(CalculateProblem::UnexpectedEnd)),
        };
        self.skip();
        let mut arguments = vec![self.deeper(Self::sum)?];
        while self.peek() == Some(',') {
            self.skip();
            arguments.push(self.deeper(Self::sum)?);
        }
        self.close(open)?;
        function.apply(&arguments).map_err(|problem| error(start, problem))
    }

    fn divide(&mut self, left: Decimal, right: Decimal) -> Result<Decimal, CalculateProblem> {
        if right.is_zero() {
            return Err(CalculateProblem::DivisionByZero);
        }
        let quotient = left.checked_div(right).ok_or(CalculateProblem::TooLarge)?;
        if quotient.is_zero() && !left.is_zero() {
            return Err(CalculateProblem::TooSmall);
        }
        self.endless |= quotient.checked_mul(right) != Some(left);
        Ok(quotient)
    }

    /// Every way down passes here, so that a text cannot choose the height of our stack.
    fn deeper(
        &mut self,
        read: fn(&mut Self) -> Result<Decimal, CalculateError>,
    ) -> Result<Decimal, CalculateError> {
        if self.depth == MAX_DEPTH {
            return Err(self.here(CalculateProblem::TooDeep));
        }
        self.depth += 1;
        let value = read(self);
        self.depth -= 1;
        value
    }

    fn close(&mut self, open: usize) -> Result<(), CalculateError> {
        match self.peek() {
            Some(')') => {
                self.skip();
                Ok(())
            }
            Some(',') => Err(self.here(CalculateProblem::Comma)),
            Some(found) => Err(self.here(CalculateProblem::UnexpectedCharacter { found })),
            None => Err(error(open, CalculateProblem::Unclosed)),
        }
    }

    /// The next character that is not a space.
    fn peek(&mut self) -> Option<char> {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
        self.text[self.at..].chars().next()
    }

    fn skip(&mut self) {
        self.at += self.text[self.at..].chars().next().map_or(0, char::len_utf8);
    }

    fn here(&self, problem: CalculateProblem) -> CalculateError {
        error(self.at, problem)
    }
}

#[derive(Clone, Copy)]
enum Function {
    Abs,
    Max,
    Min,
    Round,
}

impl Function {
    fn named(name: &str) -> Option<Self> {
        match name {
            "abs" => Some(Self::Abs),
            "max" => Some(Self::Max),
            "min" => Some(Self::Min),
            "round" => Some(Self::Round),
            _ => None,
        }
    }

    fn apply(self, arguments: &[Decimal]) -> Result<Decimal, CalculateProblem> {
        match (self, arguments) {
            (Self::Abs, [value]) => Ok(value.abs()),
            (Self::Abs, _) => {
                Err(CalculateProblem::ArgumentCount { name: "abs", wanted: "one argument" })
            }
            (Self::Max, [first, rest @ ..]) => Ok(rest.iter().fold(*first, |a, b| a.max(*b))),
            (Self::Min, [first, rest @ ..]) => Ok(rest.iter().fold(*first, |a, b| a.min(*b))),
            (Self::Max, []) => {
                Err(CalculateProblem::ArgumentCount { name: "max", wanted: "an argument or more" })
            }
            (Self::Min, []) => {
                Err(CalculateProblem::ArgumentCount { name: "min", wanted: "an argument or more" })
            }
            (Self::Round, [value]) => Ok(round(*value, 0)),
            (Self::Round, [value, places]) => places
                .to_u32()
                .filter(|whole| Decimal::from(*whole) == *places && *whole <= Decimal::MAX_SCALE)
                .map(|whole| round(*value, whole))
                .ok_or(CalculateProblem::Places),
            (Self::Round, _) => Err(CalculateProblem::ArgumentCount {
                name: "round",
                wanted: "one or two arguments",
            }),
        }
    }
}

/// A product that vanishes would turn a wrong number into a plausible one.
fn multiply(left: Decimal, right: Decimal) -> Result<Decimal, CalculateProblem> {
    let product = left.checked_mul(right).ok_or(CalculateProblem::TooLarge)?;
    if product.is_zero() && !left.is_zero() && !right.is_zero() {
        return Err(CalculateProblem::TooSmall);
    }
    Ok(product)
}

/// By squaring. The last square is not taken: it may not fit although the result does.
fn raise(base: Decimal, exponent: u64) -> Result<Decimal, CalculateProblem> {
    let (mut result, mut square, mut left) = (Decimal::ONE, base, exponent);
    while left > 0 {
        if left % 2 == 1 {
            result = multiply(result, square)?;
        }
        left /= 2;
        if left > 0 {
            square = multiply(square, square)?;
        }
    }
    Ok(result)
}

/// The digits before the point always stay.
fn without_crumbs(value: Decimal) -> Decimal {
    let before_point =
        value.trunc().mantissa().unsigned_abs().checked_ilog10().map_or(0, |n| n + 1);
    let digits = before_point.max(CLEAN_DIGITS);
    value.round_sf_with_strategy(digits, RoundingStrategy::MidpointAwayFromZero).unwrap_or(value)
}

fn error(at: usize, problem: CalculateProblem) -> CalculateError {
    CalculateError { at, problem }
}

/// Four digits less than there are: a quotient is wrong in its last digit, and a handful of
/// operations carry that no further.
const CLEAN_DIGITS: u32 = 24;

/// Beyond this every base but 1, -1 and 0 is out of range anyway.
const MAX_EXPONENT: i64 = 1000;
