import { describe, expect, it } from 'vitest';
import { NOTHING_SELECTED } from './state';
import { type Place, fromHash, toHash } from './url';

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

  it('gives the start for anything strange', () => {
    expect(fromHash('#tab=nowhere&layer=-1&pass=1e3&rank=0x2&theme=pink')).toEqual(START);
    expect(fromHash('')).toEqual(START);
  });
});
