/** What a table shows, as it is sorted. */
export type CellValue = string | number | null;

// Making a collator costs far more than comparing with one.
const WORDS = new Intl.Collator('en', { numeric: true });

/** For `sort`: what is not known stands last, whichever way the rows are sorted. */
export function inOrder(a: CellValue, b: CellValue, descending: boolean): number {
  if (a === b) return 0;
  if (a === null) return 1;
  if (b === null) return -1;
  const order = typeof a === 'number' && typeof b === 'number' ? a - b : WORDS.compare(String(a), String(b));
  return descending ? -order : order;
}
