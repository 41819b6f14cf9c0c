//! What `mask` and its like leave of an element. Pictures that would have to be fetched, or that are
//! drawn elsewhere, are taken to leave it.

use super::color::{Color, Named};
use super::css::{function, split_outside, words};
use super::length::Length;

/// Whether nothing is left by the pictures of a mask; nothing is said where the value is none.
pub(super) fn is_closed(value: &str) -> Option<bool> {
    let mut layers = 0;
    let mut closed = 0;
    for layer in split_outside(value, |c| c == ',') {
        layers += 1;
        let picture = words(layer).find_map(function);
        closed += usize::from(match picture {
            Some((name, inner)) if name.ends_with("gradient") => is_clear(inner),
            // An address without anything leads to no picture, and that is as if there was a clear one.
            Some(("url", inner)) => matches!(inner.trim_matches('"'), "" | "#"),
            Some(("image", inner)) => words(inner).all(is_clear_color),
            Some((
                "image-set" | "-webkit-image-set" | "cross-fade" | "-webkit-cross-fade",
                inner,
            )) => split_outside(inner, |c| c == ',')
                .filter_map(function)
                .all(|(name, inner)| name.ends_with("gradient") && is_clear(inner)),
            Some(_) => false,
            None => words(layer).any(|word| word == "none"),
        });
        let is_flat = split_outside(layer, |c| c == '/').nth(1).is_some_and(is_nothing);
        closed += usize::from(is_flat && picture.is_some());
    }
    // One that says `none` alone is no mask.
    let is_mask =
        !split_outside(value, |c| c == ',').all(|layer| words(layer).find_map(function).is_none());
    Some(is_mask && closed >= layers)
}

/// The value of `mask-size`: whether the pictures have no room.
pub(super) fn is_nothing(value: &str) -> bool {
    let sizes: Vec<_> = words(value).map_while(Length::read).take(2).collect();
    sizes.iter().any(|size| size.pixels() <= 1.0 && size.percent <= 0.2 && size.screen <= 0.2)
}

/// Whether all colours of a gradient are clear.
fn is_clear(inner: &str) -> bool {
    let mut colors = split_outside(inner, |c| c == ',')
        .filter_map(|stop| words(stop).find_map(Color::read))
        .peekable();
    let is_clear = |named: Named| matches!(named, Named::Color(color) if color.is_clear());
    colors.peek().is_some() && colors.all(is_clear)
}

fn is_clear_color(word: &str) -> bool {
    matches!(Color::read(word), Some(Named::Color(color)) if color.is_clear())
}
