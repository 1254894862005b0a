import type { Locator, Page } from '@playwright/test';
import { time } from './figures';
import { at, expect, expectAccessible, expectText, plain, test } from './fixtures';
import { EXAMPLE, dataOf, reportOf, run } from './program';

interface Lane {
  readonly id: number;
  readonly kind: string;
}

interface Slice {
  readonly lane: number;
  readonly start_ns: number;
  readonly end_ns: number;
  readonly n: number;
  readonly pass: number | null;
  readonly layer: number | null;
}

interface Timeline {
  readonly from_ns: number;
  readonly to_ns: number;
  readonly lanes: readonly Lane[];
  readonly slices: readonly Slice[];
}

interface Range {
  readonly kind: string;
  readonly pass: number;
  readonly layer: number | null;
  readonly start_s: string;
  readonly end_s: string;
}

const TIMELINE = dataOf<Timeline>('timeline', EXAMPLE, '--bins', '1200');
const { ranges: RANGES } = dataOf<{ ranges: readonly Range[] }>('ranges', EXAMPLE);
const LANE_HEIGHT = 20;

function laneIndex(kind: string): number {
  return TIMELINE.lanes.findIndex((lane) => lane.kind === kind);
}

function sliceOf(kind: string, pass: number, layer: number | null): Slice {
  const lane = TIMELINE.lanes[laneIndex(kind)];
  const slice = TIMELINE.slices.find((one) => one.lane === lane?.id && one.pass === pass && one.layer === layer);
  if (slice === undefined) throw new Error(`no ${kind} ${pass} ${layer ?? ''}`);
  return slice;
}

function rangeOf(pass: number, layer: number | null): string {
  const range = RANGES.find((one) => one.kind === (layer === null ? 'pass' : 'layer') && one.pass === pass && one.layer === layer);
  if (range === undefined) throw new Error('no range');
  return `${range.start_s}  ${range.end_s}`;
}

function canvas(page: Page): Locator {
  return page.locator('.tl-area canvas');
}

/** Presses the middle of a slice, while the window is the whole run. */
async function press(page: Page, kind: string, slice: Slice): Promise<void> {
  const box = await canvas(page).boundingBox();
  if (box === null) throw new Error('no canvas');
  const middle = ((slice.start_ns + slice.end_ns) / 2 - TIMELINE.from_ns) / (TIMELINE.to_ns - TIMELINE.from_ns);
  await canvas(page).click({ position: { x: middle * box.width, y: (laneIndex(kind) + 0.5) * LANE_HEIGHT } });
}

async function open(page: Page, url: string, hash: string): Promise<void> {
  await page.goto(at(url, hash));
  await expect(canvas(page)).toBeVisible();
  await expect(page.locator('.tl-labels > div')).toHaveCount(TIMELINE.lanes.length);
}

test.beforeEach(async ({ context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
});

/** The window of the address, as the strip should say it. */
function windowIn(page: Page): string {
  const [, from, to] = /time\.window=(\d+)-(\d+)/.exec(page.url()) ?? [];
  return `${time(Number(from))} – ${time(Number(to))} (${time(Number(to) - Number(from))})`;
}

async function copied(page: Page): Promise<string> {
  return page.evaluate(() => navigator.clipboard.readText());
}

test('a click on a layer selects it, and the tabs follow', async ({ page, example }) => {
  await open(page, example.url, 'tab=architecture');
  await press(page, 'layers', sliceOf('layers', 0, 12));
  await expect(page).toHaveURL(/layer=12&pass=0/);
  await expect(page.locator('.arch')).toHaveAttribute('data-view', 'vLayer');
  await expect(page.locator('.arch-layer-head h2')).toContainText('Layer 12');
  await press(page, 'layers', sliceOf('layers', 0, 20));
  await expect(page.locator('.arch-layer-head h2')).toContainText('Layer 20');
  await press(page, 'passes', sliceOf('passes', 2, null));
  await expect(page).toHaveURL(/layer=20&pass=2/);
});

test('the copied range is the one of `ranges`', async ({ page, example }) => {
  await open(page, example.url, 'tab=architecture');
  await press(page, 'layers', sliceOf('layers', 0, 12));
  await page.getByRole('button', { name: 'Copy Perfetto range' }).click();
  await expect(page.getByText('Copied', { exact: false })).toContainText('pass 0, layer 12');
  expect(await copied(page)).toBe(rangeOf(0, 12));
  // A row that the verb prints holds the very text.
  expect(run('ranges', EXAMPLE, '--pass', '0', '--layers', '12')).toContain(await copied(page));
  await press(page, 'passes', sliceOf('passes', 3, null));
  await page.getByRole('button', { name: 'Copy Perfetto range' }).click();
  await expect(page.getByText('Copied', { exact: false })).toContainText('pass 3, layer 12');
  expect(await copied(page)).toBe(rangeOf(3, 12));
});

test('the wheel zooms, finer slices come, and the address keeps the window', async ({ page, example }) => {
  await open(page, example.url, 'tab=architecture');
  const asked = page.waitForRequest((request) => /timeline\?.*from=\d+ns/.test(request.url()));
  const box = await canvas(page).boundingBox();
  if (box === null) throw new Error('no canvas');
  await page.mouse.move(box.x + box.width / 2, box.y + 10);
  await page.keyboard.down('Control');
  for (let i = 0; i < 8; i += 1) await page.mouse.wheel(0, -120);
  await page.keyboard.up('Control');
  await asked;
  await expect(page.locator('.tl-detail')).toHaveAttribute('data-state', 'fine');
  // The address follows when the window rests.
  const range = page.locator('.tl-range');
  await expect.poll(async () => plain(await range.innerText()) === windowIn(page)).toBe(true);
  await page.reload();
  await expectText(range, windowIn(page));
  await page.getByRole('button', { name: 'Show the whole run' }).click();
  await expect(page.locator('.tl-range')).toContainText(time(TIMELINE.to_ns - TIMELINE.from_ns).replace(' ', '\u00a0'));
});

test('the window is that of the address, also where that changes later', async ({ page, example }) => {
  await open(page, example.url, 'tab=profiler&time.window=10000000-20000000');
  const range = page.locator('.tl-range');
  await expect(range).toContainText('10.00\u00a0ms – 20.00\u00a0ms');
  await page.evaluate(() => {
    location.hash = location.hash.replace('10000000-20000000', '30000000-40000000');
  });
  await expect(range).toContainText('30.00\u00a0ms – 40.00\u00a0ms');
  await page.goBack();
  await expect(range).toContainText('10.00\u00a0ms – 20.00\u00a0ms');
});

test('dragging moves the window, and a press in the overview does', async ({ page, example }) => {
  await open(page, example.url, 'tab=architecture&time.window=30000000-40000000');
  const box = await canvas(page).boundingBox();
  if (box === null) throw new Error('no canvas');
  await page.mouse.move(box.x + 600, box.y + 10);
  await page.mouse.down();
  await page.mouse.move(box.x + 600 - box.width / 2, box.y + 10, { steps: 4 });
  await page.mouse.up();
  await expect.poll(async () => plain(await page.locator('.tl-range').innerText())).toMatch(/^35\.\d+ ms – 45\.\d+ ms/);
  await page.locator('.tl-overview').click({ position: { x: 2, y: 10 } });
  await expect.poll(async () => plain(await page.locator('.tl-range').innerText())).toMatch(/^199\.0 µs/);
});

test('slices are walked by the keyboard, and say what they are', async ({ page, example }) => {
  await open(page, example.url, 'tab=architecture');
  const focus = page.locator('.tl-focus');
  await focus.focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowRight');
  await expect(focus).toHaveAttribute('aria-label', /^layer: layer \d+, type A, /);
  const said = (await focus.getAttribute('aria-label')) ?? '';
  const layer = Number(/layer (\d+),/.exec(said)?.[1]);
  await page.keyboard.press('+');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(new RegExp(`layer=${layer}&pass=\\d`));
  await page.keyboard.press('c');
  await expect(page.getByText('Copied', { exact: false })).toContainText(`layer ${layer}`);
  await page.keyboard.press('0');
  await expect(page.locator('.tl-range')).toContainText(time(TIMELINE.to_ns - TIMELINE.from_ns).replace(' ', '\u00a0'));
});

test('the pointer reads a slice, and the strip closes', async ({ page, example }) => {
  await open(page, example.url, 'tab=profiler');
  const slice = sliceOf('layers', 0, 5);
  const box = await canvas(page).boundingBox();
  if (box === null) throw new Error('no canvas');
  const middle = ((slice.start_ns + slice.end_ns) / 2 - TIMELINE.from_ns) / (TIMELINE.to_ns - TIMELINE.from_ns);
  await canvas(page).hover({ position: { x: middle * box.width, y: (laneIndex('layers') + 0.5) * LANE_HEIGHT } });
  const tip = page.getByRole('tooltip');
  await expect(tip).toContainText('layer 5, type A');
  await expect(tip).toContainText(time(slice.end_ns - slice.start_ns));
  await expect(tip).toContainText('evidence');
  await page.getByRole('button', { name: 'Timeline', exact: false }).first().click();
  await expect(canvas(page)).toHaveCount(0);
  await page.reload();
  await expect(page.getByRole('button', { name: 'Timeline', exact: false }).first()).toHaveAttribute('aria-expanded', 'false');
});

test('a report shows what it holds and says that there is nothing finer', async ({ page }) => {
  await page.goto(`${reportOf(EXAMPLE)}#tab=architecture&time.window=30000000-31000000`);
  await expect(canvas(page)).toBeVisible();
  await expect(page.locator('.tl-detail')).toContainText('this report holds no finer ones');
});

test('the strip has no serious fault of accessibility', async ({ page, example }) => {
  test.slow();
  for (const theme of ['light', 'dark']) {
    await page.goto('about:blank');
    await open(page, example.url, `tab=architecture&theme=${theme}&layer=3&pass=0`);
    await expectAccessible(page);
  }
});
