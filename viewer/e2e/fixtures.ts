import { AxeBuilder } from '@axe-core/playwright';
import { type Locator, type Page, test as base, expect } from '@playwright/test';
import { EXAMPLE, type ViewServer, startView } from './program';

interface Watched {
  /** Everything the page complained about, or asked of another place. */
  readonly faults: string[];
}

/** Where the program serves. */
const HERE: readonly string[] = ['127.0.0.1', 'localhost', '[::1]'];

function isFault(type: string): boolean {
  return type === 'error' || type === 'warning';
}

/** LAYERSCOPE_SLOW=8: as on a processor that is so many times slower, with answers that come late and out of turn. */
const SLOW = Number(process.env.LAYERSCOPE_SLOW ?? 1);
const LATEST_ANSWER_MS = 1000;

async function slowDown(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send('Emulation.setCPUThrottlingRate', { rate: SLOW });
  await page.route(/\/api\//, async (route) => {
    await new Promise((done) => setTimeout(done, LATEST_ANSWER_MS * Math.random()));
    // The page may be gone meanwhile.
    await route.continue().catch(() => undefined);
  });
}

export const test = base.extend<{ watched: Watched }, { example: ViewServer }>({
  example: [
    // eslint-disable-next-line no-empty-pattern
    async ({}, use) => {
      const server = await startView(EXAMPLE);
      await use(server);
      server.stop();
    },
    { scope: 'worker' },
  ],
  watched: [
    async ({ page }, use) => {
      if (SLOW > 1) await slowDown(page);
      const faults: string[] = [];
      page.on('console', (message) => {
        if (isFault(message.type())) faults.push(`console: ${message.text()} ${message.location().url}`);
      });
      page.on('pageerror', (error) => faults.push(`error: ${error.message}`));
      page.on('request', (request) => {
        const url = new URL(request.url());
        if (url.protocol.startsWith('http') && !HERE.includes(url.hostname)) faults.push(`asked ${url.href}`);
      });
      await use({ faults });
      expect(faults).toEqual([]);
    },
    { auto: true },
  ],
});

export { expect };

/** The address of a server with a place in the app. */
export function at(url: string, hash: string): string {
  return `${url}#${hash}`;
}

/** The accessibility package has types of another version of the same browser driver. */
type AxePage = ConstructorParameters<typeof AxeBuilder>[0]['page'];

/** No serious or critical fault of accessibility. */
export async function expectAccessible(page: Page): Promise<void> {
  const { violations } = await new AxeBuilder({ page: page as unknown as AxePage }).analyze();
  const serious = violations
    .filter((violation) => violation.impact === 'serious' || violation.impact === 'critical')
    .map((violation) => `${violation.id}: ${violation.nodes.slice(0, 3).map((node) => `${node.html.slice(0, 160)} ${node.failureSummary ?? ''}`).join(' | ')}`);
  expect(serious).toEqual([]);
}

/** What stands there, once it stands there: a page draws when its answers come, which no test waits for elsewhere. */
export async function expectText(of: Locator, text: string | readonly string[]): Promise<void> {
  await expect(of).toHaveText(text, { useInnerText: true });
}

/** No-break spaces as spaces. */
export function plain(text: string | null): string {
  return (text ?? '').replaceAll('\u00a0', ' ').trim();
}
