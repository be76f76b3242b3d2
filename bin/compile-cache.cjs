// Loaded before the program: keeps compiled code (and TypeScript's stripped types) between starts,
// which saves a fifth of the start. Beside the program, not in a folder that others can write to;
// where that cannot be written, nothing is kept.
const { existsSync } = require('node:fs');
const { enableCompileCache, registerHooks } = require('node:module');
const { join } = require('node:path');
const { pathToFileURL } = require('node:url');
const { setFlagsFromString } = require('node:v8');

// Compiled code is used only under the flags with which it was compiled, and Node's own was compiled with none. V8 has
// already done what the flags in bin/roster tell it.
for (const flag of ['--incremental-marking-task', '--no-expose-gc']) setFlagsFromString(flag);

const isAgent = process.argv[2] === 'agent';
const root = join(__dirname, '..');
const source = join(root, 'src/main.ts');
// A checkout runs its bundle if each file is still what the bundle was made of.
const bundle = existsSync(source)
  ? require('../tools/fresh-bundle.cjs').freshBundle(root)
  : undefined;
if (bundle !== undefined && registerHooks !== undefined) {
  const { href } = pathToFileURL(source);
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      if (specifier !== href) return next(specifier, context);
      hooks.deregister();
      const { href: url } = pathToFileURL(join(bundle, isAgent ? 'dist/agent.js' : 'dist/main.js'));
      return { url, format: 'module', shortCircuit: true };
    },
  });
}

// The functions that have run are kept with a file, once and for all. An agent runs others than a command does.
enableCompileCache(
  join(bundle ?? root, 'node_modules/.cache/roster', isAgent ? 'agent' : 'commands'),
);
