/** Seconds with nine decimals, as `layerscope ranges` prints them and Perfetto shows them. */
export function secondsText(ns: number): string {
  const sign = ns < 0 ? '-' : '';
  const digits = Math.abs(Math.round(ns)).toString().padStart(10, '0');
  return `${sign}${digits.slice(0, -9)}.${digits.slice(-9)}`;
}

/** Start and end as two columns: a piece of a row that `layerscope ranges` prints. */
export function rangeText(fromNs: number, toNs: number): string {
  return `${secondsText(fromNs)}  ${secondsText(toNs)}`;
}
