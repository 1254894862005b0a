// @vitest-environment jsdom
import { render } from 'preact';
import { act } from 'preact/test-utils';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { NOTHING_SELECTED, params, select, selection, setParam, tab } from '../state/state';
import { fourRequests } from './fixture';
import { readWorkload } from './model';
import { WorkloadPage } from './workload_page';

class NoObserver {
  observe(): void {
    // jsdom lays nothing out, so no size ever changes.
  }
  disconnect(): void {
    // Nothing is observed.
  }
}

let place: HTMLElement;

async function show(document_: unknown): Promise<void> {
  const workload = readWorkload(document_);
  if (workload === null) throw new Error('no workload');
  await act(() => {
    render(<WorkloadPage workload={workload} />, place);
  });
}

beforeEach(() => {
  globalThis.ResizeObserver = NoObserver as unknown as typeof ResizeObserver;
  HTMLCanvasElement.prototype.getContext = (): null => null;
  selection.value = NOTHING_SELECTED;
  params.value = {};
  tab.value = 'workload';
  place = document.createElement('div');
  document.body.append(place);
});

afterEach(() => {
  render(null, place);
  place.remove();
});

function text(selector: string): string {
  return place.querySelector(selector)?.textContent ?? '';
}

describe('WorkloadPage', () => {
  it('shows the figures of the document', async () => {
    await show(fourRequests());
    expect(text('.wl-kpis')).toContain('290.0\u00a0ms');
    const row = place.querySelector('[data-quantity=ttft] tr');
    expect([...(row?.querySelectorAll('td') ?? [])].map((cell) => cell.getAttribute('title'))).toEqual([
      '20,000,000\u00a0ns', '8,164,966\u00a0ns', '20,000,000\u00a0ns', '28,000,000\u00a0ns', '29,000,000\u00a0ns', '29,800,000\u00a0ns',
    ]);
    expect(text('[data-class=queued]')).toBe('Queue time > 10.00\u00a0ms1');
  });

  it('shows an error as text, with nothing hidden in it', async () => {
    await show(fourRequests());
    await act(() => {
      select({ request: 3 });
    });
    expect(place.querySelector('img')).toBeNull();
    expect(text('.wl-error')).toBe('<img src=x onerror=alert(1)>\\u202e␀');
  });

  it('follows the ranges of the address, and Escape takes them back', async () => {
    setParam('work.ranges', 'ttft:15000000..30000000');
    await show(fourRequests());
    expect(text('[data-testid=selection-state]')).toBe('2 selected of 4 requests');
    expect(text('[data-quantity=ttft] [data-set=selected]')).toContain('25.00\u00a0ms');
    await act(() => {
      window.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape' }));
    });
    expect(params.value).toEqual({});
    expect(text('[data-testid=selection-state]')).toBe('4 requests');
  });

  it('filters by input tokens', async () => {
    setParam('work.filter', 'input:150..250');
    await show(fourRequests());
    expect(text('[data-testid=selection-state]')).toBe('1 of 4 requests');
    expect(place.querySelectorAll('.wl-requests tbody tr[data-row]')).toHaveLength(1);
  });

  it('says which option records single requests when there are none', async () => {
    const summaryOnly = { ...(fourRequests() as object), requests: [], concurrency: [] };
    await show(summaryOnly);
    expect(text('.wl-area-missing')).toContain('--save-detailed');
    expect(place.querySelector('canvas')).toBeNull();
    expect(text('[data-panel=server]')).toContain('/metrics');
  });
});
