// biome-ignore-all lint/suspicious/noTemplateCurlyInString: it is the notation under test
import { describe, expect, test } from 'vitest';
import { canonicalizeJob } from './canonicalize.ts';
import { webJobWith } from './sample.test-helper.ts';
import { jobWarnings } from './warnings.ts';

const warned = (changes: Record<string, unknown>) =>
  jobWarnings(canonicalizeJob(webJobWith(changes))).map(({ message }) => message);

const task = 'TaskGroups.0.Tasks.0';
const args = (...texts: string[]) => ({ [`${task}.Config`]: { command: 'x', args: texts } });
const inArgs = (sentence: string) => [`TaskGroups[0].Tasks[0].Config.args[0] ${sentence}`];

describe('no warning for', () => {
  test.each([
    '${ROSTER_PORT_http} ${ROSTER_ALLOC_DIR} ${ROSTER_TASK_NAME} ${ROSTER_META_a_b} ${ROSTER_META_A_B}',
    '${attr.cpu.arch} ${attr.driver.docker.version} ${node.unique.name} ${node.region} ${meta.rack}',
    '${GREETING} ${HOME} ${LC_ALL} ${env["GREETING"]} ${env["HOME"]}',
    // Texts that may be meant for the task's own shell, or for another program's language.
    'for i in 1 2; do echo ${i}; done',
    '$HOME ${not closed ${HOME:-x} ${}',
    'a text without references',
  ])('%s', (text) => {
    expect(warned({ ...args(text), Meta: { 'a-b': 'x' } })).toEqual([]);
  });

  test('a variable that a template of the task may set', () => {
    const Templates = [{ EmbeddedTmpl: 'A=1', DestPath: 'local/e', Envvars: true }];
    expect(warned({ ...args('${A}'), [`${task}.Templates`]: Templates })).toEqual([]);
  });

  test('a constraint on nodes that lack an attribute', () => {
    const Constraints = [{ LTarget: '${attr.cpu.wings}', Operand: 'is_not_set' }];
    expect(warned({ Constraints })).toEqual([]);
  });
});

describe('a warning for references that no node fills in', () => {
  test.each([
    [
      '${NOMAD_PORT_http}',
      'refers to ${NOMAD_PORT_http}, which no node fills in; here it is ROSTER_PORT_http',
    ],
    [
      'cat $NOMAD_TASK_DIR/x',
      'names NOMAD_TASK_DIR, a variable that no task has; here it is ROSTER_TASK_DIR',
    ],
    [
      '${ROSTER_PROT_http}',
      'refers to ${ROSTER_PROT_http}, which no node fills in; did you mean "ROSTER_PORT_http"?',
    ],
    ['a b ${ROSTER_QQQQQQQ}', 'refers to ${ROSTER_QQQQQQQ}, which no node fills in'],
    ['--port=${QQQQQQQ}', 'refers to ${QQQQQQQ}, which no node fills in'],
    ['${env["QQQQQQQ"]}', 'refers to ${env["QQQQQQQ"]}, which no node fills in'],
    [
      '${attr.cpu.archh}',
      'refers to ${attr.cpu.archh}, which no node fills in; did you mean "attr.cpu.arch"?',
    ],
    [
      '${attr.nomad.version}',
      'refers to ${attr.nomad.version}, which no node fills in; here it is attr.roster.version',
    ],
    [
      '${node.unique.nam}',
      'refers to ${node.unique.nam}, which no node fills in; did you mean "node.unique.name"?',
    ],
    [
      '${secret.db.password}',
      'refers to ${secret.db.password}, which no node fills in; nothing fetches secrets: keep them in variables',
    ],
  ])('%s', (text, sentence) => {
    expect(warned(args(text))).toEqual(inArgs(sentence));
  });

  test.each<[Record<string, unknown>, string]>([
    [
      { [`${task}.Env`]: { A: '1', B: '${A}' } },
      'TaskGroups[0].Tasks[0].Env.B refers to ${A}, which no node fills in',
    ],
    [
      { [`${task}.Meta`]: { a: '${node.class}' } },
      'TaskGroups[0].Tasks[0].Meta.a refers to ${node.class}, and nothing is filled in there',
    ],
    [
      { [`${task}.Actions`]: [{ Name: 'a', Command: '${NOMAD_TASK_DIR}/x' }] },
      'TaskGroups[0].Tasks[0].Actions[0].Command refers to ${NOMAD_TASK_DIR}, and nothing is filled in there; here it is ROSTER_TASK_DIR',
    ],
    [
      { [`${task}.Templates`]: [{ DestPath: 'x', EmbeddedTmpl: '{{ env "NOMAD_IP_a" }} ${x}' }] },
      'TaskGroups[0].Tasks[0].Templates[0].EmbeddedTmpl names NOMAD_IP_a, a variable that no task has; here it is ROSTER_IP_a',
    ],
    [
      { [`${task}.Templates`]: [{ DestPath: '${NOMAD_TASK_DIR}/x', EmbeddedTmpl: 'x' }] },
      'TaskGroups[0].Tasks[0].Templates[0].DestPath refers to ${NOMAD_TASK_DIR}, which no node fills in; here it is ROSTER_TASK_DIR',
    ],
    [
      { 'TaskGroups.0.Services': [{ PortLabel: 'http', Tags: ['${ROSTER_TASK_NAM}'] }] },
      'TaskGroups[0].Services[0].Tags[0] refers to ${ROSTER_TASK_NAM}, which no node fills in; did you mean "ROSTER_TASK_NAME"?',
    ],
    [
      { Constraints: [{ LTarget: '${attr.nomad.version}', RTarget: '1', Operand: '=' }] },
      'Constraints[0].LTarget refers to ${attr.nomad.version}, which no node fills in; here it is attr.roster.version',
    ],
    [
      { 'TaskGroups.0.Spreads': [{ Attribute: '${node.datacentre}', Weight: 1 }] },
      'TaskGroups[0].Spreads[0].Attribute refers to ${node.datacentre}, which no node fills in; did you mean "node.datacenter"?',
    ],
  ])('%j', (changes, sentence) => {
    expect(warned(changes)).toContain(sentence);
  });

  test('each name is told once for a text, and a job with very many within bounds', () => {
    const many = Array.from({ length: 5000 }, (_, index) => `\${ROSTER_X${index}}`);
    expect(warned(args('${NOMAD_DC}${NOMAD_DC}'))).toHaveLength(1);
    expect(warned(args(many.join('')))).toHaveLength(100);
  });
});
