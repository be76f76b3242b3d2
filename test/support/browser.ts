/** A browser without a window, and what opens addresses in it for the programs under test. */
import { accessSync, constants, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type BrowserContext, chromium } from 'playwright-core';
import { directory, eventually, newDirectory, temporary } from './agent.ts';

const patienceMs = 20_000;

export interface TestBrowser {
  /** A window of somebody who has no cookies yet. It reaches this machine alone. */
  window(): Promise<BrowserContext>;
  close(): Promise<void>;
}

/** Starts the chromium of the system. Its processes carry the test file's directory. */
export async function startBrowser(): Promise<TestBrowser> {
  const browser = await chromium.launch({
    executablePath: findProgram('chromium'),
    // It shows pages of this test alone, and root has no sandbox.
    chromiumSandbox: false,
    env: { PATH: process.env.PATH ?? '', HOME: newDirectory('home'), TMPDIR: temporary },
    timeout: patienceMs,
  });
  return {
    async window() {
      const context = await browser.newContext();
      context.setDefaultTimeout(patienceMs);
      // Pages may ask for fonts and the like; a test must not depend on who answers.
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
      // Perhaps in the next one.
    }
  }
  throw new Error(`${name} is not on the PATH; "npm test" installs what the tests need`);
}

export interface Opener {
  /** The environment of programs whose `xdg-open` is this one. */
  readonly env: Readonly<Record<string, string>>;
  /** The address that is opened next. */
  readonly opened: () => Promise<string>;
}

/** An `xdg-open` that opens nothing and remembers what it was called with. */
export function makeOpener(): Opener {
  const folder = join(directory, 'opener');
  mkdirSync(folder, { recursive: true });
  const note = join(folder, 'opened');
  // By renaming, so that nobody reads half an address.
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
