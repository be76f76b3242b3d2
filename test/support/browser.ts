/** A headless browser, and an opener of addresses for the programs under test. */
import { accessSync, constants, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type BrowserContext, chromium } from 'playwright-core';
import { directory, eventually, newDirectory, temporary } from './agent.ts';

const patienceMs = 20_000;

export interface TestBrowser {
  /** A new window without cookies, which can reach this machine only. */
  window(): Promise<BrowserContext>;
  close(): Promise<void>;
}

/** Starts the system's chromium. Its processes carry the test file's directory. */
export async function startBrowser(): Promise<TestBrowser> {
  const browser = await chromium.launch({
    executablePath: findProgram('chromium'),
    // It shows this test's pages only, and chromium has no sandbox for root.
    chromiumSandbox: false,
    env: { PATH: process.env.PATH ?? '', HOME: newDirectory('home'), TMPDIR: temporary },
    timeout: patienceMs,
  });
  return {
    async window() {
      const context = await browser.newContext();
      context.setDefaultTimeout(patienceMs);
      // Pages may request fonts and the like, which would depend on the network.
      await context.route(
        ({ hostname }) => hostname !== '127.0.0.1',
        (route) => route.abort(),
      );
      return context;
    },
    close: () => browser.close(),
  };
}

function findProgram(name: string): string {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const path = join(folder, name);
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      // The next directory may contain it.
    }
  }
  throw new Error(`${name} is not on the PATH; "npm test" installs what the tests need`);
}

export interface Opener {
  /** An environment in which `xdg-open` is this opener. */
  readonly env: Readonly<Record<string, string>>;
  /** The next opened address. */
  readonly opened: () => Promise<string>;
}

/** An `xdg-open` that records its argument and opens nothing. */
export function makeOpener(): Opener {
  const folder = join(directory, 'opener');
  mkdirSync(folder, { recursive: true });
  const note = join(folder, 'opened');
  // Renamed, so that no partial address is read.
  const script = `#!/bin/sh\nprintf '%s' "$1" >"${note}.$$" && mv "${note}.$$" "${note}"\n`;
  writeFileSync(join(folder, 'xdg-open'), script, { mode: 0o755 });
  let before = '';
  return {
    env: { PATH: `${folder}${delimiter}${process.env.PATH}` },
    opened: () =>
      eventually(() => {
        const url = readFileSync(note, 'utf8');
        if (url === before) throw new Error('no other address was opened');
        before = url;
        return url;
      }),
  };
}
