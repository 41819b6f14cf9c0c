// Runs before anything is painted, so that a chosen theme does not flash in late. It is no module,
// because modules wait for the page.
(() => {
  let chosen = null;
  try {
    chosen = localStorage.getItem('sabir.theme');
  } catch {
    // Storage can be switched off; then the system's theme holds.
  }
  if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen;
})();
