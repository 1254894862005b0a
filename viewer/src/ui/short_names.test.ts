import { describe, expect, it } from 'vitest';
import { ShortNames, distinctNames, distinctText, plainShortName } from './short_names';

describe('short names', () => {
  const rows = [
    { name: 'void at::native::fill<4, float>(int)', short_name: 'fill<float>' },
    { name: 'void at::native::copy<4, float>(int)', short_name: 'copy<float>' },
    { name: 'void at::native::copy<4, half>(int)', short_name: 'copy<half>' },
  ];

  it('are those that the program gives', () => {
    expect(new ShortNames(rows).of('void at::native::fill<4, float>(int)')).toBe('fill<float>');
    expect(new ShortNames(rows).of('ns::other<int>(float)')).toBe('other');
    expect(plainShortName('void (anonymous namespace)::k<a::b>(int)')).toBe('k');
  });

  it('are given to a cut name where one kernel alone begins like it', () => {
    const names = new ShortNames(rows);
    expect(names.given('void at::native::fill<4…')).toBe('fill<float>');
    expect(names.given('void at::native::copy<4…')).toBeNull();
    expect(names.of('void at::native::copy<4…')).toBe('copy');
    expect(names.given('unknown…')).toBeNull();
  });
});

describe('names in one list', () => {
  function texts(...pairs: readonly (readonly [name: string, short: string])[]): string[] {
    const called = distinctNames(pairs.map(([name, short]) => ({ name, short })));
    return pairs.map(([name]) => distinctText(called.get(name) ?? { short: '?', rest: '' }));
  }

  it('are lengthened by what tells them apart', () => {
    expect(
      texts(
        ['nvjet_tst_64x8_64x16_2x1_v_bz_TNT', 'nvjet_tst_64x8'],
        ['nvjet_tst_64x8_64x16_4x1_v_bz_TNT', 'nvjet_tst_64x8'],
        ['nvjet_tst_128x8', 'nvjet_tst_128x8'],
      ),
    ).toEqual(['nvjet_tst_64x8 · 2x1', 'nvjet_tst_64x8 · 4x1', 'nvjet_tst_128x8']);
  });

  it('are lengthened until they differ', () => {
    const long = 'x'.repeat(40);
    const [a, b] = texts([`k<a${long}1, int>`, 'k'], [`k<b${long}2, int>`, 'k']);
    expect(a).not.toBe(b);
    const [c, d] = texts([`k<p, ${'y_'.repeat(100)}1>`, 'k'], [`k<p, ${'y_'.repeat(100)}2>`, 'k']);
    expect([c, d]).toEqual(['k · 1', 'k · 2']);
  });

  it('stay where one kernel stands in several rows', () => {
    expect(texts(['k<1>', 'k'], ['k<1>', 'k'])).toEqual(['k', 'k']);
  });
});
