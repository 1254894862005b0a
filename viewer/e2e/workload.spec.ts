import { readFileSync } from 'node:fs';
import type { Download, Locator, Page } from '@playwright/test';
import { time } from './figures';
import { at, expect, expectAccessible, expectText, plain, test } from './fixtures';
import { sharedTrace } from './program';
import {
  HOSTILE,
  benchFile,
  emptyPage,
  pageWith,
  plainBenchFile,
  workloadOf,
  type Request,
  type Statistics,
  type WorkloadDocument,
} from './workload_document';

const QUANTITIES = ['ttft', 'tpot', 'itl', 'e2e', 'queue'] as const;
const STATISTICS = ['mean', 'std', 'p50', 'p90', 'p95', 'p99'] as const;

function exact(ns: number): string {
  return `${ns.toLocaleString('en-US')} ns`;
}

function panel(page: Page, area: string): Locator {
  return page.locator(`[data-panel=${area}]`);
}

/** Row of a request in the table, which must be in view. */
function rowOf(page: Page, index: number): Locator {
  return panel(page, 'table').locator('tbody tr', { has: page.getByText(`#${index}`, { exact: true }) });
}

async function open(page: Page, url: string, hash = ''): Promise<void> {
  await page.goto(at(url, `tab=workload${hash === '' ? '' : `&${hash}`}`));
  await expect(panel(page, 'table').locator('tbody tr').first()).toBeVisible();
}

async function state(page: Page): Promise<string> {
  return plain(await page.getByTestId('selection-state').innerText());
}

/** `{input: [low, high], …}` as the address has it. */
function rangesIn(page: Page): Record<string, [number, number]> {
  const text = new URLSearchParams(new URL(page.url()).hash.slice(1)).get('work.ranges') ?? '';
  return Object.fromEntries(
    text
      .split(',')
      .filter((part) => part !== '')
      .map((part) => {
        const [name = '', ends = ''] = part.split(':');
        const [low, high] = ends.split('..').map(Number);
        return [name, [low ?? 0, high ?? 0]];
      }),
  );
}

/** Presses in a plot and draws to another point; both in parts of its size. */
async function drag(page: Page, plot: Locator, from: [number, number], to: [number, number]): Promise<void> {
  await plot.scrollIntoViewIfNeeded();
  const box = await plot.boundingBox();
  if (box === null) throw new Error('the plot is not there');
  await page.mouse.move(box.x + box.width * from[0], box.y + box.height * from[1]);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * (from[0] + to[0]) * 0.5, box.y + box.height * (from[1] + to[1]) * 0.5);
  await page.mouse.move(box.x + box.width * to[0], box.y + box.height * to[1]);
  await page.mouse.up();
}

function within(value: number | null, range: readonly [number, number] | undefined): boolean {
  return range === undefined || (value !== null && value >= range[0] && value <= range[1]);
}

async function csvOf(download: Download): Promise<string[][]> {
  const text = readFileSync(await download.path(), 'utf8');
  return text
    .trimEnd()
    .split('\r\n')
    .map((line) => line.split(','));
}

async function downloadCsv(page: Page, name: RegExp): Promise<string[][]> {
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    panel(page, 'table').getByRole('button', { name }).click(),
  ]);
  return csvOf(download);
}

/** The real benchmark of twenty requests and the metrics of its server, or as many made ones. */
function twenty(): { url: string; document: WorkloadDocument; real: boolean } {
  const bench = sharedTrace('cpu/vllm_bench_random20.json');
  const metrics = sharedTrace('cpu/vllm_metrics.txt');
  if (bench === null || metrics === null) {
    console.warn('../shared/traces is not there: the tests run on a made benchmark');
    const { document } = workloadOf('--bench', benchFile(20));
    return { url: pageWith(document), document, real: false };
  }
  const { document } = workloadOf('--bench', bench, '--prometheus', metrics);
  return { url: pageWith(document), document, real: true };
}

const TWENTY = twenty();

test.describe('figures on the screen', () => {
  test('are those of the document: the run in one line', async ({ page }) => {
    const { summary, concurrency } = TWENTY.document;
    await open(page, TWENTY.url);
    const run = page.locator('.wl-kpis');
    await expect(run).toContainText(`Completed${Number(summary.completed)}`);
    await expect(run).toContainText(`Failed${Number(summary.failed)}`);
    await expect(run).toContainText(time(Number(summary.duration_ns)));
    const peak = Math.max(...concurrency.map(({ n }) => n));
    await expect(run).toContainText(`Peak in flight${peak}`);
    for (const key of ['request_throughput_per_s', 'output_token_throughput_per_s']) {
      const value = Number(summary[key]);
      await expect(run.locator(`[title^="${value} "]`)).toContainText(value.toPrecision(4));
    }
  });

  test('are those of the document: every percentile', async ({ page }) => {
    await open(page, TWENTY.url);
    for (const quantity of QUANTITIES) {
      const figures = TWENTY.document.summary[quantity] as Statistics | null;
      const cells = panel(page, 'percentiles').locator(`[data-quantity=${quantity}] tr[data-set=requests] td`);
      for (const [i, statistic] of STATISTICS.entries()) {
        const value = figures?.[`${statistic}_ns`] ?? null;
        const cell = cells.nth(i);
        if (value === null) {
          await expect(cell).toHaveText('–');
          continue;
        }
        await expectText(cell, time(value));
        expect(plain(await cell.getAttribute('title'))).toContain(exact(value));
      }
    }
  });

  test('are those of the document: every request', async ({ page }) => {
    await open(page, TWENTY.url);
    const columns = ['start_ns', 'queue_ns', 'ttft_ns', 'tpot_ns', 'decode_ns', 'e2e_ns'] as const;
    for (const request of TWENTY.document.requests) {
      const row = rowOf(page, request.index);
      await row.scrollIntoViewIfNeeded();
      const cells = (await row.locator('td').allInnerTexts()).map(plain);
      const expected = columns.map((key) => {
        const value = request[key];
        return value === null ? '–' : time(value);
      });
      expect(cells.slice(2, 8)).toEqual(expected);
      expect(cells.slice(8, 10)).toEqual([String(request.input_tokens), String(request.output_tokens)]);
    }
  });

  test('are those of the document: the queue threshold and how many lie on each side', async ({ page }) => {
    const { queue_threshold_ns: threshold, requests } = TWENTY.document;
    await open(page, TWENTY.url);
    const legend = page.getByRole('list', { name: 'Colours of the points' });
    if (threshold === null) {
      await expect(legend).toContainText('No queue threshold');
      return;
    }
    const above = requests.filter(({ ok, ttft_ns }) => ok && (ttft_ns ?? 0) > threshold).length;
    await expect(legend.locator('[data-class=queued]')).toHaveText(new RegExp(`^TTFT > ${time(threshold).replace(' ', '\\s')}\\s*${above}$`));
  });

  test('are those of the server', async ({ page }) => {
    test.skip(!TWENTY.real, 'the made benchmark has no server');
    // As `vllm_metrics.txt` has them.
    const metrics = readFileSync(sharedTrace('cpu/vllm_metrics.txt') ?? '', 'utf8');
    const value = (name: string): number => Number(new RegExp(`^${name}\\{[^}]*\\} (\\S+)$`, 'm').exec(metrics)?.[1]);
    await open(page, TWENTY.url);
    const figure = (id: string): Locator => panel(page, 'server').locator(`[data-figure=${id}] dd`);
    await expect(panel(page, 'server').locator('h4')).toHaveText(['tinyqwen3 · engine 0']);
    await expect(figure('prompt')).toHaveText(String(value('vllm:prompt_tokens_total')));
    await expect(figure('generation')).toHaveText(String(value('vllm:generation_tokens_total')));
    await expect(figure('preemptions')).toHaveText(String(value('vllm:num_preemptions_total')));
    await expect(figure('prefix')).toContainText(`${value('vllm:prefix_cache_hits_total')} of 641`);
    await expect(figure('kv')).toContainText('0.0 %');
  });
});

test.describe('selection', () => {
  function expectedCount(test_: (request: Request) => boolean): number {
    return TWENTY.document.requests.filter(test_).length;
  }

  test('a brush in a scatter plot selects everywhere, Escape takes it back', async ({ page }) => {
    await open(page, TWENTY.url);
    await drag(page, page.locator('[data-plot="Time to first token by input length"]'), [0.2, 0.1], [0.95, 0.6]);
    await expect.poll(() => Object.keys(rangesIn(page))).toEqual(['input', 'ttft']);
    const { input, ttft } = rangesIn(page);
    const inside = (request: Request): boolean => within(request.input_tokens, input) && within(request.ttft_ns, ttft);
    const count = expectedCount(inside);
    expect(count).toBeGreaterThan(0);
    expect(count).toBeLessThan(TWENTY.document.requests.length);
    await expect.poll(() => state(page)).toBe(`${count} selected of 20 requests`);
    await expect(panel(page, 'table').locator('tr.wl-marked')).toHaveCount(count);
    // The other plots dim what is not selected.
    await expect(page.locator('.wl-gantt .wl-behind')).toHaveCount(1);
    await expect(panel(page, 'decode').locator('.wl-behind')).toHaveCount(1);
    const chosen = TWENTY.document.requests.filter(inside).map(({ ttft_ns }) => ttft_ns ?? 0);
    const mean = chosen.reduce((sum, value) => sum + value, 0) / chosen.length;
    const cell = panel(page, 'percentiles').locator('[data-quantity=ttft] tr[data-set=selected] td').first();
    await expectText(cell, time(mean));
    await page.keyboard.press('Escape');
    await expect.poll(() => state(page)).toBe('20 requests');
    await expect.poll(() => rangesIn(page)).toEqual({});
  });

  test('a brush over time selects what was in flight, in both charts', async ({ page }) => {
    await open(page, TWENTY.url);
    for (const plot of ['Concurrency', 'Requests']) {
      await drag(page, page.locator(`[data-plot=${plot}]`), [0.5, 0.5], [0.6, 0.6]);
      await expect.poll(() => rangesIn(page).time).toBeDefined();
      const time_ = rangesIn(page).time;
      const count = expectedCount(
        ({ start_ns: start, e2e_ns: length }) =>
          start !== null && time_ !== undefined && start <= time_[1] && start + (length ?? 0) >= time_[0],
      );
      await expect.poll(() => state(page)).toBe(`${count} selected of 20 requests`);
      await page.getByRole('button', { name: 'Clear', exact: true }).click();
      await expect.poll(() => rangesIn(page)).toEqual({});
    }
  });

  test('ranges can be typed instead of drawn', async ({ page }) => {
    await open(page, TWENTY.url);
    await page.getByLabel('TTFT from').fill('35 ms');
    await page.getByLabel('TTFT to').fill('0.05s');
    await page.keyboard.press('Enter');
    await expect.poll(() => rangesIn(page)).toEqual({ ttft: [35e6, 50e6] });
    const count = expectedCount(({ ttft_ns }) => within(ttft_ns, [35e6, 50e6]));
    await expect.poll(() => state(page)).toBe(`${count} selected of 20 requests`);
    await page.getByRole('button', { name: 'Clear TTFT' }).click();
    await expect.poll(() => state(page)).toBe('20 requests');
  });

  test('the filter of input tokens hides the others', async ({ page }) => {
    await open(page, TWENTY.url);
    const least = Math.min(...TWENTY.document.requests.map(({ input_tokens }) => input_tokens ?? Infinity));
    await page.getByLabel('Input tokens shown to').fill(String(least));
    await page.keyboard.press('Enter');
    const count = expectedCount(({ input_tokens }) => input_tokens === least);
    expect(count).toBeLessThan(20);
    await expect.poll(() => state(page)).toBe(`${count} of 20 requests`);
    await expect(panel(page, 'table').locator('tbody tr[data-row]')).toHaveCount(count);
  });
});

test.describe('one request', () => {
  test('is chosen by the keyboard in a plot, its row comes into view, and the address keeps it', async ({ page }) => {
    await open(page, TWENTY.url);
    const plot = page.locator('[data-plot=Requests]');
    await plot.focus();
    await page.keyboard.press('End');
    await page.keyboard.press('Enter');
    const starts = TWENTY.document.requests.map(({ start_ns }) => start_ns ?? 0);
    const last = starts.lastIndexOf(Math.max(...starts));
    await expect(page).toHaveURL(new RegExp(`request=${last}(&|$)`));
    await page.reload();
    const detail = panel(page, 'request');
    await expect(detail.getByRole('heading')).toHaveText(`Request #${last}`);
    const request = TWENTY.document.requests[last];
    for (const fact of ['start_ns', 'ttft_ns', 'e2e_ns'] as const) {
      expect(plain(await detail.locator(`[data-fact=${fact}] dd`).getAttribute('title'))).toBe(exact(request?.[fact] ?? 0));
    }
    await expect(rowOf(page, last)).toHaveAttribute('aria-selected', 'true');
    await detail.getByRole('button', { name: 'Previous request' }).click();
    await expect(detail.getByRole('heading')).toHaveText(`Request #${last - 1}`);
    await detail.getByRole('button', { name: 'Close the request' }).click();
    await expect(page).not.toHaveURL(/request=/);
  });

  test('is chosen by a click on its point', async ({ page }) => {
    await open(page, TWENTY.url);
    const plot = page.locator('[data-plot="Decode time by output length"]');
    await plot.focus();
    await page.keyboard.press('Home');
    const point = plot.locator('.wl-pointed');
    await expect(page.getByRole('tooltip')).toContainText('Decode');
    const box = await point.boundingBox();
    if (box === null) throw new Error('no point');
    await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
    await expect(page).toHaveURL(/request=\d+/);
    await expect(panel(page, 'request').getByRole('heading')).toHaveText(/^Request #\d+$/);
  });
});

test.describe('the table', () => {
  test('sorts, takes the keyboard, and is saved with the exact numbers', async ({ page }) => {
    await open(page, TWENTY.url);
    const table = panel(page, 'table');
    await table.getByRole('button', { name: /^TTFT/ }).click();
    await expect(page).toHaveURL(/work\.sort=-ttft_ns/);
    const slowest = [...TWENTY.document.requests].sort((a, b) => (b.ttft_ns ?? 0) - (a.ttft_ns ?? 0));
    await expect(table.locator('tbody tr[data-row="0"] td').first()).toHaveText(`#${slowest[0]?.index ?? ''}`);
    await table.locator('tbody tr[data-row="0"]').focus();
    await page.keyboard.press('ArrowDown');
    await expect(table.locator('tbody tr[data-row="1"]')).toBeFocused();
    await page.keyboard.press('Enter');
    await expect(page).toHaveURL(new RegExp(`request=${slowest[1]?.index ?? ''}(&|$)`));
    const rows = await downloadCsv(page, /^Download all/);
    const head = rows[0] ?? [];
    expect(rows).toHaveLength(21);
    for (const [i, request] of slowest.entries()) {
      const row = rows[i + 1] ?? [];
      for (const key of ['index', 'start_ns', 'ttft_ns', 'tpot_ns', 'decode_ns', 'e2e_ns', 'input_tokens'] as const) {
        expect(row[head.indexOf(key)]).toBe(String(request[key] ?? ''));
      }
    }
  });

  test('saves the selected requests alone', async ({ page }) => {
    await open(page, TWENTY.url, 'work.ranges=ttft:0..40000000');
    const rows = await downloadCsv(page, /^Download selected/);
    const expected = TWENTY.document.requests.filter(({ ttft_ns }) => within(ttft_ns, [0, 40e6]));
    expect(rows.slice(1).map((row) => row[0])).toEqual(expected.map(({ index }) => String(index)));
  });
});

test.describe('what a benchmark may hold or lack', () => {
  test('failed requests show their error as text, whatever it is', async ({ page }) => {
    const { document } = workloadOf('--bench', benchFile(200));
    const failed = document.requests.find(({ ok }) => !ok);
    expect(failed?.error).toBe(HOSTILE);
    await open(page, pageWith(document), `request=${failed?.index ?? 0}`);
    const error = page.getByRole('region', { name: 'Error of the request' });
    await expect(error).toContainText('<img src=x onerror=');
    await expect(error).toContainText('\\u202eright to left␀␛[31m');
    await expect(page.locator('img')).toHaveCount(0);
    expect(await page.title()).not.toBe('owned');
    await expect(page.getByRole('list', { name: 'Colours of the points' })).toContainText('Failed');
    const rows = await downloadCsv(page, /^Download all/);
    expect(rows.flat().some((cell) => cell.startsWith('=') || cell.startsWith('"='))).toBe(false);
  });

  test('without single requests it says how to record them, without metrics how to read them', async ({ page }) => {
    const { document } = workloadOf('--bench', plainBenchFile());
    await page.goto(at(pageWith(document), 'tab=workload'));
    await expect(page.getByText('vllm bench serve … --save-result --save-detailed')).toBeVisible();
    await expect(panel(page, 'server')).toContainText('/metrics');
    const cells = panel(page, 'percentiles').locator('[data-quantity=ttft] td');
    await expectText(cells, ['20.00 ms', '3.000 ms', '19.00 ms', '–', '–', '31.00 ms']);
    await expectAccessible(page);
  });

  test('the file itself can be opened', async ({ page }) => {
    const { path } = workloadOf('--bench', benchFile(30));
    await page.goto(emptyPage());
    await page.locator('input[type=file]').first().setInputFiles(path);
    await expect(page.getByTestId('selection-state')).toHaveText('30 requests');
    await expect(page.getByRole('tab', { name: 'Workload' })).toHaveAttribute('aria-selected', 'true');
  });
});

test.describe('for everyone', () => {
  for (const theme of ['light', 'dark']) {
    test(`has no serious fault of accessibility, ${theme}`, async ({ page }) => {
      await open(page, TWENTY.url, `theme=${theme}&request=3&work.ranges=ttft:0..40000000`);
      await expectAccessible(page);
    });
  }

  test('draws in other colours when it is dark', async ({ page }) => {
    const color = (): Promise<string> =>
      page.evaluate(() => getComputedStyle(document.documentElement).getPropertyValue('--wl-direct'));
    await open(page, TWENTY.url, 'theme=light');
    const light = await color();
    await page.getByRole('button', { name: 'Dark' }).click();
    await expect.poll(color).not.toBe(light);
  });

  test('holds on a narrow screen without scrolling sideways', async ({ page }) => {
    await page.setViewportSize({ width: 820, height: 900 });
    await open(page, TWENTY.url);
    const wide = await page.evaluate(() => {
      const main = document.querySelector('.main:not([hidden])');
      return main === null ? -1 : main.scrollWidth - main.clientWidth;
    });
    expect(wide).toBe(0);
  });
});
