/** `npm run docs`: writes every file of the checkout that is made from the code. A test of each says when it is old. */
import { runStep } from './steps.ts';

const tools = [
  'command-list',
  'job-reference',
  'job-file-reference',
  'config-reference',
  'limits-reference',
];

for (const tool of tools) {
  const { exitCode } = await runStep({ title: tool, command: [`tools/${tool}.ts`] });
  if (exitCode !== 0) process.exitCode = exitCode;
}
