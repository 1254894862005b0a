/** Colours of a canvas: CSS variables have to be looked up, and again when the theme changes. */
export type Rgb = readonly [number, number, number];

export function parseRgb(text: string): Rgb {
  const hex = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(text.trim());
  if (hex !== null) return [parseInt(hex[1] ?? '0', 16), parseInt(hex[2] ?? '0', 16), parseInt(hex[3] ?? '0', 16)];
  const parts = (text.match(/[\d.]+/g) ?? []).map(Number);
  return [parts[0] ?? 0, parts[1] ?? 0, parts[2] ?? 0];
}

export function mixed(from: Rgb, to: Rgb, part: number): string {
  const at = Math.max(0, Math.min(1, part));
  const [r = 0, g = 0, b = 0] = from.map((value, i) => Math.round(value + (to[i] ?? value) * at - value * at));
  return `rgb(${r} ${g} ${b})`;
}

export interface Ramp {
  readonly at: (part: number) => string;
  readonly gap: string;
  readonly mark: string;
}

/** From the ground to the accent: light means little. */
export function rampOf(element: Element): Ramp {
  const style = getComputedStyle(element);
  const low = parseRgb(style.getPropertyValue('--heat-map-0'));
  const high = parseRgb(style.getPropertyValue('--heat-map-1'));
  return {
    at: (part) => mixed(low, high, part),
    gap: style.getPropertyValue('--surface-3').trim(),
    mark: style.getPropertyValue('--text').trim(),
  };
}
