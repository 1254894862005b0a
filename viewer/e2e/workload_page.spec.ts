import type { Page } from '@playwright/test';
import { join } from 'node:path';
import { at, expect, test } from './fixtures';
import { EXAMPLE, type ViewServer, startView } from './program';
import { pageWith, workloadOf } from './workload_document';

const EXAMPLES = join(EXAMPLE, '..');
const BENCH = join(EXAMPLES, 'vllm_bench.json');

test.describe('beside a trace', () => {
  let server: ViewServer;

  test.beforeAll(async () => {
    server = await startView(EXAMPLE, '--bench', BENCH, '--prometheus', join(EXAMPLES, 'vllm_metrics.txt'));
  });

  test.afterAll(() => {
    server.stop();
  });

  async function open(page: Page, hash: string): Promise<void> {
    await page.goto(at(server.url, `tab=workload&${hash}`));
    await expect(page.locator('[data-panel=table] tbody tr').first()).toBeVisible();
  }

  test('the tab scrolls, the page around it never', async ({ page }) => {
    await open(page, 'request=5');
    const sizes = await page.evaluate(() => [document.documentElement.scrollHeight, document.documentElement.clientHeight]);
    expect(sizes[0]).toBe(sizes[1]);
    await page.mouse.move(600, 400);
    await page.mouse.wheel(0, 5000);
    await expect.poll(() => page.locator('.main:not([hidden])').evaluate((main) => main.scrollTop)).toBeGreaterThan(0);
    expect(await page.evaluate(() => document.documentElement.scrollTop + document.body.scrollTop)).toBe(0);
    await expect(page.getByRole('tab', { name: 'Workload' })).toBeInViewport({ ratio: 1 });
  });

  test('a request can be closed at any width', async ({ page }) => {
    await open(page, 'request=5');
    for (const width of [1280, 1120, 2560]) {
      await page.setViewportSize({ width, height: 900 });
      const close = page.getByRole('button', { name: 'Close the request' });
      await close.scrollIntoViewIfNeeded();
      const [box, panel] = await Promise.all([close.boundingBox(), page.locator('[data-panel=request]').boundingBox()]);
      expect((box?.x ?? 1e9) + (box?.width ?? 0)).toBeLessThanOrEqual((panel?.x ?? 0) + (panel?.width ?? 0));
    }
  });

  test('Escape closes what is open over the page, and leaves the selection', async ({ page }) => {
    await open(page, 'work.ranges=input:0..500&request=5');
    await page.getByRole('button', { name: 'Inputs' }).click();
    await expect(page.getByRole('heading', { name: 'Inputs' })).toBeVisible();
    await page.keyboard.press('Escape');
    await expect(page.getByRole('heading', { name: 'Inputs' })).toBeHidden();
    await expect(page).toHaveURL(/work\.ranges=input/);
    await expect(page).toHaveURL(/request=5/);
    await page.keyboard.press('Escape');
    await expect(page).not.toHaveURL(/work\.ranges/);
    await expect(page).toHaveURL(/request=5/);
  });

  test('figures of the server that are estimates are marked so', async ({ page }) => {
    await open(page, '');
    const row = page.locator('[data-quantity=ttft] tr[data-set=server]');
    await expect(row.locator('td').nth(2)).toContainText('≈');
    await expect(row.locator('td').nth(0)).not.toContainText('≈');
  });
});

test('a run that the page does not hold is shown by a command', async ({ page }) => {
  const { document } = workloadOf(BENCH);
  const run = (document as unknown as { runs: readonly object[] }).runs[0];
  const runs = [0, 1, 2].map((index) => ({ ...run, index, label: `request_rate ${index + 1}.0` }));
  await page.goto(at(pageWith({ ...document, runs }), 'tab=workload'));
  const rows = page.locator('[data-panel=runs] tbody tr');
  await rows.nth(2).scrollIntoViewIfNeeded();
  await rows.nth(2).click();
  await expect(page.locator('.wl-run-missing')).toContainText('--run 2');
  await expect(page).toHaveURL(/work\.run=2/);
  await rows.nth(0).click();
  await expect(page.locator('.wl-run-missing')).toHaveCount(0);
});
