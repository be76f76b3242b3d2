// Loaded before the program: keeps compiled code (and TypeScript's stripped types) between starts,
// which saves a fifth of the start. Beside the program, not in a folder that others can write to;
// where that cannot be written, nothing is kept.
const { enableCompileCache } = require('node:module');
const { join } = require('node:path');
const { setFlagsFromString } = require('node:v8');

// Compiled code is used only under the flags with which it was compiled, and Node's own was compiled with none. V8 has
// already done what the flag in bin/roster tells it.
setFlagsFromString('--incremental-marking-task');

// The functions that have run are kept with a file, once and for all. An agent runs others than a command does.
const purpose = process.argv[2] === 'agent' ? 'agent' : 'commands';
enableCompileCache(join(__dirname, '../node_modules/.cache/roster', purpose));
