import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { at, expect, test } from './fixtures';
import { generate, scratchFolder, startView } from './program';

/** A busy machine is no fault: the limits hold as they are with LAYERSCOPE_TIMES=strict, else ten times. */
const SLACK = process.env.LAYERSCOPE_TIMES === 'strict' ? 1 : 10;
const FIRST_VIEW_MS = 2000 * SLACK;
const INTERACTION_MS = 100 * SLACK;
const TRANSFER_BYTES = 5 * 2 ** 20;

/** Each act is done so often and its best time counts: what else runs on the machine is not its fault. */
const ROUNDS = 3;

type Act = readonly [what: string, selector: string, act: 'click' | 'key', key: string];

const ACTS: readonly Act[] = [
  ['expand all', '.tree-panel .tools > .button:nth-of-type(2)', 'click', ''],
  ['select', '.tree-row[data-row="1"]', 'click', ''],
  ['key down', '.tree-row[tabindex="0"]', 'key', 'ArrowDown'],
  ['collapse all', '.tree-panel .tools > .button:nth-of-type(3)', 'click', ''],
  ['expand all again', '.tree-panel .tools > .button:nth-of-type(2)', 'click', ''],
  ['variance', '[aria-label="What the layers show"] button:nth-child(3)', 'click', ''],
  ['passes', '[aria-label="What the layers show"] button:nth-child(2)', 'click', ''],
  ['categories', '[aria-label="What the layers show"] button:nth-child(1)', 'click', ''],
  ['dark', '[aria-label="Theme"] button:nth-child(3)', 'click', ''],
  ['light', '[aria-label="Theme"] button:nth-child(2)', 'click', ''],
  ['another tab', '#tab-workload', 'click', ''],
  ['and back', '#tab-profiler', 'click', ''],
];

/** Time from an act until the page has been drawn again, as the page sees it. */
async function timeOf(page: Page, selector: string, act: Act[2], key: string): Promise<number> {
  return page.evaluate(
    async ([target, kind, name]) => {
      const element = document.querySelector<HTMLElement>(target);
      if (element === null) throw new Error(`nothing at ${target}`);
      const drawn = (): Promise<void> =>
        new Promise((done) => {
          requestAnimationFrame(() => {
            setTimeout(done, 0);
          });
        });
      await drawn();
      const start = performance.now();
      if (kind === 'click') element.click();
      else element.dispatchEvent(new KeyboardEvent('keydown', { key: name, bubbles: true, cancelable: true }));
      await drawn();
      return performance.now() - start;
    },
    [selector, act, key] as const,
  );
}

test('two million events: the first view in 2 s, each act in 100 ms, under 5 MB', async ({ page }) => {
  test.setTimeout(240_000);
  const trace = join(scratchFolder(), 'big.json');
  generate('--events', '2000000', '-o', trace);
  expect(existsSync(trace)).toBe(true);
  const server = await startView(trace);
  try {
    const sizes: Promise<number>[] = [];
    page.on('response', (response) => {
      if (new URL(response.url()).pathname.startsWith('/api/')) {
        sizes.push(response.body().then((body) => body.length, () => 0));
      }
    });
    const start = Date.now();
    await page.goto(at(server.url, 'tab=profiler'));
    await expect(page.getByRole('treegrid').getByRole('row').nth(1)).toBeVisible();
    const first = Date.now() - start;
    await page.waitForLoadState('networkidle');
    const times: Record<string, number> = {};
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [what, selector, act, key] of ACTS) {
        times[what] = Math.min(times[what] ?? Infinity, await timeOf(page, selector, act, key));
      }
    }
    const transferred = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
    test.info().annotations.push({ type: 'measured', description: JSON.stringify({ first, transferred, times }) });
    console.log(JSON.stringify({ first, transferred, times }));
    expect(first).toBeLessThan(FIRST_VIEW_MS);
    expect(transferred).toBeGreaterThan(0);
    expect(transferred).toBeLessThan(TRANSFER_BYTES);
    for (const [what, ms] of Object.entries(times)) expect(ms, what).toBeLessThan(INTERACTION_MS);
  } finally {
    server.stop();
  }
});
