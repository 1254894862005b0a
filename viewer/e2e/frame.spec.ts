import { at, expect, expectAccessible, plain, test } from './fixtures';
import { EXAMPLE, dataOf, run } from './program';
import { percent, time } from './figures';

interface Envelope {
  readonly coverage: { total_ns: number; module: Record<string, number> };
  readonly health: readonly { code: string; message: string }[];
  readonly data: { what: { model: string; gpu: string } };
}

test.describe('the frame', () => {
  test('says what is open, and how far it can be trusted', async ({ page, example }) => {
    const summary = JSON.parse(run('summary', EXAMPLE, '--format', 'json')) as Envelope;
    await page.goto(example.url);
    await expect(page.locator('.what')).toContainText(summary.data.what.model);
    await expect(page.locator('.what')).toContainText(summary.data.what.gpu);
    const { total_ns: total, module } = summary.coverage;
    await expect(page.getByRole('button', { name: /^Evidence:/ })).toContainText(
      percent(total - (module.unresolved ?? 0), total).replaceAll(' ', '\u00a0'),
    );
    await page.getByRole('button', { name: /^Health/ }).click();
    for (const { message } of summary.health) await expect(page.getByText(message)).toBeVisible();
    await page.keyboard.press('Escape');
    await expect(page.getByText(summary.health[0]?.message ?? '')).toBeHidden();
  });

  test('has tabs that the keyboard walks', async ({ page, example }) => {
    await page.goto(example.url);
    await page.getByRole('tab', { name: 'Profiler' }).focus();
    await page.keyboard.press('ArrowRight');
    await expect(page.getByRole('tab', { name: 'Architecture' })).toHaveAttribute('aria-selected', 'true');
    await expect(page).toHaveURL(/tab=architecture/);
    await page.keyboard.press('Home');
    await expect(page.getByRole('tab', { name: 'Workload' })).toBeFocused();
    await page.goBack();
    await expect(page.getByRole('tab', { name: 'Architecture' })).toHaveAttribute('aria-selected', 'true');
  });

  test('says what of the address is not there, until it is dismissed', async ({ page, example }) => {
    await page.goto(at(example.url, 'tab=nonsense&pass=99'));
    const notice = page.locator('.notice');
    await expect(notice).toContainText('There is no tab “nonsense”');
    await expect(notice).toContainText('There is no pass 99; there are passes 0 to 4.');
    await notice.getByRole('button', { name: 'Dismiss' }).click();
    await expect(notice).toHaveCount(0);
    await expect(page).not.toHaveURL(/pass=/);
  });

  test('says how long was recorded: the span of the file', async ({ page, example }) => {
    const { inputs } = JSON.parse(run('summary', EXAMPLE, '--format', 'json')) as { inputs: readonly { span_ns: number }[] };
    await page.goto(example.url);
    await expect(page.locator('.what')).toContainText(`${time(inputs[0]?.span_ns ?? 0).replace(' ', '\u00a0')} recorded`);
  });

  test('is dark when the system is, and when asked', async ({ page, example }) => {
    const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    await page.emulateMedia({ colorScheme: 'light' });
    await page.goto(example.url);
    const light = await ground();
    await page.emulateMedia({ colorScheme: 'dark' });
    await expect.poll(ground).not.toBe(light);
    await page.getByRole('button', { name: 'Light' }).click();
    await expect.poll(ground).toBe(light);
    await expect(page).toHaveURL(/theme=light/);
    await page.reload();
    await expect.poll(ground).toBe(light);
  });

  test('shows its head without serious faults of accessibility, in both themes', async ({ page, example }) => {
    for (const theme of ['light', 'dark']) {
      await page.goto(at(example.url, `tab=profiler&theme=${theme}`));
      await expect(page.getByRole('treegrid')).toBeVisible();
      await expectAccessible(page);
    }
  });

  test('refuses a wrong token and says what to do', async ({ page, example, watched }) => {
    const url = new URL(example.url);
    url.pathname = '/api/view';
    url.searchParams.set('token', 'wrong');
    const response = await page.request.get(url.href);
    expect(response.status()).toBe(403);
    watched.faults.length = 0;
  });

  test('tooltips can be copied', async ({ page, context, example }) => {
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    const { nodes } = dataOf<{ nodes: readonly { path: string }[] }>('modules', EXAMPLE);
    await page.goto(example.url);
    await page.getByRole('treegrid').locator('.tree-label').first().hover();
    const tip = page.getByRole('tooltip');
    await expect(tip).toContainText(nodes[0]?.path ?? '?');
    await tip.hover();
    await tip.getByRole('button', { name: 'Copy' }).click();
    expect(plain(await page.evaluate(() => navigator.clipboard.readText()))).toBe(nodes[0]?.path);
    await page.keyboard.press('Escape');
    await expect(tip).toBeHidden();
  });
});
