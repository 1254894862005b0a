import type { JSX } from 'preact';
import { tipProps } from './tooltip';
import { shortened, visibleText } from './visible_text';

interface NameTextProps {
  readonly text: string;
  /** Characters shown; the rest is in the tooltip. */
  readonly limit?: number;
  readonly class?: string;
  /** False inside of something that has a tooltip of its own. */
  readonly tip?: boolean;
}

/** A name of the trace: isolated, with nothing hidden in it, cut with an ellipsis where it is long. */
export function NameText({ text, limit = 160, class: extra = '', tip = true }: NameTextProps): JSX.Element {
  const visible = visibleText(text);
  const shown = shortened(visible, limit);
  const told = tip ? tipProps(() => ({ title: visible, copy: text })) : {};
  return (
    <bdi class={`name ${extra}`} {...told}>
      {shown}
    </bdi>
  );
}
