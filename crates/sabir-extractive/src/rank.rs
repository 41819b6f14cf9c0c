//! Which of many sentences say the most: a graph of how much they share, walked a fixed number of
//! times, and a choice that does not say the same thing twice. It sees numbers, not words.

/// A sentence as the ranking sees it.
#[derive(Debug)]
pub(crate) struct Node {
    /// Sorted, each once.
    pub(crate) terms: Vec<u32>,
    /// What its place speaks for it, around 1.
    pub(crate) prior: f64,
}

/// How central each node is: 0 to 1, the best has 1.
pub(crate) fn rank(nodes: &[Node]) -> Vec<f64> {
    let edges = edges(nodes);
    let totals: Vec<f64> =
        edges.iter().map(|row| row.iter().map(|&(_, weight)| weight).sum()).collect();
    let all_priors: f64 = nodes.iter().map(|node| node.prior).sum();
    let start: Vec<f64> = nodes.iter().map(|node| node.prior / all_priors).collect();
    let mut ranks = start.clone();
    for _ in 0..ROUNDS {
        let mut next: Vec<f64> = start.iter().map(|start| (1.0 - DAMPING) * start).collect();
        for (from, row) in edges.iter().enumerate() {
            for &(to, weight) in row {
                next[to] += DAMPING * ranks[from] * weight / totals[from];
            }
        }
        ranks = next;
    }
    for (rank, node) in ranks.iter_mut().zip(nodes) {
        *rank *= node.prior;
    }
    let best = ranks.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    ranks.iter().map(|rank| rank / best).collect()
}

/// At most `count` nodes, the best first, each as different from those before it as it is good.
pub(crate) fn choose(nodes: &[Node], ranks: &[f64], count: usize) -> Vec<usize> {
    let mut chosen: Vec<usize> = Vec::new();
    let mut nearest = vec![0.0_f64; nodes.len()];
    let mut taken = vec![false; nodes.len()];
    while chosen.len() < count {
        let best = (0..nodes.len())
            .filter(|&at| !taken[at] && nearest[at] < SAME)
            .map(|at| (at, BALANCE * ranks[at] - (1.0 - BALANCE) * nearest[at]))
            .reduce(|best, next| if next.1 > best.1 { next } else { best });
        let Some((best, _)) = best else { break };
        taken[best] = true;
        chosen.push(best);
        for (at, node) in nodes.iter().enumerate() {
            nearest[at] = nearest[at].max(overlap(&node.terms, &nodes[best].terms));
        }
    }
    chosen
}

/// How much two sorted sets share: 0 for nothing, 1 when the smaller one is in the larger.
pub(crate) fn overlap(a: &[u32], b: &[u32]) -> f64 {
    let smaller = a.len().min(b.len());
    if smaller == 0 {
        return 0.0;
    }
    // A tiny sentence is inside of nearly everything.
    let size = smaller.max(a.len().max(b.len()) / 2);
    to_f64(shared(a, b)) / to_f64(size)
}

fn shared(a: &[u32], b: &[u32]) -> usize {
    let (mut i, mut j, mut count) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        match a[i].cmp(&b[j]) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => {
                count += 1;
                i += 1;
                j += 1;
            }
        }
    }
    count
}

/// Cosine of the weighted terms, for pairs that share at least one term that is not everywhere.
fn edges(nodes: &[Node]) -> Vec<Vec<(usize, f64)>> {
    let terms = nodes.iter().flat_map(|node| &node.terms).max().map_or(0, |&max| max as usize + 1);
    let mut holders: Vec<Vec<usize>> = vec![Vec::new(); terms];
    for (at, node) in nodes.iter().enumerate() {
        for &term in &node.terms {
            holders[term as usize].push(at);
        }
    }
    let weights: Vec<f64> = holders
        .iter()
        .map(|holders| (1.0 + to_f64(nodes.len()) / (1.0 + to_f64(holders.len()))).ln())
        .collect();
    let norms: Vec<f64> = nodes
        .iter()
        .map(|node| node.terms.iter().map(|&term| weights[term as usize].powi(2)).sum::<f64>())
        .map(|sum| sum.sqrt().max(f64::MIN_POSITIVE))
        .collect();
    let mut rows = Vec::with_capacity(nodes.len());
    let mut sums = vec![0.0_f64; nodes.len()];
    for (at, node) in nodes.iter().enumerate() {
        for &term in &node.terms {
            for &other in &holders[term as usize] {
                sums[other] += weights[term as usize].powi(2);
            }
        }
        let mut row = Vec::new();
        for (other, sum) in sums.iter_mut().enumerate() {
            let weight = *sum / (norms[at] * norms[other]);
            if other != at && weight >= WEAKEST {
                row.push((other, weight));
            }
            *sum = 0.0;
        }
        rows.push(row);
    }
    rows
}

/// Counts here are far below 2^52, where every whole number is exact.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
pub(crate) fn to_f64(count: usize) -> f64 {
    count as f64
}

/// How often the graph is walked. The order of the best has settled by then.
const ROUNDS: usize = 30;

/// The usual share of rank that is passed on.
const DAMPING: f64 = 0.85;

/// Below this, two sentences share a word and not a subject.
const WEAKEST: f64 = 0.1;

/// How much being good counts against being new.
const BALANCE: f64 = 0.7;

/// From here on, two sentences say the same.
const SAME: f64 = 0.7;
