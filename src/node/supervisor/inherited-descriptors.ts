import { closeSync, readdirSync, readFileSync } from 'node:fs';

/** A flag of a descriptor as `/proc` shows it. */
const closeOnExec = 0o2000000;
const lastOfOurs = 2;

/**
 * Closes the descriptors that this process inherited, except input, output and errors: its
 * children, tasks among them, would inherit them as well. The runtime marks its own descriptors
 * close-on-exec, except those of certificate files, which are closed by now: a descriptor without the mark was inherited.
 * To be called before anything else.
 */
export function closeInheritedDescriptors(): void {
  awaitCertificates();
  let descriptors: readonly string[];
  try {
    descriptors = readdirSync('/proc/self/fd');
  } catch {
    // Not Linux, so no tasks run here.
    return;
  }
  for (const descriptor of descriptors.map(Number).filter((one) => one > lastOfOurs)) {
    if (isInherited(descriptor)) closeSync(descriptor);
  }
}

/**
 * Waits until the runtime has read the certificates that it trusts. It does so in a thread of its own once TLS is loaded. If the
 * descriptor of such a file were closed meanwhile, the thread would read another file that got its number, and close that.
 */
function awaitCertificates(): void {
  const { NODE_EXTRA_CA_CERTS, NODE_USE_SYSTEM_CA, NODE_OPTIONS } = process.env;
  const options = [...process.execArgv, NODE_OPTIONS].join(' ');
  const readsFiles =
    Boolean(NODE_EXTRA_CA_CERTS) || NODE_USE_SYSTEM_CA === '1' || options.includes('system-ca');
  if (readsFiles) process.getBuiltinModule('node:tls').getCACertificates('default');
}

function isInherited(descriptor: number): boolean {
  try {
    const about = readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8');
    const [, flags = ''] = /^flags:\s*(\d+)/m.exec(about) ?? [];
    return flags !== '' && (Number.parseInt(flags, 8) & closeOnExec) === 0;
  } catch {
    // The descriptor of the directory itself.
    return false;
  }
}
