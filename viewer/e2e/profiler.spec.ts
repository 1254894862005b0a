import { readFileSync } from 'node:fs';
import type { Locator, Page } from '@playwright/test';
import { percent, time } from './figures';
import { at, expect, expectAccessible, expectText, plain, test } from './fixtures';
import { EXAMPLE, dataOf } from './program';

interface Node {
  readonly id: number;
  readonly parent: number | null;
  readonly path: string;
  readonly class: string;
  readonly calls: number;
  readonly cpu_ns: number;
  readonly gpu_incl_ns: number;
  readonly gpu_excl_ns: number;
  readonly kernels_incl: number;
  readonly evidence: Record<string, number>;
}

interface Modules {
  readonly nodes: readonly Node[];
  readonly total: { gpu_ns: number };
}

interface Pass {
  readonly index: number;
  readonly kind: string;
  readonly complete: boolean;
  readonly wall_ns: number;
}

const MODULES = dataOf<Modules>('modules', EXAMPLE);
const LAYER = 'Qwen3ForCausalLM_0.Qwen3DecoderLayer_7';

function nodeAt(path: string, modules = MODULES): Node {
  const node = modules.nodes.find((one) => one.path === path);
  if (node === undefined) throw new Error(`the trace has no ${path}`);
  return node;
}

function rowOf(page: Page, name: string): Locator {
  return page.getByRole('treegrid').getByRole('row').filter({ has: page.locator('.tree-label > .name:first-child', { hasText: new RegExp(`^${name}$`) }) });
}

function cell(row: Locator, column: string): Locator {
  return row.locator(`[data-column="${column}"]`);
}

async function open(page: Page, url: string, hash = 'tab=profiler'): Promise<void> {
  await page.goto(at(url, hash));
  await expect(page.getByRole('treegrid').getByRole('row').nth(1)).toBeVisible();
}

test.describe('the module tree', () => {
  test('shows the figures of `modules`', async ({ page, example }) => {
    await open(page, example.url);
    await page.getByRole('button', { name: 'Expand all' }).click();
    for (const path of ['Qwen3ForCausalLM_0', 'Qwen3ForCausalLM_0.VocabParallelEmbedding_0', 'Qwen3ForCausalLM_0.Qwen3DecoderLayer_0']) {
      const node = nodeAt(path);
      const parent = node.parent === null ? MODULES.total.gpu_ns : (MODULES.nodes[node.parent]?.gpu_incl_ns ?? 0);
      const row = rowOf(page, path.split('.').at(-1) ?? '');
      await expectText(cell(row, 'gpu'), time(node.gpu_incl_ns));
      await expectText(cell(row, 'own'), time(node.gpu_excl_ns));
      await expectText(cell(row, 'cpu'), time(node.cpu_ns));
      await expectText(cell(row, 'kernels'), node.kernels_incl.toLocaleString('en-US'));
      await expectText(cell(row, 'calls'), String(node.calls));
      // The 36 layers stand below a row of their own, whose parent is the model.
      if (!path.includes('Layer')) await expectText(cell(row, 'share'), percent(node.gpu_incl_ns, parent));
    }
  });

  test('has the fast, typical and slow pass beside the run', async ({ page, example }) => {
    const { passes } = dataOf<{ passes: readonly Pass[] }>('passes', EXAMPLE);
    const decode = passes.filter((pass) => pass.complete && pass.kind === 'decode').sort((a, b) => a.wall_ns - b.wall_ns || a.index - b.index);
    // Of four passes places 0, 2 and 3: floor(q × 3 + 0.5) for 0.1, 0.5 and 0.9.
    expect(decode).toHaveLength(4);
    await open(page, example.url);
    for (const [title, place] of [['Fast', 0], ['Typical', 2], ['Slow', 3]] as const) {
      const pass = decode[place];
      if (pass === undefined) throw new Error('no pass');
      const { nodes } = dataOf<Modules>('modules', EXAMPLE, '--pass', String(pass.index));
      await expect(page.getByRole('columnheader', { name: title })).toContainText(`pass ${pass.index}`);
      await expectText(cell(rowOf(page, 'Qwen3ForCausalLM_0'), `col.pass${pass.index}`), time(nodes[0]?.gpu_incl_ns ?? 0));
    }
  });

  test('adds up the rows of like siblings', async ({ page, example }) => {
    await open(page, example.url);
    const layers = MODULES.nodes.filter((node) => node.class === 'Qwen3DecoderLayer');
    const row = rowOf(page, 'Qwen3DecoderLayer_0..35');
    await expectText(cell(row, 'gpu'), time(layers.reduce((sum, node) => sum + node.gpu_incl_ns, 0)));
    await page.getByRole('button', { name: 'Group repeats' }).click();
    await expect(rowOf(page, 'Qwen3DecoderLayer_3')).toBeVisible();
    await expect(page).toHaveURL(/prof\.flat=1/);
  });

  test('is walked by the keyboard alone', async ({ page, example }) => {
    await open(page, example.url);
    await rowOf(page, 'Qwen3ForCausalLM_0').focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowRight');
    await expect(rowOf(page, 'Qwen3DecoderLayer_0..35')).toHaveAttribute('aria-expanded', 'true');
    await page.keyboard.press('ArrowRight');
    await expect(rowOf(page, 'Qwen3DecoderLayer_0')).toBeFocused();
    await page.keyboard.press('Enter');
    await expect(rowOf(page, 'Qwen3DecoderLayer_0')).toHaveAttribute('aria-selected', 'true');
    await expect(page).toHaveURL(/layer=0/);
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ArrowLeft');
    await expect(rowOf(page, 'Qwen3DecoderLayer_0..35')).toHaveAttribute('aria-expanded', 'false');
    await page.keyboard.press('End');
    await expect(page.getByRole('treegrid').getByRole('row').last()).toBeFocused();
    await page.keyboard.press('Home');
    await expect(rowOf(page, 'Qwen3ForCausalLM_0')).toBeFocused();
    await page.keyboard.type('samp');
    await expect(rowOf(page, 'Sampler_0')).toBeFocused();
  });

  test('is searched, from anywhere with a slash', async ({ page, example }) => {
    await open(page, example.url);
    await page.keyboard.press('/');
    await page.keyboard.type('Qwen2MLP_7');
    await expect(page.getByText('1 match', { exact: false })).toBeVisible();
    await expect(rowOf(page, 'Qwen2MLP_7')).toBeVisible();
    await page.keyboard.press('Enter');
    await expect(page).toHaveURL(/Qwen2MLP_7/);
    await page.keyboard.press('Escape');
    await expect(page.getByRole('searchbox')).toHaveValue('');
    await expect(rowOf(page, 'Qwen2MLP_7')).toHaveAttribute('aria-selected', 'true');
  });

  test('sorts siblings', async ({ page, example }) => {
    await open(page, example.url);
    await page.getByRole('columnheader', { name: 'Calls' }).getByRole('button').click();
    await expect(page.getByRole('columnheader', { name: 'Calls' })).toHaveAttribute('aria-sort', 'descending');
    await page.getByRole('columnheader', { name: 'GPU time' }).getByRole('button').click();
    const names = page.getByRole('treegrid').locator('.tree-label > .name:first-child');
    const roots = MODULES.nodes.filter((node) => node.parent === null).sort((a, b) => b.gpu_incl_ns - a.gpu_incl_ns).map((node) => node.path);
    await expect.poll(async () => (await names.allInnerTexts()).filter((name) => roots.includes(name))).toEqual(roots);
  });
});

test.describe('a selection', () => {
  test('leads down, and its address leads back', async ({ page, example }) => {
    await open(page, example.url, `tab=profiler&module=${LAYER}&layer=7`);
    const check = async (): Promise<void> => {
      const row = rowOf(page, 'Qwen3DecoderLayer_7');
      await expect(row).toHaveAttribute('aria-selected', 'true');
      await expectText(cell(row, 'gpu'), time(nodeAt(LAYER).gpu_incl_ns));
    };
    await check();
    await page.reload();
    await check();
  });

  test('shows the kernels of the module, and of its layer', async ({ page, example }) => {
    await open(page, example.url, `tab=profiler&module=${LAYER}&layer=7`);
    const panel = page.getByRole('region', { name: 'Kernels' });
    const kernels = dataOf<{ rows: readonly { sum_ns: number; n: number }[]; total: { sum_ns: number } }>('kernels', EXAMPLE, '--module', LAYER, '-n', '200');
    await expect(panel.locator('.table-bar')).toContainText(time(kernels.total.sum_ns).replaceAll(' ', '\u00a0'));
    const first = panel.locator('tbody tr').first();
    await expectText(first.locator('td').nth(3), time(kernels.rows[0]?.sum_ns ?? 0));
    await expectText(first.locator('td').nth(2), String(kernels.rows[0]?.n));
    await panel.getByRole('button', { name: 'Layer', exact: true }).click();
    const { pass } = dataOf<{ pass: number }>('layers', EXAMPLE);
    const ofLayer = dataOf<{ total: { sum_ns: number; n: number } }>('kernels', EXAMPLE, '--layer', '7', '--pass', String(pass));
    await expect(panel.locator('.table-bar')).toContainText(time(ofLayer.total.sum_ns).replaceAll(' ', '\u00a0'));
    await expect(panel.locator('.table-bar')).toContainText(`${ofLayer.total.n}\u00a0rows`);
  });

  test('of kernels downloads as CSV', async ({ page, example }) => {
    await open(page, example.url);
    const kernels = dataOf<{ rows: readonly { name: string; sum_ns: number }[] }>('kernels', EXAMPLE, '-n', '200');
    const waiting = page.waitForEvent('download');
    await page.getByRole('region', { name: 'Kernels' }).getByRole('button', { name: 'Download CSV' }).click();
    const lines = readFileSync(await (await waiting).path(), 'utf8').trimEnd().split('\r\n');
    expect(lines).toHaveLength(kernels.rows.length + 1);
    const sum = lines[0]?.split(',').indexOf('sum_ns') ?? -1;
    const named = lines.find((line) => line.startsWith(kernels.rows[0]?.name ?? '?'));
    expect(Number(named?.split(',')[sum])).toBe(kernels.rows[0]?.sum_ns);
  });
});

interface LayerRow {
  readonly index: number;
  readonly by_category: Record<string, number>;
}
interface Variance {
  readonly layer: number;
  readonly mean_ns: number;
  readonly min_ns: number;
  readonly max_ns: number;
}

test.describe('the layers', () => {
  test('by category are those of `layers`; Enter selects one', async ({ page, example }) => {
    const { layers } = dataOf<{ layers: readonly LayerRow[] }>('layers', EXAMPLE);
    await open(page, example.url);
    const panel = page.getByRole('region', { name: 'Layers' });
    const totals = new Map<string, number>();
    for (const layer of layers) for (const [name, ns] of Object.entries(layer.by_category)) totals.set(name, (totals.get(name) ?? 0) + ns);
    await expectText(panel.locator('.heat-notes > div'), [...totals.values()].sort((a, b) => b - a).map(time));
    await panel.locator('.heat-cells').focus();
    for (let i = 0; i < 5; i += 1) await page.keyboard.press('ArrowRight');
    const largest = [...totals].sort(([, a], [, b]) => b - a)[0]?.[0] ?? '';
    const exact = layers[5]?.by_category[largest]?.toLocaleString('en-US') ?? '?';
    await expect(page.getByRole('tooltip')).toContainText(`${exact}\u00a0ns`);
    await page.keyboard.press('Enter');
    await expect(page).toHaveURL(/module=Qwen3ForCausalLM_0.Qwen3DecoderLayer_5&layer=5/);
    await expect(rowOf(page, 'Qwen3DecoderLayer_5')).toHaveAttribute('aria-selected', 'true');
  });

  test('vary as `layers --all-passes` says', async ({ page, example }) => {
    const { rows } = dataOf<{ rows: readonly Variance[] }>('layers', EXAMPLE, '--all-passes');
    await open(page, example.url, 'tab=profiler&prof.layers=variance');
    const marks = page.getByRole('listbox', { name: /Wall time/ }).getByRole('option');
    await expect(marks).toHaveCount(rows.length);
    const said = await marks.evaluateAll((all) => all.map((mark) => mark.getAttribute('aria-label') ?? ''));
    expect(said.map(plain)).toEqual(rows.map((row) => `Layer ${row.layer}: mean ${time(row.mean_ns)}, from ${time(row.min_ns)} to ${time(row.max_ns)}`));
    await marks.first().focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Enter');
    await expect(page).toHaveURL(/layer=1/);
  });

  test('by pass select layer and pass', async ({ page, example }) => {
    const { passes } = dataOf<{ passes: readonly number[] }>('layers', EXAMPLE, '--all-passes');
    await open(page, example.url, 'tab=profiler&prof.layers=passes');
    await page.locator('.heat-cells').focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await expect(page).toHaveURL(new RegExp(`pass=${passes[1] ?? '?'}`));
  });
});

test('the Profiler has no serious fault of accessibility, in each of its views', async ({ page, example }) => {
  test.slow();
  for (const view of ['categories', 'passes', 'variance']) {
    await open(page, example.url, `tab=profiler&module=${LAYER}&layer=7&prof.layers=${view}&theme=${view === 'passes' ? 'dark' : 'light'}`);
    await expectAccessible(page);
  }
});
