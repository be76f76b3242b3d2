import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { checkout, launch, newDirectory, type Program, temporary } from '../support/agent.ts';
import { type FileStep, type ShellStep, stepsOf } from './blocks.ts';
import { type InstalledBrowser, installBrowser } from './browser.ts';
import { matchesOutput } from './match-output.ts';
import { openShell, type Shell } from './shell.ts';

interface GuideOptions {
  /** Replacements for texts of the guide, such as addresses that are only examples. */
  readonly replace?: Readonly<Record<string, string>>;
  /** Acts as the reader's browser when a command opens an address. */
  readonly browse?: (url: string) => Promise<void>;
  /** Programs of the reader's machine, by name, with their paths. */
  readonly programs?: Readonly<Record<string, string>>;
  /** Where the terminals begin; default: in the checkout. */
  readonly cwd?: string;
  /** Variables of the reader's terminals, such as those of an agent that runs already. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Where an agent listens that is not told otherwise. The agent of a test takes a free port. */
const guideAddress = '127.0.0.1:4720';
/** The line of an agent that is ready, or that answers from its copy of the state. */
const listens = /^Roster (?:is ready|answers) at https?:\/\/([^\s,]+)/m;

/**
 * Does what a guide says, in its order: writes its files, starts its agent, pastes its commands
 * into one terminal that begins in the checkout, with a home of its own, and compares what they
 * print with what it shows. `blocks.ts` tells how guides are written.
 *
 * Only two things differ from a reader's machine: an agent listens on a free port, which takes the
 * place of the usual one wherever the guide writes that, and its tasks end with it.
 *
 * Rejects with every output that differs, and with the first command that fails; `path` is relative
 * to the checkout. A test file that calls it ends with `endAgents`.
 */
export async function runGuide(path: string, options: GuideOptions = {}): Promise<void> {
  const steps = stepsOf(readFileSync(resolve(checkout, path), 'utf8'));
  const home = newDirectory('home');
  const browser = await installBrowser(join(home, '.browser'), options.browse ?? noBrowser);
  for (const [name, program] of Object.entries(options.programs ?? {})) {
    symlinkSync(program, join(browser.directory, name));
  }
  const reader = new Reader(path, home, browser, options);
  try {
    for (const step of steps) {
      if (step.kind === 'file') await reader.writeFile(step);
      else if (step.kind === 'agent') await reader.startAgent(step.text.trim());
      else if (step.kind === 'beside') await reader.startBeside(step.text.trim());
      else await reader.paste(step);
    }
  } catch (fault) {
    reader.faults.push((fault as Error).message);
  }
  await reader.leave();
  await browser.close();
  const faults = [...reader.faults, ...browser.faults.map(String)];
  if (faults.length > 0) throw new Error(faults.join('\n\n'));
}

const noBrowser = (url: string) => Promise.reject(new Error(`nobody is here to open ${url}`));

class Reader {
  readonly faults: string[] = [];
  readonly #path: string;
  readonly #replaced: Map<string, string>;
  readonly #shell: Shell;
  /** Of every terminal. */
  readonly #terminal: { readonly cwd: string; readonly env: Readonly<Record<string, string>> };
  /** The agent, and the nodes beside it. */
  #agents: Program[] = [];
  #http = '127.0.0.1:0';

  constructor(
    path: string,
    home: string,
    browser: InstalledBrowser,
    { replace = {}, cwd = checkout, env = {} }: GuideOptions,
  ) {
    this.#path = path;
    this.#replaced = new Map(Object.entries(replace));
    const directory = join(home, '.blocks');
    mkdirSync(directory);
    const PATH = `${browser.directory}:${process.env.PATH}`;
    const own = { PATH, HOME: home, TMPDIR: temporary, LANG: 'C.UTF-8', ...env };
    this.#terminal = { cwd, env: own };
    this.#shell = openShell({ ...this.#terminal, directory });
  }

  async writeFile({ name, text, line }: FileStep): Promise<void> {
    const path = this.#replacedIn(name);
    const quoted = this.#replacedIn(text).replaceAll("'", `'\\''`);
    const { exitCode, output } = await this.#shell.run(`printf %s '${quoted}' > '${path}'`);
    if (exitCode !== 0) throw new Error(`${this.#path}:${line}: ${output}`);
  }

  /** A reader ends the agent that runs with Ctrl-C before starting it anew. */
  async startAgent(command: string): Promise<void> {
    await this.#stopAgents();
    const agent = this.#launchAgent(`${command} --http ${this.#http}`);
    const [, address = ''] = await agent.says(listens);
    this.#http = address;
    this.#replaced.set(guideAddress, address);
    for (const [name, value] of Object.entries(this.#terminal.env)) {
      if (value.includes(guideAddress)) {
        await this.#shell.run(`export ${name}='${this.#replacedIn(value)}'`);
      }
    }
  }

  /** A node alone, or a whole agent of another cluster, which says where it listens. */
  async startBeside(command: string): Promise<void> {
    const own = / --http (\S+)/.exec(command)?.[1];
    if (own === undefined) {
      await this.#launchAgent(command).says(/^Roster is ready as node /m);
      return;
    }
    const agent = this.#launchAgent(command.replace(own, own.replace(/\d+$/, '0')));
    const [, address = ''] = await agent.says(listens);
    this.#replaced.set(own, address);
  }

  /** The last line of the block is the agent. */
  #launchAgent(command: string): Program {
    const lines = this.#replacedIn(command).split('\n');
    const before = lines.slice(0, -1).map((line) => `${line} && `);
    const words = `${before.join('')}exec ${lines.at(-1)} --tasks-on-exit stop`;
    const agent = launch('bash', ['-c', words], this.#terminal);
    this.#agents.push(agent);
    return agent;
  }

  async paste({ text, line, exitCode, output, endsAgents }: ShellStep): Promise<void> {
    if (endsAgents) await this.#stopAgents();
    const ran = await this.#shell.run(this.#replacedIn(text));
    if (ran.exitCode !== exitCode) {
      const place = `${this.#path}:${line + ran.failedLine}`;
      throw new Error(
        `${place}: exit code ${ran.exitCode}, not ${exitCode}; it printed:\n${ran.output}`,
      );
    }
    if (output === undefined) return;
    const shown = this.#replacedIn(output);
    if (matchesOutput(ran.output, shown)) return;
    const differs = `--- in the guide\n${shown}\n--- printed\n${ran.output}`;
    this.faults.push(`${this.#path}:${line}: the output differs\n${differs}`);
  }

  async leave(): Promise<void> {
    await this.#shell.close();
    await this.#stopAgents();
  }

  /** The last one first: a node has its servers as long as it runs. */
  async #stopAgents(): Promise<void> {
    for (const agent of this.#agents.splice(0).reverse()) {
      agent.signal('SIGINT');
      const { code, stderr } = await agent.ended;
      if (code !== 0) this.faults.push(`the agent ended with the exit code ${code}:\n${stderr}`);
    }
  }

  #replacedIn(text: string): string {
    let here = text;
    for (const [there, replaced] of this.#replaced) here = here.replaceAll(there, replaced);
    return here;
  }
}
