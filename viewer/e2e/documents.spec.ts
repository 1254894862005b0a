import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from '@playwright/test';
import { time } from './figures';
import { at, expect, expectText, test } from './fixtures';
import { EXAMPLE, run, scratchFolder, sharedTrace } from './program';

/** The page as it is built, without anything in it. */
const EMPTY_PAGE = `file://${fileURLToPath(new URL('../dist/index.html', import.meta.url))}`;

/** Drops a file on the page as a browser does. */
async function drop(page: Page, name: string, text: string): Promise<void> {
  const transfer = await page.evaluateHandle(
    ([fileName, content]) => {
      const data = new DataTransfer();
      data.items.add(new File([content], fileName, { type: 'application/json' }));
      return data;
    },
    [name, text] as const,
  );
  await page.dispatchEvent('body', 'dragenter', { dataTransfer: transfer });
  await page.dispatchEvent('body', 'drop', { dataTransfer: transfer });
}

interface MapNode {
  readonly name: string;
  readonly class: string;
  readonly gpu_ns: number;
  readonly children: readonly MapNode[];
}

test.describe('dropped documents', () => {
  test('model_execution.json gives a module tree', async ({ page }) => {
    const text = run('map', EXAMPLE);
    const { module_tree: tree } = JSON.parse(text) as { module_tree: MapNode };
    const model = tree.children[0] ?? tree;
    await page.goto(EMPTY_PAGE);
    await expect(page.getByText('Nothing is open yet')).toBeVisible();
    await drop(page, 'any name.json', text);
    await expect(page.getByRole('tab', { name: 'Architecture' })).toHaveAttribute('aria-selected', 'true');
    await page.getByRole('tab', { name: 'Profiler' }).click();
    const row = page.getByRole('treegrid').getByRole('row').filter({ hasText: model.name }).first();
    await expect(row).toBeVisible();
    await expectText(row.locator('[data-column="gpu"]'), time(model.gpu_ns));
  });

  test('model_execution.json with the older keys alone gives one too', async ({ page }) => {
    const older = JSON.stringify({
      model: 'Old', device: 'cuda', mode: 'prefill',
      module_tree: {
        class: 'Model', instance: 0, dur_us: 20, seq: 0, ops: [],
        children: [{ class: 'Linear', instance: 1, dur_us: 12.5, seq: 0, children: [], ops: [{ op: 'aten::mm', dur_us: 3, seq: 0, gpu: 'gemm', gpu_dur_us: 40, gpu_role: 'gemm' }] }],
      },
      kernel_summary: { gemm: { count: 1, total_dur_us: 40, role: 'gemm' } }, stats: {},
    });
    await page.goto(at(EMPTY_PAGE, 'tab=profiler'));
    await drop(page, 'model_execution.json', older);
    await page.getByRole('tab', { name: 'Profiler' }).click();
    const row = page.getByRole('treegrid').getByRole('row').filter({ hasText: 'Linear_1' });
    await expectText(row.locator('[data-column="gpu"]'), '40.00 µs');
    await expectText(row.locator('[data-column="cpu"]'), '12.50 µs');
  });

  test('per_request_profiles.json gives a column a request', async ({ page }) => {
    const trace = sharedTrace('cpu/hf_qwen3_tiny_generate_stack.json.gz');
    test.skip(trace === null, 'the shared traces are not beside the repository');
    const folder = scratchFolder();
    copyFileSync(trace ?? '', join(folder, 'fast.json.gz'));
    copyFileSync(sharedTrace('cpu/hf_qwen3moe_tiny_generate_stack.json.gz') ?? '', join(folder, 'slow.json.gz'));
    writeFileSync(
      join(folder, 'request_metadata.json'),
      JSON.stringify({
        schema: 'layerscope/requests/1', model: 'm', engine: 'e', mode: 'eager',
        requests: [
          { file: 'fast.json.gz', label: 'Fast', percentile: 10, prompt_tokens: 8, output_tokens: 8, latency_ns: 1, source_index: 0 },
          { file: 'slow.json.gz', label: 'Slow', percentile: 90, prompt_tokens: 16, output_tokens: 8, latency_ns: 2, source_index: 1 },
        ],
      }),
    );
    run('requests', folder, '-o', join(folder, 'out.json'));
    const text = readFileSync(join(folder, 'out.json'), 'utf8');
    const { nodes } = JSON.parse(text) as { nodes: readonly { path: string; parent: number | null; gpu_ns: readonly (number | null)[] }[] };
    const root = nodes.find((node) => node.parent === null && node.gpu_ns[0] !== null);
    await page.goto(EMPTY_PAGE);
    await drop(page, 'out.json', text);
    await expect(page.getByRole('columnheader', { name: /Slow/ })).toContainText('p90');
    const row = page.getByRole('treegrid').getByRole('row').filter({ hasText: root?.path ?? '?' }).first();
    await expectText(row.locator('[data-column="col.0"]'), time(root?.gpu_ns[0] ?? 0));
    await page.getByRole('columnheader', { name: /Slow/ }).getByRole('button').click();
    await expect(page).toHaveURL(/request=1/);
  });

  test('anything else is refused by name, and what was open stays', async ({ page, example }) => {
    await page.goto(at(example.url, 'tab=profiler'));
    await expect(page.getByRole('treegrid')).toBeVisible();
    await drop(page, 'trace.json', '{"traceEvents": []}');
    await expect(page.getByRole('alert')).toContainText('trace.json: This is a trace.');
    await expect(page.getByRole('alert')).toContainText('layerscope view');
    await drop(page, 'x.json', '{');
    await expect(page.getByRole('alert')).toContainText('no JSON');
    await expect(page.getByRole('treegrid')).toBeVisible();
    await page.getByRole('button', { name: 'Dismiss' }).click();
    await expect(page.getByRole('alert')).toHaveCount(0);
  });
});

test('a trace without modules says how to record them', async ({ page }) => {
  const trace = sharedTrace('cpu/hf_qwen3_tiny_forward_nostack.json.gz');
  test.skip(trace === null, 'the shared traces are not beside the repository');
  const { startView } = await import('./program');
  const server = await startView(trace ?? '');
  try {
    await page.goto(at(server.url, 'tab=profiler'));
    await expect(page.getByText('This trace does not say which module ran what')).toBeVisible();
    await expect(page.getByText(/with_stack=True/).first()).toBeVisible();
  } finally {
    server.stop();
  }
});
