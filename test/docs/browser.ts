import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

export interface InstalledBrowser {
  /** A directory for `PATH`. */
  readonly directory: string;
  /** The errors of `browse`. */
  readonly faults: readonly unknown[];
  close(): Promise<void>;
}

/** Makes a new directory with an `xdg-open`, which passes its address to `browse`. */
export async function installBrowser(
  directory: string,
  browse: (url: string) => Promise<void>,
): Promise<InstalledBrowser> {
  const faults: unknown[] = [];
  const server = createServer(async (request, response) => {
    const [url] = await request.setEncoding('utf8').toArray();
    response.end();
    await browse(url).catch((fault: unknown) => faults.push(fault));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  mkdirSync(directory);
  const script = `#!/bin/sh\nexec curl -s --data-binary "$1" http://127.0.0.1:${port}/\n`;
  writeFileSync(join(directory, 'xdg-open'), script, { mode: 0o700 });
  return {
    directory,
    faults,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
