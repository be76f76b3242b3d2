import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { needing } from '../../base/not-run.test-helper.ts';
import { leafCertificate as certificate } from '../../model/config-entry/certificates.test-helper.ts';
import { eventually } from '../eventually.test-helper.ts';

const module = fileURLToPath(new URL('./inherited-descriptors.ts', import.meta.url));
const linux = {
  isMet: process.platform === 'linux',
  otherwise: 'only Linux shows the descriptors of a process',
};

/** Whether the first thread of the process sleeps: it waits for another thread or for its end. */
const sleeps = (pid: number): boolean =>
  / S /.test(readFileSync(`/proc/${pid}/task/${pid}/stat`, 'latin1'));

test(
  'the certificates that the runtime reads in a thread stay open until it has them',
  needing(linux),
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'descriptors-'));
    const path = join(folder, 'certificates');
    execFileSync('mkfifo', [path]);
    const program = `
    import { getCACertificates } from 'node:tls';
    import { closeInheritedDescriptors } from ${JSON.stringify(module)};
    console.log('begun');
    closeInheritedDescriptors();
    console.log(getCACertificates('extra').length);`;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
      env: { ...process.env, NODE_EXTRA_CA_CERTS: path },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    try {
      const begun = once(child.stdout, 'data');
      const said = Promise.all([text(child.stdout), text(child.stderr)]);
      // Opens once the thread reads. A buffer of that thread takes only the first of so many.
      const writer = await open(path, 'w');
      await writer.write(certificate.repeat(10));
      await begun;
      await eventually(() => expect(sleeps(child.pid!)).toBe(true));
      await writer.write(certificate.repeat(10));
      await writer.close();
      const [out, errors] = await said;
      expect(errors).toBe('');
      expect(out).toMatch(/^begun\n[1-9]/);
    } finally {
      child.kill();
      rmSync(folder, { recursive: true });
    }
  },
);
