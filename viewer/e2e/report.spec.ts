import { percent, time } from './figures';
import { at, expect, expectText, test } from './fixtures';
import { EXAMPLE, dataOf, reportOf } from './program';

interface Modules {
  readonly nodes: readonly { path: string; gpu_incl_ns: number }[];
  readonly total: { gpu_ns: number };
}

test('a report in one file opens from disk, asks no network, and shows the same figures', async ({ page }) => {
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  const url = reportOf(EXAMPLE);
  await page.goto(at(url, 'tab=profiler'));
  const row = page.getByRole('treegrid').getByRole('row').nth(1);
  const { nodes, total } = dataOf<Modules>('modules', EXAMPLE);
  const root = nodes[0];
  await expect(row.locator('[data-column="gpu"]')).toContainText(time(root?.gpu_incl_ns ?? 0).replaceAll(' ', '\u00a0'));
  await expectText(row.locator('[data-column="share"]'), percent(root?.gpu_incl_ns ?? 0, total.gpu_ns));
  for (const tab of ['Workload', 'Architecture', 'Profiler']) await page.getByRole('tab', { name: tab }).click();
  await page.getByRole('columnheader', { name: 'Slow' }).waitFor();
  expect(asked).toEqual([asked[0]]);
  expect(asked[0]).toMatch(/^file:/);
});

test('a report keeps its place over a reload', async ({ page }) => {
  const url = reportOf(EXAMPLE);
  await page.goto(at(url, 'tab=profiler&layer=4&theme=dark'));
  await page.getByRole('tab', { name: 'Architecture' }).click();
  await page.goBack();
  await page.reload();
  await expect(page.getByRole('tab', { name: 'Profiler' })).toHaveAttribute('aria-selected', 'true');
  await expect(page).toHaveURL(/layer=4&theme=dark/);
});
