/**
 * What a guide asks its reader to do, out of its markdown. The conventions are the reader's own:
 *
 *  - "`web.hcl`:", a name with a dot, at the end of the line above a block: the block is what that
 *    file holds.
 *  - "In a terminal of its own:" at the end of that line: the command starts an agent, after the one
 *    before has ended. "In another terminal of its own:": it starts a node alone beside it, or with
 *    `--http` an agent of another cluster.
 *  - Every other block of `sh` is pasted into the one terminal of the guide. "End the agent with Ctrl-C" on the
 *    line above it: the agents have ended before.
 *  - A block of `output` right below is what that prints. `…` stands for what differs; alone on a
 *    line it stands for any lines. Commands succeed, unless it ends with the line "[exit code 1]".
 *
 * Any other block is a fault, so that everything in a guide is tried.
 */
export type Step = FileStep | AgentStep | BesideStep | ShellStep;

interface StepBase {
  readonly text: string;
  /** Of the opening fence in the markdown, from 1. */
  readonly line: number;
}

export interface FileStep extends StepBase {
  readonly kind: 'file';
  readonly name: string;
}

export interface AgentStep extends StepBase {
  readonly kind: 'agent';
}

export interface BesideStep extends StepBase {
  readonly kind: 'beside';
}

export interface ShellStep extends StepBase {
  readonly kind: 'shell';
  readonly exitCode: number;
  /** `undefined`: the guide does not show it. */
  readonly output: string | undefined;
  readonly endsAgents?: true;
}

export interface Block {
  readonly language: string;
  readonly text: string;
  readonly line: number;
  /** The last line above that is not empty. */
  readonly above: string;
}

/** Every fenced block. @throws Error for a fence that is indented, or that does not end */
export function blocksOf(markdown: string): readonly Block[] {
  const blocks: Block[] = [];
  let above = '';
  let open: { language: string; line: number; lines: string[] } | undefined;
  for (const [index, line] of markdown.split('\n').entries()) {
    const fence = /^( *)(`{3,}|~{3,})(.*)$/.exec(line);
    if (open === undefined && fence !== null) {
      if (fence[1] !== '' || fence[2] !== '```') {
        throw new Error(`line ${index + 1}: a block begins with \`\`\` at the start of the line`);
      }
      open = { language: fence[3]!.trim(), line: index + 1, lines: [] };
    } else if (open === undefined) {
      if (line.trim() !== '') above = line.trimEnd();
    } else if (line === '```') {
      const { lines, ...rest } = open;
      blocks.push({ ...rest, text: lines.map((one) => `${one}\n`).join(''), above });
      above = line;
      open = undefined;
    } else {
      open.lines.push(line);
    }
  }
  if (open !== undefined) throw new Error(`line ${open.line}: the block has no end`);
  return blocks;
}

const fileName = /`([A-Za-z0-9_/-]+(?:\.[A-Za-z0-9]+)+)`:$/;
const agentWords = /in a terminal of its own:$/i;
const nodeWords = /in another terminal of its own:$/i;
const endWords = /end the agent with Ctrl-C.*:$/i;
const exitLine = /^\[exit code (\d+)\]$/;

/** @throws Error with every block that is not understood */
export function stepsOf(markdown: string): readonly Step[] {
  const steps: Step[] = [];
  const faults: string[] = [];
  let before: Block | undefined;
  for (const block of blocksOf(markdown)) {
    const { language, text, line, above } = block;
    const name = fileName.exec(above)?.[1];
    if (language === 'output') {
      const last = steps.at(-1);
      if (last?.kind !== 'shell' || before?.language !== 'sh' || above !== '```') {
        faults.push(`line ${line}: output stands right below a block of sh`);
      } else {
        steps[steps.length - 1] = { ...last, ...expectationIn(text) };
      }
    } else if (name !== undefined) {
      steps.push({ kind: 'file', name, text, line });
    } else if (language !== 'sh') {
      faults.push(`line ${line}: a block of "${language}" needs "\`NAME\`:" on the line above`);
    } else if (agentWords.test(above)) {
      steps.push({ kind: 'agent', text, line });
    } else if (nodeWords.test(above)) {
      steps.push({ kind: 'beside', text, line });
    } else {
      const ends = endWords.test(above) ? ({ endsAgents: true } as const) : {};
      steps.push({ kind: 'shell', text, line, exitCode: 0, output: undefined, ...ends });
    }
    before = block;
  }
  if (faults.length > 0) throw new Error(faults.join('\n'));
  return steps;
}

function expectationIn(text: string): Pick<ShellStep, 'exitCode' | 'output'> {
  const lines = text.trimEnd().split('\n');
  const exitCode = Number(exitLine.exec(lines.at(-1)!)?.[1] ?? 0);
  return { exitCode, output: exitCode === 0 ? text : lines.slice(0, -1).join('\n') };
}
