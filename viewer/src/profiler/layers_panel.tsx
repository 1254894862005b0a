import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import type { AnalysisPart, LayersData } from '../data/analyses';
import { type Loaded, useAnalysis } from '../state/answers';
import { param, select, selection, setParam } from '../state/state';
import { ns, nsExact, share } from '../ui/format';
import { NameText } from '../ui/name_text';
import { AbstainedState, EmptyState, WhenLoaded } from '../ui/states';
import { useMedia } from '../ui/use_media';
import { visibleText } from '../ui/visible_text';
import { HeatLegend, HeatMap } from './heat_map';
import { MOST_PASSES, categoryRows, largest, passRows } from './layer_heat';
import type { LayerPaths } from './layer_paths';
import { VarianceChart } from './variance_chart';

const VIEWS = [
  ['categories', 'By category'],
  ['passes', 'By pass'],
  ['variance', 'Variance'],
] as const;
type LayerView = (typeof VIEWS)[number][0];

function chosenView(): LayerView {
  return VIEWS.map(([name]) => name).find((name) => name === param('prof.layers')) ?? 'categories';
}

interface ViewProps {
  readonly data: LayersData;
  readonly onSelect: (layer: number, pass?: number) => void;
}

function CategoryHeat({ data, onSelect }: ViewProps): JSX.Element {
  const layers = data.layers ?? [];
  const rows = useMemo(() => categoryRows(data), [data]);
  const chosen = layers.findIndex((layer) => layer.index === selection.value.layer);
  return (
    <HeatMap
      label="GPU time of each layer by category. Arrow keys move, Enter selects the layer."
      rows={rows}
      columns={layers.length}
      columnTitle="layer"
      selectedColumn={chosen < 0 ? null : chosen}
      selectedRow={null}
      tip={(row, column) => {
        const layer = layers[column];
        const value = row.values[column] ?? null;
        return {
          title: `Layer ${layer?.index ?? column} · ${visibleText(row.label)}`,
          rows: [
            ['time', nsExact(value)],
            ['of the layer', share(value, layer === undefined ? null : layer.sum_ns + layer.copy_ns)],
            ['layer wall', ns(layer?.wall_ns)],
            ['type', visibleText(layer?.type ?? '')],
          ],
        };
      }}
      onSelect={(_, column) => {
        const layer = layers[column];
        if (layer !== undefined) onSelect(layer.index);
      }}
    />
  );
}

function PassHeat({ data, onSelect }: ViewProps): JSX.Element {
  const rows = useMemo(() => passRows(data), [data]);
  const layers = data.rows ?? [];
  const chosen = layers.findIndex((layer) => layer.layer === selection.value.layer);
  const pass = selection.value.pass;
  return (
    <HeatMap
      label="Wall time of each layer in each pass. Arrow keys move, Enter selects layer and pass."
      rows={rows}
      columns={layers.length}
      columnTitle="layer"
      selectedColumn={chosen < 0 ? null : chosen}
      selectedRow={pass === null ? null : String(pass)}
      tip={(row, column) => {
        const layer = layers[column];
        const value = row.values[column] ?? null;
        return {
          title: `Layer ${layer?.layer ?? column} · ${row.label}`,
          rows: [
            ['wall', nsExact(value)],
            ['median of the layer', ns(layer?.median_ns)],
            ['of the median', share(value, layer?.median_ns ?? null)],
            ['type', visibleText(layer?.type ?? '')],
          ],
        };
      }}
      onSelect={(row, column) => {
        const layer = layers[column];
        if (layer !== undefined) onSelect(layer.layer, Number(row.key));
      }}
    />
  );
}

function about(view: LayerView, data: LayersData): string {
  if (view === 'categories') {
    const pass = data.pass === null || data.pass === undefined ? '' : `Pass ${data.pass} (${data.kind ?? ''}). `;
    return `${pass}Right: the total of the row.`;
  }
  const over = `${data.passes?.length ?? 0} whole ${data.phase ?? ''} passes`;
  const shown = Math.min(MOST_PASSES, data.passes?.length ?? 0);
  const some = shown < (data.passes?.length ?? 0) ? `, ${shown} of them at even distances` : '';
  return view === 'passes' ? `${over}${some}. Right: the total of the row.` : `${over}. ${data.rule ?? ''}`;
}

function fullOf(view: LayerView, data: LayersData): number {
  if (view === 'passes') return largest((data.rows ?? []).map((row) => row.by_pass));
  return largest((data.layers ?? []).map((layer) => Object.values(layer.by_category)));
}

function LayerContent({ view, part, onSelect }: { view: LayerView; part: AnalysisPart<'layers'>; onSelect: ViewProps['onSelect'] }): JSX.Element {
  const data = part.data;
  if (data.abstained !== undefined) return <AbstainedState abstained={data.abstained} title="No layers were found" />;
  const empty = view === 'categories' ? (data.layers ?? []).length === 0 : (data.rows ?? []).length === 0;
  if (empty) {
    return (
      <EmptyState title="No layers to show" command="layerscope layers TRACE --config config.json">
        <p>The kernels of this trace show no layers. The model's config tells how many there are.</p>
      </EmptyState>
    );
  }
  return (
    <>
      {view === 'categories' && <CategoryHeat data={data} onSelect={onSelect} />}
      {view === 'passes' && <PassHeat data={data} onSelect={onSelect} />}
      {view === 'variance' && (
        <VarianceChart rows={data.rows ?? []} selected={selection.value.layer} onSelect={onSelect} />
      )}
      <p class="panel-note">
        {view !== 'variance' && <HeatLegend full={ns(fullOf(view, data))} />}
        <NameText text={about(view, data)} limit={400} tip={false} class="wrap" />
      </p>
    </>
  );
}

function ViewChooser({ view }: { view: LayerView }): JSX.Element {
  return (
    <div class="segments" role="group" aria-label="What the layers show">
      {VIEWS.map(([name, title]) => (
        <button
          key={name}
          type="button"
          aria-pressed={view === name}
          onClick={() => {
            setParam('prof.layers', name === 'categories' ? null : name);
          }}
        >
          {title}
        </button>
      ))}
    </div>
  );
}

interface LayersPanelProps {
  readonly layers: Loaded<AnalysisPart<'layers'>>;
  readonly paths: LayerPaths;
}

/** What each layer costs: by category, by pass, and how it varies. */
export function LayersPanel({ layers, paths }: LayersPanelProps): JSX.Element {
  const chosen = chosenView();
  // A large screen has room for all three below each other.
  const roomy = useMedia('(min-width: 1800px) and (min-height: 900px)');
  const all = useAnalysis('layers', { 'all-passes': true });
  const onSelect = (layer: number, pass?: number): void => {
    const module = paths.pathOf(layer);
    select({ layer, ...(module === null ? {} : { module }), ...(pass === undefined ? {} : { pass }) });
  };
  return (
    <section class="panel" aria-label="Layers">
      <div class="panel-head">
        <h2>Layers</h2>
        <div class="tools">{!roomy && <ViewChooser view={chosen} />}</div>
      </div>
      {VIEWS.filter(([name]) => roomy || name === chosen).map(([name, title]) => (
        <div key={name} class="panel-body">
          {roomy && <h3 class="view-title">{title}</h3>}
          <WhenLoaded of={name === 'categories' ? layers : all} label="Reading the layers…">
            {(part) => <LayerContent view={name} part={part} onSelect={onSelect} />}
          </WhenLoaded>
        </div>
      ))}
    </section>
  );
}
