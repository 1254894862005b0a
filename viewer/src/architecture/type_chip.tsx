import type { JSX } from 'preact';
import { NameText } from '../ui/name_text';
import { seriesColor } from '../ui/palette';
import type { ArchModel } from './model';

/** Colour of a layer type: one a type, in the order in which they first stand in the model. */
export function typeColor(model: ArchModel, type: string): string {
  return seriesColor(Math.max(0, model.layerTypes.indexOf(type)));
}

/** A, B, …: the letter says what the colour says. */
export function TypeChip({ model, type }: { model: ArchModel; type: string }): JSX.Element {
  return (
    <span class="arch-type" style={{ '--type-color': typeColor(model, type) }}>
      <NameText text={type} limit={5} />
    </span>
  );
}
