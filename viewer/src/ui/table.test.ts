import { describe, expect, it } from 'vitest';
import { csv } from './download';
import { type Column, rowAfterKey, sortRows } from './table';
import { windowOf } from './use_window';

interface Row {
  readonly name: string;
  readonly n: number | null;
}
const N: Column<Row> = { id: 'n', title: 'n', value: (row) => row.n };
const ROWS: readonly Row[] = [{ name: 'a', n: 2 }, { name: 'b', n: null }, { name: 'c', n: 10 }, { name: 'd', n: 2 }];

describe('sorted rows', () => {
  it('keep what is not known last, and the order of equals', () => {
    expect(sortRows(ROWS, N, false).map((row) => row.name)).toEqual(['a', 'd', 'c', 'b']);
    expect(sortRows(ROWS, N, true).map((row) => row.name)).toEqual(['c', 'a', 'd', 'b']);
  });
});

describe('the window of rows', () => {
  it('holds what is seen and little more', () => {
    const shown = windowOf(10_000, 26, 26 * 5000, 520);
    expect(shown.first).toBeLessThanOrEqual(5000);
    expect(shown.end).toBeGreaterThanOrEqual(5020);
    expect(shown.end - shown.first).toBeLessThan(60);
    expect(shown.above + shown.below + (shown.end - shown.first) * 26).toBe(260_000);
  });

  it('is never empty when the list became shorter than it was scrolled', () => {
    const shown = windowOf(5, 26, 26 * 1000, 520);
    expect([shown.first, shown.end]).toEqual([0, 5]);
  });
});

describe('keys', () => {
  it('stay inside the rows', () => {
    expect([rowAfterKey('ArrowUp', 0, 5, 3), rowAfterKey('End', 0, 5, 3), rowAfterKey('PageDown', 3, 5, 3)]).toEqual([0, 4, 4]);
    expect(rowAfterKey('x', 0, 5, 3)).toBeNull();
  });
});

describe('CSV', () => {
  it('quotes, and gives a spreadsheet no formula', () => {
    expect(csv([['a,b', 'x"y', '=1+1', -3, null, 'l\nm']])).toBe('"a,b","x""y",\'=1+1,-3,,"l\nm"\r\n');
  });
});
