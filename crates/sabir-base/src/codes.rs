//! Tables of diagnostic codes: every language has one, and all of them have this shape.

use crate::Code;

/// One row of a table: the code, its name in words, what it says in one line.
#[derive(Clone, Copy, Debug)]
pub struct CodeInfo {
    pub code: Code,
    pub name: &'static str,
    pub summary: &'static str,
}

/// Defines a table: one constant for each code, and `ALL` of them in order.
#[macro_export]
macro_rules! codes {
    ($($text:literal $constant:ident $name:literal $summary:literal;)*) => {
        $(
            #[doc = $summary]
            pub const $constant: $crate::Code = $crate::Code::new($text);
        )*

        /// Every code, in order.
        pub const ALL: &[$crate::CodeInfo] = &[$(
            $crate::CodeInfo { code: $constant, name: $name, summary: $summary }
        ),*];
    };
}
