import type { JSX } from 'preact';
import { NameText } from './name_text';
import type { DistinctName } from './short_names';

/** A kernel's short name. Where it is too long for its place the part that others share goes first. */
export function KernelName({ name, tip = false }: { name: DistinctName; tip?: boolean }): JSX.Element {
  if (name.rest === '') return <NameText text={name.short} limit={110} tip={tip} />;
  return (
    <span class="kernel-parts">
      <NameText text={name.short} limit={80} tip={tip} class="kernel-short" />
      <span class="kernel-rest">
        · <NameText text={name.rest} limit={130} tip={tip} />
      </span>
    </span>
  );
}
