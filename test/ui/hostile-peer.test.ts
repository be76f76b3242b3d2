/** The pages of a peering whose other cluster chose markup, and characters that turn or hide words, for each of its texts. */
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import type { Peering } from '../../src/model/peering/peering.ts';
import { signIn, uiIsThere, watchFaults } from '../support/ui.ts';
import { UiTests } from '../support/ui-tests.ts';

const ui = new UiTests();
const hostile = '<img src=x onerror="globalThis.wasHarmed=1">\u202eevil\u0007\u001b[31m';

/** The fields that another cluster sets, or takes part in. */
const asPeerWants = (peering: Peering): Peering => ({
  ...peering,
  State: 'ACTIVE',
  PeerID: hostile,
  PeerServerName: hostile,
  PeerServerAddresses: [hostile],
  PeerCAPems: [hostile],
  Remote: { Partition: hostile, Datacenter: hostile },
  StreamStatus: {
    ...peering.StreamStatus,
    LastError: hostile,
    ImportedServices: [hostile],
    ExportedServices: [hostile],
  },
});

const isPeering = (value: unknown): value is Peering =>
  typeof value === 'object' &&
  value !== null &&
  'StreamStatus' in value &&
  'PeerServerName' in value;

/** The value with each peering in it as the other cluster wants it. */
function tampered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(tampered);
  return isPeering(value) ? asPeerWants(value) : value;
}

interface Said {
  readonly kind: string;
  readonly value?: unknown;
  readonly body?: string;
}

/** A message of the server: watches have values, and calls have bodies. */
function rewritten(text: string): string {
  const said = JSON.parse(text) as Said;
  if (said.kind === 'value') return JSON.stringify({ ...said, value: tampered(said.value) });
  if (said.kind !== 'answer' || !said.body?.includes('StreamStatus')) return text;
  return JSON.stringify({ ...said, body: JSON.stringify(tampered(JSON.parse(said.body))) });
}

async function openPage(): Promise<Page> {
  const window = await ui.browser.window();
  await window.routeWebSocket(/\/v1\/ui\/stream$/, (page) => {
    const server = page.connectToServer();
    server.onMessage((text) => page.send(typeof text === 'string' ? rewritten(text) : text));
  });
  await uiIsThere(ui.agent.address);
  return window.newPage();
}

test('pages make no text of another cluster markup, and show what is hidden in it', async () => {
  await ui.answer('POST', 'peering/token', { PeerName: 'west' });
  const page = await openPage();
  const faults = watchFaults(page);
  await page.goto(`${ui.agent.address}/ui/settings`);
  await signIn(page, ui.agent.token);
  for (const [path, text] of [
    ['peerings', 'Active'],
    ['peerings/west', 'evil'],
    ['peerings/west?tab=imported', 'west'],
  ] as const) {
    await page.goto(`${ui.agent.address}/ui/${path}`);
    await signIn(page, ui.agent.token);
    await page.getByRole('main').getByText(text).first().waitFor();
    const found = await page.evaluate(() => {
      const text = document.body.textContent;
      return {
        isHarmed: 'wasHarmed' in globalThis || document.querySelector('img[src^=x]') !== null,
        hidden: ['\u202e', '\u0007', '\u001b'].filter((mark) => text.includes(mark)),
      };
    });
    expect({ path, ...found }).toEqual({ path, isHarmed: false, hidden: [] });
  }
  expect(faults).toEqual([]);
});
