/** The tables of docs/guides/artifacts.md, against the program. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { settings } from '../../src/cli/agent/settings.ts';
import { limits } from '../../src/model/limits.ts';
import { artifactSources } from '../../src/model/task/files.ts';
import { archiveWords } from '../../src/node/hooks/artifacts/archives.ts';

const page = readFileSync(new URL('../../docs/guides/artifacts.md', import.meta.url), 'utf8');
const section = (title: string): string => page.split(`\n## ${title}\n`)[1]!.split('\n## ')[0]!;

test('the endings of archives are those that are unpacked', () => {
  const [sentence] = section('Archives').split(' is unpacked.');
  const words = [...sentence!.matchAll(/`([a-z0-9.]+)`/g)].map(([, word]) => word!);
  expect(words.sort()).toEqual([...archiveWords].sort());
});

test('the settings and their defaults are those of the agent', () => {
  const rows = [...section('Limits').matchAll(/^\| `(\w+)` \| `([^`]+)` \|/gm)];
  const named = Object.keys(settings)
    .filter((name) => name.startsWith('node.artifacts.'))
    .map((name) => name.slice('node.artifacts.'.length));
  expect(rows.map(([, name]) => name).sort()).toEqual(named.sort());
  const { artifact } = limits;
  expect(Object.fromEntries(rows.map(([, name, value]) => [name!, value!]))).toEqual({
    sources: JSON.stringify(artifactSources).replaceAll(',', ', '),
    http_timeout: `${artifact.httpTimeoutMs / 60_000}m`,
    git_timeout: `${artifact.gitTimeoutMs / 60_000}m`,
    download_bytes: String(artifact.downloadBytesMax),
    files: String(artifact.filesMax),
    unpacked_bytes: String(artifact.unpackedBytesMax),
    ratio: String(artifact.ratioMax),
  });
});
