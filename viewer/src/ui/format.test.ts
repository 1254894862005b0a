import { describe, expect, it } from 'vitest';
import { UNKNOWN, bytes, count, counted, ns, nsExact, share, timeAxis } from './format';

const plain = (text: string): string => text.replaceAll('\u00a0', ' ');

describe('times', () => {
  it('take the unit that fits', () => {
    expect([0, 820, 999, 1000, 12_340, 1_500_000, 79_548_954, 2e9, 3.6e12].map((v) => plain(ns(v)))).toEqual([
      '0 ns', '820 ns', '999 ns', '1.000 µs', '12.34 µs', '1.500 ms', '79.55 ms', '2.000 s', '3,600 s',
    ]);
  });

  it('do not show 1,000 of a unit', () => {
    expect(plain(ns(999_999))).toBe('1.000 ms');
    expect(plain(ns(999_960_000))).toBe('1.000 s');
  });

  it('may be negative', () => {
    expect(plain(ns(-37_571_839))).toBe('-37.57 ms');
  });

  it('are exact where asked', () => {
    expect(plain(nsExact(1_234_567))).toBe('1,234,567 ns');
  });
});

describe('what is not known', () => {
  it('is no zero', () => {
    expect([ns(null), count(undefined), bytes(null), share(1, 0), share(null, 2)]).toEqual(Array(5).fill(UNKNOWN));
  });
});

describe('counts, sizes and shares', () => {
  it('have units', () => {
    expect(plain(counted(1, 'kernel'))).toBe('1 kernel');
    expect(plain(counted(2344, 'kernel'))).toBe('2,344 kernels');
    expect(plain(bytes(1536))).toBe('1.500 KiB');
    expect(plain(share(1, 8))).toBe('12.5 %');
  });

  it('neither lose a small part nor fill up a whole', () => {
    expect(plain(share(1, 1e6))).toBe('< 0.1 %');
    expect(plain(share(999_999, 1e6))).toBe('99.9 %');
    expect(plain(share(0, 5))).toBe('0.0 %');
  });
});

describe('an axis of time', () => {
  it('has one unit', () => {
    const axis = timeAxis(2_500_000);
    expect([axis.unit, axis.tick(500_000), axis.tick(2_000_000)]).toEqual(['ms', '0.5', '2']);
  });
});
