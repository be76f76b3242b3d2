// @ts-check
// The first code of the single executable file, in its main thread, its threads and its other processes. The files of
// `dist/` are inside the executable. Each has an address below the path of the executable, where no real file can be, so
// the program finds its own files as it does elsewhere.
const { registerHooks, syncBuiltinESMExports } = require('node:module');
const { getAsset } = require('node:sea');
const { fileURLToPath, pathToFileURL } = require('node:url');
const { setFlagsFromString } = require('node:v8');
const { constants, Script } = require('node:vm');
const threads = require('node:worker_threads');

// As bin/compile-cache.cjs says.
for (const flag of ['--incremental-marking-task', '--no-expose-gc']) setFlagsFromString(flag);

const dist = `${pathToFileURL(process.execPath).href}/dist/`;
const pty = '@lydell/node-pty/requireBinary';

registerHooks({
  resolve(specifier, context, next) {
    if (specifier === pty) return { url: `${dist}pty.cjs`, format: 'commonjs', shortCircuit: true };
    const isBeside = specifier.startsWith('./') && context.parentURL?.startsWith(dist);
    if (!isBeside && !specifier.startsWith(dist)) return next(specifier, context);
    return {
      url: new URL(specifier, context.parentURL).href,
      format: 'module',
      shortCircuit: true,
    };
  },
  load(url, context, next) {
    if (!url.startsWith(dist)) return next(url, context);
    const name = url.slice(dist.length);
    const format = name.endsWith('.cjs') ? 'commonjs' : 'module';
    return { format, source: getAsset(name, 'latin1'), shortCircuit: true };
  },
});

/** @param {string} url */
const start = (url) => {
  const importModuleDynamically = constants.USE_MAIN_CONTEXT_DEFAULT_LOADER;
  return new Script(`import(${JSON.stringify(url)})`, {
    importModuleDynamically,
  }).runInThisContext();
};

// A thread does not see the hooks of the thread that started it: it begins with this code, too.
threads.Worker = class extends threads.Worker {
  /**
   * @param {string | URL} file
   * @param {import('node:worker_threads').WorkerOptions} [options]
   */
  constructor(file, options) {
    const url = String(file);
    if (!url.startsWith(dist)) super(file, options);
    else
      super(`${getAsset('boot.cjs', 'utf8')}\nstart(${JSON.stringify(url)});`, {
        ...options,
        eval: true,
      });
  }
};
syncBuiltinESMExports();

/** @param {string[]} words of the command line */
function startMain([first = '', code = '']) {
  if (first === '-e') {
    // Tasks may use the runtime of the agent, as the attribute `roster.runtime` promises.
    process.argv.splice(1, 3);
    Object.assign(globalThis, { require });
    return new Script(code, { filename: '[eval]' }).runInThisContext();
  }
  if (first === 'agent') return start(`${dist}agent.js`);
  if (!first.startsWith(fileURLToPath(dist))) return start(`${dist}main.js`);
  // Another process of the program. The path of its file takes the place of that of this code.
  process.argv.splice(1, 1);
  return start(pathToFileURL(first).href);
}

if (threads.isMainThread) void startMain(process.argv.slice(2));
