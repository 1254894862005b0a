import { describe, expect, it } from 'vitest';
import { NOTHING_SELECTED } from './state';
import { type Place, fromHash, strayTabOf, toHash } from './url';

const START: Place = { tab: 'profiler', selection: NOTHING_SELECTED, theme: 'auto', params: {} };

describe('the address', () => {
  it('gives back what was put into it', () => {
    const place: Place = {
      tab: 'architecture',
      selection: { module: 'a.b&c=d#e.\u202e<script>', layer: 0, pass: 12, request: null, rank: 3 },
      theme: 'dark',
      params: { 'arch.view': 'vLayer', 'work.filter': '100..200' },
    };
    expect(fromHash(toHash(place))).toEqual(place);
  });

  it('is short where nothing is chosen', () => {
    expect(toHash(START)).toBe('#tab=profiler');
  });

  it('tells a tab that is not there', () => {
    expect([strayTabOf('#tab=nonsense&pass=1'), strayTabOf('#tab=workload'), strayTabOf('#pass=1')]).toEqual(['nonsense', null, null]);
  });

  it('gives the start for anything strange', () => {
    expect(fromHash('#tab=nowhere&layer=-1&pass=1e3&rank=0x2&theme=pink')).toEqual(START);
    expect(fromHash('')).toEqual(START);
  });
});
