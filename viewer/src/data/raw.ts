/** Reading values of a document that anyone may have written: what is not of the kind is absent. */
export type RawObject = Readonly<Record<string, unknown>>;

export function asObject(value: unknown): RawObject | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as RawObject)
    : null;
}

export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function asText(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

export function asNumber(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

/** Microseconds with one decimal, the unit of the older keys, as whole nanoseconds. */
export function nsOfUs(value: unknown): number | null {
  const us = asNumber(value);
  return us === null ? null : Math.round(us * 1000);
}

export function numbersOf(value: unknown): readonly (number | null)[] | null {
  return Array.isArray(value) ? value.map(asNumber) : null;
}

export function textsOf(value: unknown): readonly string[] {
  return asList(value).map((item) => (typeof item === 'string' ? item : ''));
}

/** The entries of an object that are numbers. */
export function countsOf(value: unknown): Readonly<Record<string, number>> {
  const counts: Record<string, number> = Object.create(null) as Record<string, number>;
  for (const [key, item] of Object.entries(asObject(value) ?? {})) {
    if (typeof item === 'number' && Number.isFinite(item)) counts[key] = item;
  }
  return counts;
}
