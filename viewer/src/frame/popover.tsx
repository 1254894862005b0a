import type { ComponentChildren, JSX } from 'preact';
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';

interface PopoverProps {
  readonly button: ComponentChildren;
  readonly buttonClass: string;
  readonly label: string;
  readonly children: () => ComponentChildren;
}

/** A button that opens a box below it; Escape or a click elsewhere closes it. */
export function Popover({ button, buttonClass, label, children }: PopoverProps): JSX.Element {
  const [open, setOpen] = useState(false);
  const host = useRef<HTMLDivElement>(null);
  const opener = useRef<HTMLButtonElement>(null);
  const id = useId();
  useLayoutEffect(() => {
    if (!open) return undefined;
    const onPointer = (event: PointerEvent): void => {
      if (event.target instanceof Node && host.current?.contains(event.target) !== true) setOpen(false);
    };
    const onKey = (event: KeyboardEvent): void => {
      if (event.key !== 'Escape' || event.defaultPrevented) return;
      // On its way down, so that it comes first. One Escape closes one thing: what the page would take back on it stays.
      event.preventDefault();
      setOpen(false);
      opener.current?.focus();
    };
    document.addEventListener('pointerdown', onPointer);
    document.addEventListener('keydown', onKey, true);
    return () => {
      document.removeEventListener('pointerdown', onPointer);
      document.removeEventListener('keydown', onKey, true);
    };
  }, [open]);
  return (
    <div class="popover-host" ref={host}>
      <button
        ref={opener}
        type="button"
        class={buttonClass}
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        aria-label={label}
        onClick={() => {
          setOpen(!open);
        }}
      >
        {button}
      </button>
      {open && (
        <div class="popover" id={id} role="group" aria-label={label} tabIndex={-1}>
          {children()}
        </div>
      )}
    </div>
  );
}
