import { describe, expect, it } from 'vitest';
import { shortened, visibleText } from './visible_text';

describe('visible text', () => {
  it('leaves ordinary names alone, of any script', () => {
    for (const name of ['model.layers.0', 'gemm<128, 4>(float*)', 'Schicht ä', 'слой', '层', '🧮', '[2,8] → [8]']) {
      expect(visibleText(name)).toBe(name);
    }
  });

  it('shows controls', () => {
    expect(visibleText('a\u0000b\tc\nd\u001be\u007f')).toBe('a␀b␉c␊d␛e␡');
    expect(visibleText('\u0085')).toBe('\\u0085');
  });

  it('shows what turns the direction or has no width', () => {
    expect(visibleText('a\u202eb\u2066c\u200bd\ufeff\u2028')).toBe('a\\u202eb\\u2066c\\u200bd\\ufeff\\u2028');
    expect(visibleText('\u{e0041}')).toBe('\\u{e0041}');
  });

  it('shows half a surrogate pair', () => {
    expect(visibleText('x\ud800y')).toBe('x\\ud800y');
  });
});

describe('shortened text', () => {
  it('keeps both ends', () => {
    expect(shortened('abcdefghij', 5)).toBe('ab…ij');
    expect(shortened('abcde', 5)).toBe('abcde');
  });

  it('stays short for a long name', () => {
    expect(shortened('x'.repeat(5000), 200).length).toBeLessThanOrEqual(200);
  });
});
