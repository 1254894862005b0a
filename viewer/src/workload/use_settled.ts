import { useEffect, useState } from 'preact/hooks';

/** Long enough that a moving brush does not count, short enough to seem at once. */
const SETTLED_MS = 120;

/** A value once it has stopped changing: for what is too costly to follow every move. */
export function useSettled<T>(value: T): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    if (value === settled) return undefined;
    const timer = setTimeout(() => {
      setSettled(() => value);
    }, SETTLED_MS);
    return () => {
      clearTimeout(timer);
    };
  }, [value, settled]);
  return settled;
}
