//! The text format of Prometheus, version 0.0.4.

use std::fmt::Write as _;

/// A page of samples on its way.
#[derive(Debug, Default)]
pub struct Text(String);

impl Text {
    /// Begins a metric: its samples follow. `kind` is `counter`, `gauge` or `histogram`.
    pub fn metric(&mut self, name: &str, kind: &str, help: &str) {
        let help = help.replace('\\', "\\\\").replace('\n', "\\n");
        let _ = write!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
    }

    pub fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: f64) {
        self.0.push_str(name);
        for (index, (label, value)) in labels.iter().enumerate() {
            let value = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
            let before = if index == 0 { '{' } else { ',' };
            let _ = write!(self.0, "{before}{label}=\"{value}\"");
        }
        let end = if labels.is_empty() { "" } else { "}" };
        let _ = writeln!(self.0, "{end} {value}");
    }

    /// A metric of one sample.
    pub fn single(&mut self, name: &str, kind: &str, help: &str, value: f64) {
        self.metric(name, kind, help);
        self.sample(name, &[], value);
    }

    /// The samples of a histogram. `counts` has one more than there are bounds, each by itself.
    pub fn buckets(
        &mut self,
        name: &str,
        labels: &[(&str, &str)],
        bounds: &[f64],
        counts: &[u64],
        sum: f64,
    ) {
        let bucket = format!("{name}_bucket");
        let mut total = 0;
        let ends = bounds.iter().map(f64::to_string).chain(["+Inf".to_owned()]);
        for (end, count) in ends.zip(counts) {
            total += count;
            let labels: Vec<_> = labels.iter().copied().chain([("le", end.as_str())]).collect();
            self.sample(&bucket, &labels, total as f64);
        }
        self.sample(&format!("{name}_sum"), labels, sum);
        self.sample(&format!("{name}_count"), labels, total as f64);
    }

    pub fn into_string(self) -> String {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use expect_test::expect;

    use super::super::number::{Family, Grid, Histogram};
    use super::*;

    #[test]
    fn pages_are_what_scrapers_read() {
        static FAMILY: Family<2> = Family::new("outcome", &["done", "other"]);
        static GRID: Grid<2, 2> =
            Grid::new(("route", "status"), &["a", "other"], &["200", "other"]);
        FAMILY.add("done", 2);
        FAMILY.add("somebody's own word", 1);
        GRID.add("a", "200");
        GRID.add("x\"} 1\n", "418");
        let mut text = Text::default();
        text.metric("t_total", "counter", "Of \\ two\nlines.");
        FAMILY.write(&mut text, "t_total");
        text.metric("g_total", "counter", "Pairs.");
        GRID.write(&mut text, "g_total");
        text.metric("b", "gauge", "Labels are escaped.");
        text.sample("b", &[("x", "a\"\\\nb")], 0.5);
        expect![[r#"
            # HELP t_total Of \\ two\nlines.
            # TYPE t_total counter
            t_total{outcome="done"} 2
            t_total{outcome="other"} 1
            # HELP g_total Pairs.
            # TYPE g_total counter
            g_total{route="a",status="200"} 1
            g_total{route="other",status="other"} 1
            # HELP b Labels are escaped.
            # TYPE b gauge
            b{x="a\"\\\nb"} 0.5
        "#]]
        .assert_eq(&text.into_string());
    }

    #[test]
    fn buckets_add_up() {
        let times = Histogram::new();
        for millis in [0, 1, 2, 100, 9_000_000] {
            times.observe(Duration::from_millis(millis));
        }
        let mut text = Text::default();
        times.write(&mut text, "t_seconds");
        let text = text.into_string();
        for line in [
            "t_seconds_bucket{le=\"0.0005\"} 1\n",
            "t_seconds_bucket{le=\"0.001\"} 2\n",
            "t_seconds_bucket{le=\"0.1\"} 4\n",
            "t_seconds_bucket{le=\"3600\"} 4\n",
            "t_seconds_bucket{le=\"+Inf\"} 5\n",
            "t_seconds_sum 9000.103\n",
            "t_seconds_count 5\n",
        ] {
            assert!(text.contains(line), "{line}{text}");
        }
    }
}
