//! Where colours lie in the spaces that CSS names, and how two of them are mixed. Parts go from zero
//! to one.

/// From hue, saturation and light.
pub(super) fn from_hsl(hue: f32, saturation: f32, light: f32) -> [f32; 3] {
    let (saturation, light) = (saturation.clamp(0.0, 1.0), light.clamp(0.0, 1.0));
    let reach = saturation * light.min(1.0 - light);
    [0.0_f32, 8.0, 4.0].map(|place| {
        let at = (place + hue * 12.0).rem_euclid(12.0);
        light - reach * (at - 3.0).min(9.0 - at).clamp(-1.0, 1.0)
    })
}

/// From light as it adds up to light as screens are told.
pub(super) fn bent(part: f32) -> f32 {
    match part {
        part if part <= 0.003_130_8 => part * 12.92,
        part => 1.055 * part.powf(1.0 / 2.4) - 0.055,
    }
}

fn straight(part: f32) -> f32 {
    match part {
        part if part <= 0.040_45 => part / 12.92,
        part => ((part + 0.055) / 1.055).powf(2.4),
    }
}

type Matrix = [[f32; 3]; 3];

fn through(matrix: &Matrix, parts: [f32; 3]) -> [f32; 3] {
    matrix.map(|row| row.iter().zip(parts).map(|(a, b)| a * b).sum())
}

/// From oklab.
pub(super) fn from_oklab(light: f32, a: f32, b: f32) -> [f32; 3] {
    let cones = through(&OKLAB_TO_CONES, [light, a, b]).map(|part| part * part * part);
    through(&CONES_TO_RGB, cones).map(bent)
}

fn to_oklab(color: [f32; 3]) -> [f32; 3] {
    through(&CONES_TO_OKLAB, through(&RGB_TO_CONES, color.map(straight)).map(f32::cbrt))
}

/// From lab; `light` is one for white.
pub(super) fn from_lab(light: f32, a: f32, b: f32) -> [f32; 3] {
    let y = (light * 100.0 + 16.0) / 116.0;
    let part = |at: f32| match at * at * at {
        cube if cube > 0.008_856 => cube,
        _ => (116.0 * at - 16.0) / 903.3,
    };
    // The white of a screen instead of that of paper: grey stays grey.
    from_xyz([part(y + a / 500.0) * 0.950_47, part(y), part(y - b / 200.0) * 1.088_83])
}

/// From xyz.
pub(super) fn from_xyz(parts: [f32; 3]) -> [f32; 3] {
    through(&XYZ_TO_RGB, parts).map(bent)
}

/// Mixes two colours; nothing where they are mixed in a way that is not known.
pub(super) fn mix(one: [u8; 4], other: [u8; 4], share: f32, way: &str) -> Option<[u8; 4]> {
    let way = way.split_ascii_whitespace().next()?;
    let parts = |color: [u8; 4]| color.map(|part| f32::from(part) / 255.0);
    let ([r1, g1, b1, a1], [r2, g2, b2, a2]) = (parts(one), parts(other));
    let alpha = a1 * (1.0 - share) + a2 * share;
    // The more of one is seen, the more it colours what comes out.
    let share = if alpha > 0.0 { a2 * share / alpha } else { share };
    let blend = |one: [f32; 3], other: [f32; 3]| {
        [0, 1, 2].map(|at| one[at] * (1.0 - share) + other[at] * share)
    };
    let (one, other) = ([r1, g1, b1], [r2, g2, b2]);
    let color = match way {
        "srgb" | "display-p3" | "a98-rgb" | "prophoto-rgb" | "rec2020" => blend(one, other),
        "srgb-linear" | "xyz" | "xyz-d65" | "xyz-d50" => {
            blend(one.map(straight), other.map(straight)).map(bent)
        }
        "oklab" | "lab" => {
            let [light, a, b] = blend(to_oklab(one), to_oklab(other));
            from_oklab(light, a, b)
        }
        // Around a circle: of two greys, or of one colour, it is the same.
        "oklch" | "lch" | "hsl" | "hwb" => {
            let [light, a, b] = blend(to_oklab(one), to_oklab(other));
            from_oklab(light, a, b)
        }
        _ => return None,
    };
    let [red, green, blue] = color;
    Some([red, green, blue, alpha].map(|part| (part * 255.0).round() as u8))
}

const OKLAB_TO_CONES: Matrix = [
    [1.0, 0.396_337_78, 0.215_803_76],
    [1.0, -0.105_561_346, -0.063_854_17],
    [1.0, -0.089_484_18, -1.291_485_5],
];
const CONES_TO_RGB: Matrix = [
    [4.076_741_7, -3.307_711_6, 0.230_969_94],
    [-1.268_438, 2.609_757_4, -0.341_319_38],
    [-0.004_196_086, -0.703_418_6, 1.707_614_7],
];
const RGB_TO_CONES: Matrix = [
    [0.412_221_47, 0.536_332_55, 0.051_445_993],
    [0.211_903_5, 0.680_699_5, 0.107_396_96],
    [0.088_302_46, 0.281_718_84, 0.629_978_7],
];
const CONES_TO_OKLAB: Matrix = [
    [0.210_454_26, 0.793_617_8, -0.004_072_047],
    [1.977_998_5, -2.428_592_2, 0.450_593_7],
    [0.025_904_037, 0.782_771_77, -0.808_675_77],
];
const XYZ_TO_RGB: Matrix = [
    [3.240_454_2, -1.537_138_5, -0.498_531_4],
    [-0.969_266, 1.876_010_8, 0.041_556],
    [0.055_643_4, -0.204_025_9, 1.057_225_2],
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_black_and_grey_are_found() {
        let near = |found: [f32; 3], wanted: f32| {
            assert!(found.iter().all(|part| (part - wanted).abs() < 0.01), "{found:?} {wanted}");
        };
        near(from_oklab(1.0, 0.0, 0.0), 1.0);
        near(from_lab(1.0, 0.0, 0.0), 1.0);
        near(from_oklab(0.0, 0.0, 0.0), 0.0);
        near(from_lab(0.5, 0.0, 0.0), 0.466);
        let [light, a, b] = to_oklab([0.2, 0.4, 0.6]);
        let back = from_oklab(light, a, b);
        assert!((back[0] - 0.2).abs() < 0.01 && (back[2] - 0.6).abs() < 0.01, "{back:?}");
    }

    #[test]
    fn equal_colours_mix_to_themselves() {
        for way in ["srgb", "oklab", "lch", "hsl longer hue", "xyz"] {
            let color = [17, 99, 200, 255];
            let mixed = mix(color, color, 0.3, way).unwrap();
            assert!(mixed.iter().zip(color).all(|(a, b)| a.abs_diff(b) <= 1), "{way}: {mixed:?}");
        }
        assert_eq!(mix([0, 0, 0, 255], [255; 4], 0.5, "srgb"), Some([128, 128, 128, 255]));
        assert_eq!(mix([0, 0, 0, 255], [9, 9, 9, 0], 0.5, "srgb"), Some([0, 0, 0, 128]));
    }
}
