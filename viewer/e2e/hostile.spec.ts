import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { at, expect, test } from './fixtures';
import { reportOf, scratchFolder, startView } from './program';

const SCRIPT = '<script>window.hit=1</script><img src=x onerror="window.hit=1">';
const LONG = `Long${'x'.repeat(5000)}`;
const NAMES = [SCRIPT, '</script><script>window.hit=1</script>', 'rtl\u202eevil\u2066', 'ctl\u0001\u001b[31m\u007f', LONG, '"\'`${hit}{{hit}}', '&lt;b&gt;', '$& $1 $$'];

/** A module a name, with a kernel of that name, below one root. */
function hostileTrace(): string {
  const events: object[] = [];
  const span = (cat: string, name: string, ts: number, dur: number, args: object = {}): object => ({ ph: 'X', cat, name, pid: 1, tid: 1, ts, dur, args });
  events.push(span('python_function', 'nn.Module: Root_0', 0, 10_000));
  NAMES.forEach((name, i) => {
    const ts = 100 + i * 1000;
    events.push(span('python_function', `nn.Module: ${name}_${i}`, ts, 900));
    events.push(span('cpu_op', `aten::${name}`, ts + 10, 500, { 'External id': i + 1 }));
    events.push(span('cuda_runtime', 'cudaLaunchKernel', ts + 20, 10, { correlation: i + 1 }));
    events.push({ ph: 'X', cat: 'kernel', name: `kernel ${name}`, pid: 0, tid: 7, ts: ts + 50, dur: 100 + i, args: { correlation: i + 1, device: 0, stream: 7 } });
  });
  const path = join(scratchFolder(), 'trace <b>.json');
  writeFileSync(path, JSON.stringify({ traceEvents: events }));
  return path;
}

async function expectShownAsText(page: Page): Promise<void> {
  await expect(page.getByRole('treegrid').getByRole('row').nth(1)).toBeVisible();
  await page.getByRole('button', { name: 'Expand all' }).click();
  const tree = page.getByRole('treegrid');
  for (const text of ['<script>window.hit=1</script>', 'rtl\\u202eevil\\u2066', 'ctl␁␛[31m␡', '&lt;b&gt;']) await expect(tree).toContainText(text);
  await expect(tree).not.toContainText('\u202e');
  await expect(page.getByRole('region', { name: 'Kernels' })).toContainText('kernel <script>');
  expect(await page.evaluate(() => 'hit' in window)).toBe(false);
  expect(await page.locator('script').count()).toBeLessThanOrEqual(2);
  expect(await page.locator('img').count()).toBe(0);
  const width = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  expect(width).toBe(0);
}

test.describe('hostile names', () => {
  test('are text on a served page, in every tab', async ({ page }) => {
    const server = await startView(hostileTrace());
    try {
      await page.goto(at(server.url, 'tab=profiler'));
      await expectShownAsText(page);
      const first = page.getByRole('treegrid').locator('.tree-label', { hasText: '<script>' }).first();
      await first.hover();
      await expect(page.getByRole('tooltip')).toContainText('<script>window.hit=1</script>');
      for (const tab of ['Architecture', 'Workload', 'Profiler']) {
        await page.getByRole('tab', { name: tab }).click();
        await expect(page.getByRole('tabpanel', { name: tab })).toBeVisible();
        expect(await page.evaluate(() => 'hit' in window)).toBe(false);
      }
    } finally {
      server.stop();
    }
  });

  test('are text in a report, which asks no network', async ({ page }) => {
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    const url = reportOf(hostileTrace());
    await page.goto(at(url, 'tab=profiler'));
    await expectShownAsText(page);
    expect(asked.filter((one) => !one.startsWith('file:') && !one.startsWith('data:'))).toEqual([]);
    expect(asked.filter((one) => one.startsWith('file:'))).toHaveLength(1);
  });

  test('in the address are text too', async ({ page, example, watched }) => {
    await page.goto(at(example.url, `tab=profiler&module=${encodeURIComponent(SCRIPT)}&prof.q=${encodeURIComponent('<img src=x>')}&layer=99999`));
    await expect(page.getByRole('treegrid')).toBeVisible();
    expect(await page.evaluate(() => 'hit' in window)).toBe(false);
    await expect(page.getByRole('searchbox')).toHaveValue('<img src=x>');
    // The server has no such module and no such layer, and the browser says so.
    const unexpected = watched.faults.filter((fault) => !/the server responded with a status of 4.*(module|layer)=/.test(fault));
    watched.faults.length = 0;
    expect(unexpected).toEqual([]);
  });
});
