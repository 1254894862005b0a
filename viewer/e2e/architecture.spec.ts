import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from '@playwright/test';
import { percent, time } from './figures';
import { at, expect, expectAccessible, expectText, plain, test } from './fixtures';
import { EXAMPLE, run, scratchFolder, startView } from './program';

interface Op {
  readonly op: string;
  readonly seq: number;
  readonly dims?: string;
  readonly gpu_ns: number;
  readonly cpu_ns: number;
  readonly all_layer_gpu_ns?: readonly number[];
  readonly gpu_kernels?: readonly { name: string; gpu_ns: number; longest_run?: { grid?: string; stream?: number; launch?: string } }[];
  readonly sub_ops?: readonly Op[];
}

interface Module {
  readonly class: string;
  readonly path: string;
  readonly gpu_ns: number;
  readonly cpu_ns: number;
  readonly repeat?: number;
  readonly members?: readonly string[];
  readonly all_layer_gpu_ns?: readonly number[];
  readonly children: readonly Module[];
  readonly ops: readonly Op[];
}

interface Map {
  readonly module_tree: Module;
  readonly per_layer: readonly { index: number; gpu_ns: number; cpu_ns: number; kernels: number; path: string }[];
  readonly pre_model_ops: readonly Op[];
  readonly stats: { readonly total_gpu_ns: number };
}

const MAP = JSON.parse(run('map', EXAMPLE)) as Map;

function below(module: Module, ...classes: readonly string[]): Module {
  return classes.reduce((node, name) => {
    const child = node.children.find((one) => one.class === name);
    if (child === undefined) throw new Error(`no ${name} in ${node.path}`);
    return child;
  }, module);
}

const MODEL = below(MAP.module_tree, 'Qwen3ForCausalLM');
const FOLD = below(MODEL, 'Qwen3DecoderLayer');
const ATTENTION = below(FOLD, 'Qwen3Attention');
const QKV = below(ATTENTION, 'QKVParallelLinear');

function opOf(module: Module, name: string): Op {
  const op = module.ops.find((one) => one.op === name);
  if (op === undefined) throw new Error(`no ${name}`);
  return op;
}

const LINEAR = opOf(QKV, 'aten::linear');

function block(page: Page, name: string, level?: number): Locator {
  const at = level === undefined ? '' : `[aria-level="${level}"]`;
  return page.locator(`[role=treeitem]${at}`).filter({ has: page.locator('> .arch-block .arch-face-title strong', { hasText: new RegExp(`^${name}$`) }) });
}

/** Time and share that stand in a block. */
function figures(of: Locator): Locator {
  return of.locator('> .arch-block .arch-num');
}

async function open(page: Page, url: string, hash = 'tab=architecture'): Promise<void> {
  await page.goto(at(url, hash));
  await expect(page.locator('.arch')).toBeVisible();
}

async function expectView(page: Page, name: string): Promise<void> {
  await expect(page.locator('.arch')).toHaveAttribute('data-view', name);
}

test.describe('the drill-down', () => {
  test('shows the figures of the map, from vTop to vStep', async ({ page, example }) => {
    const total = MAP.stats.total_gpu_ns;
    await open(page, example.url);
    await expectView(page, 'vTop');
    for (const [name, module] of [['Qwen3ForCausalLM', MODEL], ['Qwen3DecoderLayer', FOLD], ['Qwen3Attention', ATTENTION], ['LogitsProcessor', below(MAP.module_tree, 'LogitsProcessor')]] as const) {
      await expectText(figures(block(page, name)), [time(module.gpu_ns), percent(module.gpu_ns, total), time(module.cpu_ns)]);
    }
    await expectText(figures(block(page, 'before the model')).first(), time(MAP.pre_model_ops.reduce((sum, op) => sum + op.gpu_ns, 0)));
    await expect(block(page, 'Qwen3DecoderLayer').locator('> .arch-block .arch-times')).toHaveText('×36');

    await block(page, 'Qwen3Attention').locator('> .arch-block').click();
    await expectView(page, 'vMod');
    await expectText(figures(block(page, 'QKVParallelLinear')), [time(QKV.gpu_ns), percent(QKV.gpu_ns, ATTENTION.gpu_ns), time(QKV.cpu_ns)]);
    const rail = page.getByRole('listbox', { name: 'Layers' }).getByRole('option');
    const bars = page.locator('.arch-rail-value');
    await expectText(bars, (ATTENTION.all_layer_gpu_ns ?? []).slice(0, await bars.count()).map(time));

    await page.getByRole('navigation', { name: 'Where you are in the model' }).getByRole('button', { name: 'Whole model' }).click();
    await rail.nth(7).click();
    await expectView(page, 'vLayer');
    const layer = MAP.per_layer[7];
    if (layer === undefined) throw new Error('no layer 7');
    const cards = page.locator('.arch-cards .arch-card strong');
    await expectText(cards.nth(0), time(layer.gpu_ns));
    await expectText(cards.nth(1), time(layer.cpu_ns));
    await expectText(cards.nth(2), String(layer.kernels));
    const row = page.locator('tr.arch-row-op', { hasText: 'aten::linear' }).first();
    await expectText(row.locator('td').nth(1), time(LINEAR.all_layer_gpu_ns?.[7] ?? -1));
    await expect(row).toContainText(LINEAR.dims ?? '?');

    await row.click();
    await expectView(page, 'vStep');
    const values = [...(LINEAR.all_layer_gpu_ns ?? [])].sort((a, b) => a - b);
    const sum = values.reduce((all, ns) => all + ns, 0);
    expect(sum).toBe(LINEAR.gpu_ns);
    const said = page.getByRole('group', { name: 'Statistics' }).locator('strong');
    await expect.poll(async () => (await said.allInnerTexts()).slice(0, 5).map(plain)).toEqual([
      time(sum),
      time(Math.round(sum / values.length)),
      time(values[17] ?? 0),
      time(values[0] ?? 0),
      time(values[35] ?? 0),
    ]);
    const table = page.locator('[aria-label="Values by layer"]');
    const first = table.locator('tbody tr').first().locator('td');
    await expectText(first.nth(2), time(LINEAR.all_layer_gpu_ns?.[0] ?? -1));
  });

  test('goes back with Esc and with the browser', async ({ page, example }) => {
    await open(page, example.url);
    await block(page, 'Qwen3Attention').locator('> .arch-block').click();
    await block(page, 'QKVParallelLinear').locator('> .arch-block').click();
    await block(page, 'aten::linear').locator('> .arch-block').click();
    await expectView(page, 'vStep');
    await page.goBack();
    await expectView(page, 'vMod');
    await expect(block(page, 'aten::linear')).toBeVisible();
    await page.keyboard.press('Escape');
    await expect(block(page, 'QKVParallelLinear')).toBeFocused();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await expectView(page, 'vTop');
  });

  test('opens blocks inline and shows ops without time when asked', async ({ page, example }) => {
    await open(page, example.url);
    await block(page, 'Qwen2MLP').locator('> .arch-block .arch-caret').click();
    const mlp = below(FOLD, 'Qwen2MLP');
    await expectText(figures(block(page, 'MergedColumnParallelLinear')).first(), time(below(mlp, 'MergedColumnParallelLinear').gpu_ns));
    await expect(block(page, 'SiluAndMul')).toHaveAttribute('aria-level', '4');
    await block(page, 'before the model').locator('> .arch-block .arch-caret').click();
    await page.getByRole('treeitem', { name: /^1? ?op/ }).first().isVisible();
    await expect(block(page, 'aten::copy_').first()).toBeVisible();
  });
});

test('a deep link leads to the same place after a reload', async ({ page, example }) => {
  await open(page, example.url);
  await block(page, 'Qwen3Attention').locator('> .arch-block').click();
  await page.getByRole('listbox', { name: 'Layers' }).getByRole('option').nth(3).click();
  await expect(page).toHaveURL(/module=Qwen3ForCausalLM_0.Qwen3DecoderLayer_3.Qwen3Attention_3&layer=3/);
  await block(page, 'QKVParallelLinear').locator('> .arch-block').click();
  const check = async (): Promise<void> => {
    await expectView(page, 'vMod');
    await expect(page.locator('.arch-crumbs')).toContainText('layer 3');
    await expectText(figures(block(page, 'aten::linear')).first(), time(LINEAR.all_layer_gpu_ns?.[3] ?? -1));
  };
  await check();
  await page.reload();
  await check();
});

test('a module and a layer that were chosen elsewhere are followed', async ({ page, example }) => {
  await open(page, example.url, 'tab=architecture&module=Qwen3ForCausalLM_0.Qwen3DecoderLayer_9.Qwen2MLP_9');
  await expectView(page, 'vMod');
  await expect(page.locator('.arch-crumbs')).toContainText('Qwen2MLP');
  await expect(page.locator('.arch-crumbs')).toContainText('layer 9');
  await page.getByRole('button', { name: 'Show in the Profiler' }).click();
  await expect(page).toHaveURL(/tab=profiler&module=Qwen3ForCausalLM_0.Qwen3DecoderLayer_9.Qwen2MLP_9/);
});

test.describe('the kernel chain', () => {
  test('stands beside what the pointer and the focus are on', async ({ page, example }) => {
    await open(page, example.url);
    const details = page.getByRole('complementary', { name: 'Details' });
    await block(page, 'RMSNorm').first().locator('> .arch-block').hover();
    await expect(details.getByRole('region', { name: 'Kernel chain' })).toContainText('_C::fused_add_rms_norm');
    await block(page, 'Qwen3Attention').focus();
    await expect(details).toContainText(ATTENTION.path);
    await expect(details).toContainText('launch correlation');
  });

  test('leads from the op over the launch to the kernel, and says what is unknown', async ({ page, example }) => {
    await open(page, example.url);
    await block(page, 'LogitsProcessor').locator('> .arch-block').hover();
    const chain = page.getByRole('region', { name: 'Kernel chain' });
    for (const name of ['aten::linear', 'aten::matmul', 'aten::mm', 'nvjet_tst_192x8_64x8_4x1_v_bz_TNT']) await expect(chain).toContainText(name);
    const mm = below(MAP.module_tree, 'LogitsProcessor').ops[0]?.sub_ops?.[1]?.sub_ops?.[0];
    const longest = mm?.gpu_kernels?.[0]?.longest_run;
    await expect(chain).toContainText(longest?.launch ?? 'name unknown');
    await expect(chain).toContainText(longest?.grid ?? 'unknown');
  });
});

test('blocks are walked by the keyboard alone', async ({ page, example }) => {
  await open(page, example.url);
  await block(page, 'before the model').focus();
  await page.keyboard.press('ArrowDown');
  await expect(block(page, 'Qwen3ForCausalLM')).toBeFocused();
  await page.keyboard.press('ArrowRight');
  await expect(block(page, 'VocabParallelEmbedding')).toBeFocused();
  await page.keyboard.press('ArrowRight');
  await expect(block(page, 'VocabParallelEmbedding')).toHaveAttribute('aria-expanded', 'true');
  await page.keyboard.press('ArrowLeft');
  await expect(block(page, 'VocabParallelEmbedding')).toHaveAttribute('aria-expanded', 'false');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await expectView(page, 'vMod');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await expect(page.locator('.arch-crumbs')).toContainText('Qwen3Attention');
  await page.getByRole('listbox', { name: 'Layers' }).getByRole('option').first().focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/layer=1/);
  await page.getByRole('listbox', { name: 'Layers' }).getByRole('option').nth(1).press('Escape');
  // The first one closes what the layer says of itself.
  await expect(page.locator('.tooltip')).toHaveCount(0);
  await expectView(page, 'vMod');
  await page.keyboard.press('Escape');
  await expectView(page, 'vLayer');
  await page.locator('tr.arch-row-op').first().focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Escape');
  await expectView(page, 'vLayer');
});

test('no view has a serious fault of accessibility', async ({ page, example }) => {
  test.slow();
  const fold = 'module=Qwen3ForCausalLM_0.Qwen3DecoderLayer_0..35';
  for (const place of ['', `&${fold}&arch.view=vMod&arch.node=0.0.1`, '&arch.view=vLayer&layer=4&module=Qwen3ForCausalLM_0.Qwen3DecoderLayer_4', `&${fold}.Qwen3Attention_0..35.QKVParallelLinear_0..35&arch.view=vStep&arch.node=0.0.1.1.0.0`]) {
    for (const theme of ['light', 'dark']) {
      await page.goto('about:blank');
      await open(page, example.url, `tab=architecture&theme=${theme}${place}`);
      await expect(page.locator('.arch-inspector')).toBeVisible();
      await expectAccessible(page);
    }
  }
});

/** Attention and Mamba in turn, as a trace of modules; four of each. */
function alternatingTrace(): string {
  const events: object[] = [];
  const span = (cat: string, name: string, ts: number, dur: number): void => {
    events.push({ ph: 'X', cat, name, pid: 1, tid: 1, ts, dur, args: {} });
  };
  span('python_function', 'nn.Module: Model_0', 0, 900);
  for (let i = 0; i < 8; i += 1) {
    const kind = i % 2 === 1 ? 'Mamba' : 'Attention';
    span('python_function', `nn.Module: ${kind}Layer_${Math.floor(i / 2)}`, 10 + i * 100, 90);
    span('python_function', `nn.Module: ${kind}_${Math.floor(i / 2)}`, 15 + i * 100, 80);
    span('cpu_op', 'op', 20 + i * 100, 50);
    events.push({ ph: 'X', cat: 'cuda_runtime', name: 'cudaLaunchKernel', pid: 1, tid: 1, ts: 22 + i * 100, dur: 2, args: { correlation: i + 1 } });
    events.push({ ph: 'X', cat: 'kernel', name: 'k', pid: 0, tid: 7, ts: 30 + i * 100, dur: 1 + i, args: { correlation: i + 1, device: 0, stream: 7, grid: [4, 1, 1], block: [128, 1, 1] } });
  }
  const path = join(scratchFolder(), 'alternating.json');
  writeFileSync(path, JSON.stringify({ traceEvents: events }));
  return path;
}

test('layer types that take turns are kept apart and coloured', async ({ page }) => {
  const server = await startView(alternatingTrace());
  try {
    await open(page, server.url);
    await expect(page.locator('.arch-pattern-head')).toContainText('(A B)×4');
    await expectText(page.locator('.arch-rail-row .arch-type'), ['A', 'B', 'A', 'B', 'A', 'B', 'A', 'B']);
    const colors = await page.locator('.arch-rail-bar > span').evaluateAll((bars) => bars.map((bar) => getComputedStyle(bar).backgroundColor));
    expect(new Set(colors).size).toBe(2);
    // 1, 3, 5 and 7 µs of attention.
    await expectText(figures(block(page, 'AttentionLayer')).first(), '16.00 µs');
    await page.getByRole('option', { name: /^layer 2,/ }).click();
    await expect(page.locator('.arch-cards .arch-card strong').first()).toHaveText(/^3.000.µs$/);
  } finally {
    server.stop();
  }
});

test('a document with the older keys alone opens, and says what it does not know', async ({ page, example }) => {
  const layer = { class: 'OldLayer', instance: 0, dur_us: 10, seq: 0, repeat: 3, per_layer_dur: [10, 20, 30], all_layer_durs: [10, 20, 30], children: [], ops: [{ op: 'aten::linear', dur_us: 8, seq: 0, all_layer_durs: [8, 9, 7], gpu: 'gemm_kernel', gpu_dur_us: 4.5 }] };
  const old = { model: 'Old', device: 'cuda', mode: 'prefill', iterations: 1, layers: 3, per_layer: [], pre_model_ops: [], post_model_ops: [], stats: {}, module_tree: { class: 'OldModel', instance: 0, dur_us: 60, children: [layer], ops: [] } };
  await open(page, example.url);
  await page.locator('input[type=file]').setInputFiles({ name: 'model_execution.json', mimeType: 'application/json', buffer: Buffer.from(JSON.stringify(old)) });
  await page.getByRole('tab', { name: 'Architecture' }).click();
  await expect(page.locator('.arch-note')).toContainText('older keys');
  // 10, 20 and 30 µs of the CPU.
  await expectText(figures(block(page, 'OldLayer')).first(), '60.00 µs');
  await page.getByRole('option', { name: /^layer 1,/ }).click();
  await expect(page.locator('tr.arch-row-op td').nth(1)).toHaveText(/^9.000.µs$/);
});
