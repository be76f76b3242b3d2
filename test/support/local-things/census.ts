/** Finds the files of a server that keep something from one request to the next. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Fields that begin empty and fill, timers, and variables of a module. */
const kept = [
  /^ {2}(static )?(readonly )?#\w+(: [^=;]+)? = new (Map|Set|WeakMap|Listeners)\b/m,
  /^ {2}(readonly )?#\w+: [^=;]+\[\] = \[\];/m,
  /^ {2}#\w+: Timer \| undefined;/m,
  /^(const|let) \w+(: [^=;]+)? = new (Map|Set|WeakMap)(<[^;]*>)?\(\);/m,
  /^let \w+/m,
];

/** Below `server/` and `api/`, each with the reason why leadership does not concern it. */
export const ofNoConcern: Readonly<Record<string, string>> = {
  'api/envelope.ts': 'the same in every process',
  'api/http-arrivals.ts': 'connections of this server',
  'api/http-server.ts': 'connections of this server',
  'api/list.ts': 'compiled from schemas',
  'api/memory.ts': 'lives as long as a request',
  'api/openapi/named-schemas.ts': 'the same in every process',
  'api/peering-stream.ts': 'connections of this server',
  'api/query.ts': 'lives as long as a request',
  'api/router.ts': 'the same in every process',
  'api/routes/acl.ts': 'lives as long as a request',
  'api/routes/service-names.ts': 'lives as long as a request',
  'api/search/found.ts': 'lives as long as a request',
  'api/servers-stream.ts': 'connections of this server',
  'api/sorted-walk.ts': 'lives as long as a request',
  'api/turns.ts': 'turns between requests of this server',
  'server/acl/links.ts': 'lives as long as a request',
  'server/login/outbound-http.ts': 'connections of this server',
};

/** Paths of the files below the folder, from there. */
export function filesThatKeep(folder: string, below: readonly string[]): readonly string[] {
  return below
    .flatMap((part) => globSync(`${part}/**/*.ts`, { cwd: folder }))
    .filter((file) => !/\.test(-helper)?\.ts$/.test(file))
    .filter((file) => {
      const text = readFileSync(join(folder, file), 'utf8');
      return kept.some((pattern) => pattern.test(text));
    })
    .toSorted();
}
