/**
 * The bill of materials (CycloneDX): the packages of which the program or its web interface has a file, those that are
 * installed beside it, and Node with its parts.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { npmCommand } from '../setup.mjs';
import { runTool, type Source } from './source.ts';

interface Bill {
  serialNumber: string;
  metadata: { timestamp: string; component: { name: string; type: string } };
  components: { readonly name: string; readonly version: string }[];
  dependencies: { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

interface Locked {
  readonly version?: string;
  readonly dev?: boolean;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
}

interface Bundled {
  /** The bundle. */
  readonly dist: string;
  /** The paths of the files in it. */
  readonly bundled: Iterable<string>;
}

/** The text of the bill. It depends on the source alone. */
export function billOfMaterials(source: Source, { dist, bundled }: Bundled): string {
  const { command, args } = npmCommand();
  const words = ['sbom', '--sbom-format=cyclonedx', '--package-lock-only'];
  const bill = JSON.parse(runTool(source, source.root, [command, ...args, ...words])) as Bill;
  const lock = readFileSync(join(source.root, 'package-lock.json'), 'utf8');
  const installed = shippedPackages(lock, source.platform, foldersOf(bundled));
  const shipped = new Set([...installed, ...packagesOfUi(dist)]);
  const isShipped = (reference: string) => shipped.has(reference);
  // npm itself would leave out the packages that are needed for development, too.
  bill.components = bill.components.filter(({ name, version }) => isShipped(`${name}@${version}`));
  bill.dependencies = bill.dependencies
    .filter(({ ref }) => isShipped(ref) || ref === `roster@${source.build.version}`)
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter(isShipped) }));
  bill.serialNumber = `urn:uuid:${uuidOf(`${source.build.commit} ${lock}`)}`;
  bill.metadata.timestamp = new Date(source.epochS * 1000).toISOString();
  // By itself it has the name of the folder.
  Object.assign(bill.metadata.component, { name: 'roster', type: 'application' });
  bill.components.push(nodeComponent());
  return `${JSON.stringify(bill, null, 2)}\n`;
}

/** The folders of the packages that the files belong to, as the lock file names them. */
function foldersOf(paths: Iterable<string>): ReadonlySet<string> {
  const folders = [...paths].map((path) => /.*node_modules\/(@[^/]+\/)?[^/]+/.exec(path)?.[0]);
  return new Set(folders.filter((folder) => folder !== undefined));
}

/** The packages in the bundle, and those that npm installs with it on the platform, as `name@version`. */
function shippedPackages(
  lock: string,
  platform: string,
  bundled: ReadonlySet<string>,
): ReadonlySet<string> {
  const { packages } = JSON.parse(lock) as { readonly packages: Readonly<Record<string, Locked>> };
  const [system = '', processor = ''] = platform.split('-');
  const isInstalled = ({ dev, os = [system], cpu = [processor] }: Locked) =>
    dev !== true && os.includes(system) && cpu.includes(processor);
  const names = Object.entries(packages)
    .filter(([path, entry]) => path !== '' && (bundled.has(path) || isInstalled(entry)))
    .map(([path, { version }]) => `${path.split('node_modules/').at(-1)}@${version}`);
  return new Set(names);
}

/** The packages that are bundled into the web interface, by the licences that come with it. */
function packagesOfUi(dist: string): readonly string[] {
  const notices = readFileSync(join(dist, 'ui/notices.md'), 'utf8');
  return [...notices.matchAll(/^## (\S+) - (\S+) /gm)].map(
    ([, name, version]) => `${name}@${version}`,
  );
}

/** Node, which runs this. */
function nodeComponent() {
  const { node, ...parts } = process.versions;
  const library = ([name, version]: readonly [string, string | undefined]) => ({
    'bom-ref': `node/${name}@${version}`,
    type: 'library',
    name,
    version,
  });
  return {
    'bom-ref': `node@${node}`,
    type: 'platform',
    name: 'node',
    version: node,
    purl: `pkg:generic/node@${node}`,
    components: Object.entries(parts).sort().map(library),
  };
}

/** The same UUID for the same text. */
function uuidOf(text: string): string {
  const digits = createHash('sha256').update(text).digest('hex');
  const parts = [digits.slice(0, 8), digits.slice(8, 12), `8${digits.slice(13, 16)}`];
  return [...parts, `8${digits.slice(17, 20)}`, digits.slice(20, 32)].join('-');
}
