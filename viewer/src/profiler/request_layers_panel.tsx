import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import type { PerRequestProfiles } from '../data/per_request_profiles';
import { select, selection } from '../state/state';
import { ns, nsExact } from '../ui/format';
import { EmptyState } from '../ui/states';
import { visibleText } from '../ui/visible_text';
import { requestTitle } from './from_requests';
import { type HeatRow, HeatMap } from './heat_map';
import type { LayerPaths } from './layer_paths';

interface RequestLayersProps {
  readonly document: PerRequestProfiles;
  readonly main: number;
  readonly paths: LayerPaths;
}

function rowsOf(document: PerRequestProfiles): readonly HeatRow[] {
  return document.requests.map((request) => {
    const values = document.layers.map((layer) => layer.gpu_ns[request.index] ?? null);
    const full = Math.max(1, ...values.map((value) => value ?? 0));
    const sum = values.reduce<number>((total, value) => total + (value ?? 0), 0);
    return { key: String(request.index), label: requestTitle(request), values, full, note: ns(sum) };
  });
}

/** Layers by requests. Requests differ in length, so each row has its own scale. */
export function RequestLayersPanel({ document, main, paths }: RequestLayersProps): JSX.Element {
  const rows = useMemo(() => rowsOf(document), [document]);
  const chosen = document.layers.findIndex((layer) => layer.index === selection.value.layer);
  return (
    <section class="panel" aria-label="Layers">
      <div class="panel-head">
        <h2>Layers by request</h2>
      </div>
      <div class="panel-body">
        {document.layers.length === 0 ? (
          <EmptyState title="No layers to show">
            <p>Neither the kernels nor the modules of these requests show layers.</p>
          </EmptyState>
        ) : (
          <>
            <HeatMap
              label="Time of each layer in each request. Arrow keys move, Enter selects layer and request."
              rows={rows}
              columns={document.layers.length}
              columnTitle="layer"
              selectedColumn={chosen < 0 ? null : chosen}
              selectedRow={String(main)}
              tip={(row, column) => {
                const layer = document.layers[column];
                return {
                  title: `Layer ${layer?.index ?? column} · ${visibleText(row.label)}`,
                  rows: [
                    ['time', nsExact(row.values[column] ?? null)],
                    ['CPU time', nsExact(layer?.cpu_ns[Number(row.key)] ?? null)],
                    ['type', visibleText(layer?.type ?? '–')],
                  ],
                };
              }}
              onSelect={(row, column) => {
                const layer = document.layers[column];
                if (layer === undefined) return;
                const module = paths.pathOf(layer.index);
                select({ layer: layer.index, request: Number(row.key), ...(module === null ? {} : { module }) });
              }}
            />
            <p class="panel-note">Requests differ in length, so each row is as strong as its own largest layer; right: the row's total.</p>
          </>
        )}
      </div>
    </section>
  );
}
