/** Source: docs/behaviour/job-specification.md#artifacts, #templates, #volume-mounts. */
import { TemplateError } from '../../language/template/errors.ts';
import { templateFunctions } from '../../language/template/functions/standard.ts';
import { parseTemplate } from '../../language/template/parse.ts';
import { limits } from '../limits.ts';
import { below, type Path, quote, type Report } from '../path.ts';
import { checkUnique, escapesDirectory, hasInterpolation } from '../text-rules.ts';
import type { VolumeRequest } from '../volume/volume.ts';
import { type Artifact, artifactSources, type Template, type VolumeMount } from './files.ts';

const checksumDigits: Readonly<Record<string, number>> = {
  md5: 32,
  sha1: 40,
  sha256: 64,
  sha512: 128,
};

export function validateArtifact(artifact: Artifact, path: Path, report: Report): void {
  const source = below(path, 'GetterSource');
  if (artifact.GetterSource === '') report(source, 'is required');
  const scheme = unfetchedScheme(artifact.GetterSource);
  if (scheme !== undefined) {
    const known = artifactSources.join(', ');
    report(source, `is of the kind ${quote(scheme)}, and only ${known} are fetched`);
  }
  if (escapesDirectory(artifact.RelativeDest)) {
    report(below(path, 'RelativeDest'), 'must not leave the directory of the task');
  }
  const options = artifact.GetterOptions ?? {};
  if (!Object.hasOwn(options, 'checksum')) return;
  const checksum = options.checksum!;
  if (hasInterpolation(checksum)) return;
  const [, type = '', digits = ''] = /^([a-z0-9]+):([0-9a-f]+)$/i.exec(checksum) ?? [];
  if (!Object.hasOwn(checksumDigits, type) || checksumDigits[type] !== digits.length) {
    report(
      below(path, 'GetterOptions', 'checksum'),
      `must be md5, sha1, sha256 or sha512, a colon and as many hex digits, got ${quote(checksum)}`,
    );
  }
}

/**
 * The scheme of a source if it cannot be fetched; `undefined` for other sources, and if the node fills the scheme in.
 */
function unfetchedScheme(source: string): string | undefined {
  const [, forced, scheme] = /^(?:([a-z0-9]+)::)?(?:([a-z][a-z0-9+.-]*):\/\/)?/i.exec(source) ?? [];
  const known: readonly string[] = artifactSources;
  if (forced !== undefined) return known.includes(forced) ? undefined : forced;
  // Repositories have these schemes as well.
  const kind = scheme?.toLowerCase();
  const isGit = kind === 'ssh' || /\.git(\/\/|\?|$)/.test(source);
  return kind === undefined || isGit || known.includes(kind) ? undefined : kind;
}

export function validateTemplates(
  templates: readonly Template[] | null,
  path: Path,
  report: Report,
): void {
  templates?.forEach((template, index) => {
    validateTemplate(template, below(path, index), report);
  });
  checkUnique(
    (templates ?? []).map((template) => template.DestPath),
    (index) => below(path, index, 'DestPath'),
    report,
  );
}

function validateTemplate(template: Template, path: Path, report: Report): void {
  if (template.SourcePath === '' && template.EmbeddedTmpl === '') {
    report(path, 'needs SourcePath or EmbeddedTmpl');
  }
  if (template.SourcePath === '') validateSyntax(template, below(path, 'EmbeddedTmpl'), report);
  const destination = below(path, 'DestPath');
  if (template.DestPath === '') report(destination, 'is required');
  else if (escapesDirectory(template.DestPath)) {
    report(destination, 'must not leave the directory of the task');
  }
  if (template.ChangeMode === 'signal' && template.Envvars) {
    report(below(path, 'ChangeMode'), 'signal is not possible together with Envvars');
  }
  if (template.ChangeMode === 'script') {
    if (template.ChangeScript === null) report(below(path, 'ChangeScript'), 'is required');
    else if (template.ChangeScript.Command === '') {
      report(below(path, 'ChangeScript', 'Command'), 'is required');
    }
  }
  if (template.Perms !== '' && !/^[0-7]{1,5}$/.test(template.Perms)) {
    report(below(path, 'Perms'), `must be octal digits, got ${quote(template.Perms)}`);
  } else if (Number.parseInt(template.Perms || '0', 8) > 0o7777) {
    report(below(path, 'Perms'), 'must be at most 7777');
  }
  if (template.Wait !== null && template.Wait.Min > template.Wait.Max) {
    report(below(path, 'Wait', 'Min'), 'must not be more than Max');
  }
}

/** The template in a file is checked when it is read, on the node. */
function validateSyntax(template: Template, path: Path, report: Report): void {
  const { EmbeddedTmpl, LeftDelim, RightDelim } = template;
  if (!EmbeddedTmpl.includes(LeftDelim || '{{')) return;
  try {
    parseTemplate(EmbeddedTmpl, {
      limits: limits.template,
      functions: templateFunctions,
      leftDelimiter: LeftDelim,
      rightDelimiter: RightDelim,
    });
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    for (const { line, column, sentence } of error.faults) {
      report(path, `is no template: line ${line}, column ${column}: ${sentence}`);
    }
  }
}

export function validateMounts(
  mounts: readonly VolumeMount[] | null,
  volumes: Readonly<Record<string, VolumeRequest>> | null,
  path: Path,
  report: Report,
): void {
  mounts?.forEach((mount, index) => {
    if (!Object.hasOwn(volumes ?? {}, mount.Volume)) {
      report(below(path, index, 'Volume'), `names no volume of the group: ${quote(mount.Volume)}`);
    }
    if (mount.Destination === '') report(below(path, index, 'Destination'), 'is required');
  });
}
