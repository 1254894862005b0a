import { describe, expect, it } from 'vitest';
import type { TimelineLane, TimelineSlice } from '../data/analyses';
import { detailOf, finest, remember, wanted } from './detail';
import { firstEndingAfter, isOfSelection, lanePlaces, lanesOf, sliceAt, stepFrom } from './lanes';
import { marksOf } from './marks';
import { rangeText, secondsText } from './range';
import { axisOf, clampTo, panBy, reveal, zoomAt } from './viewport';

function slice(start_ns: number, end_ns: number, more: Partial<TimelineSlice> = {}): TimelineSlice {
  return {
    lane: 0,
    start_ns,
    end_ns,
    n: 1,
    busy_ns: end_ns - start_ns,
    name: 'k',
    pass: null,
    layer: null,
    category: null,
    evidence: null,
    ...more,
  };
}

function lane(id: number, kind: TimelineLane['kind'], device: number | null = 0): TimelineLane {
  return { id, kind, device, stream: null, rank: null, pid: null, name: kind };
}

const WHOLE = { from: 0, to: 1_000_000 };

describe('the window', () => {
  it('zooms around a time and stays inside the run', () => {
    expect(zoomAt(WHOLE, 0.5, 250_000, WHOLE)).toEqual({ from: 125_000, to: 625_000 });
    expect(zoomAt({ from: 0, to: 500_000 }, 4, 0, WHOLE)).toEqual(WHOLE);
    expect(zoomAt({ from: 10, to: 300 }, 0.001, 100, WHOLE).to - zoomAt({ from: 10, to: 300 }, 0.001, 100, WHOLE).from).toBe(200);
    expect(panBy({ from: 0, to: 100_000 }, -5, WHOLE)).toEqual({ from: 0, to: 100_000 });
    expect(clampTo({ from: 950_000, to: 1_050_000 }, WHOLE)).toEqual({ from: 900_000, to: 1_000_000 });
  });

  it('moves no more than needed to show a slice', () => {
    const view = { from: 100_000, to: 200_000 };
    expect(reveal(view, { from: 120_000, to: 130_000 }, WHOLE)).toBe(view);
    expect(reveal(view, { from: 300_000, to: 320_000 }, WHOLE)).toEqual({ from: 260_000, to: 360_000 });
  });

  it('has round ticks', () => {
    const axis = axisOf({ from: 0, to: 92_771_519 }, 10);
    expect(axis.ticks).toEqual([
      0, 10_000_000, 20_000_000, 30_000_000, 40_000_000, 50_000_000, 60_000_000, 70_000_000, 80_000_000, 90_000_000,
    ]);
    expect(axis.text(20_000_000)).toBe('20\u00a0ms');
    const narrow = axisOf({ from: 92_000_000, to: 92_000_900 }, 4);
    expect(narrow.ticks.map(narrow.text)).toEqual(['92.0000', '92.0005'].map((text) => `${text}\u00a0ms`));
  });
});

describe('the copied range', () => {
  it('is what `layerscope ranges` prints for the example', () => {
    expect(rangeText(411_840, 1_912_385)).toBe('0.000411840  0.001912385');
    expect(secondsText(12_345_678_901)).toBe('12.345678901');
    expect(secondsText(-1)).toBe('-0.000000001');
  });
});

describe('lanes', () => {
  const lanes = lanesOf({
    lanes: [lane(0, 'stream', 1), lane(1, 'steps'), lane(2, 'stream')],
    slices: [slice(0, 10, { lane: 2 }), slice(20, 40, { lane: 2, n: 2, busy_ns: 5 }), slice(50, 60, { lane: 2 })],
  });

  it('stand in the order of the answer', () => {
    expect(lanes.map((entry) => entry.lane.id)).toEqual([0, 1, 2]);
  });

  it('say rank, process and device where they differ, so that no two labels are alike', () => {
    const of = (...places: readonly Partial<TimelineLane>[]): readonly string[] =>
      lanePlaces(places.map((place, id) => ({ ...lane(id, 'stream', null), ...place })));
    expect(of({ device: 0 }, { device: 1 }, {})).toEqual(['dev 0', 'dev 1', '']);
    expect(of({ device: 0 }, { device: 0 }, {})).toEqual(['', '', '']);
    expect(of({ rank: 0, pid: 148, device: 0 }, { rank: 1, pid: 149, device: 0 })).toEqual(['rank 0', 'rank 1']);
    expect(of({ pid: 148, device: 0 }, { pid: 149, device: 1 })).toEqual(['pid 148 dev 0', 'pid 149 dev 1']);
    expect(of({ rank: 0, pid: 1 }, { rank: 1, pid: 2 }, { pid: 3 })).toEqual(['rank 0 pid 1', 'rank 1 pid 2', 'pid 3']);
  });

  it('step on from a slice that finer ones took the place of', () => {
    const fine = [slice(0, 10), slice(20, 25), slice(30, 35), slice(50, 60)];
    const coarse = slice(20, 40, { n: 2 });
    expect(stepFrom(fine, coarse, 1)?.start_ns).toBe(30);
    expect(stepFrom(fine, coarse, -1)?.start_ns).toBe(0);
    expect(stepFrom(fine, slice(70, 80), 1)?.start_ns).toBe(50);
    expect(stepFrom(fine, slice(0, 5, { n: 2 }), -1)?.start_ns).toBe(0);
    expect(stepFrom([], coarse, 1)).toBeNull();
  });

  it('find the slice under a time or near it', () => {
    const slices = lanes[2]?.slices ?? [];
    expect(firstEndingAfter(slices, 10)).toBe(1);
    expect(sliceAt(slices, 25, 0)?.start_ns).toBe(20);
    expect(sliceAt(slices, 43, 5)?.start_ns).toBe(20);
    expect(sliceAt(slices, 45, 1)).toBeNull();
    expect(stepFrom(slices, slices[1] ?? null, 1)?.start_ns).toBe(50);
    expect(stepFrom(slices, slices[0] ?? null, -1)?.start_ns).toBe(0);
    expect(stepFrom(slices, null, -1)?.start_ns).toBe(50);
  });

  it('know what belongs to a selection', () => {
    const layer = slice(0, 1, { pass: 1, layer: 3, category: 'gemm' });
    expect(isOfSelection(layer, { pass: 1, layer: 3 })).toBe(true);
    expect(isOfSelection(layer, { pass: 2, layer: 3 })).toBe(false);
    expect(isOfSelection(layer, { pass: null, layer: 4 })).toBe(false);
    expect(isOfSelection(slice(0, 1, { pass: 1 }), { pass: 1, layer: 3 })).toBe(true);
  });

  it('draw at most one mark a pixel of what is shorter than one', () => {
    const many = Array.from({ length: 5_000 }, (_, i) => slice(i * 100, i * 100 + 10, { busy_ns: i === 2_500 ? 99 : 10 }));
    const marks = marksOf(many, { from: 0, to: 500_000 }, 200);
    expect(marks.length).toBe(200);
    expect(marks.some((mark) => mark.slice === many[2_500])).toBe(true);
    expect(marksOf(many, { from: 100_000, to: 100_500 }, 200).length).toBe(5);
  });
});

describe('detail', () => {
  const whole = detailOf({ from_ns: 0, to_ns: 1_000_000, bin_ns: 1_000 });
  const fine = detailOf({ from_ns: 100_000, to_ns: 200_000, bin_ns: 100 });
  if (whole === null || fine === null) throw new Error();

  it('takes the finest that covers the window', () => {
    expect(finest([fine], { from: 120_000, to: 150_000 }, whole)).toBe(fine);
    expect(finest([fine], { from: 120_000, to: 250_000 }, whole)).toBe(whole);
  });

  it('asks for more when a bin is wider than a pixel', () => {
    expect(wanted(whole, WHOLE, whole, 1_000)).toBeNull();
    expect(wanted(whole, { from: 100_000, to: 200_000 }, whole, 1_000)).toEqual({ from: 80_000, to: 220_000 });
    expect(wanted(fine, { from: 100_000, to: 200_000 }, whole, 1_000)).toBeNull();
    const got = { ...fine, span: { from: 80_000, to: 220_000 }, binNs: 140_000 / 1_200 };
    expect(wanted(got, { from: 100_000, to: 200_000 }, whole, 2_400)).toBeNull();
    expect(detailOf({ from_ns: 5, to_ns: 5 })).toBeNull();
    expect(remember([whole, whole], fine, 2)).toEqual([fine, whole]);
  });
});
