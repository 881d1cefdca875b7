/** Scrolls the grid so that the active row can be read with its neighbours. */

/** The number of rows after the active row that stay visible, so that editors can read the next segments. */
export const ROWS_AHEAD = 2;

/**
 * Scrolls as little as needed to show a row, the two rows after it and the row before it. If not all of them fit, the
 * row itself stays visible.
 */
export function reveal(row: HTMLElement): void {
  const scroller = row.closest<HTMLElement>('[data-scroller]');
  if (!scroller) return;
  const view = scroller.getBoundingClientRect();
  const own = row.getBoundingClientRect();
  const below = neighbour(row, 1, ROWS_AHEAD).getBoundingClientRect().bottom - view.bottom;
  const above = neighbour(row, -1, 1).getBoundingClientRect().top - view.top;
  if (below > 0) scroller.scrollTop += Math.min(below, Math.max(0, own.top - view.top));
  else if (above < 0) scroller.scrollTop += Math.max(above, Math.min(0, own.bottom - view.bottom));
}

function neighbour(row: Element, direction: -1 | 1, count: number): Element {
  let found = row;
  for (let step = 0; step < count; step += 1) {
    const next = direction === 1 ? found.nextElementSibling : found.previousElementSibling;
    if (!next) break;
    found = next;
  }
  return found;
}

/** Calls a function that changes the page's layout, then scrolls so that the active row keeps its place in the window. */
export function keepingPlace(change: () => void): void {
  const row = () => document.querySelector<HTMLElement>('[role=row][data-active=true]');
  const before = row()?.getBoundingClientRect().top;
  change();
  requestAnimationFrame(() => {
    const now = row();
    const scroller = now?.closest('[data-scroller]');
    if (!now || !scroller || before === undefined) return;
    scroller.scrollTop += now.getBoundingClientRect().top - before;
    reveal(now);
  });
}
