import type { JSX } from 'preact';
import { NameText } from '../ui/name_text';
import type { ArchModel, Metric } from './model';
import { chooseMetric, go } from './place';
import { TypeChip } from './type_chip';
import type { Crumb, Where } from './view';
import { above, breadcrumb } from './view';

const VIEW_TITLES = { vTop: 'whole model', vMod: 'module', vLayer: 'layer', vStep: 'across layers' } as const;

function CrumbText({ crumb, model }: { crumb: Crumb; model: ArchModel }): JSX.Element {
  return (
    <>
      <NameText text={crumb.text} limit={34} tip={false} />
      {crumb.badge !== null && (crumb.key === 'layer' ? <TypeChip model={model} type={crumb.badge} /> : <span class="arch-times">{crumb.badge}</span>)}
    </>
  );
}

function Breadcrumb({ model, where }: { model: ArchModel; where: Where }): JSX.Element {
  const crumbs = breadcrumb(model, where);
  const up = above(model, where);
  return (
    <nav class="arch-crumbs" aria-label="Where you are in the model">
      <button
        type="button"
        class="button small"
        disabled={up === null}
        title="One step up (Esc)"
        onClick={() => {
          if (up !== null) go(model, up);
        }}
      >
        ↑ Up
      </button>
      <ol>
        {crumbs.map((crumb, at) => (
          <li key={`${at} ${crumb.key}`}>
            {at === crumbs.length - 1 ? (
              <span class="arch-crumb" aria-current="location">
                <CrumbText crumb={crumb} model={model} />
              </span>
            ) : (
              <button
                type="button"
                class="arch-crumb"
                onClick={() => {
                  go(model, crumb.place);
                }}
              >
                <CrumbText crumb={crumb} model={model} />
              </button>
            )}
          </li>
        ))}
      </ol>
      <span class="arch-view-name">
        {where.view} <span class="arch-view-what">{VIEW_TITLES[where.view]}</span>
      </span>
    </nav>
  );
}

function MetricSwitch({ model, metric }: { model: ArchModel; metric: Metric }): JSX.Element {
  const choices: readonly (readonly [Metric, string])[] = [
    ['gpu', model.cpuOnly ? 'CPU self time' : 'GPU time'],
    ['cpu', 'CPU time'],
  ];
  return (
    <span class="segments" role="group" aria-label="Rank by">
      {choices.map(([name, text]) => (
        <button
          key={name}
          type="button"
          aria-pressed={metric === name}
          disabled={name === 'gpu' && model.totalGpuNs === null}
          onClick={() => {
            chooseMetric(name);
          }}
        >
          {text}
        </button>
      ))}
    </span>
  );
}

/** The way back up, and which time is shown. */
export function ArchHeader({ model, where, metric }: { model: ArchModel; where: Where; metric: Metric }): JSX.Element {
  return (
    <div class="arch-header">
      <Breadcrumb model={model} where={where} />
      <MetricSwitch model={model} metric={metric} />
    </div>
  );
}
