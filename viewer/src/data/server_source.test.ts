import { describe, expect, it } from 'vitest';
import { AnswerCache } from './server_source';

/** An answer of a size, and how often it was asked for. */
function answers(): { ask: (text: string, chars: number) => () => Promise<{ answer: { ok: true; value: string }; chars: number }>; asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    ask: (text, chars) => () => {
      asked.push(text);
      return Promise.resolve({ answer: { ok: true, value: text }, chars });
    },
  };
}

describe('kept answers', () => {
  it('are asked for once', async () => {
    const { ask, asked } = answers();
    const cache = new AnswerCache(100);
    await Promise.all([cache.get('a', ask('a', 10)), cache.get('a', ask('a', 10))]);
    await cache.get('a', ask('a', 10));
    expect(asked).toEqual(['a']);
  });

  it('go where they grow too large, the one that was asked for longest ago first', async () => {
    const { ask, asked } = answers();
    const cache = new AnswerCache(100);
    for (const key of ['a', 'b', 'a', 'c']) await cache.get(key, ask(key, 40));
    // 40 + 40 + 40 is too much: b was used longest ago.
    for (const key of ['a', 'c', 'b']) await cache.get(key, ask(key, 40));
    expect(asked).toEqual(['a', 'b', 'c', 'b']);
  });

  it('hold the newest, however large it is', async () => {
    const { ask, asked } = answers();
    const cache = new AnswerCache(100);
    for (const key of ['a', 'large', 'large']) await cache.get(key, ask(key, key === 'a' ? 1 : 1000));
    expect(asked).toEqual(['a', 'large']);
  });

  it('are not those that do not stay, nor failures', async () => {
    const { ask, asked } = answers();
    const cache = new AnswerCache(100);
    await Promise.all([cache.get('w', ask('w', 5), false), cache.get('w', ask('w', 5), false)]);
    await cache.get('w', ask('w', 5), false);
    expect(asked).toEqual(['w', 'w']);
    const fail = () => Promise.resolve({ answer: { ok: false as const, error: { code: 'x', message: 'x', hint: '' } }, chars: 0 });
    await cache.get('f', fail);
    await cache.get('f', ask('f', 5));
    expect(asked).toEqual(['w', 'w', 'f']);
  });
});
